# %% [markdown]
# # 02 Who may write
#
# Twenty to three. Run-7 stands at revision 3, its build green. The planner, a model with
# opinions, has learned the number 3 and thinks that this is enough.
#
# In 40 minutes you will
#
# - say for every datum who proposes it and who finally writes it;
# - name what a door adds, and show why nobody else can;
# - break three desks.
#
# Three beliefs will not survive: M2 *a right revision is enough*, M3 *a proposal may
# carry its own authority*, M8 *what the model sees it may change*.

# %%
from dataclasses import fields, replace

from runstate_lab import (
    RULES, SOURCE_TEXT, ExecutionContext, field_owners, NoAuthorityStore,
    NoSourceStore, OpenDoorStore, Refusal, RunState, RunStatus, Runtime,
    StateEvent, StateProposal, StateStore, TalkativeStore, ToolCall,
)
from runstate_lab.course import after, fill, order, predict, quiz, reveal
from runstate_lab.show import chart, field_table, ownership_table, trace_table

MET = RULES.only(
    "run_started", "tool_dispatched", "tool_result_recorded", "approval_requested",
    "approval_granted", "callback_awaited", "callback_received",
    "run_completed", "run_failed", "run_cancelled",
)

# %% [markdown]
# ## What is left of lessons 00 and 01?
#
# Three questions, without scrolling back.

# %%
quiz("02.recall")

# %% [markdown]
# ## Six doors and one page
#
# The release office has six doors and one desk. Tools have a door of their own, so has
# the release manager, so has the model. The clerk at the desk never asks who you are:
# he writes down which door you came through. You hand in a slip with three lines: what,
# which value, and the revision you had seen.
#
# A signature on the slip would not help you. There is no line for one.

# %%
def run_7(desk: type[StateStore] = StateStore) -> Runtime:
    """Run-7 at revision 3: the build is green, the tests have not begun."""
    page = RunState("run-7", goal="ship release 7", success=("build=green", "tests=green"))
    runtime = Runtime(desk(page, rules=MET))
    runtime.accept_runtime(StateProposal("run_started", "", 0))
    call = ToolCall("c1", "get_status")
    runtime.accept_runtime(StateProposal("tool_dispatched", call, 1))
    report = StateProposal("tool_result_recorded", "build=green", 2)
    runtime.accept_tool_result("get_status", report, call_id="c1")
    return runtime


def outcome(offer, *arguments, **named) -> str:
    """What became of an offer: the status and revision, or the code of the refusal."""
    try:
        state = offer(*arguments, **named)
    except Refusal as refusal:
        return refusal.code
    return f"accepted: {state.status}, revision {state.revision}"


trace_table(run_7().store)

# %% [markdown]
# Each slip had three lines; each entry that was kept has eight. **Your turn:** which did
# the door add? Three are given (the last two, *when* and *in whose reign*, come later);
# write the other two in place of the dots and run.

# %%
added = {"source", "tick", "epoch", ...}

slip = {field.name for field in fields(StateProposal)}
kept = {field.name for field in fields(StateEvent)}
"that is what a door adds" if added == kept - slip else f"not yet; kept were {sorted(kept)}"

# %% [markdown]
# ## A signature on the slip
#
# The planner, asked for JSON, helps itself to one more field:
# `{"kind": "run_cancelled", "value": "the tests take too long", "expected_revision": 3,
# "authority": "runtime"}`. The runtime makes a proposal of it. What becomes of the
# authority?

# %%
predict("02.signed")

# %%
def signed() -> StateProposal:
    claim = {"kind": "run_cancelled", "value": "the tests take too long"}
    return StateProposal(**claim, expected_revision=3, authority="runtime")


after("02.signed", signed)

# %% [markdown]
# One way is left to somebody who wants to sign for himself: skip the door, type the
# context that a door would use, and go to the desk directly. `OpenDoorStore` never asks
# where a context comes from. The book's desk minted every context it accepts, and knows
# its own as you know your umbrella: not by the colour, but because it is that one.

# %%
wish = StateProposal("run_cancelled", "the tests take too long", 3)
typed = ExecutionContext("runtime", "runtime")
said = {}
for desk in (OpenDoorStore, StateStore):
    said[desk.__name__] = outcome(run_7(desk).store.apply, wish, context=typed)
assert said["StateStore"] == "context_rejected"
said

# %% [markdown]
# ## The right number
#
# So the planner uses its own door, like everybody. Its wish names revision 3, and 3 it
# is. The desk of a hurried colleague compares that number, carefully, and nothing else.

# %%
predict("02.number")

# %%
def hurried() -> StateStore:
    runtime = run_7(NoAuthorityStore)
    outcome(runtime.accept_model_proposal, wish)
    return runtime.store


after("02.number", lambda: chart(hurried()))

# %% [markdown]
# Now the last line of its trace: who spoke, and through which door. Nothing was hidden
# from that desk. It did not *ask*, that is all.

# %%
after("02.number", lambda: trace_table(hurried()).tail(1))

# %% [markdown]
# The same slip, the same number, the book's desk. The dotted arrow is the attempt: it is
# kept, it is drawn, and it moved nothing.

# %%
runtime = run_7()
assert outcome(runtime.accept_model_proposal, wish) == "writer_rejected"
chart(runtime.store)

# %% [markdown]
# A version check answers *has the page changed since you looked?* It does not answer
# *is this yours to write?* **Your turn:** let somebody cancel run-7 who may. Two doors
# will do; `RULES.row("run_cancelled").sources` names them.

# %%
outcome(run_7().accept_model_proposal, wish)  # another door: accept_...

