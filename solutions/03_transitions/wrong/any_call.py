# Takes every call on the desk for an open one, also those that have failed.
# fails: 03.3 a call that failed holds nobody back
# answer: 03.3
def check_completion(state):
    asked = f"to complete {state.run_id}"
    if not state.success:
        raise SuccessNotMet(asked, "a goal that asks for nothing")
    newest = {fact.key: str(fact) for fact in state.facts if fact.authority == "tool_executor"}
    lacking = [text for text in state.success if text not in newest.values()]
    if lacking:
        raise SuccessNotMet(asked, ", ".join(lacking))
    waited_for = [call.call_id for call in state.calls]
    waited_for += [request.request_id for request in state.requests]
    if waited_for:
        raise StillPending(asked, ", ".join(waited_for))
