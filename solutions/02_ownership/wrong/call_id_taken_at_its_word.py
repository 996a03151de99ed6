# fails: 02.3 A fact that no tool wrote cannot be asked again, even if it quotes a call id.
# Anybody who can type "c1" has a verifiable fact.
# answer: 02.3
def as_fact(event: StateEvent) -> Fact:
    bare = Fact.parse(event.value)
    return Fact(
        bare.key,
        bare.value,
        source=event.source,
        authority=event.authority,
        call_id=event.call_id,
        revision=event.expected_revision + 1,
    )


def five_answers(fact: Fact) -> tuple[str | None, str | None, str | None, int | None, bool]:
    again = fact.call_id is not None
    return fact.source or None, fact.authority or None, fact.call_id, fact.revision or None, again
