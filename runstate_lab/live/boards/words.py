"""Machinery. A moment in words: what a worker did, what it was answered, what broke.

Told from what the worker really touched, so that any worker reads well.

What is not here: where the words stand (see `boardmarks`, `boardviews`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from runstate_lab.laws import RESULTS
from runstate_lab.line import FAULTS, Touch
from runstate_lab.live.boards.plays import SKIPPED, Moment
from runstate_lab.live.boards.worlds import Cast, short_name
from runstate_lab.model import RunState, RunStatus, StateProposal
from runstate_lab.show.told import told
from runstate_lab.trace import Entry

BROKEN = {
    "no_lost_update": "an update is lost",
    "no_decision_on_old_facts": "decided on old facts",
    "no_double_claim": "claimed twice",
    "nothing_pending_at_completion": "completed with something pending",
    "no_terminal_return": "an ended run has changed",
    "nothing_begins_after_the_end": "begun after the end",
    "one_approval_one_effect": "an effect without an approval",
    "no_stale_approval": "an old question is approved",
    "no_effect_twice": "the same effect twice",
    "intent_before_effect": "an effect nobody announced",
    "no_result_for_a_closed_call": "a result for a closed call",
    "only_the_holder_reports": "reported by a stranger",
    "no_event_of_a_stranger": "a stranger was let in",
    "nothing_left_open": "something is left open",
}
"""What to say when a law of the kit is broken."""

CODES = {
    "revision_conflict": "conflict",
    "writer_rejected": "not its writer",
    "illegal_transition": "illegal now",
}
"""The answers that a picture says in its own words."""

ALONE = "works on its own"
ACCEPTED, NOT_TAKEN, BREAKS, QUIET_STEP = "accepted", "refused", "breaks a law", "submits nothing"
EXPECTED = (ACCEPTED, NOT_TAKEN, BREAKS, QUIET_STEP)
GOOD, LOST, REFUSED, OPEN, FAULTY = "good", "lost", "refused", "open", "failed"


def broken_words(law: str) -> str:
    """What a broken law means, in a few words.

    >>> broken_words("no_lost_update"), broken_words("deployed_once")
    ('an update is lost', 'deployed once, broken')
    """
    return BROKEN.get(law) or f"{law.replace('_', ' ')}, broken"


def code_words(code: str) -> str:
    """A refusal's code in the words of a picture.

    >>> code_words("revision_conflict"), code_words("call_unknown")
    ('conflict', 'call unknown')
    """
    return CODES.get(code) or code.replace("_", " ")


def offer(proposal: StateProposal) -> str:
    """What a proposal wants: its value, and its kind where the value does not say it.

    >>> offer(StateProposal("tool_result_recorded", "tests=green", 4))
    'tests=green'
    >>> offer(StateProposal("run_cancelled", "too late", 4))
    'run_cancelled too late'
    """
    value = told(proposal.value)
    return value if proposal.kind in RESULTS else f"{proposal.kind} {value}".strip()


def spoken(said: object) -> str:
    """What was said to the world, in words.

    >>> spoken("deployed release 7")
    'deployed release 7'
    """
    return str(getattr(said, "words", None) or told(said))


def doing(moment: Moment) -> str:
    """What a step does, without how it ends: the label of the press that makes it."""
    step = moment.step
    if step is None or moment.failure:
        return "takes its next step"
    parts = list(dict.fromkeys(_verbs(step.touches)))
    if step.said is not None:
        parts.append(f"asks again: {spoken(step.said)}" if moment.again else f"says {spoken(step.said)}")
    if len(parts) > 2:
        parts = [parts[0], "...", parts[-1]]
    return ", ".join(parts) or ALONE


def sentence(moment: Moment, cast: Cast) -> str:
    """The step in one sentence: who did what, and how it was answered."""
    step = moment.step
    if step is None:
        return opening(moment, cast)
    who = cast.who(step.worker)
    if step.ended == SKIPPED:
        return f"{who} takes no step here: {off(moment, step.move) or 'its step cannot meet that'}."
    if moment.of_store:
        return f"{who} cannot go on: {moment.failure}. That is a fault of the store, not of this order."
    if moment.failure:
        return f"{who} fails: {moment.failure}. That is a fault of the code, not of this order."
    if step.ended == "crashed":
        return f"{who} crashes: what it knew is gone, and it starts again from its beginning."
    if step.ended == "delivered":
        return f"The mail of {who} arrives: {_did(moment)}; nobody hears the answer."
    return f"{who} {_did(moment)}{_unheard(moment)}."


def opening(moment: Moment, cast: Cast) -> str:
    """What is said before the first step."""
    if moment.failure:
        return f"Nothing can be played: {moment.failure}."
    return f"Nothing has happened yet. {cast.story}".strip()


def remarks(moment: Moment) -> tuple[str, ...]:
    """What nobody was told: facts that are gone, laws that are broken by this step."""
    lost = tuple(f"{fact} is gone" for fact in gone(moment.before, moment.after))
    said = [law for law in moment.fresh if not (lost and law in RESULT_LAWS)]
    return (*lost, *map(broken_words, said))


def gone(before: Any, after: Any) -> tuple[str, ...]:
    """The facts of one state that another one no longer has."""
    if not (isinstance(before, RunState) and isinstance(after, RunState)):
        return ()
    kept = set(map(str, after.facts))
    return tuple(str(fact) for fact in before.facts if str(fact) not in kept)


def answers(moment: Moment) -> list[str]:
    """The store's answer to each proposal of the step, in a word or two."""
    touches = moment.step.touches if moment.step else ()
    return [
        code_words(touch.code) if touch.code else ACCEPTED
        for touch in touches
        if touch.proposal is not None and touch.verb != "send"
    ]


