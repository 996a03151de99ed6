# Sets the run waiting first and asks the release manager afterwards, perhaps (M10).
# fails: 03.2 a wait comes with its request
# answer: 03.2
def next_status(state, kind, value=""):
    after = ARROW.get((str(state.status), kind))
    if after is None:
        raise IllegalTransition(kind, f"status {state.status}")
    if kind == "run_failed" and value not in FAILURES:
        raise ReasonMissing(f"{kind} because of {value!r}", " or ".join(FAILURES))
    if kind == "run_cancelled" and not str(value).strip():
        raise ReasonMissing(kind, "no words")
    if kind in ("run_failed", "run_cancelled"):
        return after, str(value)
    return after, STATED.get(kind)
