# %% [markdown]
# # 03 Legal transitions
#
# Ten to three. The right people come through the right doors. That is not enough:
# rosa, the release manager, may answer, but not before she was asked.
#
# In 40 minutes you will
#
# - name each arrow between the six statuses, and the reason that it needs;
# - see *every* illegal pair refused;
# - tell *not executed*, *failed* and *outcome unknown* apart.
#
# Three beliefs will not survive: M6 *a result means completed*, M10 *set it waiting,
# then ask*, M11 *a finished run can be started again*.

# %%
from runstate_lab import (
    RULES, Answer, AnyReasonStore, Approval, Fact, Refusal,
    RestartableStore, run_7_at_revision_4, RunState, RunStatus, Runtime,
    StateProposal, StateStore, ToolCall, TwiceCompletedStore,
)

# %%
from runstate_lab.course import after, fill, order, predict, quiz, reveal
from runstate_lab.show import chart, matrix_table, status_chart
from runstate_lab.live import StateChart

# %% [markdown]
# ## What is left of lessons 00 to 02?
#
# Three questions, without scrolling back.

# %%
quiz("03.recall")

# %% [markdown]
# ## Parcels
#
# A parcel is packed, on the road, held at customs; then it is delivered, lost, or sent
# back. At customs it waits for a paper, so somebody must have been asked for that paper.
# Once delivered, nobody drives it a little further, however good the reason. You send
# another parcel.
#
# A run has the same manners. **Be the runtime:** press events, or call
# `walk.move("run_started")`. Bring run-7 through *waiting* to *completed*, and collect two
# refusals on the way. All ten kinds of events of `MET` are there.

# %%
MET = RULES.only(
    "run_started", "tool_dispatched", "tool_result_recorded", "approval_requested",
    "approval_granted", "callback_awaited", "callback_received",
    "run_completed", "run_failed", "run_cancelled",
)
walk = StateChart(rules=MET)
walk

# %% [markdown]
# A dotted arrow is an attempt that was refused; the word on it is the rule. Now without
# the picture:

# %%
quiz("03.arrows")

# %% [markdown]
# ## Every ending has a reason
#
# A status without a reason is a riddle for whoever comes next. Some events bring
# their reason along; some must be given one:

# %%
for rule in MET.rows:
    if rule.reasons:
        words = "any words" if rule.reasons == ("*",) else " or ".join(rule.reasons)
        print(f"{rule.to:<10} {rule.kind:<19} {words}")

# %% [markdown]
# What if nobody insists? `AnyReasonStore` does not. It is next Tuesday, run-7 has failed,
# and you are asked why. **Your turn:** find a third reason that the book's desk takes.

# %%
def told(state: RunState) -> str:
    return f"{state.status}, stop reason {state.stop_reason or None}"


def outcome(offer, *arguments, **named) -> str:
    """What became of an offer: status and reason, or the code of the refusal."""
    try:
        return told(offer(*arguments, **named))
    except Refusal as refusal:
        return refusal.code


def running(desk: type[StateStore] = StateStore, **fields) -> Runtime:
    return Runtime(desk(RunState("run-7", status=RunStatus.RUNNING, **fields), rules=MET))


for desk in (AnyReasonStore, StateStore):
    for why in ("", "bad luck", "tool_error"):
        said = outcome(running(desk).accept_runtime, StateProposal("run_failed", why, 0))
        print(f"{desk.__name__:<15} {why!r:<13} {said}")

# %% [markdown]
# ## Once more, please
#
# Run-7 has failed, because of `tool_error`. "Never mind", says a colleague, "I'll set it
# running again." His desk, `RestartableStore`, has an arrow that yours has not: it
# comes out of *failed*. What will the page say about the first error?

# %%
predict("03.again")

# %%
def once_more(desk: type[StateStore]) -> StateStore:
    runtime = running(desk)
    runtime.accept_runtime(StateProposal("run_failed", "tool_error", 0))
    print("before:", told(runtime.store.load()))
    outcome(runtime.accept_runtime, StateProposal("run_started", "", 1))
    print("after: ", told(runtime.store.load()))
    return runtime.store


after("03.again", lambda: chart(once_more(RestartableStore)))

# %% [markdown]
# Put `StateStore` into the last line and run it again. Compare the two lines *before* and
# *after*, and think of whoever asks next week what went wrong the first time. A retry
# is a new run, or a new call within a run; it is never an arrow out of an ending.
#
# Completing twice looks more innocent: the run is complete, so what? Watch the revision,
# and think of the tool that announces each accepted completion.