def happened(moment: Moment) -> str:
    """How a step went, in one of the words in which it can be foretold."""
    if moment.failure:
        return failed(moment)
    if moment.fresh:
        return BREAKS
    said = answers(moment)
    if any(word != ACCEPTED for word in said):
        return NOT_TAKEN
    return ACCEPTED if said else QUIET_STEP


def failed(moment: Moment) -> str:
    """Whose failure ended a play, in short."""
    return "the store failed" if moment.of_store else "the code failed"


def off(moment: Moment, move: str) -> str:
    """Why a move is not open at a moment; empty if it is."""
    worker = move[0].upper()
    if move[0] in moment.enabled:
        return ""
    if moment.failure:
        whose = "store" if moment.of_store else "code"
        return f"the {whose} has failed; go back, or start again"
    if move.islower():
        return f"no mail of {worker} is on its way"
    ended = moment.ends.get(worker, "")
    if ended == "done":
        return f"{worker} is done"
    if ended == "no answer":
        return f"{worker} got no answer and has stopped"
    if worker not in moment.refusals:
        return f"there is no worker {worker}"
    state = moment.after
    waits = isinstance(state, RunState) and state.status is RunStatus.WAITING
    held = f"; WAITING: {state.waiting_for}" if waits else ""
    return f"{worker} was refused: {moment.refusals[worker].reason}{held}"


def off_with_fault(moment: Moment, move: str, plain: Moment | None) -> str:
    """Why a fault cannot be set at a worker's next step; `plain` is that step without it."""
    worker, mark = move[0], move[1:]
    why = off(moment, worker)
    if why or mark not in FAULTS:
        return why
    if mark == "!":
        return "" if worker in moment.begun else f"{worker} has not begun: nothing to forget"
    sends = plain is not None and plain.proposes
    return "" if sends else f"the next step of {worker} sends no proposal"


def _verbs(touches: tuple[Touch, ...]) -> Iterator[str]:
    for touch in touches:
        if touch.proposal is not None:
            yield f"submits {offer(touch.proposal)}"
        elif touch.verb == "load":
            yield "reads"
        elif touch.verb not in QUIET:
            yield f"looks at {touch.verb}"


