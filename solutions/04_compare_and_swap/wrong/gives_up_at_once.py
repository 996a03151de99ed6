# Takes the first conflict for the final word, although nothing that matters has changed.
# fails: 04.3 somebody else's log is no reason to give up
# answer: 04.3
class Dispatcher(Desk):
    """Dispatches the deploy of release 7, once, in whatever crowd."""

    def submit_again(self, call_id: str, *, attempts: int) -> str:
        """`dispatched`, `dropped` or `escalated`."""
        state = self.store.load()
        if not wants_deploy(state):
            return "dropped"
        proposal = StateProposal("tool_dispatched", ToolCall(call_id, "deploy"), state.revision)
        try:
            Runtime(self.store).accept_runtime(proposal)
        except RevisionConflict:
            return "escalated" if wants_deploy(self.store.load()) else "dropped"
        return "dispatched"