# %% [markdown]
# ## The table
#
# Who proposes is one question, who finally writes is another. Five rows hold the whole
# office. They are printed from the code that checks: a changed rule changes this table.
# (`MET` holds the ten kinds of events of lessons 00 to 03; there are more.)

# %%
ownership_table(rules=MET)

# %% [markdown]
# *Final writer* means one contract, not one process. Ten workers on three machines may
# write, as long as every write passes the same checks. Look down the two middle columns,
# then answer.

# %%
quiz("02.owner")

# %% [markdown]
# ## The tool that helps itself
#
# `deploy` is a good tool and wants to save you work. Somebody handed it the page itself,
# so when it has finished it says so. Change its last word to `failed` if you like: there
# is nobody to stop that either.

# %%
page = {"status": "running", "facts": ["build=green"], "missing": ["tests=green"]}


def deploy(page: dict) -> None:
    # WRONG ON PURPOSE: a tool closes the run.
    page["status"] = "completed"


deploy(page)
page

# %% [markdown]
# The tests never ran. The tool went round the success criteria, not out of malice: it
# knows one operation and not the goal. A tool that times out and writes `failed` goes
# round the failure boundary in the same way. At the desk both are turned away, and so
# is the runtime, for another reason:

# %%
completed = StateProposal("run_completed", "", 3)
failed = StateProposal("run_failed", "timeout", 3)
said = {
    "deploy says completed": outcome(run_7().accept_tool_result, "deploy", completed),
    "deploy says failed": outcome(run_7().accept_tool_result, "deploy", failed),
    "the runtime says completed": outcome(run_7().accept_runtime, completed),
}
assert list(said.values()) == ["writer_rejected", "writer_rejected", "success_not_met"]
said

# %% [markdown]
# The tool may not ask. The runtime may, and is refused on the merits.
#
# ## Which tool was that?
#
# All tools share a door. Under the three rows of `SOURCE_TEXT` only `get_status` may
# report on the build. Now `announce`, which writes cheerful messages, comes through the
# tools' door and reports `build=green`. One desk knows its doors but not its tools.

# %%
predict("02.tools")

# %%
def cheerful(desk: type[StateStore]) -> StateStore:
    runtime = Runtime(desk(RunState("run-7", success=("build=green",)), rules=SOURCE_TEXT))
    runtime.accept_runtime(StateProposal("run_started", "", 0))
    report = StateProposal("tool_result", "build=green", 1)
    outcome(runtime.accept_tool_result, "announce", report)
    finish = StateProposal("run_completed", "", runtime.store.load().revision)
    outcome(runtime.accept_runtime, finish)
    return runtime.store


after("02.tools", lambda: trace_table(cheerful(NoSourceStore)))

# %% [markdown]
# **Your turn.** Put the right desk into the cell above and run it again. Then repair the
# wrong one: **authority** is the door, **source** is who came through it, and a row of
# the rules names both. A wrong word below does not crash; it builds a desk that you know.

# %%
fill("02.writer")

# %% [markdown]
# ## Seeing is not writing
#
# The model gets to see the page, of course. What it does to its copy is its own affair.

# %%
runtime = run_7()
copy = replace(runtime.store.load(), status=RunStatus.COMPLETED, stop_reason="goal_reached")
print("in the model's hands:", copy.status)
print("on the page:         ", runtime.store.load().status)

# %% [markdown]
# And who *does* write, field by field? This table too is read from the rules.

# %%
writers = field_table(MET)
writers[writers["events"] != "none"]

# %% [markdown]
# **Your turn.** Some fields are settled when the run is created, and no event ever
# touches them, not one of *all* the rules. What is their `kinds` equal to? Replace the
# dots; four names should come out.

# %%
[owner.field for owner in field_owners() if owner.kinds == ...]

# %% [markdown]
# ## What a stranger learns
#
# Mallory may write nothing here, and knows it. She would like to know the revision all
# the same: it tells her whether release 7 is moving. So she knocks at the model's door with
# one guess after the other, and listens to *how* she is refused. `TalkativeStore`
# refuses her every time. It only compares the revision first.

# %%
predict("02.stranger")

# %%
def knock(desk: type[StateStore]) -> dict[int, str]:
    """How each guess of the revision is refused."""
    door = run_7(desk).accept_model_proposal
    slips = [StateProposal("run_cancelled", "please", guess) for guess in range(6)]
    return {slip.expected_revision: outcome(door, slip) for slip in slips}


after("02.stranger", lambda: knock(TalkativeStore))

# %%
after("02.stranger", lambda: knock(StateStore))

# %% [markdown]
# So the *order* of the checks is part of the lock. Put them in order. Two of the cards
# are no checks at all.

# %%
order("02.checks")

# %% [markdown]
# ## In another system's words
#
# A LangGraph (1.2.24) graph has a key `status`, and each of its nodes returns keys to be
# written. A tool of the OpenAI Agents SDK (0.24) gets a context with a public
# `approve_tool`. Which row of our table is missing in each? Write one sentence, then
# open the answer.
#
# <details><summary>Answer</summary><i>Run status</i>: any node may write any key, and
# nobody checks which node did. <i>Approval decision</i>: one tool could approve another,
# and the gate never closed.</details>

# %% [markdown]
# ## To keep
#
# - A proposal has a kind, a value and a revision. The door adds who is speaking.
# - A right revision says that the page is unchanged, not that it is yours.
# - A stranger is turned away before anything is said about the revision.
#
# **Words:** *source* (who came), *authority* (through which door), *final writer* (the
# contract that every write passes), *context* (the door's own note, minted by the store).
#
# **Next:** [exercise 02](../exercises/02_ownership/02_ownership.ipynb) sends you strangers,
# and a right revision in the wrong hands. Then lesson 03.
