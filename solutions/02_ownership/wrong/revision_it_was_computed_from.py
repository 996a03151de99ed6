# fails: 02.3 an accepted report becomes a fact that knows where it comes from
# The fact is dated back to the revision that the tool had read.
# answer: 02.3
def as_fact(event: StateEvent) -> Fact:
    bare = Fact.parse(event.value)
    return Fact(
        bare.key,
        bare.value,
        source=event.source,
        authority=event.authority,
        call_id=event.call_id,
        revision=event.expected_revision,
    )


def five_answers(fact: Fact) -> tuple[str | None, str | None, str | None, int | None, bool]:
    again = fact.authority == "tool_executor" and fact.call_id is not None
    return fact.source or None, fact.authority or None, fact.call_id, fact.revision or None, again