# %%
def complete_twice(desk: type[StateStore]) -> str:
    fact = Fact("build", "green", source="tool:get_status", authority="tool_executor")
    runtime = running(desk, success=("build=green",), facts=(fact,))
    for _ in range(2):
        finish = StateProposal("run_completed", "", runtime.store.load().revision)
        said = outcome(runtime.accept_runtime, finish)
    return f"the second time: {said}; revision {runtime.store.load().revision}"


assert complete_twice(StateStore) == "the second time: illegal_transition; revision 1"
{desk.__name__: complete_twice(desk) for desk in (TwiceCompletedStore, StateStore)}

# %% [markdown]
# ## All of them
#
# You have met a handful of illegal attempts. How many are there? Six statuses, and the ten
# kinds of events in `MET`; a kind that leaves the status as it is may be legal too.

# %%
predict("03.all")

# %%
after("03.all", lambda: matrix_table(MET))

# %% [markdown]
# That table is read from the rules. Do not believe it: ask desks. Sixty fresh runs, one
# event each, through the door that the row names. (A result that finds the run over has a
# word of its own, `call_late`.)
#
# The whole table, `RULES`, has 34 rows: also turns, retries, denials, drivers, graphs. It is
# printed by `matrix_table()`. **Your turn:** set `table = RULES`; do its 204 pairs hold, too?

# %%
table = MET


def asked(status: str, kind: str) -> str:
    """What a fresh desk in that status says to that event."""
    desk = StateStore(RunState("run-7", status=RunStatus(status)), rules=table)
    row = table.row(kind)
    context = desk.context(row.sources[0].replace("*", "rosa"), row.authority)
    return outcome(desk.apply, StateProposal(kind, "", 0), context=context)


pairs = {(status, kind) for status in RunStatus for kind in table.kinds}
refused = {pair for pair in pairs if asked(*pair) in ("illegal_transition", "call_late")}
assert pairs - refused == {(start, row.kind) for row in table.rows for start in row.come_from}
print(len(pairs), "pairs, each as the table says")

# %% [markdown]
# **Your turn:** choose the pair that you would most like to see refused, and draw it.

# %%
attempt = ("waiting", "run_completed")
status_chart(attempt[0], rules=MET, refused=(attempt[1], asked(*attempt)))

# %% [markdown]
# ## Waiting for an answer that nobody asked for
#
# Before run-7 deploys it asks rosa. A tidy mind does that in two steps: set the status to
# *waiting*, then store the question. Between two steps there is room for a power cut.
# `TWO_STEPS` are rules for the tidy mind. The power fails after the first step; then
# rosa, who heard of it in the corridor, says yes.

# %%
predict("03.wait")

# %%
TWO_STEPS = MET.but("approval_requested", takes=str, conditions=(), change=None)


def power_cut() -> None:
    desk = StateStore(RunState("run-7", status=RunStatus.RUNNING), rules=TWO_STEPS)
    runtime = Runtime(desk)
    page = runtime.accept_runtime(StateProposal("approval_requested", "", 0))
    print(f"{page.status} for {page.waiting_for}; questions: {len(page.requests)}")
    yes = StateProposal("approval_granted", Answer("a1", "run-7"), 1)
    print("rosa says yes:", outcome(runtime.accept_approval, "rosa", yes))


after("03.wait", power_cut)

# %% [markdown]
# In the book there is no first step: the question is the *value* of the event that starts
# the wait. Both are on the page, or neither. An answer says to which question of which run
# it belongs. **Your turn:** let `mallory` answer first.

# %%
runtime = running()
no_question = StateProposal("approval_requested", "", 0)
assert outcome(runtime.accept_runtime, no_question) == "malformed"
ask = Approval("a1", question="deploy release 7?", approver="rosa")
page = runtime.accept_runtime(StateProposal("approval_requested", ask, 0))
print(page.status, "for", page.waiting_for, page.requests)
yes = StateProposal("approval_granted", Answer.to(ask, "run-7"), 1)
print(outcome(runtime.accept_approval, "rosa", yes))

# %% [markdown]
# ## Everything is green
#
# The goal asks for `build=green` and `tests=green`. Both are on the page, each from its tool. Rosa
# has been asked and is at lunch. The runtime, which may, proposes `run_completed`
# at the right revision.

