"""Held-back checks of exercise 02: ownership, admission, provenance."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from runstate_lab import Fact, Malformed, RevisionConflict, StateEvent, WriterRejected

# Copied by hand from the source text, so that it cannot follow a mistake of the code.
OWNERS = {
    "candidate action": ("model", "runtime"),
    "tool result": ("tool executor", "runtime/store"),
    "run status": ("runtime", "store"),
    "approval decision": ("user or approval service", "runtime"),
    "diagnostic event": ("any component", "trace"),
}
TOOLS = ("get_status", "run_tests", "scan", "deploy", "announce", "sign", "notify")
AUTHORITIES = ("runtime", "tool_executor", "model", "approver", "service", "user")


def word(random: Random) -> str:
    """A name that no table of the kit has."""
    return "".join(random.choice("abcdefghijklmnop") for _ in range(random.randint(5, 9)))


def event(
    source: str, authority: str, *, at: int = 4, value: str = "build=green", call: str | None = "c1"
) -> StateEvent:
    """An event of that writer; what it is about does not matter to the desk."""
    return StateEvent("tool_result_recorded", source, authority, value, at, call)


@pytest.mark.task("02.1")
def test_the_table_is_the_one_of_the_lesson(student: Any) -> None:
    """Each of the five data has the proposer and the writer of the lesson's table."""
    assert OWNERS == student.owner_table()


@pytest.mark.task("02.1")
def test_both_sides_of_a_slash(student: Any) -> None:
    """Where a slash names two writers, each of them may write, and only they."""
    for who, expected in (("runtime", True), ("store", True), ("tool executor", False)):
        assert expected is student.may_write(who, "tool result")

    assert student.may_write("runtime/store", "tool result") is False


@pytest.mark.task("02.1")
def test_strangers_write_nothing(student: Any, seed: int) -> None:
    """Somebody the table does not name writes no datum at all."""
    random = Random(seed)
    strangers = [word(random) for _ in range(8)] + ["tool:scan", "model:planner", "run", ""]

    assert not any(student.may_write(who, datum) for who in strangers for datum in OWNERS)


@pytest.mark.task("02.1")
def test_a_datum_without_owner(student: Any, seed: int) -> None:
    """A datum that has no row is refused, not answered with False."""
    with pytest.raises(KeyError):
        student.may_write("runtime", word(Random(seed)))


@pytest.mark.task("02.2")
def test_one_of_two_is_not_enough(student: Any, seed: int) -> None:
    """A right authority does not excuse a wrong source, nor the other way round."""
    random = Random(seed)
    for _ in range(12):
        named, other = random.sample(TOOLS, 2)
        right, wrong = random.sample(AUTHORITIES, 2)
        row = {"authority": right, "sources": (f"tool:{word(random)}", f"tool:{named}")}
        student.admit(event(f"tool:{named}", right), row, 4)
        for source, authority in ((f"tool:{other}", right), (f"tool:{named}", wrong)):
            with pytest.raises(WriterRejected):
                student.admit(event(source, authority), row, 4)


@pytest.mark.task("02.2")
def test_any_tool_with_a_name(student: Any, seed: int) -> None:
    """A pattern such as tool:* takes every name of that role, and no other role."""
    random = Random(seed)
    for role in ("tool", "service", "approver"):
        row = {"authority": "service", "sources": ("runtime", f"{role}:*")}
        for welcome in (f"{role}:{word(random)}", "runtime"):
            student.admit(event(welcome, "service"), row, 4)
        other = word(random)
        for stranger in (f"{other}:{word(random)}", f"{role}:", role, f"x{role}:{other}"):
            with pytest.raises(WriterRejected):
                student.admit(event(stranger, "service"), row, 4)


@pytest.mark.task("02.2")
def test_a_longer_name_is_another_name(student: Any, seed: int) -> None:
    """A source whose name only begins like a listed one is a stranger."""
    tail = word(Random(seed))
    row = {"authority": "tool_executor", "sources": ("tool:get_status", "tool:scan")}
    for stranger in (f"tool:get_status_{tail}", f"tool:scan{tail}", "tool:sca"):
        with pytest.raises(WriterRejected):
            student.admit(event(stranger, "tool_executor"), row, 4)


@pytest.mark.task("02.2")
def test_a_stranger_learns_nothing(student: Any, seed: int) -> None:
    """A stranger hears the same words whatever revision the state is at."""
    random = Random(seed)
    row = {"authority": "runtime", "sources": ("runtime",)}
    heard = set()
    for revision in random.sample(range(1000, 9999), 6):
        with pytest.raises(WriterRejected) as caught:
            student.admit(event("model:planner", "model", at=77), row, revision)
        heard.add((caught.value.asked, caught.value.found, caught.value.reason))
    with pytest.raises(RevisionConflict):
        student.admit(event("runtime", "runtime", at=77), row, 78)

    assert len(heard) == 1


@pytest.mark.task("02.3")
def test_the_fact_is_bound_to_its_event(student: Any, seed: int) -> None:
    """Source, authority, call and the revision of acceptance are those of the event."""
    random = Random(seed)
    for _ in range(8):
        tool, call, at = random.choice(TOOLS), f"c{random.randint(10, 99)}", random.randint(0, 50)
        key, value = word(random), word(random)
        report = event(f"tool:{tool}", "tool_executor", at=at, value=f"{key}={value}", call=call)
        expected = Fact(
            key,
            value,
            source=f"tool:{tool}",
            authority="tool_executor",
            call_id=call,
            revision=at + 1,
        )

        assert expected == student.as_fact(report)
        assert (f"tool:{tool}", "tool_executor", call, at + 1, True) == student.five_answers(
            expected
        )


@pytest.mark.task("02.3")
def test_a_sentence_is_no_fact(student: Any, seed: int) -> None:
    """A value that does not read key=value is refused as malformed."""
    with pytest.raises(Malformed):
        student.as_fact(event("tool:scan", "tool_executor", value=f"all {word(Random(seed))} fine"))


@pytest.mark.task("02.3")
def test_a_call_id_alone_proves_nothing(student: Any, seed: int) -> None:
    """A fact that no tool wrote cannot be asked again, even if it quotes a call id."""
    random = Random(seed)
    for authority in ("model", "user", "runtime", ""):
        value = word(random)
        claimed = Fact("build", value, source="tool:scan", authority=authority, call_id="c1")

        assert student.five_answers(claimed)[4] is False
    unbound = Fact("build", "green", source="tool:scan", authority="tool_executor", revision=2)

    assert student.five_answers(unbound) == ("tool:scan", "tool_executor", None, 2, False)
