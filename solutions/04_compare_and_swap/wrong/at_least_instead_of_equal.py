# Refuses old pages only: the revision is read as a time, and later wins (M4).
# fails: 04.1 a proposal from the future is refused too
# answer: 04.1
class MyStore(StoreParts):
    """A store that compares, then swaps."""

    def apply(self, proposal: StateProposal, *, context: ExecutionContext) -> RunState:
        event = self.event(proposal, context)
        asked = f"{event.kind} computed from revision {event.expected_revision}"
        try:
            self.check_writer(event, context)
            if not event.expected_revision >= self.state.revision:
                raise RevisionConflict(asked, f"revision {self.state.revision}")
            self.check_rules(event)
        except Refusal as refusal:
            self.keep(event, refusal)
            raise
        self.state = self.next_state(event)
        self.keep(event)
        return self.state
