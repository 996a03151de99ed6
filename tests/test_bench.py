"""The bench: the form of its rows, never a figure; an absent peer is said in words."""

from __future__ import annotations

import json
import re

import pytest
from click.testing import CliRunner

from runstate_lab import bench
from runstate_lab.bench import peers
from runstate_lab.bench.fairness import Report, Share, shared
from runstate_lab.bench.rows import Aim, Line, Row, as_text
from runstate_lab.bench.timing import Rounds, Slice, interleave, timed_each
from runstate_lab.cli import main

NAMES = ["reducer", "commit", "contention", "disk", "loop", "durable-loop", "explore", "import"]
AIMS = {
    "reducer": ["3 x transitions", "40 x python-statemachine"],
    "commit": ["0.8 x raw control normal", "0.9 x raw control full"],
    "contention": [
        "0 lost of all acknowledged",
        "fairness 0.9, the fewer by the more",
        "50 ms the longest wait of a round",
        "0.6 x one writer",
    ],
    "disk": ["180 bytes/event at 8", "180 bytes/event at 16", "flat: 1.15 x"],
    "loop": ["20 x langgraph InMemorySaver", "flat: 0.87 x at 6"],
    "durable-loop": ["0.8 x the raw loop"],
    "explore": [
        "50 ms 2 x 2: reduced",
        "0.67 x the plain search, whole and counted",
        "100 x minicheck",
        "150 x musil",
    ],
    "import": ["45 ms over bare Python"],
}


