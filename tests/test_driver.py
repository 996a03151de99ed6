"""The run loop, by its whole transition trace."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from runstate_lab.context import ContextBuilder
from runstate_lab.control import ActiveRunControl
from runstate_lab.driver import Driver
from runstate_lab.errors import (
    AnswerRepeated,
    DriverFenced,
    LeaseHeld,
    Malformed,
    OutcomeUnknown,
    Refusal,
    RequestRepeated,
    RevisionConflict,
    ToolFailure,
)
from runstate_lab.model import (
    Answer,
    Approval,
    Budget,
    Callback,
    CallStatus,
    Decision,
    RunState,
    RunStatus,
    StateProposal,
    ToolCall,
)
from runstate_lab.rules import replay
from runstate_lab.runtime import Runtime
from runstate_lab.scripted import LogicalClock, ScriptedApprover, ScriptedModel, ScriptedTool
from runstate_lab.sqlite import SqliteStateStore
from runstate_lab.store import StateStore
from runstate_lab.tools import Tool, ToolRegistry

GOAL = ("build=green", "tests=green", "deploy=done")


def look() -> Decision:
    """A first decision: see what the build says."""
    return Decision("look at the build", (ToolCall("c1", "get_status"),))


DONE = Decision("done", final=True)


def tool(name: str, *script: str | Exception, **options: object) -> Tool:
    """A tool of that name that follows a script."""
    return Tool(name, ScriptedTool(script), **options)


def drive(
    decisions: list[Decision],
    tools: list[Tool],
    *,
    success: tuple[str, ...] = ("build=green",),
    budget: Budget | None = None,
    **options: object,
) -> Driver:
    """A driver over a fresh run-7."""
    state = RunState("run-7", goal="ship release 7", success=success, budget=budget or Budget(8, 2))
    registry = ToolRegistry(tools)
    return Driver(
        StateStore(state), "w1", model=ScriptedModel(decisions), tools=registry, **options
    )


def kinds(driver: Driver) -> list[str]:
    """The accepted kinds of events, in order."""
    return [event.kind for event in driver.store.trace.accepted]


def test_tool_call_observation_final() -> None:
    """The smallest whole run; its trace is the one that the source text tells."""
    driver = drive([look(), DONE], [tool("get_status", "build=green")])
    state = driver.run()

    assert ("completed", "goal_reached", 2, 1) == (
        state.status,
        state.stop_reason,
        state.turn.number,
        state.step,
    )
    assert [
        "driver_leased",
        "run_started",
        "turn_started",
        "model_output_received",
        "tool_dispatched",
        "tool_result_recorded",
        "followup_required",
        "turn_started",
        "model_output_received",
        "run_completed",
    ] == kinds(driver)
    assert state == replay(driver.store.base, driver.store.trace.accepted)


def test_a_finished_run_refuses_to_run_again() -> None:
    """Running the driver again changes nothing; a forced start is refused."""
    driver = drive([look(), DONE], [tool("get_status", "build=green")])
    state = driver.run()

    assert state == driver.run()
    with pytest.raises(ValueError, match="run cannot start from completed"):
        driver.runtime.accept_runtime(StateProposal("run_started", "", state.revision))


def test_one_run_of_four_turns_with_three_steps_in_turn_two_one_retried() -> None:
    """Run 1, turns 4, steps 5, attempts 6: each counter at its own level."""
    second = (ToolCall("c2", "run_tests"), ToolCall("c3", "scan"), ToolCall("c4", "get_status"))
    driver = drive(
        [look(), Decision("check", second), Decision("ship", (ToolCall("c5", "deploy"),)), DONE],
        [
            tool("get_status", "build=green"),
            tool("run_tests", ToolFailure("flaky"), "tests=green"),
            tool("scan", "scan=clean"),
            tool("deploy", "deploy=done"),
        ],
        success=GOAL,
    )
    state = driver.run()
    dispatched = [e.value for e in driver.store.trace.accepted if e.kind == "tool_dispatched"]

    assert ("completed", 4, 5) == (state.status, state.turn.number, state.step)
    assert [1, 1, 1, 1, 2, 1] == [call.attempt for call in dispatched]
    assert 1 == kinds(driver).count("run_started")
    assert "attempt c2 at revision 11: flaky" == str(state.first_error)


def test_max_turns_limits_decisions_only() -> None:
    """A retry spends no turn; the turn after the last one is not begun."""
    driver = drive(
        [look(), Decision("hm"), Decision("hm")],
        [tool("get_status", ToolFailure("flaky"), "build=red")],
        budget=Budget(max_turns=2, max_attempts=2),
    )
    state = driver.run()

    assert ("failed", "budget_exhausted", 2) == (state.status, state.stop_reason, state.turn.number)
    assert 2 == kinds(driver).count("tool_dispatched")


def test_a_silent_tool_without_a_key_fails_the_run_and_is_not_called_again() -> None:
    """Nobody knows whether it had its effect, so nobody repeats it."""
    deploy = tool("get_status", OutcomeUnknown("no answer"))
    driver = drive([look(), DONE], [deploy])
    state = driver.run()

    assert ("failed", "tool_error", 1) == (state.status, state.stop_reason, deploy.act.calls)
    assert ["unknown"] == [call.status for call in state.calls]


def test_a_silent_tool_with_a_key_is_tried_again_and_acts_once() -> None:
    """The same key twice is one effect."""
    status = tool("get_status", OutcomeUnknown("no answer"), "build=green", keyed=True)
    driver = drive([look(), DONE], [status])
    state = driver.run()

    assert ("completed", 2, 1) == (state.status, status.act.calls, len(status.act.effects))


def test_a_run_fails_at_its_own_deadline() -> None:
    """Two ticks a call, a deadline of three: the third turn is never begun."""
    clock = LogicalClock()
    slow = Tool("get_status", ScriptedTool(["build=red"], on_call=lambda: clock.advance(4)))
    driver = drive([look(), DONE], [slow], budget=Budget(8, 1, deadline=3), clock=clock)
    state = driver.run()

    assert ("failed", "timeout", 1) == (state.status, state.stop_reason, state.turn.number)


def test_a_gated_call_waits_for_its_approval() -> None:
    """Request and wait are one event; the answer lets exactly this call through."""
    deploy = tool("deploy", "deploy=done", gated_by="rosa")
    ship = Decision("ship", (ToolCall("c1", "deploy"),))
    driver = drive([ship, DONE], [deploy], success=("deploy=done",))
    waiting = driver.run()
    control = ActiveRunControl(driver.runtime)

    assert ("waiting", "pending_approval", 0) == (
        waiting.status,
        control.waiting_for,
        deploy.act.calls,
    )
    assert ("c1", "approve c1") == control.pending
    kind, answer = ScriptedApprover("rosa", {"deploy()?": "yes"}).answer(
        waiting.requests[0], "run-7"
    )
    control.answer("rosa", kind, answer)
    assert ("completed", 1) == (driver.run().status, deploy.act.calls)
    with pytest.raises(ValueError):
        control.answer("rosa", kind, answer)


def test_the_same_answer_twice_is_told_so_while_the_run_goes_on() -> None:
    """The run is running again: the second answer is a repeated one."""
    ship = Decision("ship", (ToolCall("c1", "deploy"),))
    driver = drive([ship, DONE], [tool("deploy", "deploy=done", gated_by="rosa")])
    waiting = driver.run()
    kind, answer = ScriptedApprover("rosa", {"deploy()?": "yes"}).answer(
        waiting.requests[0], "run-7"
    )
    control = ActiveRunControl(driver.runtime)
    control.answer("rosa", kind, answer)

    with pytest.raises(AnswerRepeated):
        control.answer("rosa", kind, answer)


@pytest.mark.parametrize("word", ["no", "silence"])
def test_a_call_that_is_not_approved_is_not_executed(word: str) -> None:
    """Denied, or expired at its tick: the run goes on without the call."""
    clock = LogicalClock()
    deploy = tool("deploy", "deploy=done", gated_by="rosa")
    driver = drive(
        [Decision("ship", (ToolCall("c1", "deploy"),)), look(), DONE],
        [deploy, tool("get_status", "build=green")],
        clock=clock,
        patience=5,
    )
    # The second decision of the script uses a call id of its own.
    driver._model = ScriptedModel(
        [
            Decision("ship", (ToolCall("c1", "deploy"),)),
            Decision("look", (ToolCall("c2", "get_status"),)),
            DONE,
        ]
    )
    waiting = driver.run()
    if word == "no":
        answer = ScriptedApprover("rosa", {"deploy()?": "no"}).answer(waiting.requests[0], "run-7")
        ActiveRunControl(driver.runtime).answer("rosa", *answer)
    clock.advance(5)

    assert ("completed", 0) == (driver.run().status, deploy.act.calls)


def test_a_refused_call_is_declined_and_the_run_goes_on() -> None:
    """Off the allow-list: not executed, with a note that says why."""
    driver = drive(
        [Decision("", (ToolCall("c1", "format_disk"), ToolCall("c2", "get_status"))), DONE],
        [tool("get_status", "build=green")],
    )
    state = driver.run()

    assert ("completed", 1) == (state.status, state.step)
    assert "tool_declined" in kinds(driver)
    assert "not on the allow-list" in driver.store.trace.diagnostics[0].words


def test_a_lying_tool_fails() -> None:
    """A result that is no fact is no result."""
    driver = drive([look(), DONE], [tool("get_status", "looks fine")], budget=Budget(2, 1))
    state = driver.run()

    assert ("failed", "budget_exhausted", ()) == (state.status, state.stop_reason, state.facts)
    assert "not key=value: 'looks fine'" == state.first_error.words


def test_a_private_turn_keeps_the_models_words_out_of_trace_and_context() -> None:
    """The privacy mode changes what is kept, not what happens."""
    salary = tool("get_status", "salary=9000")
    driver = drive(
        [Decision("ask for the salary", (ToolCall("c1", "get_status"),)), DONE],
        [salary],
        success=("salary=9000",),
        privacy="private",
        builder=ContextBuilder(private_keys=("salary",)),
    )
    state = driver.run()
    words = [
        e.value.words for e in driver.store.trace.accepted if e.kind == "model_output_received"
    ]

    assert ("completed", ["(private)", "(private)"]) == (state.status, words)
    assert not any("salary=9000" in context.text for context in driver._model.shown)
    assert ["fact salary: privacy"] == [str(one) for one in driver._model.shown[1].left_out]


def test_a_superseded_driver_is_fenced() -> None:
    """Its lease ran out and another took over: whatever it writes is refused."""
    clock = LogicalClock()
    first = drive([look(), DONE], [tool("get_status", "build=green")], clock=clock, lease=10)
    first._take_the_wheel()
    second = Driver(
        first.store, "w2", model=ScriptedModel([look(), DONE]), tools=first._tools, clock=clock
    )
    with pytest.raises(LeaseHeld):
        second.run()
    clock.advance(10)
    second._take_the_wheel()

    with pytest.raises(DriverFenced):
        first.runtime.accept_runtime(StateProposal("run_started", "", first.store.load().revision))
    with pytest.raises(LeaseHeld):
        first.run()
    assert "completed" == second.run().status


def test_a_user_may_cancel_while_a_tool_is_running() -> None:
    """The result comes too late; the call is told as unknown."""
    store = StateStore(RunState("run-7", success=("build=green",)))

    def slow(arguments: object) -> str:
        ActiveRunControl(Runtime(store)).cancel("ada", "wrong release")
        return "build=green"

    registry = ToolRegistry([Tool("get_status", slow)])
    state = Driver(store, "w1", model=ScriptedModel([look()]), tools=registry).run()

    assert ("cancelled", "wrong release", ()) == (state.status, state.stop_reason, state.facts)
    assert ["unknown"] == [call.status for call in state.calls]
    assert ["call_late"] == [refusal.code for refusal in store.trace.refused]


def test_a_driver_that_died_may_come_back_at_once_under_its_name() -> None:
    """What it was before is fenced, whatever the lease says."""
    first = drive([look(), DONE], [tool("get_status", "build=green")])
    first._take_the_wheel()
    again = Driver(first.store, "w1", model=ScriptedModel([look(), DONE]), tools=first._tools)

    assert "completed" == again.run().status
    assert 2 == again.store.load().driver.epoch
    with pytest.raises(DriverFenced):
        first.runtime.accept_runtime(StateProposal("turn_started", "open", 3))


@pytest.mark.parametrize(
    "calls",
    [
        (ToolCall("c1", "get_status"), ToolCall("c1", "get_status")),
        (ToolCall("c1", "get_status", attempt=9, retry_of="zz"),),
        (ToolCall("c1", "get_status", status=CallStatus.UNKNOWN),),
        (ToolCall("c1", "get_status", status=CallStatus.DISPATCHED),),
        (ToolCall("c1", "get_status", status=CallStatus.SUCCEEDED),),
    ],
)
def test_a_models_mistake_does_not_wedge_the_run(calls: tuple[ToolCall, ...]) -> None:
    """Its calls are dropped with a note; the next turn goes on."""
    right = Decision("look", (ToolCall("c9", "get_status"),))
    driver = drive([Decision("", calls), right, DONE], [tool("get_status", "build=green")])
    state = driver.run()

    assert ("completed", 3, 1) == (state.status, state.turn.number, state.step)
    assert "model:planner" == driver.store.trace.diagnostics[0].component


def test_a_retry_finds_an_id_of_its_own() -> None:
    """Also where the model used the one that it would have had."""
    calls = (ToolCall("c1", "get_status"), ToolCall("c1#2", "scan"))
    driver = drive(
        [Decision("", calls), DONE],
        [tool("get_status", ToolFailure("flaky"), "build=green"), tool("scan", "scan=clean")],
    )

    assert "completed" == driver.run().status


def test_nothing_has_an_effect_after_the_deadline() -> None:
    """The tool is not called once the run's own time is over."""
    status = tool("get_status", "build=green")
    driver = drive([look(), DONE], [status], budget=Budget(8, 1, deadline=3), clock=LogicalClock(5))
    state = driver.run()

    assert ("failed", "timeout", 0) == (state.status, state.stop_reason, status.act.calls)


