"""Floor 4. What one decision cycle holds while it lasts, and gives back.

A turn is more than its messages: an identity, a privacy mode, the session
with the provider, a profile that is frozen when the turn starts, the tools in
their middleware, a scope, and resources with an owner each. What is not
here: deciding anything (see `driver`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType, TracebackType

from runstate_lab.errors import Malformed
from runstate_lab.tools import ToolSession


@dataclass(frozen=True, slots=True)
class Resource:
    """Something that a turn holds: its name, its owner, how to let go of it.

    >>> Resource("slot 3", "tool:deploy", lambda: None).owner
    'tool:deploy'
    """

    name: str
    owner: str
    release: Callable[[], object] = field(compare=False)


@dataclass(frozen=True, slots=True)
class Observation:
    """What a turn saw beside its results, in logical ticks; never part of a state.

    >>> print(Observation(turn=2, stalled=("c3",)))
    turn 2: first token after 0 ticks, awaits 0, stalled c3, background none
    """

    turn: int
    first_token: int = 0
    awaits: int = 0
    stalled: tuple[str, ...] = ()
    background: tuple[str, ...] = ()

    def __str__(self) -> str:
        return (
            f"turn {self.turn}: first token after {self.first_token} ticks, awaits {self.awaits}, "
            f"stalled {', '.join(self.stalled) or 'none'}, "
            f"background {', '.join(self.background) or 'none'}"
        )


class TurnContext:
    """The frame of one turn; as a `with` block it always lets go of what it holds.

    >>> released = []
    >>> with TurnContext("run-7/turn 1", privacy="open", provider="session-1", profile={}) as turn:
    ...     turn.claim("slot 3", owner="tool:deploy", release=lambda: released.append("slot 3"))
    ...     turn.claim("slot 4", owner="tool:scan", release=lambda: released.append("slot 4"))
    ...     turn.commit("slot 4")
    >>> released
    ['slot 3']
    """

    def __init__(
        self,
        identity: str,
        *,
        privacy: str,
        provider: str,
        profile: Mapping[str, str],
        tools: ToolSession | None = None,
        scope: str = "run",
    ) -> None:
        if privacy not in ("open", "private"):
            raise Malformed("a privacy mode open or private", repr(privacy))
        self.identity = identity
        self.privacy = privacy
        self.provider = provider
        self.profile = MappingProxyType(dict(profile))
        self.tools = tools
        self.scope = scope
        self._held: dict[str, Resource] = {}

    @property
    def held(self) -> tuple[Resource, ...]:
        """What was claimed and neither committed nor released, in order."""
        return tuple(self._held.values())

    def claim(self, name: str, *, owner: str, release: Callable[[], object]) -> None:
        """Hold a resource until it is committed or the turn ends.

        >>> turn = TurnContext("t", privacy="open", provider="p", profile={})
        >>> turn.claim("slot", owner="a", release=list)
        >>> turn.claim("slot", owner="b", release=list)
        Traceback (most recent call last):
            ...
        runstate_lab.errors.Malformed: malformed value: asked to claim slot for b, found it held by a
        hint: give plain text or one of the frozen nouns of runstate_lab.model
        """
        if name in self._held:
            raise Malformed(f"to claim {name} for {owner}", f"it held by {self._held[name].owner}")
        self._held[name] = Resource(name, owner, release)

    def commit(self, name: str) -> None:
        """Keep a resource beyond the turn: what it was claimed for is written.

        >>> TurnContext("t", privacy="open", provider="p", profile={}).commit("slot")
        Traceback (most recent call last):
            ...
        runstate_lab.errors.Malformed: malformed value: asked to commit slot, found the claims []
        hint: give plain text or one of the frozen nouns of runstate_lab.model
        """
        if name not in self._held:
            raise Malformed(f"to commit {name}", f"the claims {list(self._held)}")
        del self._held[name]

    def dispose(self) -> tuple[str, ...]:
        """The names of what was released, newest first; a second time releases nothing.

        One release that raises does not keep the others from theirs; the
        first such error is raised at the end.

        >>> turn = TurnContext("t", privacy="open", provider="p", profile={})
        >>> turn.claim("slot", owner="a", release=list)
        >>> turn.dispose(), turn.dispose()
        (('slot',), ())
        """
        released: list[str] = []
        first: Exception | None = None
        while self._held:
            name, resource = self._held.popitem()
            released.append(name)
            try:
                resource.release()
            except Exception as error:  # A release is somebody else's code; the rest must go on.
                first = first or error
        if first is not None:
            raise first
        return tuple(released)

    def __enter__(self) -> TurnContext:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.dispose()
