"""Questions that are judged in the kernel, against the course's own tables.

A wrong choice names the belief behind it and the lesson that breaks it; a
wrong blank names the fault it builds. What was answered goes to the progress
file, with the words that were chosen, and is shown as answered when the form
comes back; `form.again()` begins anew.

What is not here: predictions, which nobody can get wrong beforehand.
"""

from __future__ import annotations

from dataclasses import replace

from runstate_lab.course.faults import AskedWrongly
from runstate_lab.course.misconceptions import misconception
from runstate_lab.course.predictions import foretell
from runstate_lab.course.progress import keep, progress_of, recall
from runstate_lab.course.questiontable import (
    LETTERS,
    Choice,
    Fill,
    Order,
    Prediction,
    Question,
    Task,
    fill_of,
    order_of,
    quiz_of,
    task_of,
)
from runstate_lab.live.form import Form, Item, Reply

SECTION = "answers"
RIGHT = "Right."
CHANGED = "What you answered before does not fit this question any more: answer it once more."
CALL = 'from runstate_lab.course import answer; answer("{id}", "{letters}")'


def quiz(id: str) -> Form:
    """The questions of a quiz; a wrong answer names the belief behind it."""
    asked = quiz_of(id)
    return _form(f"Quiz {id}", *asked.questions)


def fill(id: str) -> Form:
    """Code with blanks; a wrong choice names the fault that it builds."""
    return _form(f"Fill {id}", fill_of(id))


def order(id: str) -> Form:
    """Slips to put in order; some of them stay out."""
    return _form(f"Order {id}", order_of(id))


def answer(id: str, letters: str, why: str = "") -> str:
    """What is said to an answer: the plain call behind every form.

    One letter for a question or a prediction, one for each blank, or the
    letters of the slips in order.

    >>> answer("99.1", "a")
    Traceback (most recent call last):
    runstate_lab.course.faults.AskedWrongly: no questions for lesson '99'
    hint: ...
    """
    form = _form(f"Task {id}", task_of(id))
    said = form.answer(id, letters, why)
    return " ".join((said, *form.replies[id]["more"]))


def _form(title: str, *tasks: Task) -> Form:
    by_id = {task.id: task for task in tasks}
    found = {task.id: _kept_reply(task) for task in tasks if not isinstance(task, Prediction)}

    def judge(id: str, letters: str, why: str) -> Reply:
        task = by_id[id]
        if isinstance(task, Prediction):
            return foretell(id, letters, why)
        reply, belief = _judged(task, letters)
        unkept = _record(task, letters, reply, belief)
        return replace(reply, more=(*reply.more, unkept)) if unkept else reply

    return Form(
        title,
        tuple(map(_item, tasks)),
        judge,
        replies={id: reply for id, reply in found.items() if reply},
        forget=lambda id: progress_of().forget(SECTION, id),
        call=CALL.format(id=tasks[0].id, letters=_example(tasks[0])),
    )


def _example(task: Task) -> str:
    return LETTERS[: len(task.blanks)] if isinstance(task, Fill) else "a"


def _kept_reply(task: Question | Fill | Order) -> Reply | None:
    """What was answered before, judged as it was then; None where nothing was."""
    entry = recall(SECTION, task.id)
    if entry is None:
        return None
    try:
        letters, tries = entry["given"], entry["tries"]
        if entry["chosen"] != _chosen(task, letters) or type(tries) is not int or tries < 1:
            return Reply(CHANGED)
        reply, _ = _judged(task, letters)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError):
        return Reply(CHANGED)
    many = "1 try" if tries == 1 else f"{tries} tries"
    return replace(reply, more=(*reply.more, f"You answered this before: {many}."))


def _chosen(task: Question | Fill | Order, letters: str) -> list[str]:
    """The words that the letters stand for; they must fit the task as it is now."""
    if isinstance(task, Order):
        return [task.shown[LETTERS.index(letter)] for letter in letters]
    blanks = task.blanks if isinstance(task, Fill) else (task.choices,)
    pairs = zip(blanks, letters, strict=True)
    return [blank[LETTERS.index(letter)].text for blank, letter in pairs]


def _item(task: Task) -> Item:
    if isinstance(task, Order):
        return Item(task.id, "order", task.text, (task.shown,))
    if isinstance(task, Fill):
        blanks = tuple(tuple(choice.text for choice in blank) for blank in task.blanks)
        return Item(task.id, "fill", task.text, blanks, code=task.code)
    if isinstance(task, Prediction):
        return Item(task.id, "choice", task.text, (task.choices,), why=True)
    return Item(task.id, "choice", task.text, (tuple(choice.text for choice in task.choices),))


def _judged(task: Question | Fill | Order, letters: str) -> tuple[Reply, str]:
    if isinstance(task, Order):
        return _judged_order(task, letters), ""
    if isinstance(task, Fill):
        chosen = [
            blank[LETTERS.index(letter)] for blank, letter in zip(task.blanks, letters, strict=True)
        ]
        faults = tuple(
            f"Blank {number}: {choice.fault}"
            for number, choice in enumerate(chosen, start=1)
            if not choice.right
        )
        return _reply(task.because, faults, letters), ""
    choice = task.choices[LETTERS.index(letters)]
    return _reply(task.because, _belief(choice), letters), choice.wrong


def _belief(choice: Choice) -> tuple[str, ...]:
    return () if choice.right else (misconception(choice.wrong).sentence,)


def _judged_order(task: Order, letters: str) -> Reply:
    if len(set(letters)) != len(letters):
        raise AskedWrongly(f"the order {letters!r} has a slip twice", hint="give each letter once")
    kept = [task.shown[LETTERS.index(letter)] for letter in letters]
    why = {choice.text: choice.fault for choice in task.distractors}
    strange = tuple(f"`{slip}` does not belong here: {why[slip]}" for slip in kept if slip in why)
    if strange:
        return _reply(task.because, strange[:1], letters)
    missing = len(task.steps) - len(kept)
    if missing:
        return _reply(
            task.because, (f"{missing} of the steps that belong here is left out.",), letters
        )
    wrong = next((place for place, slip in enumerate(kept) if slip != task.steps[place]), None)
    if wrong is None:
        return _reply(task.because, (), letters)
    return _reply(
        task.because,
        (f"The first {wrong} are in place; `{kept[wrong]}` comes too early.",),
        letters,
    )


def _reply(because: str, faults: tuple[str, ...], letters: str) -> Reply:
    if faults:
        return Reply("Not yet.", "wrong", letters, more=faults)
    return Reply(f"{RIGHT} {because}".strip(), "good", letters)


def _record(task: Question | Fill | Order, letters: str, reply: Reply, belief: str) -> str:
    before = recall(SECTION, task.id)
    known = before if isinstance(before, dict) else {}
    tries, held = known.get("tries"), known.get("beliefs")
    beliefs = [one for one in held if isinstance(one, str)] if isinstance(held, list) else []
    entry = {
        "given": letters,
        "chosen": _chosen(task, letters),
        "right": reply.mood == "good",
        "tries": (tries if type(tries) is int and tries > 0 else 0) + 1,
        "beliefs": sorted({*beliefs, *([belief] if belief else [])}),
    }
    return keep(SECTION, task.id, entry)
