"""The run loop, by its whole transition trace."""

from __future__ import annotations

import pytest

from runstate_lab.context import ContextBuilder
from runstate_lab.control import ActiveRunControl
from runstate_lab.driver import Driver
from runstate_lab.errors import AnswerRepeated, DriverFenced, LeaseHeld, OutcomeUnknown, ToolFailure
from runstate_lab.model import Budget, CallStatus, Decision, RunState, StateProposal, ToolCall
from runstate_lab.rules import replay
from runstate_lab.runtime import Runtime
from runstate_lab.scripted import LogicalClock, ScriptedApprover, ScriptedModel, ScriptedTool
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
