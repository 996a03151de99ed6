# fails: 02.2 A stranger hears the same words whatever revision the state is at.
# The revision is compared first, so a stranger finds it out by trying.
# answer: 02.2
def admit(event: StateEvent, row: dict[str, object], revision: int) -> None:
    if event.expected_revision != revision:
        raise RevisionConflict(f"revision {event.expected_revision}", f"revision {revision}")
    role, _, name = event.source.partition(":")
    known = event.source in row["sources"] or (f"{role}:*" in row["sources"] and name != "")
    if event.authority != row["authority"] or not known:
        raise WriterRejected(f"{event.kind} as {event.source}", f"authority {row['authority']}")
