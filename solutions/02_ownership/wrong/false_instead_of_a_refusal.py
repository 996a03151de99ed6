# fails: 02.2 a wrong authority or a wrong source is turned away
# It answers False where it must refuse; whoever does not look is let in.
# answer: 02.2
def admit(event: StateEvent, row: dict[str, object], revision: int) -> bool:
    role = event.source.partition(":")[0]
    known = event.source in row["sources"] or f"{role}:*" in row["sources"]
    if event.authority != row["authority"] or not known:
        return False
    if event.expected_revision != revision:
        raise RevisionConflict(f"revision {event.expected_revision}", f"revision {revision}")
    return True
