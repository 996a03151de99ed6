# Checks who writes and what, and never asks how old the page is: the last write wins (M2).
# fails: 04.1 the second proposal from one revision is told that the page is old
# answer: 04.1
class MyStore(StoreParts):
    """A store that compares, then swaps."""

    def apply(self, proposal: StateProposal, *, context: ExecutionContext) -> RunState:
        event = self.event(proposal, context)
        try:
            self.check_writer(event, context)
            self.check_rules(event)
        except Refusal as refusal:
            self.keep(event, refusal)
            raise
        self.state = self.next_state(event)
        self.keep(event)
        return self.state
