# %% [markdown]
# # Exercise 03: transitions
#
# Run-7 ships release 7, and you are the one who says which moves are allowed. Three tasks:
#
# 1. the arrows as data;
# 2. the next status, with its reason, or a refusal;
# 3. the guard in front of `completed`.
#
# Lesson 03 holds all you need. Run a check as often as you like: it prints what it found, and what it
# expected where the two differ.

# %%
from runstate_lab import RULES, Approval, Callback, CallStatus, Fact, RunState, RunStatus
from runstate_lab import ToolCall, arrows
from runstate_lab import IllegalTransition, Malformed, ReasonMissing, Refusal
from runstate_lab import StillPending, SuccessNotMet

# %% [markdown]
# Two small words for the checks: `told` prints one line, with what was expected where it differs; `arrow`
# looks into your table.

# %%
def told(question, expected, found):
    said = found if found == expected else f"{found}  <-- expected {expected}"
    print(f"{question}: {said}")


def arrow(status, kind):
    return str(ARROWS.get((status, kind), "no arrow"))

# %% [markdown]
# ## 03.1 The arrows as data
#
# **Goal.** The whole status chart as one table, so that nobody has to remember it.
#
# **Given.** What the release office wrote down:
#
# * A run starts (`run_started`) once, out of the queue.
# * A running run may ask the release manager (`approval_requested`) or await a message (`callback_awaited`);
#   then it waits. The answer (`approval_granted`, `callback_received`) sets it running again.
# * Only a running run completes (`run_completed`).
# * Whatever is running or waiting may fail (`run_failed`).
# * Whatever is not over may be cancelled (`run_cancelled`).
# * New this week: when the run's own deadline passes (`deadline_passed`), a running or waiting run has failed.

# %% [markdown]
# **Do.** Complete `ARROWS`, a dict from `(status, kind)` to the status afterwards, all plain words, one entry for
# each arrow; the first is there. Then `legal(status, kind)`: whether such an arrow exists. A kind that nobody knows is never legal.
#
# **Check.** The table decides; `legal` only looks into it.

# %%
# answer: 03.1
ARROWS = {("queued", "run_started"): "running"}
# BEGIN SOLUTION
ARROWS |= {
    ("queued", "run_cancelled"): "cancelled",
    ("running", "approval_requested"): "waiting",
    ("running", "callback_awaited"): "waiting",
    ("running", "run_completed"): "completed",
    ("running", "run_failed"): "failed",
    ("running", "deadline_passed"): "failed",
    ("running", "run_cancelled"): "cancelled",
    ("waiting", "approval_granted"): "running",
    ("waiting", "callback_received"): "running",
    ("waiting", "run_failed"): "failed",
    ("waiting", "deadline_passed"): "failed",
    ("waiting", "run_cancelled"): "cancelled",
}
# END SOLUTION


def legal(status: str, kind: str) -> bool:
    """Whether an arrow of this kind leaves this status."""
    # BEGIN SOLUTION
    return (status, kind) in ARROWS
    # END SOLUTION


# %%
# check: 03.1 the way of a good run is open
told("queued, run_started", "running", arrow("queued", "run_started"))
told("running, approval_requested", "waiting", arrow("running", "approval_requested"))
told("waiting, approval_granted", "running", arrow("waiting", "approval_granted"))
told("running, run_completed", "completed", arrow("running", "run_completed"))

# %%
# check: 03.1 the new deadline row is there
told("running, deadline_passed", "failed", arrow("running", "deadline_passed"))
told("waiting, deadline_passed", "failed", arrow("waiting", "deadline_passed"))
told("queued, deadline_passed, legal?", "False", str(legal("queued", "deadline_passed")))

# %%
# check: 03.1 a run that is over stays over
told("completed, run_started, legal?", "False", str(legal("completed", "run_started")))
told("failed, run_started, legal?", "False", str(legal("failed", "run_started")))
told("cancelled, run_failed, legal?", "False", str(legal("cancelled", "run_failed")))

# %%
# check: 03.1 a waiting run cannot complete
told("waiting, run_completed, legal?", "False", str(legal("waiting", "run_completed")))

# %%
# check: 03.1 nobody leaves the queue by failing
told("queued, run_failed, legal?", "False", str(legal("queued", "run_failed")))
told("queued, run_cancelled, legal?", "True", str(legal("queued", "run_cancelled")))

