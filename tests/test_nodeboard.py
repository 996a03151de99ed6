"""The node board without a browser: presses, answers, fencing, the swap of schedulers."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from itertools import pairwise
from xml.etree import ElementTree

import pytest

from runstate_lab.brokenloops import (
    BROKEN_SCHEDULERS,
    FencedByNameScheduler,
    GrabbingScheduler,
    GreedyScheduler,
)
from runstate_lab.graph import ExecutableGraph, Node
from runstate_lab.live import NodeBoard
from runstate_lab.live.faults import Askew, Sealed
from runstate_lab.live.nodes.layout import COMPACT, layout
from runstate_lab.model import Claim, NodeStatus
from runstate_lab.scheduler import Scheduler

SVG = "{http://www.w3.org/2000/svg}"
VIEW = "application/vnd.jupyter.widget-view+json"


def stored(board: NodeBoard) -> dict[str, object]:
    """What a notebook keeps of a board."""
    bundle, _ = board._repr_mimebundle_()
    return {kind: value for kind, value in bundle.items() if kind != VIEW}


def words(board: NodeBoard) -> list[str]:
    """All texts in the stored picture."""
    coded = board.picture().partition("base64,")[2].partition('"')[0]
    root = ElementTree.fromstring(base64.b64decode(coded))
    return [text.text or "" for text in root.iter(f"{SVG}text")]


def stalled(**options: object) -> NodeBoard:
    """Worker w1 is given up on the tests and takes them a second time."""
    board = NodeBoard(**options)
    board.take("w1")
    board.finish("w1")
    board.take("w1")
    board.lease_end()
    board.release()
    board.take("w1")
    return board


def chain(length: int) -> ExecutableGraph:
    """Nodes in one line."""
    names = [f"step_{place}" for place in range(length)]
    before = dict(zip(names[1:], names[:-1], strict=True))
    nodes = [Node(name, dict, (before[name],) if name in before else ()) for name in names]
    return ExecutableGraph(nodes, start=tuple(names[:1]))


def test_a_release_is_told_press_by_press() -> None:
    """Claims, a put back node, a question, an approval and the last report, in words."""
    board = NodeBoard()
    said = [
        board.take("w1", limit=2),
        board.finish("w1", "build"),
        board.take("w1"),
        board.take("w2", limit=2),
        board.tick(3),
        board.fail("w1", "tests"),
        board.take("w1"),
        board.finish("w1"),
        board.finish("w2"),
        board.take("w2"),
        board.finish("w2"),
        board.approve("deploy"),
        board.take("w1"),
        board.finish("w1"),
    ]

    assert [
        "w1 looks: build is ready. It takes build, attempt 1 of 2, until tick 5.",
        "w1 finishes build, attempt 1: accepted, at revision 5.",
        "w1 looks: tests is ready; scan is ready. It takes tests, attempt 1 of 3, until tick 5.",
        "w2 looks. It takes scan, attempt 1 of 2, until tick 5.",
        "The clock goes on by 3, to tick 3.",
        "w1 fails at tests, attempt 1: accepted, tests is put back, 2 more attempts may follow, "
        "at revision 10.",
        "w1 looks. It takes tests, attempt 2 of 3, until tick 8.",
        "w1 finishes tests, attempt 2: accepted, at revision 12.",
        "w2 finishes scan, attempt 1: accepted, at revision 13.",
        "w2 looks: deploy is ready. It takes deploy, attempt 1 of 1, until tick 8.",
        "w2 finishes deploy, attempt 1: not begun, rosa is asked first, at revision 16.",
        "rosa approves deploy: accepted, deploy may begin with a new claim, at revision 17.",
        "w1 looks: deploy goes back because rosa agreed. "
        "It takes deploy, attempt 1 of 1, until tick 8.",
        "w1 finishes deploy, attempt 1: accepted, at revision 20.",
    ] == said


def test_the_result_of_a_stalled_attempt_is_fenced() -> None:
    """The same worker, an older attempt: refused, and nothing changed."""
    board = stalled()

    assert (
        "The late result of w1 for tests, attempt 1: refused, attempt_fenced; "
        "found attempt 2 by w1. Nothing changed."
    ) == board.late("w1", "tests")
    assert [
        ["tests", "1 of 3", "8", "w1", "until 5", "released; late result refused, attempt_fenced"],
        ["tests", "2 of 3", "10", "w1", "until 10", "running"],
    ] == [row for row in board.table().values.tolist() if row[0] == "tests"]


def test_a_scheduler_that_fences_by_name_lets_the_stalled_attempt_pass() -> None:
    """On the same presses one refuses and the other accepts; the honest report comes too late."""
    board = stalled(scheduler=FencedByNameScheduler)
    board.late("w1", "tests")
    board.finish("w1", "tests")

    assert [
        ["7", "the late result of w1 for tests, attempt 1", "refused: attempt_fenced"]
        + ["accepted, passed for attempt 2", "differs"],
        ["8", "w1 finishes tests, attempt 2", "accepted", "refused: attempt_fenced", "differs"],
    ] == board.outcomes().values.tolist()[6:8]
    assert "Nobody noticed." == (board.choose("FencedByNameScheduler"), board.back())[1][-15:]


def test_a_claim_that_no_store_accepted_is_told() -> None:
    """A grabbing scheduler hands out what another worker holds; its report is refused."""
    board = NodeBoard(scheduler=(GrabbingScheduler, GreedyScheduler))
    board.choose("GrabbingScheduler")
    board.take("w1")

    assert "No store accepted the claim on build." == board.take("w2")[-37:]
    assert ["none", "w2"] == board.table().values.tolist()[1][2:4]
    board.finish("w1")
    assert "w2 holds build, attempt 1 of 2, until tick 99" in board.text()
    assert "refused, attempt_fenced" in board.finish("w2")
    assert "w2 holds nothing" in board.text()
    assert "refused, attempt_fenced" == board.table().values.tolist()[1][5]


@pytest.mark.parametrize("scheduler", BROKEN_SCHEDULERS)
def test_every_broken_scheduler_can_be_swapped_in(scheduler: type) -> None:
    """The same twelve presses run on each of them to the end."""
    board = stalled(scheduler=scheduler)
    board.take("w2", limit=2)
    board.late("w1")
    board.finish("w1", "tests")
    board.fail("w2")
    board.die("w2")
    board.cancel()

    assert 12 + 1 == len(board.outcomes()) == len(board.frames[scheduler.__name__])


def test_a_dead_worker_leaves_its_lease_and_may_come_back() -> None:
    """Nobody is told that it died; the lease runs out, the last attempt is given up."""
    board = NodeBoard(lease=2)
    board.take("w1")
    said = [board.die("w1"), board.tick(2), board.release(), board.take("w2"), board.tick(5)]

    assert [
        "w1 dies. The store is not told; its lease holds build until tick 2.",
        "The clock goes on by 2, to tick 2. "
        "The lease of w1 on build has run out; nobody has looked yet.",
        "The scheduler looks: build goes back because the lease of w1 ran out.",
        "w2 looks. It takes build, attempt 2 of 2, until tick 4.",
        "The clock goes on by 5, to tick 7. "
        "The lease of w2 on build has run out; nobody has looked yet.",
    ] == said
    with pytest.raises(Askew, match="found w1 is dead"):
        board.take("w1")
    assert "w1 comes back under its old name, with empty hands." == board.revive("w1")
    assert (
        "w1 looks: build is given up because the lease of w2 ran out, no attempt is left; "
        "tests is blocked because build is failed; scan is blocked because build is failed; "
        "deploy is blocked because tests is blocked; "
        "announce is blocked because deploy is blocked. "
        "It takes nothing, because no node is ready."
    ) == board.take("w1")


def test_a_report_after_the_lease_but_before_anybody_looked_counts() -> None:
    """Only a release fences; the clock alone does not."""
    board = NodeBoard()
    board.take("w1")
    board.lease_end()

    assert "w1 finishes build, attempt 1: accepted, at revision 5." == board.finish("w1")


def test_a_stranger_and_a_no_are_answered_by_the_store() -> None:
    """Mallory is refused; Rosa's no fails the node and blocks what needs it."""
    board = NodeBoard()
    for node in ("build", "tests", "scan", "deploy"):
        board.take("w1")
        board.finish("w1", node)

    assert "refused, answer_foreign; found approver rosa" in board.approve(approver="mallory")
    assert "rosa denies deploy: accepted, deploy has failed, at revision 15." == board.deny()
    assert "announce is blocked because deploy is failed" in board.release()


