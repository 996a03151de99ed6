"""The board without a browser: every control as a plain call, told by real stores."""

from __future__ import annotations

import base64
import json
from collections import Counter
from collections.abc import Callable, Generator
from itertools import permutations

import pytest

from runstate_lab.errors import RevisionConflict
from runstate_lab.laws import no_lost_update
from runstate_lab.live.boards import views as boardviews
from runstate_lab.live.boards.board import PARTS, Board
from runstate_lab.live.boards.plays import Moment
from runstate_lab.live.boards.words import off
from runstate_lab.live.faults import Askew
from runstate_lab.live.live import Sealed
from runstate_lab.model import ExecutionContext, RunState, RunStatus, StateProposal
from runstate_lab.orders import explore_world, play
from runstate_lab.race import Race
from runstate_lab.rules import reduce
from runstate_lab.runtime import Runtime
from runstate_lab.store import StateStore
from runstate_lab.worlds import WORLDS, run_7_at_revision_4

FOUR = ("naive", "last-write-wins", "no authority", "compare-and-swap")
BOTH_CURRENT = ("AAABBB", "BBBAAA")
VERDICTS = {
    "naive": "1 of 2 results lost",
    "last-write-wins": "decided on old facts",
    "no authority": "1 conflict, none lost",
    "compare-and-swap": "1 conflict, none lost",
}


class MyStore(StateStore):
    """A learner's store that compares nothing."""

    def apply(self, proposal: StateProposal, *, context: ExecutionContext) -> RunState:
        """The next state, made from whatever is there."""
        event = self._event(proposal, context)
        self._state = reduce(self._state, event, self.rules)
        return self._state


def dispatcher(call_id: str) -> Callable[[StateStore], Generator[object, None, None]]:
    """A worker that works in two rounds and says what it did."""

    def work(store: StateStore) -> Generator[object, None, None]:
        seen = store.load().revision
        yield
        try:
            proposal = StateProposal("tool_result_recorded", f"{call_id}=done", seen)
            Runtime(store).accept_tool_result("run_tests", proposal, call_id="c2")
        except RevisionConflict:
            yield "gave up"
            return
        yield f"announced {call_id}"

    return work


def naive(schedule: str = "", **more: object) -> Board:
    """A board of two writers on the naive store only."""
    return Board("two_writers", variants=("naive",), schedule=schedule, **more)


def stored(board: Board) -> str:
    """What a notebook keeps of a board, as text."""
    bundle, _ = board._repr_mimebundle_()
    return json.dumps([bundle["text/plain"], bundle["text/html"]])


def words_in(picture: str) -> str:
    """The drawing in a stored picture, decoded."""
    return base64.b64decode(picture.partition("base64,")[2].partition('"')[0]).decode()


def test_each_press_is_one_step_in_words() -> None:
    """The sentences of six presses tell the whole story of a lost update."""
    board = naive()

    assert [
        "A, the test tool, reads revision 4.",
        "B, the scanner, reads revision 4.",
        "A, the test tool, works on its own.",
        "B, the scanner, works on its own.",
        "A, the test tool, submits tests=green, made from 4: accepted at revision 5.",
        "B, the scanner, submits scan=clean, made from 4: accepted at revision 5; "
        "tests=green is gone, and nobody was told.",
    ] == [board.step(worker) for worker in "ABABAB"]


@pytest.mark.parametrize("name", FOUR)
def test_eighteen_of_twenty_orders_have_the_verdict_of_the_store(name: str) -> None:
    """Every store says its own word in the same eighteen orders, and none in two."""
    board = Board("two_writers", variants=(name,))
    verdicts = {}
    for order in sorted(set(map("".join, permutations("AAABBB")))):
        board.play(order)
        verdicts[order] = board.compare()["in short"][0]

    assert {VERDICTS[name]: 18, "nothing lost": 2} == Counter(verdicts.values())
    assert BOTH_CURRENT == tuple(one for one in verdicts if verdicts[one] == "nothing lost")
    assert 20 == len(board.tried) == board.graph["orders"][name]


def test_the_browser_gets_every_beginning_once() -> None:
    """Two writers have 69 beginnings; each stands in the graph of each of the four stores."""
    graph = Board("two_writers").graph

    assert {69} == {len(nodes) for nodes in graph["nodes"].values()}
    assert {} == Board("two_writers", schedule="ABABAB").more


