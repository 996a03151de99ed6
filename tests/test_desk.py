"""The approval desk without a browser: every press is answered by the real store."""

from __future__ import annotations

import base64
import json
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable

import pytest

from runstate_lab import live
from runstate_lab.brokenledgers import (
    BROKEN_DESKS,
    AlwaysOpenDeskStore,
    AnyApproverStore,
    MisboundDeskStore,
    NervousDeskStore,
    NoGateStore,
    StaleDeskStore,
    StickyGrantStore,
    TimelessDeskStore,
)
from runstate_lab.live.desks.desk import ApprovalDesk
from runstate_lab.live.desks.graph import CONTROLS, GROUPS
from runstate_lab.live.faults import Askew, Sealed
from runstate_lab.model import RunState
from runstate_lab.store import StateStore

VIEW = "application/vnd.jupyter.widget-view+json"
Presses = tuple[Callable[[ApprovalDesk], str], ...]

GRANT: Presses = (lambda desk: desk.grant(),)
DENY: Presses = (lambda desk: desk.deny(),)
MAX: Presses = (lambda desk: desk.grant(by="max"),)
OTHER: Presses = (lambda desk: desk.grant(call="c2"),)
OLD: Presses = (lambda desk: desk.grant(card="old"),)
AGAIN: Presses = (lambda desk: desk.again(),)
TICK: Presses = (lambda desk: desk.tick(),)
EXPIRE: Presses = (lambda desk: desk.expire(),)
RESULT: Presses = (lambda desk: desk.meanwhile("result"),)
BACK: Presses = (lambda desk: desk.meanwhile("arguments"),)
CANCEL: Presses = (lambda desk: desk.meanwhile("cancel"),)
DEPLOY: Presses = (lambda desk: desk.deploy(),)
ASK: Presses = (lambda desk: desk.ask(),)


def pressed(presses: Presses, store: type[StateStore] | None = None) -> ApprovalDesk:
    """A desk after the presses."""
    desk = ApprovalDesk(store)
    for press in presses:
        press(desk)
    return desk


def answers(desk: ApprovalDesk, column: str = "answer") -> list[str]:
    """What was answered, press by press."""
    return list(desk.table()[column])


def stored(desk: ApprovalDesk) -> dict[str, object]:
    """What a notebook keeps of a desk: all but the reference to the live view."""
    bundle, _ = desk._repr_mimebundle_()
    return {kind: value for kind, value in bundle.items() if kind != VIEW}


def drawn(desk: ApprovalDesk, look: str) -> list[str]:
    """The words of one look in the stored picture."""
    coded = desk.picture().partition("base64,")[2].partition('"')[0]
    root = ElementTree.fromstring(base64.b64decode(coded))
    return [node.text or "" for node in root.iter() if node.get("class") == f"rs-{look}"]


@pytest.mark.parametrize(
    ("presses", "answer"),
    [
        (GRANT, "accepted"),
        (DENY, "accepted"),
        (MAX, "refused: answer_foreign"),
        (OTHER, "refused: answer_misbound"),
        (BACK + OLD, "refused: answer_stale"),
        (BACK + GRANT, "accepted"),
        (RESULT + GRANT, "accepted"),
        (CANCEL + GRANT, "refused: illegal_transition"),
        (CANCEL + RESULT, "refused: call_late"),
        (GRANT + GRANT, "refused: answer_repeated"),
        (GRANT + AGAIN, "refused: answer_repeated"),
        (DENY + AGAIN, "refused: answer_repeated"),
        (MAX + AGAIN, "refused: answer_foreign"),
        (TICK * 2 + GRANT, "accepted"),
        (TICK * 3 + GRANT, "refused: answer_expired"),
        (EXPIRE, "refused: request_unknown"),
        (TICK * 3 + EXPIRE, "accepted"),
        (TICK * 3 + EXPIRE + GRANT, "refused: answer_repeated"),
        (DEPLOY, "refused: illegal_transition"),
        (GRANT + DEPLOY, "accepted"),
        (GRANT + DEPLOY + DEPLOY, "refused: call_not_approved"),
        (DENY + DEPLOY, "refused: call_not_approved"),
        (ASK, "refused: illegal_transition"),
        (DENY + ASK, "accepted"),
        (DENY + ASK + OLD, "refused: answer_repeated"),
        (DENY + ASK + GRANT + DEPLOY, "accepted"),
    ],
)
def test_every_way_to_answer_has_its_own_code(presses: Presses, answer: str) -> None:
    """The last press is accepted, or refused with the code that names what is wrong."""
    assert answer == answers(pressed(presses))[-1]


