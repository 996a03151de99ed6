# Reads again and sends again, whatever it was: the blind retry as a policy (M5).
# fails: 04.2 a result is dropped when its own call is closed, and only then
# answer: 04.2
def after_conflict(event: StateEvent, state: RunState) -> tuple[str, str]:
    """The choice after a conflict, and the reason for it."""
    return "recompute", f"the state is at revision {state.revision} now"