def test_after_a_cancel_a_result_is_late_and_nothing_is_taken() -> None:
    """The store refuses the result; taking is off and says why."""
    board = NodeBoard()
    board.take("w1")
    board.cancel()

    assert "refused, call_late; found the run cancelled" in board.late("w1")
    with pytest.raises(Askew, match="found w1 holds nothing"):
        board.finish("w1")
    with pytest.raises(Askew, match="found the run is cancelled"):
        board.take("w2")


def test_several_leases_run_out_in_one_sentence() -> None:
    """A clock that jumps names all that it left behind."""
    board = NodeBoard()
    board.take("w1")
    board.finish("w1")
    board.take("w1")
    board.take("w2")

    assert (
        "The clock goes on by 5, to tick 5. "
        "The leases on tests (w1), scan (w2) have run out; nobody has looked yet."
    ) == board.lease_end()
    assert 2 == words(board).count("lease ran out")
    assert "until 5, ran out" == board.table().values.tolist()[1][4]


def test_one_node_can_be_cancelled() -> None:
    """Its worker's result is late afterwards, what needs it is blocked."""
    board = NodeBoard()
    board.take("w1")

    assert "ada cancels build: accepted, at revision 5." == board.cancel("build")
    assert "refused, illegal_transition; found node build cancelled" in board.late("w1", "build")
    assert "tests is blocked because build is cancelled" in board.release()