@pytest.fixture
def no_peers(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if no peer were installed, whatever is."""
    monkeypatch.setattr(peers, "installed", lambda distribution: None)


def quick(*words: str) -> object:
    """What the verb prints as JSON for tiny counts."""
    seen = CliRunner().invoke(main, ["bench", "--quick", "--json", *words])
    assert 0 == seen.exit_code, seen.output
    return json.loads(seen.stdout)


def measured(aim: Aim) -> tuple[float | None, str, tuple[float, ...]]:
    """What was found for an aim, its verdict and its spread."""
    return aim.found, aim.verdict, aim.spread


def slices(*rates: int) -> tuple[Slice, ...]:
    """Slices of a second with those rates."""
    return tuple(Slice(rate, 1.0) for rate in rates)


def told(share: Share) -> tuple[float, ...]:
    """All that is told of a round of two writers."""
    return share.count, share.seconds, share.fairness, share.longest, share.conflicts


@pytest.mark.usefixtures("no_peers")
@pytest.mark.slow
def test_every_row_has_its_aims_and_absent_peers_are_said_in_words() -> None:
    """All eight rows come, in order; what needs a peer is not measured, with a hint."""
    rows = quick()

    assert NAMES == [row["name"] for row in rows]
    assert AIMS == {row["name"]: [aim["words"] for aim in row["aims"]] for row in rows}
    silent = {
        aim["words"]: aim["why"]
        for row in rows
        for aim in row["aims"]
        if aim["verdict"] == "not measured"
    }
    assert {
        f"{times} x {name}": f"{peer} is not installed; hint: pip install 'runstate-lab[bench]'"
        for times, name, peer in (
            (3, "transitions", "transitions"),
            (40, "python-statemachine", "python-statemachine"),
            (20, "langgraph InMemorySaver", "langgraph"),
            (100, "minicheck", "minicheck"),
        )
    } | {
        "150 x musil": "musil is not installed; hint: pip install musil, on Python 3.12 or newer"
    } == silent


@pytest.mark.usefixtures("no_peers")
def test_everybody_searches_the_same_places() -> None:
    """Ours and the plain search meet as many; the reduced one fewer, and the verdicts agree."""
    ((row,),) = [quick("--only", "explore")]
    units = [line["unit"] for line in row["lines"]]

    assert ["ms, 20 orders"] * 2 == units[:2]
    assert ["ms, 23 places", "ms, 89 places", "ms, 89 places"] == units[2:]


@pytest.mark.usefixtures("no_peers")
@pytest.mark.slow
def test_two_writers_lose_nothing_even_when_measured_quickly() -> None:
    """Whatever the speed: every acknowledged write is in the file."""
    ((row,),) = [quick("--only", "contention")]
    lost = row["aims"][0]

    assert ("0 lost of all acknowledged", 0, "met") == (lost["words"], lost["found"], lost["verdict"])


def test_figures_are_printed_with_the_verdict_and_what_a_peer_does_more() -> None:
    """A missed aim is called missed."""
    row = Row(
        "speed",
        "things a second",
        (
            Line("ours", 1234.5, "things/s", spread=(1200, 1300)),
            Line("theirs 2.0", 0.5, "things/s", "colours", spread=(0.5, 0.5)),
        ),
        (Aim("3000 x theirs", 3000, 2469, spread=(2400, 2600)), Aim("small", 9, 8.5, at_most=True), Aim("far", 1, None, why="no road")),
        ("a note",),
    )

    assert [
        "speed: things a second",
        "  ours              1,234 things/s (1,200 to 1,300)",
        "  theirs 2.0         0.50 things/s",
        "  theirs 2.0 does more: colours",
        "  aim 3000 x theirs: missed, found 2,469 (2,400 to 2,600)",
        "  aim small: met, found 8.50",
        "  aim far: not measured, no road",
        "  note: a note",
    ] == as_text(row).splitlines()


def test_contenders_take_turns() -> None:
    """One warm-up, then A B A B, each round a slice of both."""
    played: list[str] = []

    def contender(name: str) -> Slice:
        played.append(name)
        return Slice(2 if name == "a" else 1, 1.0)

    rounds = interleave({name: lambda name=name: contender(name) for name in "ab"}, rounds=2)

    assert ["a", "b"] * 3 == played
    assert (2.0, "met", (2.0, 2.0)) == measured(rounds.aim("twice b", 2, "a", "b"))
    assert (None, "not measured", ()) == measured(rounds.aim("c", 2, "a", "c", why="no c"))
    assert () == rounds.notes


def test_a_median_is_told_with_its_lowest_and_its_highest() -> None:
    """Three rounds of both; a ratio is taken round by round."""
    rounds = Rounds({"a": slices(20, 60, 40), "b": slices(10, 20, 40)})

    assert Line("a", 40, "things/s", "", (20, 60)) == rounds.line("a", "things/s")
    assert (2.0, "met", (1.0, 3.0)) == measured(rounds.aim("twice b", 2, "a", "b"))


def test_only_what_happens_while_both_write_is_counted() -> None:
    """A head start and a long tail are no advantage."""
    early = Report(0.0, 10.0, tuple(map(float, range(1, 11))))
    late = Report(5.0, 20.0, tuple(map(float, range(6, 21))), conflicts=3)

    assert (10, 5.0, 1.0, 1.0, 3) == told(shared([early, late]))


def test_a_starved_writer_has_waited_all_the_time() -> None:
    """Nothing acknowledged is the longest wait, not none."""
    busy, starved = Report(0.0, 4.0, (1.0, 2.0, 3.0, 4.0)), Report(0.0, 4.0, ())

    assert (4, 4.0, 0.0, 4.0, 0) == told(shared([busy, starved]))


def test_a_writer_alone_is_timed_by_its_median_write() -> None:
    """The median tells slow syncs; the rate is counted as that of two writers is."""
    share = shared([Report(0.0, 10.0, (4.0, 5.0))])

    assert (2.5, 0.2) == (share.middle, share.rate)


def test_a_round_with_slow_syncs_is_played_again() -> None:
    """The control's median decides; a round that never calms down is told."""
    middles = iter([0.0, 0.004, 0.0002, 0.004, 0.004, 0.004, 0.004])
    rounds = interleave({"raw": lambda: Slice(1, 1.0, next(middles))}, rounds=2, control="raw")

    assert [0.0002, 0.004] == [one.middle for one in rounds.slices["raw"]]
    assert (
        "in 1 of 2 rounds a sync took more than 1 ms (busy cores): ratios lean towards 1",
    ) == rounds.notes


def test_steps_are_timed_one_by_one() -> None:
    """As many times as steps, and their median lies among them."""
    slice_ = timed_each(iter("abc"))

    assert 3 == slice_.count
    assert 0 <= slice_.middle <= slice_.seconds


def test_an_unknown_row_is_refused_with_the_names() -> None:
    """Asked wrongly: exit code 2, and the eight names."""
    seen = CliRunner().invoke(main, ["bench", "--only", "speed"])

    assert 2 == seen.exit_code
    assert ", ".join(NAMES) in " ".join(seen.stderr.split())


def test_an_unknown_row_is_refused_by_the_function_too() -> None:
    """At once, before anything is measured."""
    with pytest.raises(ValueError, match="asked the row speed, found reducer, commit") as refused:
        bench.measure(["disk", "speed"])

    assert "\nhint: " in str(refused.value)


@pytest.mark.usefixtures("no_peers")
def test_every_row_tells_what_it_ran_on() -> None:
    """Versions stand under the figures, and rounds where time was measured."""
    rows = quick("--only", "disk", "--only", "reducer")
    told = r"Python 3\.\d+\.\S+, SQLite 3\.\S+, \d+ cores"

    for row, rounds in zip(rows, ("; 1 round, which says little", ""), strict=True):
        assert re.fullmatch(told + rounds, row["notes"][-1])


def test_the_questions_are_the_eight_rows() -> None:
    """The order in which they are asked is the order of the names."""

    assert NAMES == list(bench.QUESTIONS)
