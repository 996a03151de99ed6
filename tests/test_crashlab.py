"""The crash lab without a browser: every kill is a real run, and the books are held to it."""

from __future__ import annotations

import base64
import json
import xml.etree.ElementTree as ElementTree
from collections import Counter
from collections.abc import Callable

import pytest

from runstate_lab import live
from runstate_lab.live.crashes.graph import crash_graph, same_place
from runstate_lab.live.crashes.lab import CrashLab
from runstate_lab.live.crashes.loops import COMMIT, EFFECT, LOOPS, SAVE, moments, outcome
from runstate_lab.live.faults import Askew, Sealed

VIEW = "application/vnd.jupyter.widget-view+json"
DRIVER = [
    "lease",
    "start",
    "turn",
    "decide",
    "dispatch c1",
    "failed c1",
    "dispatch c2",
    "deploys",
    "result c2",
    "dispatch c1#2",
    "tests run",
    "result c1#2",
    "complete",
]
BATCH = ["deploys", "save batch", "tests run", "save batch"]
TWICE = "deployed twice, the books know 1 attempt"
KEPT_QUIET = "deployed once, asked twice, the books know 1 attempt"
# Rows and columns that are not named here say "once".
MATRIX = {
    ("failed c1", "intent first, without a key"): "once, stopped at the tests",
    ("failed c1", "effect first, without a key"): "once, stopped at the tests",
    ("deploys", "intent first, without a key"): "never, told: outcome unknown",
    ("result c2", "intent first, without a key"): "once, told: outcome unknown",
    ("dispatch c2", "effect first, without a key"): TWICE.removeprefix("deployed "),
    ("dispatch c2", "effect first, with a key"): KEPT_QUIET.removeprefix("deployed "),
    ("result c2", "effect first, without a key"): "once, told: outcome unknown",
    ("save batch", "once per batch, without a key"): TWICE.removeprefix("deployed "),
    ("save batch", "once per batch, with a key"): KEPT_QUIET.removeprefix("deployed "),
    ("tests run", "intent first, without a key"): "once, stopped at the tests",
    ("dispatch c1#2", "effect first, without a key"): "once, the tests ran twice",
    ("result c1#2", "intent first, without a key"): "once, stopped at the tests",
    ("result c1#2", "effect first, without a key"): "once, stopped at the tests",
    ("save batch (2nd)", "once per batch, without a key"): "once, the tests ran twice",
}


def stored(lab: CrashLab) -> dict[str, object]:
    """What a notebook keeps of a lab: all but the reference to the live view."""
    bundle, _ = lab._repr_mimebundle_()
    return {kind: value for kind, value in bundle.items() if kind != VIEW}


def drawn(lab: CrashLab, look: str) -> list[str]:
    """The words of one look in the stored picture."""
    coded = lab.picture().partition("base64,")[2].partition('"')[0]
    root = ElementTree.fromstring(base64.b64decode(coded))
    return [node.text or "" for node in root.iter() if node.get("class") == f"rs-{look}"]


def ended(point: int | str, *, loop: str = "intent first", keyed: bool = False) -> CrashLab:
    """A lab after kill, recover and go on."""
    lab = CrashLab(loop=loop, keyed=keyed, kill=point)
    lab.recover()
    lab.go_on()
    return lab


def test_the_strip_shows_the_moments_of_the_real_loops() -> None:
    """Eleven commits and two effects of the driver; the batches have two saves."""
    for keyed in (False, True):
        assert DRIVER == [one.words for one in moments("intent first", keyed)]
        assert BATCH == [one.words for one in moments("once per batch", keyed)]
    assert Counter({COMMIT: 11, EFFECT: 2}) == Counter(
        one.sort for one in moments("intent first", False)
    )
    assert [EFFECT, SAVE, EFFECT, SAVE] == [one.sort for one in moments("once per batch", False)]


def test_the_wrong_driver_acts_before_it_says_so() -> None:
    """The same moments, but each effect stands before its own dispatch."""
    words = [one.words for one in moments("effect first", False)]

    assert sorted(DRIVER) == sorted(words)
    assert words.index("deploys") + 1 == words.index("dispatch c2")


