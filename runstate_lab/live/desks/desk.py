"""Machinery. The approval desk: run-7 waits for rosa, and the store answers each press.

A press asks the kernel, which makes all the presses so far on a fresh run and
gives back what was answered. Moving back and forward makes none of them again.

What is not here: the doors (see `deskworld`), and what a step shows (see
`deskgraph`, `deskmarks`).
"""

from __future__ import annotations

import json
from typing import Any

import traitlets

from runstate_lab.brokenledgers import BROKEN_DESKS
from runstate_lab.live.desks import graph as deskgraph
from runstate_lab.live.desks.world import Factory, Press
from runstate_lab.live.faults import KINDS, Askew
from runstate_lab.live.limits import Limit, number
from runstate_lab.live.live import Live, locked_picture, script, style
from runstate_lab.live.marks import still
from runstate_lab.store import StateStore

RIGHT = "the right desk"
OTHERS: dict[str, Factory] = {make.__name__: make for make in BROKEN_DESKS}
MEANWHILE = ("result", "arguments", "cancel")
CARDS = ("new", "old")


class ApprovalDesk(Live):
    """Rosa's desk: answer in time, too late, twice, as somebody else; the store decides.

    >>> desk = ApprovalDesk()
    >>> desk.grant(by="max").partition("; ")[0]
    "Max grants: refused, answer_foreign: the answer is somebody else's"
    >>> desk.grant(), desk.deploy()
    ('Rosa grants: accepted; the run is running at revision 8.', 'The runtime deploys: accepted; call c3 deploys release 7.')
    >>> desk.grant(card="old")
    Traceback (most recent call last):
        ...
    runstate_lab.live.faults.Askew: asked rosa grants with the old card, found there is no older card yet
    hint: press something else, or go back()
    """

    _esm = script("dom.js", "scrub.js", "exports.js", "desk.js")
    _css = style("marks.css", "runstate.css", "deskmarks.css", "desk.css")

    played = ("shown", "at")
    shown = traitlets.List(traitlets.Dict()).tag(sync=True)
    at = traitlets.Int(0).tag(sync=True)
    beside_it = traitlets.Unicode("").tag(sync=True)

    limits = {
        **Live.limits,
        "shown": Limit(
            lambda desk, given: given["shown"] == desk._answered[: len(given["shown"])]
            and bool(given["shown"]) is bool(desk._answered),
            lambda desk, given: "the first ones of the steps that were answered",
        ),
        "at": number("at", lambda desk, given: max(0, len(given["shown"]) - 1)),
    }
    call = "desk.grant()"

    def __init__(self, store: Factory | str | None = None) -> None:
        self._answered: list[dict[str, Any]] = []
        self._others = dict(OTHERS)
        super().__init__(deskgraph.opening())
        self.on_msg(self._heard)
        self.beside(store)

    def grant(self, *, by: str = "rosa", card: str = "new", call: str = "") -> str:
        """What the store says to a yes: by whom, with which card, about which call."""
        return self._press(Press("grant", by, _one_of(card, CARDS), call))

    def deny(self, *, by: str = "rosa", card: str = "new", call: str = "") -> str:
        """What the store says to a no."""
        return self._press(Press("deny", by, _one_of(card, CARDS), call))

    def again(self) -> str:
        """What the store says when the last answer is sent once more.

        >>> desk = ApprovalDesk()
        >>> desk.deny()
        'Rosa denies: accepted; the run is running at revision 8.'
        >>> desk.again().split(": ")[1]
        'refused, answer_repeated'
        """
        return self._press(Press("again"))

    def tick(self) -> str:
        """What the clock shows after one tick."""
        return self._press(Press("tick"))

    def expire(self) -> str:
        """What the store says when the runtime lets the request expire.

        >>> ApprovalDesk().expire().split("; ")[1]
        'found tick 0 before 3'
        """
        return self._press(Press("expire"))

    def meanwhile(self, what: str) -> str:
        """What happens first: a late `result`, other `arguments`, or a user's `cancel`.

        >>> desk = ApprovalDesk()
        >>> desk.meanwhile("arguments")
        'The run goes back, and release 8 is wanted: the run went back to run-7@3; rosa is shown deploy(release=8).'
        >>> desk.grant(card="old").split(": ")[1]
        'refused, answer_stale'
        """
        return self._press(Press(_one_of(what, MEANWHILE)))

    def deploy(self) -> str:
        """What the gate says when the runtime carries the deployment out."""
        return self._press(Press("deploy"))

    def ask(self) -> str:
        """What rosa is shown when the planner wishes again."""
        return self._press(Press("ask"))

    def beside(self, store: Factory | str | None) -> str:
        """What is shown with another desk beside the right one, on the same presses.

        >>> desk = ApprovalDesk()
        >>> desk.grant(by="max").endswith("nothing changed.")
        True
        >>> desk.beside("AnyApproverStore").rpartition(". ")[2]
        'AnyApproverStore: accepted; the run is running at revision 8.'
        """
        self._unsealed()
        if store is not None and not isinstance(store, str) and not callable(store):
            hint = "give a class of stores, or a function that makes one from the first state"
            raise Askew(f"a desk on {store!r:.60}", f"a {type(store).__name__}", hint)
        name = store if isinstance(store, str) else _named(store)
        makers = {**self._others, name: store} if callable(store) else self._others
        if name:
            _one_of(name, tuple(makers))
        at, presses = self.at, self._presses(len(self.shown))
        steps = self._steps(name, makers.get(name), presses)
        self._others = makers
        others = [[one, _label(one, make)] for one, make in self._others.items()]
        self._known = {**self._known, "others": others}
        with self.together():
            self.graph = self._known
            self.beside_it, self.shown, self.at = name, steps, at
            self._answered = steps
        return self.text()

    def back(self) -> str:
        """What was said one press earlier; nothing is pressed again."""
        return self._go(self.at - 1)

    def forward(self) -> str:
        """What was said one press later; nothing is pressed again."""
        return self._go(self.at + 1)

    def first(self) -> str:
        """What is said before any press."""
        return self._go(0)

    def last(self) -> str:
        """What the newest press was answered."""
        return self._go(len(self.shown) - 1)

    def reset(self) -> str:
        """What is said at the start again."""
        with self.together():
            self.shown, self.at = self.shown[:1], 0
        return "" if self.sealed else self.text()

    def seal(self, sentence: str) -> None:
        """Take every answer away from the browser until `unseal` is called."""
        super().seal(sentence)
        with self.together():
            self.shown = []
            self._answered = []

    def unseal(self, *, choice: str = "", why: str = "") -> None:
        """Give the answers so far back to the browser."""
        super().unseal(choice=choice, why=why)
        self._answered = self.shown

    def text(self) -> str:
        """What the press shown was answered, in one sentence."""
        return str(self._step()["said"])

    def table(self) -> Any:
        """The ledger of presses up to the one shown, as a pandas table."""
        heads = (*deskgraph.HEADS, *filter(None, (self.beside_it,)))
        rows = [step["row"] for step in self._path()[1:]]
        return _captioned("Presses and what the store answered", heads, rows)

    def cards(self) -> Any:
        """The cards that rosa was shown, as a pandas table."""
        return _captioned("Cards", deskgraph.CARD_HEADS, self._step()["cards"])

    def ends(self) -> Any:
        """Where each desk stands after the press shown, as a pandas table."""
        return _captioned("What became of it", deskgraph.END_HEADS, self._step()["ends"])

    def sentence(self) -> str:
        """What was answered last, and how the run stands."""
        if self.sealed:
            return f"Approval desk, locked: {self.sealed}"
        state = self._step()["state"]
        stands = f"{state['status']} at revision {state['revision']}, tick {state['tick']}"
        return f"Approval desk: run-7 is {stands}, deployed {state['deployed']}. {self.text()}"

    def picture(self) -> str:
        """The timeline of cards, presses and revisions, as an image with its text."""
        if self.sealed:
            return locked_picture(self.sealed)
        step = self._step()
        looks = ("style", {}, style("deskmarks.css"))
        groups = [("rs-desk", (looks, *step["marks"]))]
        return still(groups, tuple(step["size"]), self.sentence())

    def _press(self, press: Press) -> str:
        for given, kind in ((press.by, "a name"), (press.call, "a text")):
            if not KINDS[kind][0](given):
                asked = f"an answer by or about {given!r}"
                raise Askew(asked, "no name", 'give by="max" or call="c2"')
        offs = self._step()["offs"]
        names = ("old",) if press.card == "old" else ()
        for name in (*names, press.deed):
            if name in offs:
                hint = "press something else, or go back()"
                raise Askew(press.words, offs[name], hint)
        other, presses = self._others.get(self.beside_it), self._presses(self.at + 1)
        steps = self._steps(self.beside_it, other, [*presses, press])
        with self.together():
            self.shown, self.at = steps, len(steps) - 1
            self._answered = steps
        return self.text()

    def _steps(
        self, name: str, other: Factory | None, presses: list[Press]
    ) -> list[dict[str, object]]:
        desks = {RIGHT: StateStore} if other is None else {RIGHT: StateStore, name: other}
        try:
            # As a browser will give them back, where a tuple has become a list.
            return list(json.loads(json.dumps(deskgraph.steps(desks, presses))))
        except Exception as fault:  # a learner's own store may raise anything while run-7 begins
            found = f"{type(fault).__name__}: {fault}".partition("\n")[0]
            raise Askew(
                f"a desk on {name}", found, "give a store that run-7 can begin on"
            ) from fault

    def _heard(self, widget: object, content: dict[str, str], buffers: object) -> None:
        self.attempt(lambda: self._follow(content))
        self.send({"heard": content})

    def _follow(self, content: dict[str, str]) -> None:
        if "beside" in content:
            self.beside(content["beside"] or None)
        else:
            self._press(deskgraph.CONTROLS[content["press"]].press)

    def _presses(self, count: int) -> list[Press]:
        return [Press(**step["press"]) for step in self.shown[1:count]]

    def _path(self) -> list[dict[str, Any]]:
        self._unsealed()
        return self.shown[: self.at + 1]

    def _step(self) -> dict[str, Any]:
        return self._path()[-1]

    def _go(self, place: int) -> str:
        self._unsealed()
        self.at = max(0, min(len(self.shown) - 1, place))
        return self.text()


def _named(store: Factory | None) -> str:
    name = getattr(store, "__name__", "my desk") if store else ""
    return "my desk" if name == "<lambda>" else name


def _label(name: str, make: Factory) -> str:
    first = (make.__doc__ or "").strip().partition("\n")[0]
    return f"{name}: {first}" if first and isinstance(make, type) else name


def _one_of(asked: str, known: tuple[str, ...]) -> str:
    if asked not in known:
        raise Askew(f"{asked!r}", "no such choice", f"choose one of {', '.join(known)}")
    return asked


def _captioned(caption: str, heads: tuple[str, ...], rows: list[list[str]]) -> Any:
    # Imported here: no one waits for pandas who does not look at a table.
    from runstate_lab.show.frames import captioned

    return captioned(caption, heads, rows)
