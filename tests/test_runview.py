"""The run view: frames, owners, differences, filters; and that its text holds all of it."""

from __future__ import annotations

import base64
import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest
from stories import Stage, approved_run, graph_run

from runstate_lab.broken import NaiveStore
from runstate_lab.errors import Refusal
from runstate_lab.live import RunView
from runstate_lab.live.faults import Askew, Sealed
from runstate_lab.live.runs.lens import places, provenance
from runstate_lab.live.runs.replays import Frame, frames_of
from runstate_lab.model import Fact, RunState, StateProposal, ToolCall
from runstate_lab.runtime import Runtime
from runstate_lab.sqlite import SqliteStateStore
from runstate_lab.store import StateStore

STORIES = {"approved": approved_run, "graph": graph_run}
MOST_SENT = 600_000
VIEW = "application/vnd.jupyter.widget-view+json"


def long_run(steps: int = 1_000) -> StateStore:
    """A run of many calls; every tenth offer comes from the model and is refused."""
    stage = Stage(StateStore(RunState("run-7")))
    runtime, offer = stage.runtime, stage.offer
    runtime.accept_runtime(offer("run_started"))
    while len(stage.store.trace) < steps:
        number = len(stage.store.trace)
        if number % 10 == 0:
            with pytest.raises(Refusal):
                runtime.accept_model_proposal(offer("run_completed"))
            continue
        call = stage.store.load().calls
        if call:
            done = offer("tool_result_recorded", f"tests-{number}=green")
            runtime.accept_tool_result("run_tests", done, call_id=call[0].call_id)
        else:
            runtime.accept_runtime(offer("tool_dispatched", ToolCall(f"c{number}", "run_tests")))
    return stage.store


def shown(view: RunView) -> tuple[object, ...]:
    """Everything that a view shows, as bytes would be compared."""
    bundle, _ = view._repr_mimebundle_()
    kept = {kind: value for kind, value in bundle.items() if kind != VIEW}
    return (kept, view.text(), view.csv(), view.svg(), view.at)


def test_the_story_in_three_frames() -> None:
    """The sentences of a refusal and of what follows name who, what, from where, and the answer."""
    view = RunView(approved_run())

    assert "The start: queued at revision 0." == view.first()
    assert (
        "Step 6. approver:mallory offers approval_granted to a1, made from revision 5: "
        "refused, answer_foreign; the store stays at revision 5." == view.go(6)
    )
    assert (
        "Step 7. approver:rosa offers approval_granted to a1, made from revision 5: "
        "accepted, revision 6." == view.forward()
    )


def test_a_refused_entry_is_a_frame_that_changes_nothing() -> None:
    """One frame for each entry, and one for the start."""
    frames = frames_of(approved_run())

    assert [0, *range(1, 11)] == [frame.number for frame in frames]
    assert [6] == [frame.number for frame in frames if frame.refused]
    assert frames[6].before is frames[6].after
    assert () == frames[6].changes


@pytest.mark.parametrize("story", STORIES.values(), ids=STORIES)
def test_the_last_frame_is_the_state_of_the_store(
    story: Callable[[], StateStore],
) -> None:
    """Folding the trace again gives what the store has."""
    store = story()

    assert store.load() == frames_of(store)[-1].after


def test_back_and_forward_give_the_same_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Scrubbing shows again what was shown, and asks no store and no reducer."""
    view = RunView(approved_run(), at=5)
    before = shown(view)
    monkeypatch.setattr("runstate_lab.live.runs.replays.reduce", None)
    monkeypatch.setattr("runstate_lab.store.StateStore.load", None)
    monkeypatch.setattr("runstate_lab.context.ContextBuilder.build", None)
    view.back()
    between = shown(view)
    view.forward()

    assert before == shown(view) != between


@pytest.mark.parametrize("story", STORIES.values(), ids=STORIES)
def test_everything_in_every_state_has_an_owner(
    story: Callable[[], StateStore],
) -> None:
    """For each field and each element at each step: an entry that wrote it, or since the start."""
    frames = frames_of(story())
    silent = []
    for frame in frames:
        for place in places(frame.after):
            found = provenance(frames, frame.number, place)
            named = (
                found.proposer,
                found.source,
                found.authority,
                found.kind,
                found.trace_entry,
            )
            if not (all(named) if found.step else "since the start" in found.sentence):
                silent.append((frame.number, place))

    assert [] == silent
    assert 19 == len([place for place in places(RunState("run-7")) if "/" not in place])


def test_the_owner_is_the_entry_that_changed_it_last() -> None:
    """An owner's entry really changed that place, and no later one did."""
    frames = frames_of(graph_run())
    for frame in frames:
        for place in places(frame.after):
            found = provenance(frames, frame.number, place)
            field, _, element = place.partition("/")
            writers = [
                one.number
                for one in frames[1 : frame.number + 1]
                if any(c.field == field and element in ("", c.element) for c in one.changes)
            ]
            assert (writers or [None])[-1] == found.step


