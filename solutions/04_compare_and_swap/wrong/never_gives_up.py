# Counts no attempts: in a crowd that never ends it never ends either.
# fails: 04.3 the last attempt is the last
# answer: 04.3
class Dispatcher(Desk):
    """Dispatches the deploy of release 7, once, in whatever crowd."""

    def submit_again(self, call_id: str, *, attempts: int) -> str:
        """`dispatched`, `dropped` or `escalated`."""
        while True:
            state = self.store.load()
            if not wants_deploy(state):
                return "dropped"
            proposal = StateProposal("tool_dispatched", ToolCall(call_id, "deploy"), state.revision)
            try:
                Runtime(self.store).accept_runtime(proposal)
                return "dispatched"
            except RevisionConflict:
                continue
