# Swaps first and compares afterwards: the conflict is reported, and the damage is done.
# fails: 04.1 a refused proposal changes nothing
# answer: 04.1
class MyStore(StoreParts):
    """A store that compares, then swaps."""

    def apply(self, proposal: StateProposal, *, context: ExecutionContext) -> RunState:
        event = self.event(proposal, context)
        asked = f"{event.kind} computed from revision {event.expected_revision}"
        before = self.state.revision
        try:
            self.check_writer(event, context)
            self.check_rules(event)
            self.state = self.next_state(event)
            if event.expected_revision != before:
                raise RevisionConflict(asked, f"revision {before}")
        except Refusal as refusal:
            self.keep(event, refusal)
            raise
        self.keep(event)
        return self.state
