# Compares first: a stranger learns the revision by trying numbers.
# fails: 04.1 The writer is checked before the revision, and the revision before the rules.
# answer: 04.1
class MyStore(StoreParts):
    """A store that compares, then swaps."""

    def apply(self, proposal: StateProposal, *, context: ExecutionContext) -> RunState:
        event = self.event(proposal, context)
        asked = f"{event.kind} computed from revision {event.expected_revision}"
        try:
            if event.expected_revision != self.state.revision:
                raise RevisionConflict(asked, f"revision {self.state.revision}")
            self.check_writer(event, context)
            self.check_rules(event)
        except Refusal as refusal:
            self.keep(event, refusal)
            raise
        self.state = self.next_state(event)
        self.keep(event)
        return self.state
