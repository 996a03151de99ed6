"""A turn lets go of what it holds, whatever happens in it."""

from __future__ import annotations

import pytest

from runstate_lab.errors import Malformed
from runstate_lab.turn import TurnContext


def turn(**options: object) -> TurnContext:
    """A turn with a profile."""
    given = {"privacy": "open", "provider": "session-1", "profile": {"tone": "dry"}}
    return TurnContext("run-7/turn 1", **{**given, **options})


def test_the_profile_is_frozen_when_the_turn_starts() -> None:
    """A change of the settings meanwhile is for the next turn."""
    settings = {"tone": "dry"}
    made = turn(profile=settings)
    settings["tone"] = "sweet"
    with pytest.raises(TypeError):
        made.profile["tone"] = "sweet"

    assert "dry" == made.profile["tone"]


def test_what_was_not_committed_is_released_also_after_an_exception() -> None:
    """Newest first; what was committed stays."""
    released = []
    with pytest.raises(ZeroDivisionError), turn() as made:
        for name in ("slot", "file", "claim"):
            made.claim(name, owner="tool:deploy", release=lambda name=name: released.append(name))
        made.commit("file")
        raise ZeroDivisionError

    assert ["claim", "slot"] == released
    assert () == made.held


def test_one_release_that_fails_does_not_keep_the_others() -> None:
    """All are let go, then the first error is raised."""
    released = []

    def stuck() -> None:
        raise OSError("device is busy")

    made = turn()
    made.claim("a", owner="x", release=lambda: released.append("a"))
    made.claim("b", owner="x", release=stuck)
    made.claim("c", owner="x", release=lambda: released.append("c"))
    with pytest.raises(OSError, match="busy"):
        made.dispose()

    assert ["c", "a"] == released
    assert () == made.dispose()


def test_every_resource_has_an_owner() -> None:
    """Two owners for one name are refused."""
    made = turn()
    made.claim("slot", owner="tool:deploy", release=list)

    assert [("slot", "tool:deploy")] == [(one.name, one.owner) for one in made.held]
    with pytest.raises(Malformed, match="held by tool:deploy"):
        made.claim("slot", owner="tool:scan", release=list)


@pytest.mark.parametrize("mode", ["", "secret", None, True])
def test_a_privacy_mode_is_one_of_two(mode: object) -> None:
    """A typing error must not open what should be private."""
    with pytest.raises(Malformed):
        turn(privacy=mode)


def test_letting_go_tells_what_stays_and_raises_nothing() -> None:
    """The rest is released all the same."""
    released = []

    def stuck() -> None:
        raise OSError("device is busy")

    made = turn()
    made.claim("a", owner="x", release=lambda: released.append("a"))
    made.claim("b", owner="x", release=stuck)

    assert ("not released: OSError: device is busy",) == made.let_go()
    assert (["a"], ()) == (released, made.held)


def test_nothing_is_claimed_in_a_turn_that_has_ended() -> None:
    """A release that claims anew would otherwise be released for ever."""
    made = turn()

    def again() -> None:
        made.claim("slot", owner="x", release=again)

    made.claim("slot", owner="x", release=again)
    with pytest.raises(Malformed, match="disposed of"):
        made.dispose()

    assert () == made.held


@pytest.mark.parametrize(
    "fields",
    [
        {"provider": ""},
        {"provider": None},
        {"profile": None},
        {"profile": {"tone": 7}},
        {"profile": {"": "dry"}},
        {"profile": [("tone", "dry")]},
        {"tools": "scan"},
        {"scope": ""},
    ],
)
def test_a_turn_is_made_of_names_and_texts(fields: dict[str, object]) -> None:
    """Anything else is refused when the turn is opened."""
    with pytest.raises(Malformed, match="a turn's"):
        turn(**fields)


@pytest.mark.parametrize(
    "fields", [{"name": ""}, {"name": 7}, {"owner": ""}, {"release": None}, {"release": "slot"}]
)
def test_a_claim_names_its_owner_and_its_release(fields: dict[str, object]) -> None:
    """What could not be released is not claimed."""
    with pytest.raises(Malformed, match="a claim's"):
        turn().claim(**{"name": "slot", "owner": "x", "release": list, **fields})