@pytest.mark.parametrize(
    ("at", "place", "sentence"),
    [
        (
            8,
            "calls/c1",
            (
                "calls c1 is deploy(release=7) dispatched. Proposed by model:planner at step 4; "
                "written with source runtime, authority runtime, by tool_dispatched: revision 7, "
                "trace entry 8."
            ),
        ),
        (
            9,
            "facts/deployed",
            (
                "facts deployed is deployed=7. Proposed by tool:deploy; written with source "
                "tool:deploy, authority tool_executor, by tool_result_recorded about call c1: "
                "revision 8, trace entry 9."
            ),
        ),
        (
            9,
            "status",
            (
                "status is running. Proposed by approver:rosa; written with source approver:rosa, "
                "authority approver, by approval_granted: revision 6, trace entry 7."
            ),
        ),
        (
            9,
            "goal",
            "goal is none: so since the start; no entry of this trace wrote it.",
        ),
    ],
)
def test_the_lens_answers_in_a_sentence(at: int, place: str, sentence: str) -> None:
    """Who proposed, who wrote, by which event, at which revision."""

    assert sentence == RunView(approved_run(), at=at).lens(place)


def test_a_fact_older_than_the_trace_speaks_for_itself() -> None:
    """The trace does not know who wrote it; the fact does."""
    fact = Fact("build", "green", "tool:get_status", "tool_executor", "c0", 3)
    view = RunView(StateStore(RunState("run-7", facts=(fact,), revision=4)))

    assert (
        "facts build is build=green: so since the start; no entry of this trace wrote it. "
        "It says of itself: source tool:get_status, authority tool_executor, call c0, revision 3."
        == view.lens("facts/build")
    )
    assert "The trace begins at revision 4: it was pruned" in view.text()


def test_a_pruned_trace_says_so(tmp_path: Path) -> None:
    """What was dropped is named as missing, in memory and in a file; the rest can be looked at."""
    kept = approved_run()
    kept.prune(keep=4)
    durable = SqliteStateStore(tmp_path / "run.sqlite", RunState("run-7"))
    runtime = Runtime(durable)
    for kind in ("run_started", "turn_started"):
        runtime.accept_runtime(StateProposal(kind, "", durable.load().revision))
    durable.prune(keep=1)

    assert "begins at revision 5" in RunView(kept).graph["begins"]
    assert 5 == len(RunView(kept).frames)
    assert "begins at revision 1" in RunView(durable).text()
    assert 2 == len(RunView(durable).frames)
    durable.close()


def test_a_running_store_is_read_again_when_asked() -> None:
    """What came since is added; who looked at the newest step follows it."""
    stage = Stage(StateStore(RunState("run-7")))
    view = RunView(stage.store)
    stage.runtime.accept_runtime(stage.offer("run_started"))

    assert 0 == view.at
    assert "Step 1. runtime offers run_started" == view.refresh().partition(",")[0]
    view.first()
    stage.runtime.accept_runtime(stage.offer("turn_started"))
    assert ("The start: queued at revision 0.", 0, 3) == (
        view.refresh(),
        view.at,
        len(view.graph["steps"]),
    )


def test_what_changed_since_any_step() -> None:
    """The previous step is usual; any other may be named, a later one too."""
    view = RunView(approved_run(), at=7)

    assert (
        "From step 6 to step 7: status: waiting → running; requests a1: removed rosa is asked: "
        "deploy release 7?; answered a1: added a1; grants c1: added c1, d2de3ea233e5; "
        "waiting_for: pending_approval → none; revision: 5 → 6." == view.compare()
    )
    assert "From step 7 to step 7: nothing." == view.compare(7)
    assert (7, "revision") == (view.since, view.changes(10)[-1].field)


def test_steps_are_sifted_and_folded() -> None:
    """Hidden steps stand in rows that say how many they are; a fold can be opened."""
    view = RunView(approved_run())

    assert "1 of 10 steps shown." == view.only_rejected()
    assert ["5 steps folded", "4 steps folded"] == [str(row) for row in view.rows() if row.folded]
    assert "6 of 10 steps shown." == view.unfold(3)
    assert "1 of 10 steps shown." == view.unfold(3, on=False)
    view.only_rejected(False)
    assert "9 of 10 steps shown." == view.fold()
    view.fold(False)
    assert "5 of 10 steps shown." == view.hide("runtime")
    assert "1 of 10 steps shown." == view.search("MALLORY")
    view.reset()
    assert 11 == len(view.rows())