def row(moment: Moment, cast: Cast) -> list[str]:
    """A step as a row of the trace: who, what, only the store's answer, the revision."""
    step = moment.step
    if step is None:
        return []
    name = short_name(cast.names, step.worker)
    revision = str(getattr(moment.after, "revision", "?"))
    if step.ended == SKIPPED:
        what, answer = "takes no step here", off(moment, step.move)
    elif moment.failure:
        what, answer = "fails", moment.failure
    elif step.ended == "crashed":
        what, answer = "crashes", "starts again"
    else:
        acts = _acts(moment)
        what = "; ".join(act for act, _ in acts) or ALONE
        answer = "; ".join(said for _, said in acts if said) or _unheard(moment)[2:]
        what = f"its mail arrives: {what}" if step.ended == "delivered" else what
    besides = "; ".join(filter(None, [_remark(moment), *stale(moment)]))
    return [f"{step.worker} {name}".strip(), what, answer, revision, besides]


def _did(moment: Moment) -> str:
    """Everything a step did, with the answers, and with what nobody was told."""
    parts = [f"{act}: {said}" if said else act for act, said in _acts(moment, whole=True)]
    return "; ".join([*parts, *filter(None, [_remark(moment)])]) or ALONE


def _remark(moment: Moment) -> str:
    """What is gone or broken after the step, and that nobody was told, if so."""
    after = remarks(moment)
    if not after:
        return ""
    refused = any(touch.code for touch in moment.step.touches)
    return "; ".join(after) + ("" if refused else ", and nobody was told")


def stale(moment: Moment) -> tuple[str, ...]:
    """Who believes in an old state since this step: the dashes of the picture, in words."""
    return tuple(
        f"{worker} still believes in revision {getattr(seen, 'revision', '?')}"
        for worker, seen in moment.believes.items()
        if seen != moment.after and moment.believed.get(worker, moment.before) == moment.before
    )


def _acts(moment: Moment, *, whole: bool = False) -> list[tuple[str, str]]:
    """What a step did, act by act, each with the store's answer; `whole` says what was found."""
    acts: list[tuple[str, str]] = []
    entries = list(moment.entries)
    for touch in moment.step.touches:
        if touch.proposal is not None:
            sent = f"submits {offer(touch.proposal)}, made from {touch.proposal.expected_revision}"
            entry = entries.pop(0) if entries and touch.verb != "send" else None
            answer = "" if touch.verb == "send" else _answered(moment, touch, entry, whole=whole)
            acts.append((sent, answer))
        elif touch.verb == "load":
            acts.append((f"reads revision {touch.revision}", ""))
        elif touch.verb not in QUIET:
            acts.append((f"looks at the store's {touch.verb}", ""))
    if moment.step.said is not None:
        acts.append((_to_the_world(moment), ""))
    return list(dict.fromkeys(acts))


def _to_the_world(moment: Moment) -> str:
    said = moment.step.said
    if moment.again:
        return f"asked again with key {said.key}: nothing more happened"
    return f"says “{spoken(said)}” to the world"


def _answered(moment: Moment, touch: Touch, entry: Entry | None, *, whole: bool) -> str:
    if not touch.code:
        return f"accepted at revision {touch.revision}"
    refusal = (entry.refusal if entry else None) or moment.refusals.get(moment.step.worker)
    said = f"refused, {refusal.reason if refusal is not None else code_words(touch.code)}"
    if not whole:
        return said
    found = f"; found {refusal.found}" if refusal is not None else ""
    same = "; nothing changed" if moment.before == moment.after else ""
    return f"{said}{found}{same}"


def _unheard(moment: Moment) -> str:
    mark = moment.step.move[1:]
    return {
        "_": "; it is lost on its way, and no answer comes",
        "~": "; it is late, and no answer comes",
        "+": "; the same is on its way once more",
        "?": "; the answer does not arrive",
    }.get(mark, "")


RESULT_LAWS = ("no_lost_update", "no_decision_on_old_facts")
QUIET = ("rules", "note", "base")
