"""Machinery. Forms: choose, say why, put in order, fill in; answered by the kernel.

A form knows questions and what may be chosen, never what is right. Each
answer goes to the kernel as letters ("b", or "cab" for an order) and comes
back as a reply.

What is not here: judging an answer (see the course).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import traitlets

from runstate_lab.live.live import Askew, Live, script, style
from runstate_lab.show.letters import escaped

LETTERS = "abcdefghijklmnopqrstuvwxyz"
KINDS = ("choice", "order", "fill")
BLANK = "____"


@dataclass(frozen=True)
class Item:
    """One thing to answer: its text, and what may be chosen (for each blank)."""

    id: str
    kind: str
    text: str
    choices: tuple[tuple[str, ...], ...]
    code: str = ""
    why: bool = False
    press: str = "Answer"

    def plain(self) -> dict[str, Any]:
        """The item as plain values."""
        choices = [list(choices) for choices in self.choices]
        return {**vars(self), "choices": choices}

    def html(self) -> str:
        """The item as HTML to be read, where nothing can be pressed."""
        shown = f"<p><b>{_prose(self.text)}</b></p>"
        if self.code:
            shown += f"<pre>{escaped(self.code)}</pre>"
        for number, choices in enumerate(self.choices, start=1):
            title = f"<p>&lt;{number}&gt;</p>" if self.kind == "fill" else ""
            rows = "".join(f"<li>{_prose(choice)}</li>" for choice in choices)
            shown += f'{title}<ol type="a">{rows}</ol>'
        return shown


@dataclass(frozen=True)
class Reply:
    """What is said to an answer; `closed` means that it is not asked again."""

    said: str
    mood: str = "open"
    given: str = ""
    why: str = ""
    closed: bool = False
    more: tuple[str, ...] = field(default=())

    def plain(self) -> dict[str, Any]:
        """The reply as plain values."""
        return {**vars(self), "more": list(self.more)}


Judge = Callable[[str, str, str], Reply]


class Form(Live):
    """Some items to answer; each answer is judged by the function given.

    >>> item = Item("00.p", "choice", "Which way?", (("left", "right"),))
    >>> form = Form("Prediction 00.p", (item,), lambda id, letters, why: Reply("noted"))
    >>> form.answer("00.p", "b")
    'noted'
    >>> form.answer("00.p", "c")
    Traceback (most recent call last):
        ...
    runstate_lab.live.live.Askew: asked the choice 'c' of 00.p, found a to b
    hint: give the letter of a choice
    """

    _esm = script("dom.js", "slips.js", "form.js")
    _css = style("marks.css", "runstate.css")

    call = 'form.answer("00.1.1", "a")'
    title = traitlets.Unicode("").tag(sync=True)
    items = traitlets.List().tag(sync=True)
    replies = traitlets.Dict().tag(sync=True)

    def __init__(
        self,
        title: str,
        items: tuple[Item, ...],
        judge: Judge,
        *,
        replies: dict[str, Reply] | None = None,
        forget: Callable[[str], None] | None = None,
        call: str = "",
    ) -> None:
        self.call = call or self.call
        self._items = {item.id: item for item in items}
        self._judge, self._forget = judge, forget
        told = {id: reply.plain() for id, reply in (replies or {}).items()}
        super().__init__(title=title, items=[item.plain() for item in items], replies=told)
        self.on_msg(self._heard)

    def answer(self, id: str, letters: str, why: str = "") -> str:
        """What is said to an answer: the letter of a choice, or several in order."""
        letters = letters.strip().lower()
        item = self._items[id]
        _fit(item, letters)
        reply = self._judge(id, letters, why.strip())
        with self.together():
            self.replies = {**self.replies, id: reply.plain()}
        return reply.said

    def again(self, id: str = "") -> str:
        """What is said when an answer, or all of them, is forgotten and can be given anew.

        >>> Form("Empty", (), lambda *given: Reply("")).again()
        Traceback (most recent call last):
            ...
        runstate_lab.live.faults.Askew: asked to begin Empty again, found that what was said here stays
        hint: a prediction is kept; answer the questions that come later
        """
        if self._forget is None:
            hint = "a prediction is kept; answer the questions that come later"
            raise Askew(f"to begin {self.title} again", "that what was said here stays", hint)
        if id and id not in self._items:
            hint = f"give one of {', '.join(self._items)}, or nothing for all"
            raise Askew(f"to begin {id!r} again", "no such question here", hint)
        for one in [id] if id else self._items:
            self._forget(one)
        kept = {one: reply for one, reply in self.replies.items() if id and one != id}
        with self.together():
            self.replies = kept
        return "Begin again."

    def sentence(self) -> str:
        """What the form is."""
        many = (
            f"{len(self._items)} questions"
            if len(self._items) > 1
            else next(iter(self._items.values())).text
        )
        return f"{self.title}: {many}"

    def picture(self) -> str:
        """The questions, to be read; run the cell to answer them."""
        return (
            "".join(item.html() for item in self._items.values())
            + "<p><em>Run this cell to answer.</em></p>"
        )

    def _heard(self, widget: object, content: dict[str, str], buffers: object) -> None:
        self.attempt(lambda: self.answer(content["id"], content["letters"], content.get("why", "")))
        self.send({"heard": content.get("id", "")})


def _fit(item: Item, letters: str) -> None:
    limits = [len(choices) for choices in item.choices]
    if item.kind == "order":
        limits = limits * len(letters)
    if len(letters) != len(limits):
        found = f"{len(limits)} to choose"
        raise Askew(f"{letters!r} for {item.id}", found, "give one letter for each")
    for letter, limit in zip(letters, limits, strict=True):
        if letter not in LETTERS[:limit]:
            asked, found = f"the choice {letter!r} of {item.id}", f"a to {LETTERS[limit - 1]}"
            raise Askew(asked, found, "give the letter of a choice")


def _prose(text: str) -> str:
    parts = escaped(text).split("`")
    return "".join(
        f"<code>{part}</code>" if place % 2 else part for place, part in enumerate(parts)
    )