def test_back_and_forward_give_the_same_bytes() -> None:
    """A scrubbed board shows exactly what it showed before."""
    board = naive("AABBAB")
    before = stored(board)
    board.back()
    between = stored(board)
    board.forward()

    assert before == stored(board) != between
    assert ("A, the test tool, works on its own.", 2) == (board.go(2), board.at)
    assert board.first() == board.reset()


def test_going_back_never_runs_a_store_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """All steps were taken before; no store is asked while the board is played."""
    board = naive()
    monkeypatch.setattr("runstate_lab.store.StateStore.apply", None)
    board.play("ABABAB")
    board.first()

    assert "B, the scanner, submits" == board.last()[:23]


def test_a_press_after_going_back_takes_another_way() -> None:
    """What followed is replaced; whole orders are counted, each once."""
    board = naive("AAABBB")
    for order in ("AAB", "ABABAB", "AAABBB"):
        board.play(order)
    board.first()
    board.step("B")

    assert ("B", 1, ["AAABBB", "ABABAB"]) == (board.schedule, board.at, board.tried)


def test_what_is_off_says_why() -> None:
    """The end, a refusal, a fault without a proposal, mail that is not there."""
    board = Board("two_writers", variants=("compare-and-swap",), schedule="AABBBA")
    why = {move: reason for move, _, reason in board.moves()}

    assert ("A was refused: revision conflict", "B is done") == (why["A"], why["B"])
    assert "no mail of A is on its way" == why["a"]
    board.play("A")
    why = {move: (is_open, reason) for move, is_open, reason in board.moves()}
    assert (True, "") == why["A"] == why["A!"]
    assert (False, "B has not begun: nothing to forget") == why["B!"]
    assert (False, "the next step of A sends no proposal") == why["A~"]


def test_a_run_that_waits_is_named_beside_the_refusal() -> None:
    """The reason of a move that is off says what the run is waiting for."""
    waiting = RunState("run-7", status=RunStatus.WAITING, waiting_for="pending_approval a1")
    refusal = RevisionConflict("run_completed at revision 4", "revision 5")
    here = Moment(after=waiting, ends={"A": refusal.code}, refusals={"A": refusal})

    assert "A was refused: revision conflict; WAITING: pending_approval a1" == off(here, "A")


@pytest.mark.parametrize(
    ("ask", "found"),
    [
        (lambda board: board.step("C"), "no worker C; there are A, B"),
        (lambda board: board.step("go"), "no move"),
        (lambda board: board.step("A~"), "the next step of A sends no proposal"),
        (lambda board: board.play("AAAA"), "A is done after AAA"),
        (lambda board: board.play("A1"), "'1', which is no move"),
        (lambda board: board.play(7), "a int"),
        (lambda board: board.choose("postgres"), "no such variant"),
        (lambda board: board.explore("postgres"), "no such variant"),
        (lambda board: board.go(9), "0 steps"),
        (lambda board: board.switch(2), "1 branches"),
        (lambda board: board.shortest("no_such_law"), "20 orders"),
        (lambda board: Board("nowhere"), "no such world"),
        (lambda board: Board(variants=("x",)), "no such variant"),
        (lambda board: Board(parts=("sound",)), "no such part"),
        (lambda board: Board(workers={"A": len}), "no factory of stores"),
        (lambda board: Board(workers={"Ann": len}, store=StateStore), "found ['Ann']"),
        (lambda board: Board(workers={}, store=StateStore), "found []"),
        (lambda board: Board(workers=dict.fromkeys("ABCDE", len), store=StateStore), "lanes for 4"),
    ],
)
def test_a_call_that_cannot_be_followed_says_what_there_is(
    ask: Callable[[Board], object], found: str
) -> None:
    """The message names what was found and ends with one thing to do."""
    with pytest.raises(Askew) as refused:
        ask(naive())

    assert found in str(refused.value)
    assert "\nhint: " in str(refused.value)


def test_one_order_is_compared_on_every_variant() -> None:
    """The side-by-side of the four stores, in one table; the order stays."""
    board = Board("two_writers", variants=FOUR, schedule="ABBABA")
    table = board.compare()

    assert list(VERDICTS.values()) == list(table["in short"])
    assert ["5", "6", "5", "5"] == list(table["revision"])
    assert "refused, revision conflict" in board.choose("compare-and-swap")
    assert ("ABBABA", "compare-and-swap") == (board.schedule, board.shown)