# %%
predict("03.green")

# %%
def green(key: str) -> Fact:
    return Fact(key, "green", source="tool:ci", authority="tool_executor")


def at_lunch() -> StateStore:
    facts = green("build"), green("tests")
    runtime = running(success=("build=green", "tests=green"), facts=facts)
    runtime.accept_runtime(StateProposal("approval_requested", ask, 0))
    outcome(runtime.accept_runtime, StateProposal("run_completed", "", 1))
    return runtime.store


after("03.green", lambda: chart(at_lunch()))

# %% [markdown]
# A result is one fact. Whether the run is complete is another question, asked of *all*
# facts and of all that is still open. Even a running run has two guards in front of
# *completed*: first the goal, then what is pending.

# %%
finish = StateProposal("run_completed", "", 0)
goal, both = ("build=green", "tests=green"), (green("build"), green("tests"))
call = ToolCall("c3", "announce")
said = [
    outcome(running(success=goal, facts=both[:1]).accept_runtime, finish),
    outcome(running(success=goal, facts=both, calls=(call,)).accept_runtime, finish),
    outcome(running(success=goal, facts=both).accept_runtime, finish),
]
assert said == ["success_not_met", "still_pending", "completed, stop reason goal_reached"]
said

# %% [markdown]
# **Your turn:** the same two guards as the row of a table, with two words missing.

# %%
fill("03.guard")

# %% [markdown]
# ## Three answers, read from the page
#
# "What became of it?" has three bad answers: *not executed*, *failed*, *outcome unknown*.
# Nobody has to remember them; the page knows, call by call. A call is open until its own tool
# has answered. Three are out here, and one of them has come back:

# %%
def known(page: RunState, tool: str) -> str:
    """How far a tool's call got, as the page says."""
    for call in page.calls:
        if call.tool == tool:
            return str(call.status)
    answers = [str(fact) for fact in page.facts if fact.source == f"tool:{tool}"]
    return f"answered {answers[-1]}" if answers else "not executed"


runtime = Runtime(StateStore(run_7_at_revision_4()))
red = StateProposal("tool_result_recorded", "tests=red", 4)
runtime.accept_tool_result("run_tests", red, call_id="c2")
for tool in ("deploy", "run_tests", "scan"):
    print(f"{tool:<10} {known(runtime.store.load(), tool)}")

# %% [markdown]
# `scan` does not come back. Its time is up: that makes the *call* unknown (one more row of
# the 34), and the run goes on. Only the run's own deadline fails the *run*. Even then the calls
# stay on the page, `get_status` among them, and so does the reason:

# %%
page = runtime.accept_runtime(StateProposal("tool_outcome_unknown", "c3", 5))
print(page.status, "|", *(f"{call.tool} {call.status}" for call in page.calls))
page = runtime.accept_runtime(StateProposal("run_failed", "timeout", 6))
assert known(page, "scan") == "unknown"
print(told(page), "|", *(f"{call.tool} {call.status}" for call in page.calls))

# %%
quiz("03.three")

# %% [markdown]
# Run-7 shipped at last. Put its day into an order that the rules allow. Two of the cards
# never happened.

# %%
order("03.day")

# %% [markdown]
# ## In another system's words
#
# A LangGraph (1.2.24) thread has finished when `next == ()`. In the OpenAI Agents SDK (0.24.0) a
# run state without a current step is terminal. A Codex turn is complete when the model calls no
# tool and no input is pending. Which of the three is *terminal* in our sense, and which asks for a
# goal? Write one sentence, then open the answer.
#
# <details><summary>Answer</summary>None, and none. <code>update_state(as_node=…)</code>
# sets a finished thread going; <code>Runner.run</code> with a terminal state calls the model again;
# Codex checks no goal.</details>

# %% [markdown]
# ## To keep
#
# - No arrow leaves an ending, and its reason stays.
# - The wait and its question are one event; *completed* needs the goal's facts and
#   nothing open.
# - Not executed, failed, outcome unknown: only the first may simply be tried.
#
# **Words:** *transition* (one arrow), *terminal* (no way out), *stop reason* (why it
# ended), *pending* (asked, not answered).
#
# **Next:** [exercise 03](../exercises/03_transitions/03_transitions.ipynb). Its checks try
# every pair of status and kind. Then lesson 04, *Revision conflicts*.
