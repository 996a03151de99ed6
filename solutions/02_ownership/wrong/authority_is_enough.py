# fails: 02.2 a wrong authority or a wrong source is turned away
# The sources of the row are never looked at: any tool speaks for any other.
# answer: 02.2
def admit(event: StateEvent, row: dict[str, object], revision: int) -> None:
    if event.authority != row["authority"]:
        raise WriterRejected(f"{event.kind} as {event.source}", f"authority {row['authority']}")
    if event.expected_revision != revision:
        raise RevisionConflict(f"revision {event.expected_revision}", f"revision {revision}")