def test_a_commit_by_somebody_else_makes_the_driver_decide_again() -> None:
    """A tool of an older turn reports late: the driver re-reads and goes on."""
    store = StateStore(RunState("run-7", success=("build=green",), budget=Budget(4, 1)))

    class Meddling(ScriptedModel):
        def decide(self, context: object, *, turn: int) -> Decision:
            if turn == 1 and not self.shown:
                store.note("elsewhere", "nothing", correlation="x")
                proposal = StateProposal(
                    "tool_dispatched", ToolCall("c9", "scan"), store.load().revision
                )
                Runtime(store, epoch=1).accept_runtime(proposal)
            return super().decide(context, turn=turn)

    model = Meddling([look(), DONE, DONE, DONE])
    registry = ToolRegistry([tool("get_status", "build=green")])
    state = Driver(store, "w1", model=model, tools=registry).run()

    assert "revision_conflict" in {refusal.code for refusal in store.trace.refused}
    assert "build=green" in [str(fact) for fact in state.facts]


STATE = RunState("run-7", success=("build=green",), budget=Budget(4, 2))
HALF = "\ud800"
LONG = "build=" + "x" * 1_000_000


@pytest.fixture(params=["memory", "file"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> StateStore:
    """A fresh store of run-7, in memory and on disk."""
    if request.param == "memory":
        return StateStore(STATE)
    return SqliteStateStore(tmp_path / "run.sqlite", STATE, durable="normal")


def driven(store: StateStore, *decisions: object, act: object = None, **options: object) -> Driver:
    """A driver of a store, whose tool does that."""
    status = Tool("get_status", act or (lambda arguments: "build=green"))
    model = ScriptedModel([DONE])
    model._decisions = decisions or (look(), DONE, DONE, DONE)
    given = {"model": model, "tools": ToolRegistry([status]), **options}
    return Driver(store, "w1", **given)


@pytest.mark.parametrize("answer", [f"build={HALF}", "build=\0", LONG, None, 7, b"build=green"])
def test_an_answer_that_cannot_be_kept_leaves_its_call_unknown(
    store: StateStore, answer: object
) -> None:
    """The effect is accounted for and not repeated, and a note says why."""
    effects = []

    def act(arguments: object) -> object:
        effects.append("build")
        return answer

    state = driven(store, act=act).run()

    assert ("failed", "tool_error", 1) == (state.status, state.stop_reason, len(effects))
    assert ["unknown"] == [call.status for call in state.calls]
    (told,) = [one for one in store.trace.diagnostics if one.component == "tool:get_status"]
    assert told.words.startswith("an answer that nobody can keep: ")


@pytest.mark.parametrize("words", [HALF, "no\0route", LONG, "  "])
@pytest.mark.parametrize("kind", [ToolFailure, OutcomeUnknown, OSError])
def test_whatever_a_tool_raises_can_be_kept(
    store: StateStore, kind: type[Exception], words: str
) -> None:
    """The run ends by its own rules."""
    state = driven(store, act=ScriptedTool([kind(words)])).run()

    assert state.status is RunStatus.FAILED
    assert 1_100 > len(state.first_error.words)


@pytest.mark.parametrize("words", [HALF, LONG, "\0"])
@pytest.mark.parametrize(("privacy", "dropped"), [("open", 1), ("private", 0)])
def test_words_that_cannot_be_kept_are_a_models_mistake_unless_they_are_not_kept(
    store: StateStore, words: str, privacy: str, dropped: int
) -> None:
    """A private turn keeps none, so its calls count."""
    said = Decision(words, look().calls)
    driven(store, said, DONE, DONE, DONE, privacy=privacy).run()
    notes = [one.component for one in store.trace.diagnostics]

    assert (dropped, 1 - dropped) == (notes.count("model:planner"), store.load().step)


@pytest.mark.parametrize(
    "said",
    [
        Decision("", (ToolCall(HALF, "get_status"),)),
        Decision("", (ToolCall("c1", HALF),)),
        Decision("", (ToolCall("c1", "get_status", (("release", HALF),)),)),
        Decision("", (ToolCall("c1", "get_status", key=object()),)),
        Decision("", (ToolCall("c1", "get_status", gated="no"),)),
        Decision("", final="yes"),
        None,
        "look at the build",
    ],
)
@pytest.mark.parametrize("privacy", ["open", "private"])
def test_a_decision_that_cannot_be_kept_is_a_models_mistake(
    store: StateStore, said: object, privacy: str
) -> None:
    """Its calls are dropped with a note; the next turn goes on."""
    right = Decision("look", (ToolCall("c9", "get_status"),))
    state = driven(store, said, right, DONE, privacy=privacy).run()

    assert ("completed", 3, 1) == (state.status, state.turn.number, state.step)
    assert "model:planner" == store.trace.diagnostics[0].component


class Mute(Exception):
    """An exception that cannot say what it is."""

    def __str__(self) -> str:
        raise ValueError


@pytest.mark.parametrize("error", [ConnectionError("reset"), Mute(), OSError(HALF)])
def test_a_models_session_that_raises_is_a_refusal_and_the_run_goes_on_from_there(
    store: StateStore, error: Exception
) -> None:
    """Nothing was done; the same turn is asked again."""
    driver = driven(store)
    errors = [error]
    model = driver._model

    class Flaky(ScriptedModel):
        def decide(self, context: object, *, turn: int) -> Decision:
            if errors:
                raise errors.pop()
            return model.decide(context, turn=turn)

    driver._model = Flaky([])
    with pytest.raises(Malformed, match="no decision came: asked one in turn 1 of run-7"):
        driver.run()

    assert ("completed", 2) == (driver.run().status, store.load().turn.number)


def broken_middleware(*, before: bool) -> object:
    """Middleware that raises, before the tool or after it."""

    def wrap(call: ToolCall, act: object) -> object:
        def wrapped(arguments: object) -> str:
            if before:
                raise Mute
            act(arguments)
            raise Mute

        return wrapped

    return wrap


@pytest.mark.parametrize(("before", "effects", "ended"), [(True, 0, "failed"), (False, 1, "unknown")])
def test_middleware_that_raises_leaves_an_honest_outcome(
    store: StateStore, before: bool, effects: int, ended: str
) -> None:
    """Not reached is a failure and tried again; answered is unknown and is not."""
    status, ship = ScriptedTool(["build=green"]), Decision("", look().calls, True)
    options = {"middleware": (broken_middleware(before=before),)}
    driver = driven(store, ship, act=status, **options)
    state = driver.run()

    assert (effects, [ended]) == (status.calls, [call.status for call in state.calls])
    assert ("failed", "tool_error") == (state.status, state.stop_reason)


def test_a_release_that_raises_is_a_note() -> None:
    """The run goes on; the trace says what is still held."""

    def stuck() -> None:
        raise OSError("device is busy")

    class Holding(Driver):
        def _open_turn(self, state: RunState) -> object:
            turn = super()._open_turn(state)
            turn.claim("slot", owner="w1", release=stuck)
            return turn

    run = StateStore(STATE)
    driver = Holding(run, "w1", model=ScriptedModel([look(), DONE]), tools=driven(run)._tools)

    assert "completed" == driver.run().status
    words = [one.words for one in run.trace.diagnostics]
    assert 2 == words.count("not released: OSError: device is busy")


class Endless(ScriptedModel):
    """A model that says the same for ever."""

    def __init__(self, say: Callable[[int], Decision]) -> None:
        super().__init__([])
        self.say = say

    def decide(self, context: object, *, turn: int) -> Decision:
        """What it always says."""
        return self.say(turn)


@pytest.mark.parametrize("success", [(), ("build=green",)])
@pytest.mark.parametrize(
    "say",
    [
        lambda turn: DONE,
        lambda turn: Decision("hm"),
        lambda turn: Decision("", (ToolCall(f"c{turn}", "format_disk"),)),
        lambda turn: Decision("", (ToolCall(f"c{turn}", "get_status"),)),
        lambda turn: None,
    ],
)
def test_no_run_goes_on_for_ever_without_a_budget(
    success: tuple[str, ...], say: Callable[[int], Decision]
) -> None:
    """A thousand turns, then its budget counts as exhausted."""
    run = StateStore(RunState("run-7", success=success))
    tools = ToolRegistry([Tool("get_status", lambda arguments: "build=red")])
    state = Driver(run, "w1", model=Endless(say), tools=tools).run()

    assert ("failed", "budget_exhausted", 1_000) == (
        state.status,
        state.stop_reason,
        state.turn.number,
    )


def test_requests_that_expire_at_once_end_with_the_budget() -> None:
    """A clock that runs ahead of every approval is no endless recursion."""
    clock = LogicalClock()
    run = StateStore(RunState("run-7", success=("deploy=done",)))
    ship = Endless(lambda turn: Decision("", (ToolCall(f"c{turn}", "deploy"),)))
    tools = ToolRegistry([Tool("deploy", lambda arguments: "deploy=done", gated_by="rosa")])
    driver = Driver(
        run, "w1", model=ship, tools=tools, clock=lambda: clock.advance(1), patience=1, lease=10**9
    )
    state = driver.run()

    assert ("failed", "budget_exhausted", 0) == (state.status, state.stop_reason, state.step)


class Stubborn(StateStore):
    """Says that it was written to, at whatever revision."""

    def apply(self, proposal: StateProposal, *, context: object) -> RunState:
        """Never the next state."""
        raise RevisionConflict(proposal.kind, "another revision")


class Idle(StateStore):
    """Accepts everything and stays where it is."""

    def apply(self, proposal: StateProposal, *, context: object) -> RunState:
        """The state as it was."""
        return self.load()


@pytest.mark.parametrize("kind", [Stubborn, Idle])
@pytest.mark.parametrize("status", ["queued", "running"])
def test_a_store_that_never_moves_is_not_asked_for_ever(
    kind: type[StateStore], status: str
) -> None:
    """A conflict without a newer revision is no reason to look again."""
    run = kind(RunState("run-7", status=RunStatus(status), calls=DISPATCHED))

    with pytest.raises(RevisionConflict):
        driven(run).run()


@pytest.mark.parametrize("kind", [Stubborn, Idle])
def test_a_control_does_not_ask_such_a_store_for_ever(kind: type[StateStore]) -> None:
    """It refuses, or says what the store says."""
    control = ActiveRunControl(Runtime(kind(STATE)))
    try:
        state = control.cancel("ada", "not today")
    except RevisionConflict:
        state = None

    assert state in (None, STATE)


DISPATCHED = (ToolCall("c1", "get_status", status=CallStatus.DISPATCHED),)


@pytest.mark.parametrize("error", [TimeoutError("no answer"), ToolFailure("no route"), None])
def test_a_run_that_was_cancelled_while_a_tool_failed_stays_cancelled(
    store: StateStore, error: Exception | None
) -> None:
    """However the tool ends, nothing is raised, and the call is told as unknown."""

    def slow(arguments: object) -> str:
        ActiveRunControl(Runtime(store)).cancel("ada", "wrong release")
        if error is not None:
            raise error
        return f"build={HALF}"

    state = driven(store, act=slow).run()

    assert ("cancelled", ["unknown"]) == (state.status, [call.status for call in state.calls])


def test_a_retry_of_a_tool_that_is_gone_fails() -> None:
    """Another registry than that of the first attempt: it was not reached."""
    failed = ToolCall("c1", "scan", status=CallStatus.DISPATCHED)
    run = StateStore(RunState("run-7", success=("build=green",), budget=Budget(2, 2), calls=(failed,)))
    runtime = Runtime(run)
    runtime.accept_runtime(StateProposal("run_started", "", 0))
    runtime.accept_runtime(StateProposal("turn_started", "open", 1))
    runtime.accept_model_proposal(StateProposal("model_output_received", Decision(""), 2))
    runtime.accept_tool_result("scan", StateProposal("tool_failed", "no route", 3), call_id="c1")
    state = driven(run, DONE, DONE).run()

    assert ("failed", 0) == (state.status, state.step)


def test_a_request_has_an_id_that_no_call_has() -> None:
    """A model that names its call like the request does not make two of one id."""
    ship = Decision("", (ToolCall("c1", "deploy"), ToolCall("approve c1", "deploy")))
    driver = drive([ship], [tool("deploy", "deploy=done", gated_by="rosa")])
    waiting = driver.run()

    assert ("c1", "approve c1", "approve c1'") == ActiveRunControl(driver.runtime).pending
    assert "approve c1'" == waiting.requests[0].request_id


@pytest.mark.parametrize(
    ("fields", "asked"),
    [
        ({"store": None}, "a driver's store"),
        ({"store": StateStore}, "a driver's store"),
        ({"name": ""}, "a driver's name"),
        ({"name": "a:b"}, "a driver's name"),
        ({"name": 7}, "a driver's name"),
        ({"name": HALF}, "a driver's name"),
        ({"model": None}, "a driver's model"),
        ({"model": ScriptedModel}, "a driver's model"),
        ({"tools": None}, "a driver's tools"),
        ({"tools": [Tool("scan", lambda arguments: "scan=clean")]}, "a driver's tools"),
        ({"builder": 2_000}, "a driver's builder"),
        ({"clock": None}, "a driver's clock"),
        ({"clock": 3}, "a driver's clock"),
        ({"lease": None}, "a driver's lease"),
        ({"lease": True}, "a driver's lease"),
        ({"lease": 1.5}, "a driver's lease"),
        ({"lease": 0}, "a driver's lease"),
        ({"lease": -1}, "a driver's lease"),
        ({"patience": 0}, "a driver's patience"),
        ({"patience": False}, "a driver's patience"),
        ({"patience": "9"}, "a driver's patience"),
        ({"privacy": "Private"}, "a driver's privacy"),
        ({"privacy": None}, "a driver's privacy"),
        ({"profile": "dry"}, "a driver's profile"),
        ({"profile": {"tone": 7}}, "a driver's profile"),
        ({"middleware": None}, "a driver's middleware"),
        ({"middleware": [list]}, "a driver's middleware"),
        ({"middleware": (None,)}, "a driver's middleware"),
    ],
)
def test_a_driver_is_made_of_what_it_needs(fields: dict[str, object], asked: str) -> None:
    """Each slip is told when the driver is made: what was asked, found, and a hint."""
    given = {"store": StateStore(STATE), "name": "w1", "model": ScriptedModel([DONE])}
    given |= {"tools": ToolRegistry([]), **fields}
    store, name = given.pop("store"), given.pop("name")
    with pytest.raises(Malformed) as caught:
        Driver(store, name, **given)

    assert asked in caught.value.asked
    assert f"hint: give {asked} as asked" in str(caught.value)


@pytest.mark.parametrize("name", ["", "a:b", None, 7])
def test_a_model_has_a_name_that_a_door_would_take(name: object) -> None:
    """Otherwise its first words would be refused, in a run that was begun."""
    model = ScriptedModel([DONE])
    model.name = name
    with pytest.raises(Malformed, match="a model's name"):
        driven(StateStore(STATE), model=model)


@pytest.mark.parametrize("tick", [None, True, 1.5, -1, "3"])
def test_a_clock_gives_whole_ticks(tick: object) -> None:
    """The run is not begun by a clock that stands for nothing."""
    with pytest.raises(Malformed, match="a tick of the clock"):
        driven(StateStore(STATE), clock=lambda: tick).run()


def test_a_clock_that_raises_is_a_refusal() -> None:
    """With what it raised in words."""
    with pytest.raises(Malformed, match="ZeroDivisionError"):
        driven(StateStore(STATE), clock=lambda: 1 // 0).run()


def test_a_run_without_a_budget_noun_is_refused() -> None:
    """None in its place is no budget at all."""
    with pytest.raises(Malformed, match="a run's budget"):
        driven(StateStore(RunState("run-7", budget=None))).run()


@pytest.mark.parametrize("words", [HALF, "\0", LONG, None, 7])
def test_words_of_users_and_drivers_can_be_kept(store: StateStore, words: object) -> None:
    """The same refusal in memory and on disk, before anything is written."""
    control = ActiveRunControl(Runtime(store))
    attempts = [
        lambda: control.cancel("ada", words),
        lambda: driven(store).cancel(words),
        lambda: control.answer("rosa", "approval_granted", Answer(words, "run-7")),
        lambda: control.answer("rosa", "approval_granted", Answer("a1", "run-7", digest=[words])),
        lambda: control.answer("rosa", "approval_granted", words),
    ]
    for attempt in attempts:
        with pytest.raises(Malformed):
            attempt()

    assert 0 == len(store.trace)


@pytest.mark.parametrize("name", [HALF, "", "a:b", None])
def test_a_strange_name_is_a_refusal(store: StateStore, name: object) -> None:
    """Of a user and of an approver."""
    control = ActiveRunControl(Runtime(store))
    with pytest.raises(Refusal):
        control.cancel(name, "not today")
    with pytest.raises(Refusal):
        control.answer(name, "approval_granted", Answer("a1", "run-7"))


@pytest.mark.parametrize(
    "build",
    [
        lambda: ActiveRunControl(None),
        lambda: ActiveRunControl(StateStore(STATE)),
        lambda: LogicalClock(None),
        lambda: LogicalClock(-1),
        lambda: LogicalClock(1.5),
        lambda: LogicalClock().advance(True),
        lambda: LogicalClock().advance("2"),
        lambda: ScriptedModel(None),
        lambda: ScriptedModel("done"),
        lambda: ScriptedModel(["done"]),
        lambda: ScriptedModel([], name=""),
        lambda: ScriptedModel([], name="a:b"),
        lambda: ScriptedModel([DONE]).decide(None, turn="1"),
        lambda: ScriptedTool(None),
        lambda: ScriptedTool("build=green"),
        lambda: ScriptedTool([]),
        lambda: ScriptedTool([None]),
        lambda: ScriptedTool([TimeoutError]),
        lambda: ScriptedTool(["build=green"], on_call=None),
        lambda: ScriptedApprover("", {}),
        lambda: ScriptedApprover("a:b", {}),
        lambda: ScriptedApprover("rosa", None),
        lambda: ScriptedApprover("rosa", "yes"),
        lambda: ScriptedApprover("rosa", {"deploy()?": "Yes"}),
        lambda: ScriptedApprover("rosa", {"deploy()?": True}),
    ],
)
def test_a_script_of_the_wrong_kind_is_told_when_it_is_made(build: Callable[[], object]) -> None:
    """Not in the middle of a run."""
    with pytest.raises(Malformed):
        build()


@pytest.mark.parametrize("approver", ["a:b", "rosa:admin"])
def test_a_request_that_nobody_could_answer_is_not_opened(
    store: StateStore, approver: str
) -> None:
    """No door would let that name in, so the run would wait for ever."""
    runtime = Runtime(store)
    runtime.accept_runtime(StateProposal("run_started", "", 0))
    with pytest.raises(Malformed, match="that a door would let in"):
        runtime.accept_runtime(
            StateProposal("approval_requested", Approval("a1", "ship?", approver), 1)
        )

    assert "running" == store.load().status


def test_a_request_does_not_take_the_id_of_an_open_call(store: StateStore) -> None:
    """What is pending is named by its ids."""
    runtime = Runtime(store)
    runtime.accept_runtime(StateProposal("run_started", "", 0))
    runtime.accept_runtime(StateProposal("tool_dispatched", ToolCall("c1", "get_status"), 1))
    with pytest.raises(RequestRepeated, match="an open call of that id"):
        runtime.accept_runtime(
            StateProposal("callback_awaited", Callback("c1", service="ci"), 2)
        )
