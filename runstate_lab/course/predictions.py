"""A prediction comes before every simulation, and it is enforced.

`predict` asks; `locked` and `after` guard what comes next: they show the
locked picture until the prediction is in the progress file, and open in the
same output as soon as it is made. No source, output or metadata of a notebook
holds the outcome before that. `reveal` opens without predicting, and is
recorded as such.

What is not here: the questions (see `questiontable`), and the widgets.
"""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from runstate_lab.course.faults import AskedWrongly
from runstate_lab.course.progress import keep, recall
from runstate_lab.course.questiontable import (
    LETTERS,
    Prediction,
    prediction_ids,
    prediction_of,
)
from runstate_lab.live.form import Form, Item, Reply
from runstate_lab.live.live import Live, locked_picture, quiet, script, style
from runstate_lab.show.letters import escaped

SECTION = "predictions"
SHORTEST_REASON = 3
ODD = "What was kept of this prediction cannot be read: make it once more."
CALL = 'from runstate_lab.course import answer; answer("{id}", "a", why="because ...")'


class Later(Live):
    """A result that is worked out once its prediction was made, shown in place."""

    _esm = script("dom.js", "later.js")
    _css = style("marks.css", "runstate.css")

    def __init__(self, work: Callable[[], object]) -> None:
        self._work = work
        super().__init__()
        self.on_msg(self._again)

    def unseal(self, *, choice: str = "", why: str = "") -> None:
        """Work it out now and show it, with what it printed and what it raised."""
        self._known = {"html": _worked_out(self._work)}
        super().unseal(choice=choice, why=why)

    def _again(self, widget: object, content: object, buffers: object) -> None:
        if not self.sealed:
            self.attempt(lambda: self.unseal(**self.prediction))
        self.send({"heard": "again"})

    def sentence(self) -> str:
        """Whether the result is locked."""
        return f"Locked: {self.sealed}" if self.sealed else "A result that was predicted."

    def picture(self) -> str:
        """The locked picture, or the result."""
        return locked_picture(self.sealed) if self.sealed else str(self._known["html"])


_GUARDED: dict[str, list[Live]] = {}
_ASKED: dict[str, Prediction] = {}


def predict(
    id: str, question: str = "", *, choices: tuple[str, ...] = (), why: bool = True
) -> Form:
    """The prediction box: a choice and a one-line reason; what it guards then opens.

    >>> box = predict("99.1", "Who wins?", choices=("A", "B"))
    >>> box.answer("99.1", "a")
    Traceback (most recent call last):
    runstate_lab.course.faults.AskedWrongly: prediction 99.1 has no reason yet
    hint: give why="..." in one line
    """
    asked = Prediction(id, question, tuple(choices)) if question else prediction_of(id)
    _ASKED[id] = asked
    item = Item(id, "choice", asked.text, (asked.choices,), why=why, press="Keep this prediction")
    made = _made(id)
    replies = {id: _reply(asked, made)} if made else {}
    if not made and recall(SECTION, id) is not None:
        replies = {id: Reply(ODD)}

    def judge(id: str, letters: str, reason: str) -> Reply:
        return foretell(id, letters, reason, needs_reason=why)

    return Form(f"Prediction {id}", (item,), judge, replies=replies, call=CALL.format(id=id))


def foretell(id: str, letter: str, why: str, *, needs_reason: bool = True) -> Reply:
    """Keep a prediction and open what it guards; a kept one is not changed."""
    asked = _ASKED.get(id) or prediction_of(id)
    made = _made(id)
    if made:
        # It may have been made in another notebook, where other widgets were opened.
        _open(id, made["choice"], made["why"])
        return _reply(asked, made)
    if needs_reason and len(why) < SHORTEST_REASON:
        raise AskedWrongly(f"prediction {id} has no reason yet", hint='give why="..." in one line')
    choice = asked.choices[LETTERS.index(letter)]
    made = {"letter": letter, "choice": choice, "why": why, "revealed": False}
    unkept = keep(SECTION, id, made)
    _open(id, choice, why)
    reply = _reply(asked, made)
    return replace(reply, more=(*reply.more, unkept)) if unkept else reply


