"""Machinery. The space-time picture of a board: a lane per worker, one for the store.

Time runs to the right, a column for each step. A worker's lane is thick from
what it read to what it submitted: so long it believes in one revision. The
thick line breaks into dashes when the store has moved on. Each column is drawn
by itself, around its own middle, so that a window of columns can slide.

What is not here: the words of a step (see `boardwords`).
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping

from runstate_lab.laws import RESULTS
from runstate_lab.line import Touch
from runstate_lab.live.boards import words
from runstate_lab.live.boards.layout import ABOVE, BELOW, DOOR, FEW, LEFT, RIGHT, Layout
from runstate_lab.live.boards.plays import FAILED, SKIPPED, Moment, still
from runstate_lab.live.fitting import broken, named
from runstate_lab.live.marks import Mark, Marks, box, dot, head, line, path, text
from runstate_lab.race import Step

DETAIL, SPREAD = 17, 20
MARKED = {"_": "lost", "~": "late", "+": "twice", "?": "unheard"}


def ground(layout: Layout, names: Mapping[str, str]) -> Marks:
    """The lanes with their names."""
    heights = [*map(layout.lane, layout.workers), layout.store]
    titles = [
        mark
        for worker in layout.workers
        for mark in _title(layout.lane(worker), worker, names.get(worker, ""))
    ]
    lanes = [line(LEFT, y, RIGHT, y, "lane") for y in heights]
    word = text(14, layout.size[1] - 6, "step", "soft", anchor="start")
    return (*lanes, *titles, *_title(layout.store, "store", "revision"), word)


def pill(x: float, y: float, revision: str, role: str = "pill") -> Marks:
    """A revision of the store."""
    wide = max(28, 10 + 8 * len(revision))
    return (
        box(x - wide / 2, y - 12, wide, 24, role, corner=12),
        text(x, y + 5, revision, "pill-text"),
    )


def shade(layout: Layout, x: float = 0) -> Mark:
    """The ground of the column of the step shown; it lies under everything."""
    apart, height = layout.apart, layout.size[1]
    return box(x - apart / 2 + 2, 4, apart - 4, height - 26, "column")


def marks(moment: Moment, layout: Layout, x: float = 0) -> Marks:
    """The marks of one step, in a column around `x`."""
    step = moment.step
    if step is None:
        return ()
    lane = layout.lane(step.worker)
    return (
        *_beliefs(moment, layout, x),
        *_letters(moment, layout, x),
        *_arrows(moment, layout, x),
        *_spot(moment, layout, x, lane),
        *_labels(moment, layout, x, lane),
        *_remark(moment, layout, x),
    )


def resting(moment: Moment, layout: Layout) -> Marks:
    """What goes on in a column in which nothing is done: beliefs, and mail on its way."""
    here = still(moment)
    return (*_beliefs(here, layout, 0), *_letters(here, layout, 0))


def idle(layout: Layout, worker: str) -> Marks:
    """The marks of a move that is not open."""
    step = Step(0, worker, worker, (), None, SKIPPED)
    return marks(Moment(step=step), layout)


def _title(y: int, name: str, note: str) -> Marks:
    whole = note.removeprefix("the ")
    rows = broken(whole, 12, LEFT - 18)
    # A second line lifts the first two a little, so that all stay around the lane.
    top = y - 3 - 7 * (len(rows) - 1)
    notes = [text(14, top + 17 + 14 * at, row, "soft", anchor="start") for at, row in enumerate(rows)]
    if any("…" in row for row in rows):
        notes = [named(mark, whole) for mark in notes]
    return (text(14, top, name, "name", anchor="start"), *notes)


def _beliefs(moment: Moment, layout: Layout, x: float) -> list[Mark]:
    """The thick line of everybody who has read and not answered for it, dashed when it is old."""
    # Half a point over, so that two columns leave no seam.
    half = layout.apart / 2 + 0.5
    drawn = []
    for held, now, left, right in (
        (moment.believed, moment.before, x - half, x),
        (moment.believes, moment.after, x, x + half),
    ):
        for worker, state in held.items():
            old = "" if state == now else " rs-old"
            role = f"span-{layout.hue(worker)}{old}"
            drawn.append(line(left, layout.lane(worker), right, layout.lane(worker), role))
    return drawn


def _letters(moment: Moment, layout: Layout, x: float) -> list[Mark]:
    """The dotted line of mail that is on its way."""
    half = layout.apart / 2
    drawn = []
    for held, left, right in ((moment.mailed, x - half, x), (moment.mail, x, x + half)):
        for worker in held:
            y = _middle(layout, worker)
            drawn.append(line(left, y, right, y, "mail"))
    return drawn


def _arrows(moment: Moment, layout: Layout, x: float) -> list[Mark]:
    """One arrow for each touch of the store that carries something."""
    step, said = moment.step, _told(moment)
    drawn: list[Mark] = []
    for place, touch in enumerate(said):
        at = x + (place - (len(said) - 1) / 2) * SPREAD
        if touch.verb == "load":
            drawn.extend(_reading(layout, step.worker, at))
        elif touch.verb == "send":
            drawn.extend(_sending(layout, step.worker, at, step.move[1:]))
        else:
            drawn.extend(_submitting(layout, moment, at, touch))
    if step.move[1:] == "+" and step.worker in moment.mail:
        drawn.extend(_envelope(x + layout.apart / 2 - 10, _middle(layout, step.worker)))
    return drawn


def _told(moment: Moment) -> list[Touch]:
    """The touches that have an arrow: no load right after another one, and none in a crowd."""
    touches = [one for one in moment.step.touches if one.verb == "load" or one.proposal]
    kept = [
        touch
        for before, touch in zip((None, *touches), touches, strict=False)
        if not (before and touch.verb == before.verb == "load")
    ]
    return kept if len(kept) <= 3 else [touch for touch in kept if touch.proposal][-4:]


def _reading(layout: Layout, worker: str, x: float) -> Marks:
    lane, side = layout.lane(worker), layout.side(worker)
    near = lane - side * 7
    return (
        line(x, layout.store, x, near, "read"),
        head(x, near, (0.0, float(side)), "read"),
    )


def _sending(layout: Layout, worker: str, x: float, mark: str) -> Marks:
    lane, side, middle = layout.lane(worker), layout.side(worker), _middle(layout, worker)
    course = line(x, lane - side * 7, x, middle, "refused" if mark == "_" else "mail")
    return (course, *((_cross(x, middle),) if mark == "_" else _envelope(x, middle)))


def _submitting(layout: Layout, moment: Moment, x: float, touch: Touch) -> Marks:
    worker, store = moment.step.worker, layout.store
    side = layout.side(worker)
    near = layout.lane(worker) - side * 7
    if moment.step.move.islower():
        near = _middle(layout, worker)
    towards = (0.0, float(-side))
    if not touch.code:
        far = store + side * 15
        arrow = (line(x, near, x, far, "accepted"), head(x, far, towards, "accepted"))
        return (*arrow, *pill(x, store, str(touch.revision), "pill-new"))
    stop = store + side * 22
    return (
        line(x, near, x, stop, "refused"),
        head(x, stop - side * 6, towards, "refused"),
        _cross(x, stop + side * 16),
    )


def _spot(moment: Moment, layout: Layout, x: float, lane: int) -> Marks:
    step, hue = moment.step, layout.hue(moment.step.worker)
    if step.ended in ("crashed", FAILED):
        return (_cross(x, lane, 7),)
    if step.ended == "delivered":
        return _envelope(x, _middle(layout, step.worker))
    if step.ended == SKIPPED:
        return (dot(x, lane, 4, "idle"),)
    if step.said is not None and not moment.again:
        return (path(f"M{x:g} {lane - 9}l9 9l-9 9l-9 -9z", f"effect-{hue}"),)
    return (dot(x, lane, 5, f"dot-{hue}"),)


def _labels(moment: Moment, layout: Layout, x: float, lane: int) -> list[Mark]:
    side = layout.side(moment.step.worker)
    first, second = (-30, -14) if side == ABOVE else (24, 40)
    action, detail = _label(moment)
    drawn = [text(x, lane + first, _cut(action, layout), "label")]
    if detail:
        drawn.append(text(x, lane + second, _cut(detail, layout), "soft"))
    return [*drawn, *_beside(moment, layout, x)]


def _beside(moment: Moment, layout: Layout, x: float) -> list[Mark]:
    """The words at an arrow: the answer on the left, what it was made from on the right."""
    worker, drawn = moment.step.worker, []
    side, (said, mood) = layout.side(worker), _answer(moment)
    near, far = (layout.store + one if side == BELOW else layout.store - one + 8 for one in (43, 58))
    wide = max(0, len(_told(moment)) - 1) * SPREAD / 2
    late = moment.step.ended == "delivered"
    if said:
        place, anchor = (x + 14, "start") if late else (x - 9 - wide, "end")
        drawn.append(text(place, far, said, mood, anchor=anchor))
    offers = [touch.proposal for touch in moment.step.touches if touch.proposal is not None]
    mark = MARKED.get(moment.step.move[1:], "")
    if len(offers) == 1 and not late:
        made = (mark, "bad") if mark else (f"from {offers[0].expected_revision}", "soft")
        drawn.append(text(x + 9 + wide, near, *made, anchor="start"))
    return drawn


def _label(moment: Moment) -> tuple[str, str]:
    """What stands at a worker's lane: an action, and what it is about."""
    step = moment.step
    if step.ended in ("crashed", "delivered", SKIPPED, FAILED):
        fixed = {
            "crashed": ("crashes", "starts again"),
            "delivered": ("mail arrives", ""),
            SKIPPED: ("no step", ""),
            FAILED: ("fails", moment.failure.partition(":")[0]),
        }
        return fixed[step.ended]
    if step.said is not None:
        if moment.again:
            return "asks again", "nothing more"
        sent = "submits, says" if moment.proposes else "says"
        return sent, f"“{words.spoken(step.said)}”"
    offers = [touch.proposal for touch in step.touches if touch.proposal is not None]
    if offers:
        count = f" {len(offers)}" if len(offers) > 1 else ""
        last = offers[-1]
        shown = words.offer(last) if last.kind in RESULTS else last.kind.replace("_", " ")
        return f"submits{count}", shown
    seen = [touch.revision for touch in step.touches if touch.verb == "load"]
    return ("reads", f"revision {seen[-1]}") if seen else ("works", "on its own")