def test_back_and_forward_give_the_same_bytes_and_run_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The past is folded from frames; no store is asked."""
    board = stalled()
    before = stored(board)
    monkeypatch.setattr("runstate_lab.store.StateStore.apply", None)
    board.first()
    between = stored(board)
    board.forward()
    board.last()

    assert before == stored(board) != between


def test_a_press_after_going_back_takes_another_way() -> None:
    """What followed is replaced; the kept presses say what they said before."""
    board = stalled()
    before = board.trace().values.tolist()
    board.first()
    board.forward()
    board.forward()

    assert "It takes tests, attempt 1 of 3" in board.take("w2", limit=2)
    assert (3, 3) == (board.at, len(board.presses))
    assert before[:2] == board.trace().values.tolist()[:2]


def test_a_second_board_says_the_same() -> None:
    """Nothing of one board is left in another; start again is a new run."""
    one = stalled()
    before = stored(one)
    one.reset()
    opened = stored(one)

    assert before == stored(stalled())
    assert opened == stored(NodeBoard())


def test_the_text_twin_holds_what_the_picture_shows() -> None:
    """Every node with its word, every worker with what it holds, the tick and the revision."""
    board = stalled()
    drawn = words(board)

    assert [
        "tick 5, revision 10, run running",
        "build: completed, attempt 1 of 2, claimed by w1 at revision 4, lease until 5",
        "tests: released, attempt 1 of 3, claimed by w1 at revision 8, lease until 5",
        "tests: running, attempt 2 of 3, claimed by w1 at revision 10, lease until 10",
        "scan: ready, attempt 0 of 2 made",
        "deploy: pending, attempt 0 of 1 made",
        "announce: pending, attempt 0 of 1 made",
        "w1 holds tests, attempt 2 of 3, until tick 10",
        "w2 holds nothing",
        "w1 looks. It takes tests, attempt 2 of 3, until tick 10.",
    ] == board.text().splitlines()
    assert {"tick 5", "run-7 is running, revision 10", "completed", "running", "ready"} < set(drawn)
    assert {"attempt 2 of 3, until 10", "attempt 0 of 2", "w2 holds nothing"} < set(drawn)


def test_every_status_has_a_word_and_a_shape_of_its_own() -> None:
    """No two statuses are drawn with the same marks, whatever the colour."""
    from runstate_lab.live.nodes.marks import _sign

    shapes = {}
    for status in NodeStatus:
        marks = _sign(status, 0, 0, 0)
        for _, attributes, _ in marks:
            attributes.pop("class")
        shapes[status] = json.dumps(marks)

    assert len(NodeStatus) == len(set(shapes.values()))


def test_a_chain_of_a_hundred_nodes_wraps() -> None:
    """Six beside each other, no two boxes touch, and a press sends little."""
    board = NodeBoard(chain(100))
    board.take("w1")
    page = layout(chain(100))
    rows = sorted({y for _, y in page.places.values()})

    assert (COMPACT, 17) == (page.scale, len(rows))
    assert all(later - one > COMPACT.high for one, later in pairwise(rows))
    assert page.height < 1_200
    assert 34 == len({y for _, y in layout(chain(100), narrow=True).places.values()})
    assert len(json.dumps(board.frames["Scheduler"][1])) < 6_000


def test_an_arrow_over_several_layers_runs_in_a_lane_of_its_own() -> None:
    """The lane keeps clear of the box between."""
    nodes = [Node("a", dict), Node("b", dict, ("a",)), Node("c", dict, ("a", "b"))]
    page = layout(ExecutableGraph(nodes, start=("a",)))
    passing = [leg for leg in page.legs if not leg.ends]
    box_y = page.places["b"][1]

    assert 2 == len(passing)
    assert all(abs(leg.end[1] - box_y) > page.scale.high / 2 for leg in passing)


def test_an_empty_graph_shows_something_sensible() -> None:
    """No node, no arrow; a worker takes nothing and says so."""
    board = NodeBoard(ExecutableGraph([], start=()))

    assert "no nodes" in board.sentence()
    assert "w1 looks. It takes nothing, because no node is ready." == board.take("w1")
    assert [] == board.table().values.tolist()


def test_work_that_raises_is_the_failure_of_its_node() -> None:
    """The board plays a learner's own graph, whatever its work does."""

    def work(values: object) -> dict[str, str]:
        raise OSError("no disk")

    board = NodeBoard(ExecutableGraph([Node("build", work)], start=("build",)))
    board.take("w1")

    assert "accepted, build has failed" in board.finish("w1")
    assert "OSError: no disk" in words(board)