@pytest.mark.parametrize(
    ("store", "presses", "right", "wrong"),
    [
        (AnyApproverStore, MAX, "refused: answer_foreign", "accepted"),
        (MisboundDeskStore, OTHER, "refused: answer_misbound", "accepted"),
        (StaleDeskStore, BACK + OLD, "refused: answer_stale", "accepted"),
        (TimelessDeskStore, TICK * 3 + GRANT, "refused: answer_expired", "accepted"),
        (NervousDeskStore, RESULT + GRANT, "accepted", "refused: answer_stale"),
        (AlwaysOpenDeskStore, GRANT + AGAIN, "refused: answer_repeated", "accepted"),
        (NoGateStore, DENY + DEPLOY, "refused: call_not_approved", "accepted"),
        (StickyGrantStore, GRANT + DEPLOY * 2, "refused: call_not_approved", "accepted"),
    ],
)
def test_each_broken_desk_is_caught_by_its_own_presses(
    store: type[StateStore], presses: Presses, right: str, wrong: str
) -> None:
    """Up to the last press both desks agree; there they differ, and the table says so."""
    desk = pressed(presses, store)
    others = answers(desk, store.__name__)

    assert (right, f"{wrong} (differs)") == (answers(desk)[-1], others[-1])
    assert answers(desk)[:-1] == others[:-1]


def test_the_presses_above_catch_all_broken_desks() -> None:
    """The desk offers each of the eight beside the right one, with its own words."""
    offered = dict(ApprovalDesk().graph["others"])

    assert [make.__name__ for make in BROKEN_DESKS] == list(offered)
    assert "Takes answers long after the request ran out." in offered["TimelessDeskStore"]


def test_a_broken_desk_deploys_what_the_right_one_does_not() -> None:
    """One approval, two effects: the counter stands outside of every store."""
    ends = pressed(GRANT + DEPLOY * 2, StickyGrantStore).ends()

    assert ["the right desk", "StickyGrantStore"] == list(ends["desk"])
    assert ["release 7: 1", "release 7: 2"] == list(ends["deployed"])


def test_the_card_says_what_rosa_binds_to() -> None:
    """Call, arguments, digest, revision and tick stand on the card, and how it ended."""
    desk = ApprovalDesk()
    card = dict(desk.shown[0]["card"]["rows"])

    assert {
        "call": "c3",
        "arguments": "release=7",
        "digest": "d2de3ea233e5",
        "seen at": "revision 6",
        "open until": "tick 3",
        "asked of": "rosa",
    } == card
    assert "open, 3 ticks left" == desk.shown[0]["card"]["stamp"]
    assert "granted at tick 0" == pressed(GRANT).shown[-1]["card"]["stamp"]
    assert "open, but it ran out at tick 3" == pressed(TICK * 3).shown[-1]["card"]["stamp"]


def test_a_run_that_went_back_shows_another_card_under_the_same_id() -> None:
    """The old card is kept: same request, other arguments; only the new one opens the gate."""
    desk = pressed(TICK + BACK + OLD + GRANT + DEPLOY)

    assert [
        ("approve c3", "deploy(release=7)?", "left behind at tick 1"),
        ("approve c3", "deploy(release=8)?", "granted at tick 1"),
    ] == list(desk.cards()[["card", "question", "ended"]].itertuples(index=False, name=None))
    assert "release 8: 1" == desk.shown[-1]["state"]["deployed"]