def test_a_move_that_is_not_open_elsewhere_is_a_step_in_which_nothing_is_done() -> None:
    """The naive store gives the second scheduler more to do; on the right one it has stopped."""
    board = Board("two_schedulers", variants=("naive", "compare-and-swap"))
    board.shortest("no_double_claim")
    board.step("A")
    refused = board.choose("compare-and-swap")

    assert refused == "A, scheduler w1, takes no step here: A was refused: revision conflict."
    assert len(board.schedule) == len(board.table())


def test_a_fork_keeps_both_branches_and_changes_neither() -> None:
    """The branch that was left has the same bytes when it is shown again."""
    board = naive("ABABAB")
    board.go(4)
    before = stored(board)
    assert "Branch 1 is kept; branch 2 goes on after ABAB." == board.fork()
    board.step("B")
    board.step("A")
    table = board.branches()

    assert (["ABAB", "ABABBA"], ["not finished", "1 of 2 results lost"]) == (
        list(table["order"]),
        list(table["in short"]),
    )
    board.switch(1)
    assert (before, "ABABAB", 4) == (stored(board), board.schedule, board.at)
    assert "accepted at revision 5; scan=clean is gone" in board.switch(2)


def test_every_order_is_counted_and_the_shortest_bad_one_loaded() -> None:
    """20 orders, 18 lose; the loaded one breaks the law, and no beginning of it does."""
    board = naive()

    assert (
        "20 orders: an update is lost in 18, decided on old facts in 18." == board.explore()
    )
    assert [9, 9, 1, 1] == [one["count"] for one in board.explored["naive"]["outcomes"]]
    assert ["45%", "45%", "5%", "5%"] == list(board.outcomes()["share"])
    board.shortest("no_lost_update")
    assert "AABBBA" == board.schedule
    assert [] == [
        order
        for length in range(6)
        for order in sorted(set(map("".join, permutations("AABBBA", length))))
        if order in board.graph["nodes"]["naive"] and board.play(order).endswith("told.")
    ]


@pytest.mark.parametrize("name", WORLDS)
def test_every_world_of_the_kit_can_be_played(name: str) -> None:
    """Each variant is explored as the book explores it, and its shortest bad order loads."""
    board = Board(name)
    for variant in WORLDS[name].variants:
        found = explore_world(name, variant)
        board.choose(variant)
        board.explore()
        assert found.schedules == board.explored[variant]["orders"]
        for law, schedule in found.shortest.items():
            board.shortest(law)
            assert (schedule, found.tokens[law]) == (board.schedule, board.token())
            assert board.picture() and board.text()
        board.reset()


def test_a_token_is_played_here_and_by_the_book() -> None:
    """The token of the order shown gives the same state to `play`; the paste chooses the store."""
    board = Board("two_writers", variants=FOUR, schedule="ABABAB")
    token = board.token()
    race = play(token)
    board.choose("compare-and-swap")
    board.play(token)

    assert ("ABABAB", "naive") == (race.schedule, board.shown)
    assert race.store.load().revision == 5


@pytest.mark.parametrize(
    ("change", "found"),
    [
        (lambda token: token.replace("ABABAB", "ABABBA"), "the token does not add up"),
        (lambda token: token[:-3], "the end of the token is missing"),
        (lambda token: token.partition("-")[0], "the end of the token is missing"),
        (lambda token: play_token("three_writers"), "the token belongs to another place"),
        (lambda token: play_token("two_writers"), "the token belongs to another place"),
    ],
)
def test_a_wrong_token_is_refused_with_its_reason(
    change: Callable[[str], str], found: str
) -> None:
    """Mistyped, cut off, or made with a world or a store that is not on this board."""
    board = naive("ABABAB")

    with pytest.raises(Askew, match=found):
        board.play(change(board.token()))


def play_token(world: str) -> str:
    """The token of an order of another world, or of another store of this one."""
    return Board(world, variants=("last-write-wins",), schedule="AB").token()


def test_a_token_of_older_code_is_out_of_date() -> None:
    """The same workers and store, and another end than the token says."""
    fact = ["first"]

    def work(store: StateStore) -> Generator[None, None, None]:
        yield
        proposal = StateProposal("tool_result_recorded", f"tests={fact[0]}", 4)
        Runtime(store).accept_tool_result("run_tests", proposal, call_id="c2")

    def board() -> Board:
        return Board(workers={"A": work}, store=lambda: StateStore(run_7_at_revision_4()))

    old = board()
    old.play("AA")
    fact[0] = "second"
    with pytest.raises(Askew, match="the token is out of date"):
        board().play(old.token())


