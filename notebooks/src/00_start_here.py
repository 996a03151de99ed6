# %% [markdown]
# # 00 Start here
#
# **Run-7 has one job: ship release 7.** Look at the build, run the tests, ask the
# release manager, deploy, announce. A model suggests, tools do, one person may say
# no. Each is sure how far run-7 has got. One page knows.
#
# In 25 minutes you will
#
# - say what belongs on that page;
# - finish a run, and read why somebody else could not;
# - use this lab's five moves.
#
# Two beliefs do not survive: M1 *said is done*, M2 *a right revision is enough*.

# %% [markdown]
# ## How the lab works
#
# **Shift+Enter** runs a cell and goes on to the next. It needs no network, no key
# and no luck: a cell prints the same line today and next year.
#
# 1. **Predict** what will happen. Until you do, the result stays locked.
# 2. **Run** it.
# 3. **Break** it: make the wrong thing happen, with your own hands.
# 4. **Repair** it.
# 5. **Check** the repair, at once.
#
# A wrong prediction costs nothing. It is the one you will remember.

# %%
from contextlib import suppress

from runstate_lab import RULES, SOURCE_TEXT
from runstate_lab import Refusal, RunState, Runtime, StateProposal, StateStore
from runstate_lab.broken import NoAuthorityStore
from runstate_lab.course import after, order, predict, quiz, reveal
from runstate_lab.show import chart, trace_table
from runstate_lab.live import StateChart

# %% [markdown]
# ## What do you believe now?
#
# Nobody has taught you this yet, so nobody can blame you. Answer what sounds right.
# You will meet all three again.

# %%
quiz("00.1")

# %% [markdown]
# ## The page
#
# At half past four the power fails. At five a colleague sits down to finish run-7.
# She never met the model, and nobody kept the chat. What must stand on the page,
# so that she can go on without asking, and without deploying twice?
#
# That, and nothing more, is the **run state**: the smallest set of facts needed to
# continue. Not the prompt. Not the last message. Not everything that ever happened.

# %%
page = RunState("run-7", goal="ship release 7", success=("build=green",))
for line in ("run_id", "goal", "success", "status", "facts", "calls", "requests", "revision"):
    print(f"{line:>8}  {getattr(page, line)}")

# %% [markdown]
# Most of it is still empty. (The page has more lines; they come when the story needs
# them.) `success` says what "shipped" means today: one fact, `build=green`. `revision`
# counts accepted changes; so far, none.
#
# There is room for one more line. Which one does the colleague need?

# %%
quiz("00.2")

# %% [markdown]
# ## Six words for how it stands
#
# A run is always in exactly one of six statuses; the lit box is where it stands. The
# words on an arrow are the event that takes it. Eight kinds of events will do for
# today; two of them send for a tool and bring its report.
#
# **Your turn.** Press an event, or call `board.move("run_started")`. Bring the run to
# *completed*, then try to start it once more. Before any tool has reported, *completed*
# is refused. A refused attempt is dotted, and names its rule.

# %%
TODAY = RULES.only(
    "run_started", "tool_dispatched", "tool_result_recorded", "approval_requested",
    "approval_granted", "run_completed", "run_failed", "run_cancelled",
)
board = StateChart(rules=TODAY)
board

# %% [markdown]
# ## Ten lines that finish a run
#
# Whoever wants a change hands in a **proposal**: a kind, a value, and the revision
# that it was made from. A **door** of the runtime adds who is speaking. The **store**
# decides, and counts.
#
# Read before you run. Two of the lines ask for the same thing; which?

# %%
store = StateStore(RunState("run-7", success=("build=green",)), rules=SOURCE_TEXT)
runtime = Runtime(store)
runtime.accept_runtime(StateProposal("run_started", "", 0))
runtime.accept_tool_result("get_status", StateProposal("tool_result", "build=green", 1))
state = runtime.accept_runtime(StateProposal("run_completed", "", 2))
print(state.status, state.revision, [str(fact) for fact in state.facts])
try:
    runtime.accept_model_proposal(StateProposal("run_completed", "", state.revision))