def reveal(id: str) -> str:
    """Open what a prediction guards without predicting; that is recorded.

    >>> box = predict("99.2", "Who wins?", choices=("A", "B"))
    >>> reveal("99.2")
    'Opened without a prediction; that is recorded. Look at the locked cells again.'
    >>> reveal("zz")
    Traceback (most recent call last):
    runstate_lab.course.faults.AskedWrongly: there is no prediction 'zz'
    hint: known: ...
    """
    made = _made(id)
    if made:
        _open(id, made["choice"], made["why"])
        return f"Prediction {id} is open already."
    _require_known(id)
    made = {"letter": "", "choice": "", "why": "", "revealed": True}
    unkept = keep(SECTION, id, made)
    _open(id, "", "")
    if unkept:
        return f"Opened without a prediction. {unkept} Look at the locked cells again."
    return "Opened without a prediction; that is recorded. Look at the locked cells again."


def locked(id: str, make: Callable[[], Live]) -> Any:
    """The widget that `make` gives, locked until the prediction was made.

    >>> from runstate_lab.live.boards.board import Board
    >>> board = locked("99.3", Board)
    >>> board.step("A")
    Traceback (most recent call last):
        ...
    runstate_lab.live.live.Sealed: asked to play, found the widget locked
    hint: Answer prediction 99.3 above first, or call reveal("99.3").
    """
    # What a widget knows must not be on its way to the browser before it is sealed.
    with quiet():
        widget = make()
    if not isinstance(widget, Live):
        raise AskedWrongly(
            f"{id} cannot lock a {type(widget).__name__}",
            hint="use after(id, work) for what is no widget",
        )
    made = _made(id)
    if made:
        widget.unseal(choice=made["choice"], why=made["why"])
    else:
        widget.seal(f'Answer prediction {id} above first, or call reveal("{id}").')
        _GUARDED.setdefault(id, []).append(widget)
    widget.open()
    return widget


def after(id: str, work: Callable[[], object]) -> Any:
    """What `work` gives, once the prediction was made; the locked picture before.

    What it raises is shown in place: a refusal is often the point.

    >>> after("99.4", lambda: 1 / 0)
    Locked: Answer prediction 99.4 above first, or call reveal("99.4").
    """
    if not _made(id):
        return locked(id, lambda: Later(work))
    try:
        return work()
    except Exception as fault:  # shown instead of raised: Run All goes on behind it
        print(_said(fault))
        return None


def _made(id: str) -> Any:
    """The prediction as it was kept; None where none was, or where it cannot be read."""
    entry = recall(SECTION, id)
    words = isinstance(entry, dict) and [entry.get(name) for name in ("letter", "choice", "why")]
    if not words or not all(isinstance(one, str) for one in words):
        return None
    return entry if type(entry.get("revealed")) is bool else None


def _require_known(id: str) -> None:
    known = {*prediction_ids(), *_ASKED, *_GUARDED}
    if id not in known:
        hint = f"known: {', '.join(sorted(known))}"
        raise AskedWrongly(f"there is no prediction {id!r}", hint=hint)


def _open(id: str, choice: str, why: str) -> None:
    for widget in _GUARDED.pop(id, []):
        widget.attempt(partial(widget.unseal, choice=choice, why=why))


def _reply(asked: Prediction, made: Any) -> Reply:
    if made["revealed"]:
        return Reply("This was opened without a prediction.", "open", closed=True)
    why = f", because: {made['why']}" if made["why"] else ""
    outcome = (
        (f"What happens: {asked.outcome}",)
        if asked.outcome
        else ("What it guards is open now: look below.",)
    )
    # The question may have changed since: then no choice of today is ticked.
    now = dict(zip(LETTERS, asked.choices, strict=False))
    return Reply(
        f"You said: {made['choice']}{why}",
        "kept",
        made["letter"] if now.get(made["letter"]) == made["choice"] else "",
        made["why"],
        closed=True,
        more=outcome,
    )


def _worked_out(work: Callable[[], object]) -> str:
    printed = io.StringIO()
    try:
        with contextlib.redirect_stdout(printed):
            value = work()
    except Exception as fault:  # shown in place: a refusal is often the point
        shown = f"<pre>{escaped(_said(fault))}</pre>"
    else:
        shown = "" if value is None else _html(value)
    told = printed.getvalue()
    return (f"<pre>{escaped(told)}</pre>" if told else "") + shown


def _html(value: object) -> str:
    if hasattr(value, "_repr_mimebundle_"):
        bundle = value._repr_mimebundle_()
        shown = (bundle[0] if isinstance(bundle, tuple) else bundle or {}).get("text/html")
        if shown:
            return str(shown)
    if hasattr(value, "_repr_html_"):
        return str(value._repr_html_())
    return f"<pre>{escaped(repr(value))}</pre>"


def _said(fault: Exception) -> str:
    return f"{type(fault).__name__}: {fault}"