def test_one_step_on_passes_over_what_is_folded() -> None:
    """Among rejected steps only, forward goes from refusal to refusal and stays at the last."""
    view = RunView(long_run(60), at=0)
    view.only_rejected()

    assert [11, 21, 31, 41, 51, 51] == [(view.forward(), view.at)[1] for _ in range(6)]
    assert [41, 31] == [(view.back(), view.at)[1] for _ in range(2)]


def test_the_context_of_each_step_is_the_builders_own() -> None:
    """What is shown and what was left out is what a ContextBuilder gives for that state."""
    view = RunView(long_run(60), budget=120)

    assert view.context().text.splitlines()[-1] == f"fact: {view.frames[-1].after.facts[-1]}"
    assert ["budget"] == [one.why for one in view.context().left_out]
    assert f"left out: {view.context().left_out[0]}" in view.text()
    shy = RunView(approved_run(), privacy="private", private_keys=("deployed",))
    assert ["fact deployed: privacy"] == [str(one) for one in shy.context().left_out]


def test_the_text_holds_what_the_picture_and_the_table_hold() -> None:
    """Each step's kind, source, refusal code and revision is in the picture, the table, the text."""
    view = RunView(approved_run())
    drawing = ElementTree.fromstring(view.svg(whole=True))
    drawn = "".join(node.text or "" for node in drawing.iter() if node.tag.endswith("text"))
    rows = list(csv.DictReader(io.StringIO(view.csv())))
    for frame, row in zip(view.frames[1:], rows[1:], strict=True):
        event = frame.entry.event  # type: ignore[union-attr]
        for words in (event.kind, event.source, frame.code):
            assert words in drawn
            assert words in view.text()
        assert (event.kind, event.source, frame.code, str(frame.after.revision)) == (
            row["event"], row["source"], row["code"], row["revision"],
        )  # fmt: skip


def test_a_refused_arrow_is_dashed_and_has_its_code() -> None:
    """One arrow for each entry; the refused one ends before the store."""
    drawing = ElementTree.fromstring(RunView(approved_run()).svg(whole=True))
    arrows = [
        node.get("class")
        for node in drawing.iter()
        if node.get("class") in ("rs-accepted", "rs-refused")
    ]

    assert 9 == arrows.count("rs-accepted")
    assert 1 == arrows.count("rs-refused")


def test_a_thousand_events_are_sent_once_and_small() -> None:
    """The plain values of 1,000 events stay under the bound; moving sends nothing of them."""
    view = RunView(long_run(), budget=600)
    graph = view.graph
    view.back()

    assert 1_001 == len(graph["steps"])
    assert len(json.dumps(graph)) < MOST_SENT
    assert graph is view.graph
    assert view.svg().count("<g ") < 20


@pytest.mark.parametrize("steps", [0, 1])
def test_the_shortest_runs_can_be_looked_at(steps: int) -> None:
    """No event and one event show a start, and nothing that is not there."""
    stage = Stage(StateStore(RunState("run-7")))
    for _ in range(steps):
        stage.runtime.accept_runtime(stage.offer("run_started"))
    view = RunView(stage.store)

    assert steps == view.at
    assert steps + 1 == len(view.table())
    assert f"{steps} of {steps} steps shown." == view.fold()
    assert view.back() == view.first()
    assert "nothing was left out" in view.text()


def naive_frames() -> tuple[Frame, ...]:
    """Two tools read one revision and write to a naive store; the second wipes the first out."""
    stage = Stage(NaiveStore(RunState("run-7")))
    stage.runtime.accept_runtime(stage.offer("run_started"))
    for call in (ToolCall("c2", "run_tests"), ToolCall("c3", "scan")):
        stage.runtime.accept_runtime(stage.offer("tool_dispatched", call))
    state = stage.store.load()
    frames = [Frame(0, None, state, state)]
    for tool in ("tool:run_tests", "tool:scan"):
        frames.append(Frame(len(frames), None, state, state, actor=tool, does="reads revision 3"))
    for tool, call_id, fact in (("run_tests", "c2", "tests=green"), ("scan", "c3", "scan=clean")):
        before = stage.store.load()
        proposal = StateProposal("tool_result_recorded", fact, state.revision)
        stage.runtime.accept_tool_result(tool, proposal, call_id=call_id)
        remark = "tests=green is gone." if len(frames) == 4 else ""
        entry, after = stage.store.trace[-1], stage.store.load()
        frames.append(Frame(len(frames), entry, before, after, remark=remark))
    return tuple(frames)


