# Looks for an open call of the same tool instead of the result's own call.
# fails: 04.2 a result is dropped when its own call is closed, and only then
# answer: 04.2
def after_conflict(event: StateEvent, state: RunState) -> tuple[str, str]:
    """The choice after a conflict, and the reason for it."""
    if state.status.terminal:
        return "drop", f"the run is {state.status}"
    tools = [call.tool for call in state.calls]
    if event.kind == "tool_result_recorded" and event.source.removeprefix("tool:") not in tools:
        return "drop", f"call {event.call_id} is not open any more"
    if event.kind == "tool_dispatched" and event.value.tool in tools:
        return "drop", f"{event.value.tool} is in an open call"
    if event.source.startswith("user:"):
        return "escalate", f"{event.source} decided on revision {event.expected_revision}"
    return "recompute", f"the state is at revision {state.revision} now"