def _answer(moment: Moment) -> tuple[str, str]:
    """The store's answer beside the arrow, and its look."""
    said = words.answers(moment)
    if len(said) > 1:
        taken = said.count("accepted")
        all_of_them = taken == len(said)
        count = f"{taken} accepted" if all_of_them else f"{taken} of {len(said)}"
        return count, "good" if all_of_them else "bad"
    one = said[0] if said else ""
    return one, "good" if one == "accepted" else "bad"


def _remark(moment: Moment, layout: Layout, x: float) -> list[Mark]:
    said = words.remarks(moment)
    if not said:
        return []
    side = layout.side(moment.step.worker)
    words_of_one = said[0].removesuffix(" is gone") + "\nis gone" if "is gone" in said[0] else said[0]
    lines = [one for row in words_of_one.splitlines() for one in textwrap.wrap(row, 14)][:2]
    drawn = []
    for row, one in enumerate(lines):
        y = layout.store - side * 24 + 4 + (row * 15 if side == ABOVE else (row - 1) * 15)
        drawn.append(text(x, y, one, "warn"))
    return drawn


def _middle(layout: Layout, worker: str) -> int:
    return layout.store + layout.side(worker) * DOOR // 2


def _cut(said: str, layout: Layout) -> str:
    most = DETAIL if layout.columns == FEW else DETAIL - 2
    return said if len(said) <= most else said[: most - 1].rstrip() + "…"


def _envelope(x: float, y: float) -> Marks:
    return (
        box(x - 9, y - 6, 18, 12, "envelope", corner=2),
        path(f"M{x - 9:g} {y - 6:g}l9 7l9 -7", "envelope"),
    )


def _cross(x: float, y: float, half: int = 5) -> Mark:
    return path(f"M{x - half:g} {y - half:g}l{2 * half} {2 * half}m0 -{2 * half}l-{2 * half} {2 * half}", "cross")
