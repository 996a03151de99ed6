# Takes every refusal for a conflict and tries it again.
# fails: 04.3 A refusal that is no conflict reaches the caller at once.
# answer: 04.3
class Dispatcher(Desk):
    """Dispatches the deploy of release 7, once, in whatever crowd."""

    def submit_again(self, call_id: str, *, attempts: int) -> str:
        """`dispatched`, `dropped` or `escalated`."""
        for _ in range(attempts):
            state = self.store.load()
            if not wants_deploy(state):
                return "dropped"
            proposal = StateProposal("tool_dispatched", ToolCall(call_id, "deploy"), state.revision)
            try:
                Runtime(self.store).accept_runtime(proposal)
                return "dispatched"
            except Refusal:
                continue
        return "escalated"