def test_faults_are_steps_like_others() -> None:
    """A crash forgets, a late proposal arrives with its mail, a doubled one arrives twice."""
    board = Board("two_writers", variants=("compare-and-swap",))
    said = [board.step(move) for move in ("A", "A!", "A", "A", "A~", "B", "a")]

    assert said[1].startswith("A, the test tool, crashes: what it knew is gone")
    assert said[4].endswith("made from 4; it is late, and no answer comes.")
    assert "The mail of A, the test tool, arrives" == said[6].partition(" arrives")[0] + " arrives"
    assert "AA!AAA~Ba" == board.schedule
    assert {"AA!", "AA!A", "AA!AA", "AA!AAA~", "AA!AAA~B", "AA!AAA~Ba"} == set(
        board.more["compare-and-swap"]
    )


def test_a_learners_own_store_stands_beside_the_others() -> None:
    """It is explored with the laws of the world, and its bad order compared with theirs."""
    board = Board("two_writers", variants=("compare-and-swap",), mine=MyStore)
    board.choose("mine")

    assert ["compare-and-swap", "mine"] == list(board.play("AABBBA") and board.compare()["played on"])
    assert "1 conflict, none lost" == board.compare()["in short"][0]
    assert "20 orders" in board.explore()
    assert board.token() == play_mine(board.token()).schedule + board.token()[6:]


def play_mine(token: str) -> Race:
    """The token of a learner's own store, played by the book."""
    workers = WORLDS["two_writers"].variant().workers
    return play(token, workers, store=MyStore(run_7_at_revision_4()))


class Raising(MyStore):
    """A store whose apply fails."""

    def apply(self, proposal: StateProposal, *, context: ExecutionContext) -> RunState:
        """Nothing."""
        raise KeyError("missing")


class Spinning(MyStore):
    """A store whose apply has no end."""

    def apply(self, proposal: StateProposal, *, context: ExecutionContext) -> RunState:
        """Nothing, ever."""
        turns = 0
        while True:
            turns += 1


class Unmade:
    """A store that cannot be made."""

    def __init__(self, state: RunState) -> None:
        raise RuntimeError("no disk")


@pytest.mark.parametrize(
    ("mine", "said"),
    [
        (Raising, "A, the test tool, fails: KeyError: 'missing'. That is a fault of the code"),
        (Spinning, "A, the test tool, fails: it seems to have no end: more than 500000 instructions"),
    ],
)
def test_what_is_wrong_with_a_learners_code_is_told(mine: type, said: str) -> None:
    """No traceback: the step failed, nothing is open after it, and exploring gives no count."""
    board = Board("two_writers", variants=("naive",), mine=mine)
    board.choose("mine")
    board.play("AAA")

    assert board.text().startswith(said)
    assert board.schedule == board.token()
    assert {False} == {is_open for _, is_open, _ in board.moves()}
    assert board.explore().startswith("No count: ")
    assert board.picture() and board.compare() is not None


@pytest.mark.parametrize(
    ("mine", "words"),
    [
        ("nope", "mine='nope', found a str"),
        (3, "mine=3, found a int"),
        (Unmade, "own, Unmade, found RuntimeError: no disk"),
        (lambda: MyStore, "own, <lambda>, found TypeError: "),
        (lambda state: 3, r"own, <lambda>, found a int without load\(\)"),
    ],
)
def test_what_is_no_store_is_refused_when_the_board_is_made(mine: object, words: str) -> None:
    """In words, and not in the middle of the first order."""
    with pytest.raises(Askew, match=words):
        Board("two_writers", mine=mine)


def test_a_world_with_faults_counts_its_orders_without_a_fault() -> None:
    """The count of tried orders is of these; exploring counts those with a fault too."""
    faulted = {name: Board(name).graph["faulted"] for name in WORLDS}

    assert faulted == {name: bool(world.faults) for name, world in WORLDS.items()}


def test_a_learners_own_workers_are_told_by_what_they_do() -> None:
    """Their names are their functions' names; what they yield is said to the world."""
    board = Board(
        workers={"A": dispatcher("tests"), "B": dispatcher("scan")},
        store=lambda: StateStore(run_7_at_revision_4()),
        invariants=(no_lost_update,),
        names={"A": "the first"},
    )
    said = [board.step(move) for move in ("A", "B", "A", "B")]

    assert said[2].endswith("accepted at revision 5; says “announced tests” to the world.")
    assert "says “gave up” to the world" in said[3]
    assert board.sentence().startswith("Board of your own workers on own, order ABAB.")
    assert "the first" in said[0]