def test_an_unrelated_commit_moves_the_revision_and_nothing_else() -> None:
    """The answer to a question that did not change is good at any revision."""
    desk = pressed(RESULT + GRANT)

    assert ["8", "9"] == list(desk.table()["revision"])
    assert "Rosa grants: accepted; the run is running at revision 9." == desk.text()


def test_a_refusal_changes_nothing() -> None:
    """The revision stays, the card stays open, and the sentence says so."""
    desk = pressed(MAX)

    assert (
        "Max grants: refused, answer_foreign: the answer is somebody else's; "
        "found request approve c3 put to approver:rosa; nothing changed." == desk.text()
    )
    assert ("waiting", 7) == (
        desk.shown[-1]["state"]["status"],
        desk.shown[-1]["state"]["revision"],
    )


def test_back_and_forward_give_the_same_bytes() -> None:
    """A scrubbed desk shows exactly what it showed before."""
    desk = pressed(MAX + TICK + GRANT, StaleDeskStore)
    before = stored(desk)
    desk.back()
    between = stored(desk)
    desk.forward()

    assert before == stored(desk) != between


def test_going_back_never_asks_a_store_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """The steps are kept; no store is asked while the desk is scrubbed."""
    desk = pressed(MAX + GRANT + DEPLOY)
    monkeypatch.setattr("runstate_lab.store.StateStore.apply", None)

    assert desk.first().startswith("Run-7 waits: rosa is shown deploy(release=7)")
    assert desk.forward().startswith("Max grants: refused")
    assert "The runtime deploys: accepted; call c3 deploys release 7." == desk.last()
    assert desk.reset() == desk.first()


def test_a_press_after_going_back_takes_another_way() -> None:
    """What followed is replaced, and the run that was undone left no trace."""
    desk = pressed(GRANT + DEPLOY)
    desk.first()
    desk.deny()

    assert ["rosa denies"] == list(desk.table()["what"])
    assert "nothing yet" == desk.shown[-1]["state"]["deployed"]


def test_the_same_presses_again_give_the_same_bytes() -> None:
    """Two fresh desks keep the same picture, sentence and table."""
    one, other = (pressed(BACK + OLD + TICK + GRANT) for _ in range(2))

    assert stored(one) == stored(other)
    assert one.csv() == other.csv()


@pytest.mark.parametrize(
    ("ask", "found"),
    [
        (lambda desk: desk.grant(card="old"), "there is no older card yet"),
        (lambda desk: desk.again(), "nothing was answered yet"),
        (lambda desk: desk.grant(card="lost"), "no such choice"),
        (lambda desk: desk.grant(by=7), "no name"),
        (lambda desk: desk.meanwhile("lunch"), "no such choice"),
        (lambda desk: desk.beside("KindStore"), "no such choice"),
        (lambda desk: desk.beside(lambda state: state), "a driver's store that has load"),
        (lambda desk: [desk.meanwhile("result") for _ in range(2)], "scan has answered"),
        (lambda desk: [desk.meanwhile("arguments") for _ in range(2)], "went back once"),
        (lambda desk: [desk.meanwhile("cancel") for _ in range(2)], "the run has ended"),
        (lambda desk: [desk.tick() for _ in range(10)], "the axis ends here"),
        (lambda desk: [desk.grant() for _ in range(21)], "20 presses are enough"),
    ],
)
def test_a_call_that_makes_no_sense_says_why(
    ask: Callable[[ApprovalDesk], object], found: str
) -> None:
    """The message names what was found and ends with one thing to do."""
    desk = ApprovalDesk()
    with pytest.raises(Askew, match=found) as refused:
        ask(desk)

    assert "\nhint: " in str(refused.value)


