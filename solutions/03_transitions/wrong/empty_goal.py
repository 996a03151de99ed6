# "All of nothing" is true in Python, and no way to ship a release.
# fails: 03.3 a goal that asks for nothing is not met
# answer: 03.3
def check_completion(state):
    asked = f"to complete {state.run_id}"
    newest = {fact.key: str(fact) for fact in state.facts if fact.authority == "tool_executor"}
    lacking = [text for text in state.success if text not in newest.values()]
    if lacking:
        raise SuccessNotMet(asked, ", ".join(lacking))
    waited_for = [call.call_id for call in state.calls if call.status.pending]
    waited_for += [request.request_id for request in state.requests]
    if waited_for:
        raise StillPending(asked, ", ".join(waited_for))
