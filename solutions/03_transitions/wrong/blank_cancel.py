# Tests for the empty text but not for blanks.
# fails: 03.2 blanks are no reason to cancel
# answer: 03.2
def next_status(state, kind, value=""):
    after = ARROW.get((str(state.status), kind))
    if after is None:
        raise IllegalTransition(kind, f"status {state.status}")
    if kind in REQUEST and type(value) is not REQUEST[kind]:
        raise Malformed(f"the request that comes with {kind}", repr(value))
    if kind == "run_failed" and value not in FAILURES:
        raise ReasonMissing(f"{kind} because of {value!r}", " or ".join(FAILURES))
    if kind == "run_cancelled" and value == "":
        raise ReasonMissing(kind, "no words")
    if kind in ("run_failed", "run_cancelled"):
        return after, str(value)
    return after, STATED.get(kind)
