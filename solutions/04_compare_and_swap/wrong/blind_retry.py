# Decides once and sends the same call again with the new number: two deploys (M5).
# fails: 04.3 release 7 is deployed once
# answer: 04.3
class Dispatcher(Desk):
    """Dispatches the deploy of release 7, once, in whatever crowd."""

    def submit_again(self, call_id: str, *, attempts: int) -> str:
        """`dispatched`, `dropped` or `escalated`."""
        state = self.store.load()
        if not wants_deploy(state):
            return "dropped"
        for _ in range(attempts):
            proposal = StateProposal("tool_dispatched", ToolCall(call_id, "deploy"), state.revision)
            try:
                Runtime(self.store).accept_runtime(proposal)
                return "dispatched"
            except RevisionConflict:
                state = self.store.load()
        return "escalated"