@pytest.mark.parametrize("keyed", [False, True])
def test_the_driver_never_deploys_twice_and_never_denies(keyed: bool) -> None:
    """At each of its 14 places: at most one deployment, and no attempt that the books lack."""
    found = [outcome("intent first", keyed, point) for point in range(14)]

    assert [] == [one for one in found if one.deployed > 1 or one.asked > one.attempts]
    assert [] == [one for one in found if one.says == "deployed" and one.deployed == 0]


def test_with_a_key_every_kill_of_the_driver_ends_well() -> None:
    """Fourteen runs complete, one of them after it asked twice under one key."""
    found = [outcome("intent first", True, point) for point in range(14)]

    assert {"completed, goal_reached"} == {one.status for one in found}
    assert {1} == {one.deployed for one in found}
    assert [8] == [point for point, one in enumerate(found) if one.asked == 2]


@pytest.mark.parametrize(
    ("point", "calls"),
    [
        ("decide", []),
        ("dispatch c1", [("c1", "not executed", "yes"), ("c2", "not executed", "yes")]),
        (
            "failed c1",
            [("c2", "not executed", "yes"), ("c1", "outcome unknown", "no: there is no key")],
        ),
        ("dispatch c2", [("c2", "not executed", "yes"), ("c1", "failed", "yes")]),
        ("deploys", [("c1", "failed", "yes"), ("c2", "outcome unknown", "no: there is no key")]),
        ("result c2", [("c1", "failed", "yes"), ("c2", "outcome unknown", "no: there is no key")]),
        ("complete", []),
    ],
)
def test_recovery_tells_three_things_apart(point: str, calls: list[tuple[str, str, str]]) -> None:
    """Not executed, failed and unknown: each open call has one, and says what it allows."""
    lab = CrashLab(kill=point)
    lab.recover()
    table = lab.calls()[["call", "answer", "may be repeated"]]

    assert calls == list(table.itertuples(index=False, name=None))


def test_a_key_is_what_allows_an_unknown_call_again() -> None:
    """The same kill with a key: the answer is the same, the permission is not."""
    lab = CrashLab(kill="result c2", keyed=True)
    lab.recover()
    row = lab.calls().iloc[1]

    assert ("outcome unknown", "dispatched, no result was committed", "yes: under its key") == (
        row["answer"],
        row["why"],
        row["may be repeated"],
    )


def test_the_matrix_holds_every_place_and_every_loop() -> None:
    """Sixteen places, six ways to run: of the cells that are there, 13 are not plainly right."""
    table = CrashLab().every_point()
    odd = {
        (row["killed before"], name): row[name]
        for _, row in table.iterrows()
        for name in table.columns[1:]
        if row[name] not in ("once", "")
    }

    assert (16, 7) == table.shape
    assert MATRIX == odd


@pytest.mark.parametrize("keyed", [False, True])
@pytest.mark.parametrize("loop", LOOPS)
def test_each_cell_of_the_matrix_is_what_a_kill_there_gives(loop: str, keyed: bool) -> None:
    """Row by row: killed by its name, recovered, gone on; every place has a row of its own."""
    table = CrashLab().every_point()
    column = f"{loop}, {'with' if keyed else 'without'} a key"
    here = {row["killed before"]: row[column] for _, row in table.iterrows() if row[column]}
    given = {}
    for place in here:
        lab = ended(place, loop=loop, keyed=keyed)
        given[place] = lab.compare().set_index(["loop", "idempotency key"]).loc[
            (LOOPS[loop].label, "with" if keyed else "without"), "in short"
        ].removeprefix("deployed ")  # fmt: skip

    assert given == here
    assert len(moments(loop, keyed)) + 1 == len(here)
    for place in set(table["killed before"]) - set(here):
        with pytest.raises(Askew, match="no such moment"):
            CrashLab(loop=loop, keyed=keyed, kill=place)


