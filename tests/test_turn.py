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