def test_a_search_that_was_stopped_gives_no_count(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was seen so far is told as that, and no law is called kept."""
    monkeypatch.setattr("runstate_lab.live.boards.board.PATIENCE", 5)
    workers = {letter: dispatcher(f"t{letter}") for letter in "ABC"}
    store = lambda: StateStore(run_7_at_revision_4())
    board = Board(workers=workers, store=store, invariants=(no_lost_update,))

    assert "stopped after 5 orders, there are more; so far: no law is broken." == board.explore()
    assert "not broken so far" == board.explored["own"]["laws"][0][1]
    assert [""] == sorted(set(board.outcomes()["share"]))


def test_a_big_world_is_played_by_the_kernel() -> None:
    """Where the orders are too many to send, the browser gets the nodes of the order shown."""
    workers = {letter: dispatcher(f"t{letter}") for letter in "ABCD"}
    board = Board(workers=workers, store=lambda: StateStore(run_7_at_revision_4()))
    board.play("ABCD")

    assert (None, [""]) == (board.graph["orders"]["own"], list(board.graph["nodes"]["own"]))
    assert ["A", "AB", "ABC", "ABCD"] == sorted(board.more["own"])
    assert "submits tA=done, says announced tA" == board.more["own"]["ABCD"][2][0][1]


def test_changes_are_the_changed_fields_of_the_step_shown() -> None:
    """Nothing before the first step, nothing for a read, five lines for a submit."""
    board = naive("AAA")

    assert ["facts tests", "calls c2", "revision"] == [
        f"{one.field} {one.element}".strip()
        for one in board.changes()
        if one.field in ("facts", "calls", "revision")
    ]
    assert () == (board.first() and board.changes())


def test_a_play_can_be_looked_at_as_a_run() -> None:
    """A frame for each step: what was offered, and what the state became."""
    view = naive("ABABAB").view()

    assert 6 == len(view.frames) - 1
    assert "tests=green is gone." in view.frames[6].said
    assert view.frames[6].after.revision == 5


def test_the_stored_picture_says_what_the_table_says() -> None:
    """The marks of a conflict show the word and the page it was made from."""
    board = Board("two_writers", variants=("compare-and-swap",), schedule="ABABAB")
    words = words_in(board.picture())

    assert ["conflict", "from 4", "scan=clean", "submits"] == [
        word for word in ("conflict", "from 4", "scan=clean", "submits") if f">{word}<" in words
    ]
    assert "refused, revision conflict" == board.table()["answer"][5]


def test_the_trace_holds_the_answers_of_the_store_and_no_judgement() -> None:
    """An update is lost, and no line of the table complains: the store did not."""
    table = naive("ABABAB").table()

    assert ["", "", "", "", "accepted at revision 5", "accepted at revision 5"] == list(table["answer"])
    assert "submits scan=clean, made from 4" == table["what"][5]
    assert "reads revision 4" == table["what"][0]


def test_an_arrow_is_drawn_for_each_proposal() -> None:
    """As many accepted and refused courses as the trace has records."""
    board = Board("two_writers", variants=("compare-and-swap",), schedule="ABABAB")
    steps = [board.graph["steps"][node[0]] for node in _nodes_along(board)]
    roles = [mark[1]["class"] for step in steps for mark in step["marks"] if mark[0] == "path"]

    assert (1, 1, 2) == tuple(map(roles.count, ("rs-accepted", "rs-refused", "rs-read")))


def _nodes_along(board: Board) -> list[list[object]]:
    nodes = board.graph["nodes"][board.shown]
    return [nodes[board.schedule[:length]] for length in range(1, len(board.schedule) + 1)]


def test_a_belief_that_is_old_is_dashed() -> None:
    """B read revision 4; after A's commit its thick line has another look, not only colour."""
    board = Board("two_writers", variants=("compare-and-swap",), schedule="ABABA")
    last = board.graph["steps"][_nodes_along(board)[-1][0]]

    assert ["rs-span-A", "rs-span-B", "rs-span-B rs-old"] == [
        mark[1]["class"] for mark in last["marks"] if "span" in mark[1]["class"]
    ]


@pytest.mark.parametrize(
    ("order", "came"),
    [
        ("A", "submits nothing"),
        ("AAA", "accepted"),
        ("AABBBA", "breaks a law"),
    ],
)
def test_what_is_expected_of_a_step_is_judged_by_the_step(order: str, came: str) -> None:
    """Right or wrong is said with the step, counted once, and forgotten by the next press."""
    board = naive(order[:-1], parts=("picture", "expect"))
    board.expect("refused")
    said = board.step(order[-1])

    assert said.endswith(f"You expected: refused. It is: {came}.")
    assert ([[order, "refused", came]], "") == (board.foretold, board.expected)
    with pytest.raises(Askew, match="no such end of a step"):
        board.expect("lunch")


def test_a_sealed_board_gives_nothing_away() -> None:
    """No node, no token, no count; what was played comes back with the key."""
    board = naive("ABABAB")
    board.explore()
    board.fork()
    board.seal("predict first")
    sent = json.dumps([board.graph, board.more, board.explored, board.kept, board.foretold])

    assert "[{}, {}, {}, [], []]" == sent
    for ask in (board.token, board.moves, board.fork, board.compare, lambda: board.step("A")):
        with pytest.raises(Sealed):
            ask()
    board.unseal()
    assert ("ABABAB", 2) == (board.schedule, len(board.kept))


def test_a_message_from_the_page_is_answered_with_its_number() -> None:
    """The kernel says that it begins, then what came of it; a refusal comes back as a reason."""
    board, sent = naive(), []
    board.send = lambda content, buffers=None: sent.append(content)
    board._heard(board, {"do": "step", "what": "A", "number": 1}, [])
    board._heard(board, {"do": "play", "what": "AAAA", "number": 2}, [])

    assert [
        {"begun": 1},
        {"heard": 1, "why": "", "said": "A, the test tool, reads revision 4."},
        {"begun": 2},
    ] == sent[:3]
    assert sent[3]["why"].startswith("A is done after AAA; ")
    assert "A" == board.schedule


def test_every_part_can_be_shown_alone() -> None:
    """A lesson may begin small."""
    for part in PARTS:
        assert [part] == Board("two_writers", parts=(part,)).graph["parts"]


def faulty(verb: str, gives: Callable[[], object]) -> type[StateStore]:
    """A class of stores one of whose verbs gives something else than it should."""
    return type("Mine", (StateStore,), {verb: lambda self, *given, **named: gives()})


def gone() -> None:
    raise OSError("disk gone")


@pytest.mark.parametrize(
    ("make", "order", "said"),
    [
        (faulty("load", gone), "AAA", "Nothing can be played: it cannot begin: OSError: disk gone"),
        (faulty("load", lambda: None), "AAA", "the store's load gave None, not a state"),
        (faulty("apply", lambda: 7), "AAABB", "the store's apply gave 7, not a state"),
        (faulty("apply", lambda: None), "AAAB", "the store's apply gave None, not a state"),
    ],
)
def test_a_store_that_does_nothing_is_told_as_that(
    make: type[StateStore], order: str, said: str
) -> None:
    """It is never told as accepted, no law holds, and nothing is counted."""
    store = lambda: make(run_7_at_revision_4())
    workers = WORLDS["two_writers"].variant("naive").workers
    board = Board(workers=workers, store=store, invariants=(no_lost_update,))
    assert said in board.play(order)
    assert said in board.sentence()
    here = board.ground.path("own", board.schedule)
    law = boardviews.state_view(here, board.ground.plays["own"].setting)["laws"][0]
    assert law[1].startswith("not asked, the ")
    assert board.explore().startswith("No count: the store failed")
    assert not board.tried


def test_an_order_is_played_up_to_the_step_at_which_the_code_fails() -> None:
    """The step is told; what would follow is not played; a token over it is refused."""

    def work(store: StateStore) -> Generator[object, None, None]:
        store.load()
        yield
        if breaks:
            raise KeyError("boom")

    breaks = False
    made = {"workers": {"A": work, "B": work}, "store": lambda: MyStore(run_7_at_revision_4())}
    token = Board(**made, schedule="AABB").token()
    breaks = True
    board = Board(**made)
    assert board.play("ABABAB").startswith("A fails: KeyError: 'boom'")
    assert ("ABA", 3, []) == (board.schedule, board.at, board.tried)
    with pytest.raises(Askew, match="the code failed after AA: the token is out of date"):
        board.play(token)


def test_a_late_proposal_to_a_store_without_an_answer_is_told_when_it_arrives() -> None:
    """Faults of the line can be set on such a store too."""
    board = Board("two_writers", mine=faulty("apply", lambda: 7))
    board.choose("mine")
    assert "no answer comes" in board.play("AAA~")
    assert "the store's apply gave no state" in board.play("AAA~a")