# %%
# check: 03.1 a kind that nobody knows is no arrow
told("running, run_paused, legal?", "False", str(legal("running", "run_paused")))

# %% [markdown]
# ## 03.2 The next status, with its reason
#
# **Goal.** One function that answers: where does this event lead, and why?
#
# **Given.** From here on the arrows come from the book (from the rows that you have met, `MET`), so that this
# task does not hang on the one before.
# `STATED` holds the reasons that an event brings by itself, `REQUEST` what must come along with a wait;
# `step` puts your answer, or the code of your refusal, into words.

# %%
MET = RULES.only(
    "run_started", "approval_requested", "approval_granted", "callback_awaited",
    "callback_received", "run_completed", "run_failed", "run_cancelled",
)
ARROW = {(str(start), kind): str(end) for start, end, kind in arrows(MET)}
STATED = {
    "approval_requested": "pending_approval",
    "callback_awaited": "external_callback",
    "run_completed": "goal_reached",
}
REQUEST = {"approval_requested": Approval, "callback_awaited": Callback}
FAILURES = ("tool_error", "timeout", "budget_exhausted")

queued = RunState("run-7")
running = RunState("run-7", status=RunStatus.RUNNING)
over = RunState("run-7", status=RunStatus.FAILED)
ask = Approval("a1", "deploy release 7?", "rosa")


def step(state, kind, value=""):
    try:
        return " ".join(map(str, next_status(state, kind, value)))
    except Refusal as refusal:
        return refusal.code

# %% [markdown]
# **Do.** `next_status(state, kind, value)` gives the pair (status, reason), or raises, in this order:
#
# 1. `IllegalTransition(asked, found)` where no arrow of that kind leaves `state.status`;
# 2. `Malformed` where a wait comes without its request (`value` is not what `REQUEST` names);
# 3. `ReasonMissing` where `run_failed` names none of the three `FAILURES`, or `run_cancelled` says nothing
#    (blanks are nothing).
#
# The reason is what `STATED` says, or the value of `run_failed` and `run_cancelled`, or else `None`.
# `asked` and `found` are your words. Nothing is kept and nothing is changed: that is the store's job.

# %%
# answer: 03.2
def next_status(
    state: RunState, kind: str, value: str | Approval | Callback = ""
) -> tuple[str, str | None]:
    """The status after the event, and the reason that is kept with it."""
    # BEGIN SOLUTION
    after = ARROW.get((str(state.status), kind))
    if after is None:
        raise IllegalTransition(kind, f"status {state.status}")
    if kind in REQUEST and type(value) is not REQUEST[kind]:
        raise Malformed(f"the request that comes with {kind}", repr(value))
    if kind == "run_failed" and value not in FAILURES:
        raise ReasonMissing(f"{kind} because of {value!r}", " or ".join(FAILURES))
    if kind == "run_cancelled" and not str(value).strip():
        raise ReasonMissing(kind, "no words")
    if kind in ("run_failed", "run_cancelled"):
        return after, str(value)
    return after, STATED.get(kind)
    # END SOLUTION

# %%
# check: 03.2 an arrow gives the status and the reason
told("running, run_completed", "completed goal_reached", step(running, "run_completed"))
late = step(running, "run_failed", "timeout")
told("running, run_failed, timeout", "failed timeout", late)
told("queued, run_started", "running None", step(queued, "run_started"))

# %%
# check: 03.2 no arrow, no move
told("failed, run_started", "illegal_transition", step(over, "run_started"))
told("queued, run_completed", "illegal_transition", step(queued, "run_completed"))

# %%
# check: 03.2 a wait comes with its request
asked = step(running, "approval_requested", ask)
told("asking rosa", "waiting pending_approval", asked)
told("asking nobody", "malformed", step(running, "approval_requested", ""))

# %%
# check: 03.2 a failed run names one of three reasons
weather = step(running, "run_failed", "the weather")
told("failed because of the weather", "reason_missing", weather)

# %%
# check: 03.2 blanks are no reason to cancel
not_today = step(running, "run_cancelled", "not today")
told("cancelled: not today", "cancelled not today", not_today)
told("cancelled: three blanks", "reason_missing", step(running, "run_cancelled", "   "))

# %%
# check: 03.2 the arrow is asked first
told("failed, run_failed, no reason", "illegal_transition", step(over, "run_failed", ""))

