# Raises the conflict and forgets it: nobody can count what was never kept.
# fails: 04.1 a conflict is kept in the trace
# answer: 04.1
class MyStore(StoreParts):
    """A store that compares, then swaps."""

    def apply(self, proposal: StateProposal, *, context: ExecutionContext) -> RunState:
        event = self.event(proposal, context)
        asked = f"{event.kind} computed from revision {event.expected_revision}"
        self.check_writer(event, context)
        if event.expected_revision != self.state.revision:
            raise RevisionConflict(asked, f"revision {self.state.revision}")
        self.check_rules(event)
        self.state = self.next_state(event)
        self.keep(event)
        return self.state