def test_the_desk_is_whole_after_a_store_that_cannot_begin() -> None:
    """A learner's broken factory changes nothing that is shown."""
    desk = pressed(GRANT)
    before = stored(desk)
    with pytest.raises(Askew, match="my desk"):
        desk.beside(lambda state: 1 / 0)

    assert before == stored(desk)
    assert desk.beside(None) == desk.text()


def test_a_learners_own_store_stands_beside_the_right_one() -> None:
    """A factory is enough; what it raises is shown as its answer."""

    class Mine(StateStore):
        """Falls over when somebody says yes."""

        def _check(self, event: object) -> None:
            if event.kind == "approval_granted":
                raise KeyError("approver")
            super()._check(event)

    desk = pressed(DENY, Mine)
    assert ["accepted"] == answers(desk, "Mine")
    desk.first()

    assert desk.grant().endswith(" Mine: broke, KeyError: 'approver'.")
    assert ["refused: broke (differs)"] == answers(desk, "Mine")


def test_another_desk_can_be_put_beside_the_presses_afterwards() -> None:
    """The presses stay, the place in them stays, the other's answers appear and go."""
    desk = pressed(MAX + GRANT)
    desk.back()
    desk.beside("AnyApproverStore")

    assert (1, 3) == (desk.at, len(desk.shown))
    assert ["accepted (differs)"] == answers(desk, "AnyApproverStore")
    desk.beside(None)
    assert "AnyApproverStore" not in desk.table().columns


def test_the_picture_holds_what_the_tables_hold() -> None:
    """Cards, numbers of presses and revisions are drawn; each is in a table, too."""
    desk = pressed(MAX + TICK + GRANT)
    asked = desk.table()[desk.table()["answer"] != "-"]

    assert ["approve c3, seen at revision 6"] == drawn(desk, "label")
    assert "granted at tick 1" in drawn(desk, "soft")
    assert list(asked["press"]) == drawn(desk, "press-number") == ["1", "3"]
    assert list(asked["revision"]) == drawn(desk, "pill-text") == ["7", "8"]
    assert 'alt="Approval desk: run-7 is running at revision 8, tick 1' in desk.picture()


def test_every_control_of_the_browser_is_a_press() -> None:
    """Each button stands in one group, and a message from it does what the call does."""
    grouped = [name for names in GROUPS.values() for name in names]
    desk, twin = ApprovalDesk(), pressed(MAX)
    desk._heard(desk, {"press": "max"}, [])

    assert sorted(CONTROLS) == sorted(grouped)
    assert stored(twin) == stored(desk)


def test_a_press_that_is_off_is_told_in_the_desk() -> None:
    """A message for a control that is off raises nothing and shows the reason."""
    desk = ApprovalDesk()
    desk._heard(desk, {"press": "again"}, [])

    assert "nothing was answered yet" in desk.fault
    desk._heard(desk, {"press": "grant"}, [])
    assert "" == desk.fault


def test_a_sealed_desk_tells_nothing() -> None:
    """No step is sent, no call is answered, no message is followed; then all comes back."""
    desk = pressed(GRANT + DEPLOY)
    desk.seal("predict first")
    state = desk.get_state()
    sent = json.dumps({key: state[key] for key in state if key not in ("_esm", "_css", "layout")})

    assert ({}, []) == (state["graph"], state["shown"])
    assert [] == [word for word in ("accepted", "refused", "revision") if word in sent]
    for call in (desk.deny, desk.table, desk.back, lambda: desk.beside(None)):
        with pytest.raises(Sealed):
            call()
    desk._heard(desk, {"press": "grant"}, [])
    assert ("Approval desk, locked: predict first", []) == (desk.sentence(), desk.shown)

    desk.unseal(choice="refused", why="twice")
    assert (2, 3) == (desk.at, len(desk.shown))


def test_the_desk_comes_with_one_import() -> None:
    """The public name is the class, and the default store is the right one."""
    assert live.ApprovalDesk is ApprovalDesk
    assert isinstance(StateStore(RunState("run-7")), StateStore)
    assert ApprovalDesk().table().empty
