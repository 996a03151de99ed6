"""Machinery. The status chart: propose events, watch what the rules answer.

The run is real: it has a goal, facts, open calls and open questions, and every
press was answered by a real store that holds them, before the browser saw it.
With `expect=True` the chart asks before it answers: which status do you
expect? Until then neither legal nor refused arrows are drawn.

What is not here: the attempts (see `moves`, `steps`), and the chart of a real run (see
`show.chart`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import traitlets

from runstate_lab.live.charts.moves import chart_graph
from runstate_lab.live.charts.steps import REFUSED, Step, named
from runstate_lab.live.faults import Askew, fit
from runstate_lab.live.limits import Limit, flag, number, one_of
from runstate_lab.live.live import Live, locked_picture, script, style
from runstate_lab.live.marks import Mark, Marks, box, still
from runstate_lab.rules import RULES, Rules
from runstate_lab.show.chart import status_chart

HOPE_GAP = 5
SHEETS = ("marks.css", "chartmarks.css")


class StateChart(Live):
    """The status chart: propose events, watch what the rules answer.

    >>> chart = StateChart()
    >>> chart.move("run_started"), chart.move("run_completed")
    ('run_started at queued: accepted, now running.', 'run_completed at running: refused by success_not_met; success criterion is not met.')
    >>> chart.move("tool_dispatched"), chart.move("tool_result_recorded"), chart.holds
    ('tool_dispatched at running: accepted, still running.', 'tool_result_recorded at running: accepted, still running.', 'goal build=green, facts build=green, open nothing')
    >>> chart.move("queued")
    Traceback (most recent call last):
        ...
    runstate_lab.live.faults.Askew: asked 'queued', found no event that leads there
    hint: propose one of run_started, ...
    >>> chart = StateChart("run_started", expect=True)
    >>> chart.move("approval_requested")
    'approval_requested is proposed at running. Which status do you expect, or is it refused?'
    >>> chart.expect("completed")
    'approval_requested at running: you expected completed; it is waiting.'
    >>> chart.score()
    '0 of 1 as expected.'
    """

    _esm = script("dom.js", "scrub.js", "exports.js", "chart.js")
    _css = style(*SHEETS, "runstate.css", "chart.css")

    played = ("tries", "at", "expectations", "proposed", "expected")
    tries = traitlets.List(traitlets.Unicode()).tag(sync=True)
    at = traitlets.Int(0).tag(sync=True)
    predicting = traitlets.Bool(False).tag(sync=True)
    expectations = traitlets.List(traitlets.Unicode()).tag(sync=True)
    proposed = traitlets.Unicode("").tag(sync=True)
    expected = traitlets.Unicode("").tag(sync=True)

    limits = {
        **Live.limits,
        "tries": Limit(
            lambda chart, given: all(one in chart.kinds for one in given["tries"]),
            lambda chart, given: f"a list of kinds of events: {', '.join(chart.kinds)}",
        ),
        "at": number("at", lambda chart, given: len(given["tries"])),
        "predicting": flag("predicting"),
        "expectations": Limit(
            lambda chart, given: len(given["expectations"]) <= len(given["tries"])
            and all(one in chart.hopes for one in given["expectations"]),
            lambda chart, given: "a list with one of them for each attempt: "
            + ", ".join(map(repr, chart.hopes)),
        ),
        "proposed": one_of(
            "proposed",
            lambda chart, given: ("", *chart.kinds) if given["predicting"] else ("",),
        ),
        "expected": one_of(
            "expected", lambda chart, given: chart.hopes if given["predicting"] else ("",)
        ),
    }
    call = 'chart.move("run_started")'

    def __init__(self, *moves: str, rules: Rules = RULES, expect: bool = False) -> None:
        fit("expect", expect, "a flag")
        if not isinstance(rules, Rules):
            raise Askew(f"rules={rules!r:.60}", "no rules", "give Rules, such as RULES")
        self._rules = rules
        super().__init__(chart_graph(rules))
        for move in moves:
            self.move(move)
        self.predicting = expect

    def move(self, wish: str) -> str:
        """What the run answers to an event, or to the wish for a status.

        A chart that asks first wants the event; it answers when the
        expectation is there.

        >>> StateChart("run_cancelled").move("running")
        'run_started at cancelled: refused by illegal_transition; run cannot start from cancelled.'
        """
        self._unsealed()
        kind = self._kind(wish)
        if not self.predicting or self.expected:
            return self._answer(kind, self.expected)
        self.proposed = kind
        return self.text()

    def moves(self) -> list[tuple[str, bool, str]]:
        """Every event, whether it would be taken, and what its button says.

        >>> StateChart("run_started").moves()[1:3]
        [('run_completed', False, 'not now'), ('run_failed', True, 'to failed')]
        """
        self._unsealed()
        if self.predicting:
            raise Askew("what is open", "a chart that asks first", "expect() a status, then move()")
        offered = self._known["answers"][self._at()]
        return [(kind, bool(one["to"]), one["next"]) for kind, one in offered.items()]

    def expect(self, status: str) -> str:
        """What is said to an expectation: a status, or "refused".

        >>> chart = StateChart(expect=True)
        >>> chart.expect("refused")
        'You expect a refusal. Propose an event.'
        >>> chart.move("run_completed").partition(": ")[2]
        'you expected a refusal; it was refused by illegal_transition; run_completed is not legal from queued.'
        """
        self._unsealed()
        if not self.predicting:
            hint = "StateChart(expect=True) asks before it answers"
            raise Askew(f"to expect {status}", "a chart that answers at once", hint)
        known = self.hopes[1:]
        if status not in known:
            found = "neither a status nor a refusal"
            raise Askew(f"to expect {status!r}", found, f"expect one of {', '.join(known)}")
        if self.proposed:
            return self._answer(self.proposed, str(status))
        self.expected = str(status)
        return self.text()

    def score(self) -> str:
        """How many of the attempts up to the one shown went as expected."""
        if self.sealed:
            return self.sentence()
        guessed = [step for step in self._walk() if step.expected]
        if not guessed:
            return "Nothing was expected yet."
        return f"{sum(step.as_expected for step in guessed)} of {len(guessed)} as expected."

    def back(self) -> str:
        """What is said one attempt earlier; nothing is proposed again."""
        return self._go(self.at - 1)

    def forward(self) -> str:
        """What is said one attempt later; nothing is proposed again."""
        return self._go(self.at + 1)

    def first(self) -> str:
        """What is said before any attempt."""
        return self._go(0)

    def last(self) -> str:
        """What the newest attempt was answered."""
        return self._go(len(self.tries))

    def reset(self) -> str:
        """What is said at the start again."""
        with self.together():
            self.tries, self.expectations, self.at = [], [], 0
            self.proposed = self.expected = ""
        return self.text()

    @property
    def status(self) -> str:
        """The status after the attempts up to the one shown."""
        return str(self._place["status"])

    @property
    def holds(self) -> str:
        """What the state holds there beside its status: its goal, its facts, what is open."""
        return str(self._place["holds"])

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of events that can be proposed here."""
        return tuple(self._known["kinds"])

    @property
    def revision(self) -> int:
        """How many of the attempts up to the one shown were accepted."""
        return sum(step.accepted for step in self._walk())

    @property
    def hopes(self) -> tuple[str, ...]:
        """What can be expected: a status, a refusal, or nothing yet."""
        return ("", *self._known["nodes"], REFUSED)

    def text(self) -> str:
        """What the attempt shown was answered, or what is asked now, in words."""
        if self.sealed:
            return self.sentence()
        if self.proposed:
            asked = "Which status do you expect, or is it refused?"
            return f"{self.proposed} is proposed at {self.status}. {asked}"
        if self.expected:
            return f"You expect {named(self.expected)}. Propose an event."
        steps = self._walk()
        return steps[-1].said if steps else f"The run is {self.status}. Propose an event."

    def table(self) -> Any:
        """The attempts up to the one shown, as a pandas table."""
        # Imported here: no one waits for pandas who does not look at a table.
        from runstate_lab.show.frames import captioned

        self._unsealed()
        heads = self._known["heads_expected" if self.predicting else "heads"]
        return captioned("Trace", heads, self._rows())

    def sentence(self) -> str:
        """Where the run stands, and what the attempt shown was answered."""
        if self.sealed:
            return f"Status chart, locked: {self.sealed}"
        stands = f"{self.status} is current at revision {self.revision}; {self.holds}"
        scored = f" {self.score()}" if self.predicting else ""
        return f"Status chart of {self._rules.name}: {stands}. {self.text()}{scored}"

    def picture(self) -> str:
        """The chart with the status lit and a refused attempt drawn, as an image."""
        if self.sealed:
            return locked_picture(self.sealed)
        if self.predicting:
            size = (int(self._known["size"][0]), int(self._known["size"][1]))
            return still(self._found(), size, self.sentence(), sheets=SHEETS)
        steps = self._walk()
        refused = None
        if steps and not steps[-1].accepted:
            refused = (steps[-1].kind, steps[-1].answer["rule"])
        chart = status_chart(self.status, rules=self._rules, refused=refused)
        return chart._repr_mimebundle_()["text/html"]

    def _kind(self, wish: str) -> str:
        known = self._known["kinds"]
        if self.predicting and wish not in known:
            hint = f"the status is what you expect; propose one of {', '.join(known)}"
            raise Askew(f"to propose {wish!r}", "no such event", hint)
        towards = [kind for kind in known if wish in (kind, self._known["towards"][kind])]
        if not towards:
            hint = f"propose one of {', '.join(known)}"
            raise Askew(f"{wish!r}", "no event that leads there", hint)
        answers = self._known["answers"][self._at()]
        return next((kind for kind in towards if answers[kind]["to"]), towards[0])

    def _answer(self, kind: str, expected: str) -> str:
        before = [*self.expectations, *[""] * len(self.tries)][: self.at]
        # One message: a browser that has only half of it would draw nonsense.
        with self.together():
            self.tries = [*self.tries[: self.at], kind]
            self.expectations = [*before, expected]
            self.at = len(self.tries)
            self.proposed = self.expected = ""
        return self.text()

    @property
    def _place(self) -> dict[str, str]:
        return dict(self._known["places"][self._at()])

    def _at(self) -> str:
        """The place after the attempts up to the one shown."""
        place = self._known["start"]
        for kind in self.tries[: self.at]:
            place = self._known["answers"][place][kind]["to"] or place
        return str(place)

    def _walk(self) -> list[Step]:
        place, revision, steps = self._known["start"], 0, []
        for number, kind in enumerate(self.tries[: self.at]):
            answer, before = self._known["answers"][place][kind], place
            if answer["to"]:
                place, revision = answer["to"], revision + 1
            start, end = (self._known["places"][one]["status"] for one in (before, place))
            expected = self.expectations[number] if number < len(self.expectations) else ""
            steps.append(Step(kind, start, end, revision, answer, expected))
        return steps

    def _rows(self) -> Iterator[tuple[str, ...]]:
        for number, step in enumerate(self._walk(), start=1):
            guessed = (step.expected, step.verdict) if self.predicting else ()
            yield (str(number), step.kind, step.before, *guessed, *step.cells)

    def _found(self) -> Iterator[tuple[str, Marks]]:
        """The arrows that were found to be there, the statuses, the attempt refused."""
        steps, names = self._walk(), []
        for arrow in self._known["arrows"]:
            pair = (arrow["from"], arrow["to"])
            proved = {step.kind for step in steps if step.accepted and step.way == pair}
            if proved:
                yield "rs-way rs-taken", _split(arrow)[0]
            if proved == set(arrow["kinds"]):
                names += [mark for mark in self._names(arrow) if mark not in names]
        if names:
            yield "rs-names", tuple(names)
        for name, marks in self._known["nodes"].items():
            yield "rs-node rs-lit" if name == self.status else "rs-node", marks
        asking = self.proposed or self.expected
        if steps and not steps[-1].accepted and not asking:
            yield "rs-attempt", self._known["refused"][steps[-1].answer["marks"]]
        hoped = self.expected if asking else steps[-1].expected if steps else ""
        if hoped in self._known["nodes"]:
            yield "rs-hopes", (_around(self._known["nodes"][hoped]),)

    def _names(self, arrow: dict[str, Any]) -> Marks:
        """Its own name, or that of the arrow whose end it shares."""
        sharing = [one for one in self._known["arrows"] if one["to"] == arrow["to"]]
        return next((names for one in (arrow, *sharing) if (names := _split(one)[1])), ())

    def _go(self, place: int) -> str:
        self._unsealed()
        with self.together():
            self.at = max(0, min(len(self.tries), place))
            self.proposed = self.expected = ""
        return self.text()


def _split(arrow: dict[str, Any]) -> tuple[Marks, Marks]:
    """The line of an arrow, and its name."""
    marks = arrow["marks"]
    names = tuple(mark for mark in marks if mark[0] == "text")
    return tuple(mark for mark in marks if mark not in names), names


def _around(marks: Marks) -> Mark:
    """The dashed frame of the status that is expected."""
    x, y, width, height = (float(marks[0][1][name]) for name in ("x", "y", "width", "height"))
    beside, along = x - HOPE_GAP, y - HOPE_GAP
    return box(beside, along, width + 2 * HOPE_GAP, height + 2 * HOPE_GAP, "hope", corner=13)
