# fails: 02.2 A source whose name only begins like a listed one is a stranger.
# tool:get_status_v2 passes for tool:get_status.
# answer: 02.2
def admit(event: StateEvent, row: dict[str, object], revision: int) -> None:
    known = False
    for entry in row["sources"]:
        if entry.endswith(":*"):
            known = known or (event.source.startswith(entry[:-1]) and event.source != entry[:-1])
        else:
            known = known or event.source.startswith(entry)
    if event.authority != row["authority"] or not known:
        raise WriterRejected(f"{event.kind} as {event.source}", f"authority {row['authority']}")
    if event.expected_revision != revision:
        raise RevisionConflict(f"revision {event.expected_revision}", f"revision {revision}")