def test_a_scheduler_that_breaks_in_a_press_leaves_the_board_as_it_was() -> None:
    """Its exception reaches the caller; the kept presses are played afresh afterwards."""

    class Breaking(Scheduler):
        def take_ready(self, *, limit: int) -> tuple[Claim, ...]:
            claims = super().take_ready(limit=limit)
            if claims and claims[0].node == "tests":
                raise ZeroDivisionError("in the middle")
            return claims

    board = NodeBoard(scheduler=Breaking)
    board.take("w1")
    board.finish("w1")
    before = stored(board)
    with pytest.raises(ZeroDivisionError):
        board.take("w1")

    assert before == stored(board)
    assert "The clock goes on by 1, to tick 1." == board.tick()
    assert ["ready", "ready"] == [
        row[5] for row in (board.release(), board.table().values.tolist())[1][1:3]
    ]


def test_a_late_result_of_work_that_raises_wrote_nothing() -> None:
    """The message comes all the same and is fenced all the same."""
    board = NodeBoard(ExecutableGraph([Node("build", {}.pop, max_attempts=2)], start=("build",)))
    board.take("w1")
    board.lease_end()
    board.take("w2")

    assert "refused, attempt_fenced; found attempt 2 by w2" in board.late("w1")


@pytest.mark.parametrize(
    ("ask", "found"),
    [
        (lambda board: board.press("desk", "w1"), "no such press"),
        (lambda board: board.take("w3"), "no such worker"),
        (lambda board: board.take("w1", limit=0), "no whole number from 1"),
        (lambda board: board.take("w1", limit=True), "no whole number from 1"),
        (lambda board: board.finish("w1", "docs"), "no such node"),
        (lambda board: board.finish("w2"), "w2 holds nothing"),
        (lambda board: board.fail("w1", "tests"), "w1 holds build 1"),
        (lambda board: board.late("w1", "build"), "old attempts: nothing"),
        (lambda board: board.tick(0), "no whole number from 1"),
        (lambda board: board.tick(-3), "no whole number from 1"),
        (lambda board: board.approve(), "nothing waits for one"),
        (lambda board: board.cancel("docs"), "no such node"),
        (lambda board: board.revive("w1"), "w1 is alive"),
        (lambda board: board.choose("Hasty"), "no such scheduler"),
        (lambda board: NodeBoard(chain(2), workers=()), r"found \(\)"),
        (lambda board: NodeBoard(lease=0), "found 0"),
        (lambda board: NodeBoard("graph"), "found a str"),
        (lambda board: NodeBoard(scheduler=int), "found <class 'int'>"),
    ],
)
def test_a_call_that_cannot_be_followed_says_what_there_is(
    ask: Callable[[NodeBoard], object], found: str
) -> None:
    """The message names what was found and ends with one thing to do; the board stays."""
    board = NodeBoard()
    board.take("w1")
    before = stored(board)
    with pytest.raises(Askew, match=found) as refused:
        ask(board)

    assert "\nhint: " in str(refused.value)
    assert before == stored(board)


def test_a_sealed_board_gives_nothing_away() -> None:
    """No frame is in the browser, no call is followed; unsealed it stands where it stood."""
    board = stalled()
    before = stored(board)
    board.seal("Predict 07.p1 first.")

    assert {} == board.graph
    assert 1 == len(board.frames["Scheduler"])
    assert "Locked. Predict 07.p1 first." in board.picture()
    with pytest.raises(Sealed):
        board.take("w2")
    board.unseal()
    assert before == stored(board)
    assert "It takes scan" in board.take("w2")


def test_a_press_from_the_browser_is_played_where_it_was_made() -> None:
    """The message says at which step; an impossible press is shown as a fault in place."""
    board = stalled()
    board._heard(board, {"press": ["take", "w2", 1], "at": 2, "number": 1}, [])

    assert (3, 3, "") == (board.at, len(board.presses), board.fault)
    board._heard(board, {"press": ["finish", "w1", "build", 1], "at": None, "number": 2}, [])
    assert "w1 holds nothing" in board.fault
