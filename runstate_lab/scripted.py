"""Floor 3. Models, tools and approvers that do what the script says.

Offline and the same every time: lessons, tests and crashes are played with
these. What is not here: anything that thinks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from runstate_lab.context import Context
from runstate_lab.errors import Malformed, OutcomeUnknown, ToolFailure
from runstate_lab.model import Answer, Approval, Decision


class LogicalClock:
    """A tick that only moves when somebody moves it.

    >>> clock = LogicalClock()
    >>> clock.advance(5), clock()
    (5, 5)
    """

    def __init__(self, tick: int = 0) -> None:
        self._tick = tick

    def __call__(self) -> int:
        return self._tick

    def advance(self, ticks: int = 1) -> int:
        """The tick after so many more.

        >>> LogicalClock(3).advance(-1)
        Traceback (most recent call last):
            ...
        runstate_lab.errors.Malformed: malformed value: asked to advance the clock, found -1 ticks
        hint: give plain text or one of the frozen nouns of runstate_lab.model
        """
        if ticks < 0:
            raise Malformed("to advance the clock", f"{ticks} ticks")
        self._tick += ticks
        return self._tick


class ScriptedModel:
    """Gives decision n in turn n, also after a crash; keeps what it was shown.

    >>> model = ScriptedModel([Decision("done", final=True)])
    >>> model.decide(Context(("goal: ship",), ()), turn=1).words
    'done'
    >>> model.decide(Context((), ()), turn=2)
    Traceback (most recent call last):
        ...
    runstate_lab.errors.Malformed: malformed value: asked decision 2, found a script of 1
    hint: give plain text or one of the frozen nouns of runstate_lab.model
    """

    def __init__(self, decisions: Iterable[Decision], *, name: str = "planner") -> None:
        self.name = name
        self.shown: list[Context] = []
        self._decisions = tuple(decisions)

    def decide(self, context: Context, *, turn: int) -> Decision:
        """The decision that the script has for a turn, whatever the context says.

        >>> ScriptedModel([Decision("wait")]).decide(Context((), ()), turn=1).final
        False
        """
        self.shown.append(context)
        if not 1 <= turn <= len(self._decisions):
            raise Malformed(f"decision {turn}", f"a script of {len(self._decisions)}")
        return self._decisions[turn - 1]


class ScriptedTool:
    """An act that follows a script and counts its effects.

    Each item is a result, or an exception to raise. `effects` holds one key
    for each time the world was changed: an exception "after" its effect has
    changed the world, too. A repeated idempotency key changes nothing.

    >>> deploy = ScriptedTool([ToolFailure("no route"), "deploy=done"])
    >>> deploy({})
    Traceback (most recent call last):
        ...
    runstate_lab.errors.ToolFailure: no route
    >>> deploy({}), deploy.effects
    ('deploy=done', ['deploy=done'])
    """

    def __init__(
        self, script: Iterable[str | Exception], *, on_call: Callable[[], object] = int
    ) -> None:
        self.effects: list[str] = []
        self.calls = 0
        self._script = tuple(script)
        self._on_call = on_call

    def __call__(self, arguments: Mapping[str, str]) -> str:
        item = self._script[min(self.calls, len(self._script) - 1)]
        self.calls += 1
        self._on_call()
        if isinstance(item, ToolFailure):
            raise item
        effect = arguments.get("idempotency_key", item if isinstance(item, str) else str(item))
        if "idempotency_key" not in arguments or effect not in self.effects:
            self.effects.append(effect)
        if isinstance(item, Exception):
            raise item
        return item


def silent_after_its_effect(words: str = "no answer in time") -> OutcomeUnknown:
    """A script item: the effect happens, the answer never comes.

    >>> tool = ScriptedTool([silent_after_its_effect()])
    >>> try:
    ...     tool({})
    ... except OutcomeUnknown as silence:
    ...     print(silence, len(tool.effects))
    no answer in time 1
    """
    return OutcomeUnknown(words)


class ScriptedApprover:
    """Answers requests by their question: yes, no, or nothing at all.

    >>> rosa = ScriptedApprover("rosa", {"deploy release 7?": "yes"})
    >>> rosa.answer(Approval("a1", "deploy release 7?", "rosa"), "run-7")
    ('approval_granted', Answer(request_id='a1', run_id='run-7', call_id=None, digest=None, seen_revision=0))
    >>> rosa.answer(Approval("a2", "delete everything?", "rosa"), "run-7") is None
    True
    """

    def __init__(self, name: str, answers: Mapping[str, str]) -> None:
        self.name = name
        self._answers = dict(answers)

    def answer(self, request: Approval, run_id: str) -> tuple[str, Answer] | None:
        """The kind and value of the answer, or None for silence.

        >>> ScriptedApprover("rosa", {"ship?": "no"}).answer(Approval("a1", "ship?", "rosa"), "r")[0]
        'approval_denied'
        """
        kinds = {"yes": "approval_granted", "no": "approval_denied"}
        kind = kinds.get(self._answers.get(request.question, ""))
        return None if kind is None else (kind, Answer.to(request, run_id))