def test_frames_of_a_wrong_store_can_be_handed_in() -> None:
    """The view shows the lost update as it happened, with its remark."""
    view = RunView(frames=naive_frames())

    assert "facts tests: removed tests=green" in view.compare()
    assert view.said().endswith("accepted, revision 4. tests=green is gone.")
    assert "trace entry 2" in view.lens("facts")
    assert "Step 2. tool:scan reads revision 3." == view.go(2)


def test_steps_that_only_read_can_be_folded() -> None:
    """A reading changed nothing, and is no refusal."""
    view = RunView(frames=naive_frames())

    assert "2 of 4 steps shown." == view.fold()
    assert ["2 steps folded"] == [str(row) for row in view.rows() if row.folded]


def test_a_change_without_an_entry_is_told_as_such() -> None:
    """A store that forgets shows a state that no entry explains."""
    one, two = RunState("run-7"), RunState("run-7", goal="something else")
    view = RunView(frames=(Frame(0, None, one, one), Frame(1, None, one, two, "store", "restarts")))

    assert "goal is something else: changed at step 1 by no entry of the trace." == view.lens(
        "goal"
    )


def test_a_wrong_stores_trace_is_not_passed_off_as_its_story() -> None:
    """Where folding the trace gives another state than the store has, frames are asked for."""
    stage = Stage(NaiveStore(RunState("run-7")))  # type: ignore[arg-type]
    stage.runtime.accept_runtime(stage.offer("run_started"))
    for call in (ToolCall("c2", "run_tests"), ToolCall("c3", "scan")):
        stage.runtime.accept_runtime(StateProposal("tool_dispatched", call, 1))

    with pytest.raises(Askew, match="hand in the frames yourself"):
        RunView(stage.store)


@pytest.mark.parametrize(
    ("ask", "found"),
    [
        (lambda view: view.go(11), "10 steps"),
        (lambda view: view.go("x"), "10 steps"),
        (lambda view: view.lens("mood"), "no such field"),
        (lambda view: view.lens("calls/c9"), "nothing of that name"),
        (lambda view: view.compare(-1), "10 steps"),
        (lambda view: view.hide("mallory"), "no such source"),
        (lambda view: view.unfold(3), "that step is shown"),
        (lambda view: view.unfold("x"), "that step is shown"),
        (lambda view: view.search(7), "a int"),
        (lambda view: RunView(), "neither"),
        (
            lambda view: RunView(StateStore(RunState("run-7")), frames=view.frames),
            "both",
        ),
        (lambda view: RunView("run.sqlite"), "a str"),
        (lambda view: RunView(frames=view.frames[1:]), r"the numbers \[1, 2"),
        (lambda view: RunView(frames=view.frames).refresh(), "without a store"),
        (lambda view: RunView(approved_run(), budget=0), "budget"),
        (lambda view: RunView(approved_run(), privacy="shy"), "privacy"),
    ],
)
def test_a_call_that_cannot_be_followed_says_what_there_is(
    ask: Callable[[RunView], object], found: str
) -> None:
    """The message names what was found and ends with one thing to do."""
    with pytest.raises(Askew, match=found) as refused:
        ask(RunView(approved_run()))

    assert "\nhint: " in str(refused.value)


def test_a_sealed_view_gives_nothing_away() -> None:
    """Locked, neither the browser's state nor the stored output holds a step; then all is back."""
    view = RunView(approved_run(), at=8)
    view.lens("calls/c1")
    view.seal("predict first")
    state = view.get_state()
    sent = json.dumps({key: state[key] for key in state if key not in ("_esm", "_css", "layout")})

    assert {} == state["graph"]
    assert [] == [word for word in ("refused", "mallory", "deploy", "revision") if word in sent]
    assert "predict first" in view.picture()
    with pytest.raises(Sealed):
        view.lens("status")
    view.unseal()
    assert (8, "calls/c1") == (view.at, view.picked)


def test_the_second_view_of_a_store_shows_the_same() -> None:
    """Two views of one store keep the same bytes, and looking leaves the store as it was."""
    store = approved_run()
    before = store.load(), len(store.trace)

    assert shown(RunView(store)) == shown(RunView(store))
    assert before == (store.load(), len(store.trace))


def test_what_a_notebook_keeps_has_its_text_and_looks() -> None:
    """The stored image carries its style sheet and an alt text that tells the step."""
    picture = RunView(approved_run(), at=6).picture()
    drawing = base64.b64decode(picture.partition("base64,")[2].partition('"')[0]).decode()

    assert "refused, answer_foreign" in picture.partition(" width=")[0]
    assert ".rs-store" in drawing
