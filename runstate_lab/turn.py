"""Floor 4. What one decision cycle holds while it lasts, and gives back.

A turn is more than its messages: an identity, a privacy mode, the session
with the provider, a profile that is frozen when the turn starts, the tools in
their middleware, a scope, and resources with an owner each. What a model says in it
is heard here, as text that can be kept. What is not here: deciding anything
(see `driver`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from types import MappingProxyType, TracebackType
from typing import Protocol

from runstate_lab.context import Context, ContextBuilder
from runstate_lab.errors import Malformed, Refusal, words_of
from runstate_lab.model import Decision, RunState
from runstate_lab.nouns import filled, whole
from runstate_lab.tools import (
    Check,
    ToolRegistry,
    ToolSession,
    a,
    able,
    door,
    each,
    fits,
    keepable,
    maybe,
    readable,
    shown,
)

PRIVATE = "(private)"
PRIVACY = ("open", "private")


class Model(Protocol):
    """Whatever decides: given a context and the number of the turn."""

    name: str

    def decide(self, context: Context, *, turn: int) -> Decision:
        """What it would like to do next."""
        ...


def privacy_mode(what: str, value: object) -> None:
    """Nothing, when a value is one of the two privacy modes.

    >>> privacy_mode("a turn's privacy", "Private")
    Traceback (most recent call last):
        ...
    runstate_lab.errors.Malformed: malformed value: asked a turn's privacy: open or private, found 'Private'
    hint: give plain text or one of the frozen nouns of runstate_lab.model
    """
    if type(value) is not str or value not in PRIVACY:
        raise Malformed(f"{what}: open or private", shown(value))


def profile_of_texts(what: str, value: object) -> None:
    """Nothing, when a value maps names to texts.

    >>> profile_of_texts("a profile", {"tone": "dry"})
    """
    a(Mapping)(what, value)
    for name, words in dict(value).items() if isinstance(value, Mapping) else ():
        filled(f"a name in {what}", name)
        keepable(f"{name} in {what}", words)


TURN: dict[str, Check] = {
    "identity": filled,
    "privacy": privacy_mode,
    "provider": filled,
    "profile": profile_of_texts,
    "tools": maybe(a(ToolSession)),
    "scope": filled,
}
DRIVER: dict[str, Check] = {
    "store": able("load", "apply", "context", "note"),
    "name": door,
    "model": able("decide"),
    "tools": a(ToolRegistry),
    "builder": maybe(able("build")),
    "clock": able("__call__"),
    "lease": partial(whole, least=1),
    "patience": maybe(partial(whole, least=1)),
    "privacy": privacy_mode,
    "profile": maybe(profile_of_texts),
    "middleware": each(able("__call__")),
}
CLAIM: dict[str, Check] = {"name": filled, "owner": filled, "release": able("__call__")}


def fit_for_a_driver(given: Mapping[str, object]) -> None:
    """Nothing, when these arguments make a driver.

    >>> fit_for_a_driver({"store": None})
    Traceback (most recent call last):
        ...
    runstate_lab.errors.Malformed: malformed value: asked a driver's store that has load, apply, context, note(), found None
    hint: give a driver's store as asked
    """
    fits("a driver's", DRIVER, given)
    try:
        name = getattr(given["model"], "name", None)
    except Exception as error:  # A property may do anything.
        raise Malformed("a model's name", readable(words_of(error))) from error
    door("a model's name", name)


def ticking(clock: Callable[[], int]) -> Callable[[], int]:
    """The clock, held to whole ticks: what it gives is checked each time.

    >>> ticking(lambda: -1)()
    Traceback (most recent call last):
        ...
    runstate_lab.errors.Malformed: malformed value: asked a tick of the clock, found -1
    hint: give plain text or one of the frozen nouns of runstate_lab.model
    """

    def tick() -> int:
        try:
            now = clock()
        except Exception as error:  # A clock is somebody else's code, too.
            raise Malformed("a tick of the clock", readable(words_of(error))) from error
        whole("a tick of the clock", now)
        return now

    return tick


def asked(model: Model, builder: ContextBuilder, state: RunState, *, privacy: str) -> object:
    """What a model says to a state, whatever that is; a refusal where it raised.

    Nothing was done meanwhile, so the run may be driven again from there.

    >>> asked(None, ContextBuilder(), RunState("run-7"), privacy="open")
    Traceback (most recent call last):
        ...
    runstate_lab.errors.Malformed: no decision came: asked one in turn 0 of run-7, found AttributeError: 'NoneType' object has no attribute 'decide'
    hint: mend what was found, then drive the run again; it goes on from here
    """
    number = state.turn.number
    try:
        return model.decide(builder.build(state, privacy=privacy), turn=number)
    except Refusal:
        raise
    except Exception as error:  # A model and its session are somebody else's code.
        wanted = f"one in turn {number} of {state.run_id}"
        refusal = Malformed(wanted, readable(words_of(error)), reason="no decision came")
        refusal.hint = "mend what was found, then drive the run again; it goes on from here"
        raise refusal from error


def heard(said: object, *, privacy: str) -> Decision:
    """The decision as it may be kept; refuses one that no store could keep.

    >>> heard(Decision("ship it", final=True), privacy="private").words
    '(private)'
    >>> heard("ship it", privacy="open")
    Traceback (most recent call last):
        ...
    runstate_lab.errors.Malformed: malformed value: asked a Decision, found a str
    hint: give plain text or one of the frozen nouns of runstate_lab.model
    """
    if type(said) is not Decision:
        raise Malformed("a Decision", f"a {type(said).__name__}")
    a(bool)("whether the decision is final", said.final)
    for call in said.calls:
        named = [words for pair in call.arguments for words in pair]
        for words in (call.call_id, call.tool, *named):
            keepable("a call's text", words)
        maybe(keepable)("a call's key", call.key)
        a(bool)("whether a call is gated", call.gated)
    if privacy == "private":
        return Decision(PRIVATE, said.calls, said.final)
    keepable("a model's words", said.words)
    return said


def words_alone(said: object, *, privacy: str) -> Decision:
    """What is left of a mistaken decision: its words and its wish, not its calls.

    >>> words_alone(None, privacy="open")
    Decision(words='', calls=(), final=False)
    """
    left = said if type(said) is Decision else Decision("")
    words = PRIVATE if privacy == "private" else readable(left.words)
    return Decision(words, final=left.final is True)


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
        given = (identity, privacy, provider, profile, tools, scope)
        fits("a turn's", TURN, dict(zip(TURN, given, strict=True)))
        self.identity = identity
        self.privacy = privacy
        self.provider = provider
        self.profile = MappingProxyType(dict(profile))
        self.tools = tools
        self.scope = scope
        self._held: dict[str, Resource] = {}
        self._ended = False

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
        fits("a claim's", CLAIM, {"name": name, "owner": owner, "release": release})
        if self._ended:
            raise Malformed(f"to claim {name} for {owner}", f"{self.identity} disposed of")
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
        # What is claimed from now on would have nobody left to let go of it.
        self._ended = True
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

    def let_go(self) -> tuple[str, ...]:
        """What could not be released, told in words; all that could be is released.

        >>> turn = TurnContext("t", privacy="open", provider="p", profile={})
        >>> turn.claim("slot", owner="a", release=lambda: [][0])
        >>> turn.let_go()
        ('not released: IndexError: list index out of range',)
        """
        try:
            self.dispose()
        except Exception as error:  # The same, for whoever must go on.
            return (f"not released: {readable(words_of(error))}",)
        return ()

    def __enter__(self) -> TurnContext:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.dispose()
