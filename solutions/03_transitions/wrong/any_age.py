# One green result is enough, however many red ones came after it.
# fails: 03.3 the newest word of a tool decides
# answer: 03.3
def check_completion(state):
    asked = f"to complete {state.run_id}"
    if not state.success:
        raise SuccessNotMet(asked, "a goal that asks for nothing")
    reported = {str(fact) for fact in state.facts if fact.authority == "tool_executor"}
    lacking = [text for text in state.success if text not in reported]
    if lacking:
        raise SuccessNotMet(asked, ", ".join(lacking))
    waited_for = [call.call_id for call in state.calls if call.status.pending]
    waited_for += [request.request_id for request in state.requests]
    if waited_for:
        raise StillPending(asked, ", ".join(waited_for))