# %% [markdown]
# ## 03.3 The guard in front of completed
#
# **Goal.** Nobody declares release 7 shipped on good faith.
#
# **Given.** A `RunState`: `success` (texts such as `build=green`), `facts` (each with `key`, `value`,
# `authority`), `calls` (one is open while `call.status.pending` is true: proposed, dispatched or unknown) and
# `requests`, all of them open.

# %% [markdown]
# **Do.** `check_completion(state)` returns `None` where the run may complete, or raises, in this order:
#
# 1. `SuccessNotMet(asked, found)`: a text of `success` is not met, or there is none to meet. Only facts with
#    authority `tool_executor` count; of several for one key the newest (the last) decides. `found` names
#    *every* missing text, in the order of the goal, joined by a comma and a blank.
# 2. `StillPending(asked, found)`: a call or a request is open. `found` names every open id, calls first,
#    joined in the same way.
#
# One refusal that names everything saves its reader three more.

# %%
# answer: 03.3
def check_completion(state: RunState) -> None:
    """None where the run may complete; raises the refusal otherwise."""
    # BEGIN SOLUTION
    asked = f"to complete {state.run_id}"
    if not state.success:
        raise SuccessNotMet(asked, "a goal that asks for nothing")
    reported = [fact for fact in state.facts if fact.authority == "tool_executor"]
    newest = {fact.key: str(fact) for fact in reported}
    lacking = [text for text in state.success if text not in newest.values()]
    if lacking:
        raise SuccessNotMet(asked, ", ".join(lacking))
    waited_for = [call.call_id for call in state.calls if call.status.pending]
    waited_for += [request.request_id for request in state.requests]
    if waited_for:
        raise StillPending(asked, ", ".join(waited_for))
    # END SOLUTION

# %% [markdown]
# Two words for the checks: `tool_says` makes a fact as a tool's door leaves it, `at_the_end` a run that is
# asked to complete.

# %%
def tool_says(text):
    fact = Fact.parse(text)
    return Fact(fact.key, fact.value, source="tool:get_status", authority="tool_executor")


def at_the_end(*facts, calls=(), requests=(), success=("build=green", "tests=green")):
    return RunState(
        "run-7",
        success=success,
        status=RunStatus.RUNNING,
        facts=facts,
        calls=calls,
        requests=requests,
    )


def completing(state):
    try:
        check_completion(state)
    except Refusal as refusal:
        return f"{refusal.code}: {refusal.found}"
    return "may complete"


green = (tool_says("build=green"), tool_says("tests=green"))

# %%
# check: 03.3 all the facts, nothing open
told("build and tests are green", "may complete", completing(at_the_end(*green)))

# %%
# check: 03.3 everything that is missing is named
unknown = completing(at_the_end())
told("nothing known yet", "success_not_met: build=green, tests=green", unknown)

# %%
# check: 03.3 a hand-typed fact does not count
claimed = Fact("tests", "green", source="model:planner", authority="model")
rumour = completing(at_the_end(green[0], claimed))
told("the model says so", "success_not_met: tests=green", rumour)

# %%
# check: 03.3 the newest word of a tool decides
worse = completing(at_the_end(*green, tool_says("tests=red")))
told("green, then red", "success_not_met: tests=green", worse)
better = completing(at_the_end(tool_says("build=red"), *green))
told("red, then green", "may complete", better)

# %%
# check: 03.3 an open call or request holds it back
call = ToolCall("c9", "announce")
one_open = completing(at_the_end(*green, calls=(call,)))
told("a call is open", "still_pending: c9", one_open)
both_open = completing(at_the_end(*green, calls=(call,), requests=(ask,)))
told("both are open", "still_pending: c9, a1", both_open)

# %%
# check: 03.3 a call that failed holds nobody back
refused = ToolCall("c8", "announce", status=CallStatus.FAILED)
told("a call failed", "may complete", completing(at_the_end(*green, calls=(refused,))))
lost = ToolCall("c9", "announce", status=CallStatus.UNKNOWN)
one_lost = completing(at_the_end(*green, calls=(refused, lost)))
told("and one is unknown", "still_pending: c9", one_lost)

# %%
# check: 03.3 a goal that asks for nothing is not met
no_goal = completing(at_the_end(*green, success=()))
told("an empty goal", "success_not_met", no_goal.partition(":")[0])

# %% [markdown]
# ## Hand in
#
# In a terminal: `runstate-lab check 03` runs the checks once more, `runstate-lab submit 03` hands the notebook in.
# Held-back checks ask the same questions with other runs, other facts and all 54 pairs of status and kind.
