# Cancels on behalf of somebody who saw another page.
# fails: 04.2 a person is asked again, unless the run has ended
# answer: 04.2
def after_conflict(event: StateEvent, state: RunState) -> tuple[str, str]:
    """The choice after a conflict, and the reason for it."""
    if state.status.terminal:
        return "drop", f"the run is {state.status}"
    if event.kind == "tool_result_recorded":
        if all(call.call_id != event.call_id for call in state.calls):
            return "drop", f"call {event.call_id} is not open any more"
    if event.kind == "tool_dispatched":
        if any(call.tool == event.value.tool for call in state.calls):
            return "drop", f"{event.value.tool} is in an open call"
    return "recompute", f"the state is at revision {state.revision} now"