def test_the_table_has_both_workers_as_the_picture_has() -> None:
    """What w2 did stands in it once it went on; asking again under a key is no second deed."""
    lab = CrashLab(loop="effect first", keyed=True, kill="dispatch c2")
    assert {"w1"} == set(lab.table()["worker"])
    lab.recover()
    lab.go_on()
    table = lab.table()
    mine = table[table["worker"] == "w2"]

    assert outcome("effect first", True, lab.point).after[0].words == mine["what"].iloc[0]
    assert ["deploys: asked again under its key, nothing more happened"] == [
        what for what in mine["what"] if what.startswith("deploys")
    ]
    assert {"yes", "no", "after it"} == set(table["before the kill"])


def test_the_same_place_means_as_many_effects() -> None:
    """Each place of the driver has its twin in the batch: before, between or after effects."""
    one, other = moments("intent first", False), moments("once per batch", False)

    assert [0] * 8 + [1, 2, 2, 3, 4, 4] == [same_place(one, at, other) for at in range(14)]


def test_the_wrong_driver_has_its_own_twin_of_each_place() -> None:
    """A commit stays that commit, unless the effect that it is about came before it."""
    one, other = moments("intent first", False), moments("effect first", False)
    twins = {
        one[at].words: other[same_place(one, at, other)].words
        for at in range(13)
        if one[at].words != other[same_place(one, at, other)].words
    }

    assert {
        "dispatch c2": "deploys",
        "result c2": "dispatch c2",
        "dispatch c1#2": "tests run",
        "result c1#2": "dispatch c1#2",
    } == twins


def test_the_comparison_shows_zero_one_and_two() -> None:
    """The same kill in every loop, with a key and without."""
    table = CrashLab(kill="result c2").compare()

    assert ["once", "twice", "twice", "twice", "twice", "twice"] == list(table["asked"])
    assert ["once", "once", "twice", "once", "twice", "once"] == list(table["deployed"])
    assert [
        "outcome unknown",
        "outcome unknown",
        "not executed",
        "not executed",
        "nothing",
        "nothing",
    ] == list(table["recovery says of deploy"])
    never = CrashLab(kill="deploys").compare()
    assert "never" == never["deployed"][0]


def test_a_kill_is_told_in_four_sentences() -> None:
    """Aim, kill, recover, go on: each says what is known by then, and no more."""
    lab = CrashLab(loop="once per batch")
    said = [lab.aim(1), lab.kill(), lab.recover(), lab.go_on()]

    assert [
        "w1 runs; it would be killed before save batch, moment 1 of 4.",
        "w1 was killed before save batch: checkpoints at revision 0, release 7 is deployed once.",
        "recover() reads revision 0: nothing open. Outside, release 7 is deployed once.",
        f"w2 went on, the run is running, every node completed: {TWICE}. The state says: deployed.",
    ] == said


def test_another_loop_is_shown_at_the_same_place() -> None:
    """The phase stays, the kill point moves to its twin, there and back."""
    lab = ended("result c2")
    lab.choose("once per batch")
    assert ("ended", 1) == (lab.phase, lab.point)
    lab.choose(keyed=True)
    assert KEPT_QUIET in lab.text()
    lab.choose("intent first", keyed=False)

    assert ("ended", 8) == (lab.phase, lab.point)


def test_a_new_aim_takes_the_kill_back() -> None:
    """Moving the kill point is not a second kill; standing still changes nothing."""
    lab = ended(3)
    lab.aim(3)
    assert "ended" == lab.phase
    lab.forward()

    assert ("aimed", 4) == (lab.phase, lab.point)


def test_back_and_forward_give_the_same_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    """A lab that was scrubbed shows what it showed before, and no store is asked."""
    lab = CrashLab()
    lab.aim(7)
    before = stored(lab)
    monkeypatch.setattr("runstate_lab.store.StateStore.apply", None)
    lab.back()
    between = stored(lab)
    lab.forward()
    lab.first()
    lab.last()

    assert 13 == lab.point
    lab.aim(7)
    assert before == stored(lab) != between


