# Takes whatever words come for a failure; nobody can count such reasons later.
# fails: 03.2 a failed run names one of three reasons
# answer: 03.2
def next_status(state, kind, value=""):
    after = ARROW.get((str(state.status), kind))
    if after is None:
        raise IllegalTransition(kind, f"status {state.status}")
    if kind in REQUEST and type(value) is not REQUEST[kind]:
        raise Malformed(f"the request that comes with {kind}", repr(value))
    if kind in ("run_failed", "run_cancelled"):
        if not str(value).strip():
            raise ReasonMissing(kind, "no words")
        return after, str(value)
    return after, STATED.get(kind)
