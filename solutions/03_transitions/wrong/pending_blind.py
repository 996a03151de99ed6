# The goal is met, so the run is over: the open call finds nobody at home (M6).
# fails: 03.3 an open call or request holds it back
# answer: 03.3
def check_completion(state):
    asked = f"to complete {state.run_id}"
    if not state.success:
        raise SuccessNotMet(asked, "a goal that asks for nothing")
    newest = {fact.key: str(fact) for fact in state.facts if fact.authority == "tool_executor"}
    lacking = [text for text in state.success if text not in newest.values()]
    if lacking:
        raise SuccessNotMet(asked, ", ".join(lacking))
