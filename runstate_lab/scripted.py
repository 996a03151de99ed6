"""Floor 3. Models, tools and approvers that do what the script says.

Offline and the same every time: lessons, tests and crashes are played with
these. What is not here: anything that thinks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from runstate_lab.context import Context
from runstate_lab.errors import Malformed, OutcomeUnknown, ToolFailure
from runstate_lab.model import Answer, Approval, Decision
from runstate_lab.nouns import whole
from runstate_lab.tools import Check, a, able, door, each, fits, shown

KINDS = {"yes": "approval_granted", "no": "approval_denied"}


def _answers(what: str, value: object) -> None:
    a(Mapping)(what, value)
    each(_answer)(what, tuple(dict(value).items()) if isinstance(value, Mapping) else ())


def _answer(what: str, pair: object) -> None:
    question, word = pair if isinstance(pair, tuple) else (pair, "")
    if type(question) is not str or type(word) is not str or word not in KINDS:
        # Silence is a question left out; "Yes" would be silence by a slip.
        raise Malformed(f"{what}: a question with yes or no", f"{question!r}: {word!r}"[:80])


MODEL: dict[str, Check] = {"decisions": each(a(Decision)), "name": door}
SCRIPT: dict[str, Check] = {"script": each(a(str, Exception)), "on_call": able("__call__")}
APPROVER: dict[str, Check] = {"name": door, "answers": _answers}


class LogicalClock:
    """A tick that only moves when somebody moves it.

    >>> clock = LogicalClock()
    >>> clock.advance(5), clock()
    (5, 5)
    """

    def __init__(self, tick: int = 0) -> None:
        whole("a tick to begin with", tick)
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
        if type(ticks) is not int or ticks < 0:
            raise Malformed("to advance the clock", f"{ticks!r} ticks"[:80])
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
        self._decisions = _items("decisions", decisions)
        fits("a scripted model's", MODEL, {"decisions": self._decisions, "name": name})
        self.name = name
        self.shown: list[Context] = []

    def decide(self, context: Context, *, turn: int) -> Decision:
        """The decision that the script has for a turn, whatever the context says.

        >>> ScriptedModel([Decision("wait")]).decide(Context((), ()), turn=1).final
        False
        """
        self.shown.append(context)
        whole("the number of a turn", turn)
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
        self._script = _items("items of a script", script)
        fits("a scripted tool's", SCRIPT, {"script": self._script, "on_call": on_call})
        if not self._script:
            raise Malformed("a script with something to do", "()")
        self.effects: list[str] = []
        self.calls = 0
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
        fits("a scripted approver's", APPROVER, {"name": name, "answers": answers})
        self.name = name
        self._answers = dict(answers)

    def answer(self, request: Approval, run_id: str) -> tuple[str, Answer] | None:
        """The kind and value of the answer, or None for silence.

        >>> ScriptedApprover("rosa", {"ship?": "no"}).answer(Approval("a1", "ship?", "rosa"), "r")[0]
        'approval_denied'
        """
        kind = KINDS.get(self._answers.get(request.question, ""))
        return None if kind is None else (kind, Answer.to(request, run_id))


def _items(what: str, given: object) -> tuple[object, ...]:
    # A text is a sequence, too: of letters, which nobody means by a script.
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise Malformed(f"{what} in a list", shown(given))
    return tuple(given)