def test_fresh_labs_give_the_same_bytes() -> None:
    """Two labs and two graphs are equal to the byte."""
    first = json.dumps(crash_graph())
    for cache in (crash_graph, moments, outcome):
        cache.cache_clear()

    assert first == json.dumps(crash_graph())
    assert stored(ended("deploys")) == stored(ended("deploys"))
    assert ended("deploys").csv() == ended("deploys").csv()


def test_the_picture_holds_what_the_table_holds() -> None:
    """What w1 did is drawn; what it did not reach is only named; w2 has a strip of its own."""
    lab = ended("result c2")
    table = lab.table()
    reached = table[table["before the kill"] == "yes"]

    assert 8 == len(reached)
    numbers = [*map(str, range(1, 8)), "1×"]
    assert numbers == drawn(lab, "pill-text")[:8]
    assert " ".join(DRIVER[8:]) == " ".join(drawn(lab, "moment-soft"))
    assert ["killed here"] == drawn(lab, "bad")
    assert ["store", "world"] == sorted(set(table["kept where"]))
    assert 'alt="Crash lab, intent first, without a key. w2 went on' in lab.picture()


def test_a_second_deployment_is_marked_in_the_picture() -> None:
    """Fresh and repeated is one look, asked again under a key another."""
    lab = ended(1, loop="once per batch")

    assert 'class="rs-pill-twice"' in lab.svg()
    lab.choose(keyed=True)
    assert 'class="rs-pill-same"' in lab.svg()
    assert 'class="rs-pill-twice"' not in lab.svg()


@pytest.mark.parametrize(
    ("ask", "found"),
    [
        (lambda lab: lab.recover(), "nobody was killed yet"),
        (lambda lab: lab.go_on(), "recover first"),
        (lambda lab: lab.spare(), "w1 lives"),
        (lambda lab: lab.calls(), "nothing recovered yet"),
        (lambda lab: (lab.kill(3), lab.kill()), "dead already"),
        (lambda lab: (lab.kill(3), lab.go_on()), "recover first"),
        (lambda lab: (lab.kill(3), lab.recover(), lab.recover()), "recovered already"),
        (lambda lab: lab.kill(14), "no such moment"),
        (lambda lab: lab.kill(-1), "no such moment"),
        (lambda lab: lab.kill(True), "no such moment"),
        (lambda lab: lab.aim("lunch"), "no such moment"),
        (lambda lab: lab.choose("hope first"), "no such loop"),
        (lambda lab: CrashLab(loop="hope first"), "no such loop"),
    ],
)
def test_a_call_that_makes_no_sense_says_why(ask: Callable[[CrashLab], object], found: str) -> None:
    """The message names what was found and ends with one thing to do."""
    with pytest.raises(Askew, match=found) as refused:
        ask(CrashLab())

    assert "\nhint: " in str(refused.value)


def test_a_kill_after_the_end_changes_nothing() -> None:
    """The last place of each loop: nothing is left to do for anybody."""
    for loop in LOOPS:
        last = len(moments(loop, False))
        assert () == outcome(loop, False, last).after
    lab = ended(13)

    assert "w2 looked: nothing was left to do" in drawn(lab, "label")
    assert lab.calls().empty


def test_a_sealed_lab_tells_nothing() -> None:
    """No kill is sent and no call is answered; then all comes back."""
    lab = ended("result c2", keyed=True)
    lab.seal("predict first")
    state = lab.get_state()
    sent = json.dumps({key: state[key] for key in state if key not in ("_esm", "_css", "layout")})

    assert ({}, "aimed", 0) == (state["graph"], state["phase"], state["point"])
    assert [] == [word for word in ("deployed", "unknown", "killed") if word in sent]
    for call in (lab.kill, lab.forward, lab.table, lab.compare, lab.every_point, lab.choose):
        with pytest.raises(Sealed):
            call()

    assert "Crash lab, locked: predict first" == lab.sentence()
    lab.unseal(choice="twice")
    assert ("ended", 8, True) == (lab.phase, lab.point, lab.keyed)


def test_the_lab_comes_with_one_import() -> None:
    """The public name is the class; what is sent to the browser stays small."""
    assert live.CrashLab is CrashLab
    assert len(json.dumps(CrashLab().graph)) < 250_000