except PermissionError as refusal:
    print(refusal.builtin.__name__, refusal.reason)

# %% [markdown]
# The first printed line is the page: status, revision, facts. The second is an
# answer to the model. It named the right revision, and it asked for something that
# had just been granted to somebody else. It was refused for *who it is*.
#
# The store remembers what it refused, next to what it did:

# %%
trace_table(store)

# %%
quiz("00.3")

# %% [markdown]
# ## Bad news
#
# The same run, folded into a function. What the tool reports is left open, and so is
# who asks for the end. (`suppress(Refusal)`: the store keeps its refusals, so we need
# not.) Now the build is *red*, and the tool says so.

# %%
def ship(report: str, *, desk: type[StateStore] = StateStore, by: str = "runtime") -> StateStore:
    """Run-7 started, reported on, and proposed for completion."""
    runtime = Runtime(desk(RunState("run-7", success=("build=green",)), rules=SOURCE_TEXT))
    finish = runtime.accept_runtime if by == "runtime" else runtime.accept_model_proposal
    with suppress(Refusal):
        runtime.accept_runtime(StateProposal("run_started", "", 0))
        runtime.accept_tool_result("get_status", StateProposal("tool_result", report, 1))
        finish(StateProposal("run_completed", "", 2))
    return runtime.store


predict("00.4")

# %%
after("00.4", lambda: chart(ship("build=red")))

# %% [markdown]
# **Your turn.** Find the box that is lit, and the rule on the dotted arrow. Then
# change the report in that cell to `the build looks fine to me`, and run it again:
# another rule, and for a good reason.

# %% [markdown]
# ## Break the desk
#
# `NoAuthorityStore` is wrong on purpose, in one way: it compares revisions and never
# asks who is speaking. The build is green, and it is the *model* that proposes
# completion, at exactly the right revision.

# %%
predict("00.5")

# %%
after("00.5", lambda: chart(ship("build=green", desk=NoAuthorityStore, by="model")))

# %% [markdown]
# **Repair it.** Put `StateStore` where `NoAuthorityStore` stands, and run the cell.
# One word changes, and with it the sentence below.

# %%
desk = NoAuthorityStore


def verdict() -> None:
    status = ship("build=green", desk=desk, by="model").load().status
    print("the model ended run-7" if status.terminal else "the model was refused")


after("00.5", verdict)

# %% [markdown]
# ## The way of every change
#
# Five boxes come back in every lesson: **proposer**, **runtime**, **store**, and
# behind the store the **trace** (what was offered) and the **context** (what the
# model gets to read).

# %%
order("00.6")

# %% [markdown]
# ## Elsewhere
#
# The OpenAI Agents SDK (0.24.0) has a `RunState` too: what is saved when a run stops
# for an approval. It holds the turn count, the calls, the approvals, and the version of
# its own *format*. Which field of our page is missing, and what can two workers do who
# both load it? Write one sentence, then open the answer.
#
# <details><summary>Answer</summary>No revision and no run id. Both can resume it: the
# approved deployment runs twice, without an error.</details>

# %% [markdown]
# ## Back after a week
#
# Close the laptop when you like. Predictions and answers are kept in the course
# folder, in `.runstate/progress.json`. When you come back, run the cells from the
# top: what you had unlocked stays unlocked.
#
# In a terminal, `runstate-lab progress` says where you were, `runstate-lab check 02`
# runs the visible checks of an exercise, and `runstate-lab hint 02.1` helps in three
# steps. `reveal("00.4")` opens a lock without a prediction, and makes a note of it.

# %% [markdown]
# ## Three sentences to keep
#
# 1. The run state is the smallest set of facts that lets somebody else go on.
# 2. Anybody may propose; the door says who is speaking; only the store writes.
# 3. A refusal is an answer with a name: it is kept, and it moves no revision.
#
# **Words.** *Run state*: the page. *Proposal*: what somebody wants. *Door*: how the
# runtime knows who is speaking. *Revision*: how many changes were accepted.
# *Refusal*: a no with a reason.
#
# **Next:** lesson 01, *Facts, not intents*.
