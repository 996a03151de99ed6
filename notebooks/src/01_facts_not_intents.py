# %% [markdown]
# # 01 Facts, not intents
#
# **Where we are.** Ten past two. Run-7 has sent for the build and the tests. The
# model, always a little ahead of events, writes: *"All green. Release 7 is done!"* A nice
# sentence. Not a fact.
#
# In 40 minutes you will
#
# - turn a proposal into a fact;
# - see why a tool's result ends no run;
# - put five questions to any fact.
#
# Three beliefs do not survive: M1 *said is done*, M6 *a result means completed*,
# M9 *the model may read guesses*.

# %%
from contextlib import suppress

from runstate_lab import RULES, Fact, Refusal, RunState, RunStatus, Runtime
from runstate_lab import StateProposal, StateStore, ToolCall
from runstate_lab.broken import HandwrittenFactStore, PendingBlindStore
from runstate_lab.course import after, fill, order, predict, quiz, reveal
from runstate_lab.show import chart, space_time

# %% [markdown]
# ## What you still know
#
# Three questions from lesson 00. No scrolling back: what you have to dig for, stays.

# %%
quiz("01.1")

# %% [markdown]
# ## Soup
#
# A waiter calls "two soups!" Nobody can eat the call. The cook puts two bowls on the
# pass. Nobody has paid for bowls on a pass. The till prints two soups on the bill of
# table seven: *now* it has happened, for everybody who will ever read that bill. A
# guest who says "we had the soup" may well be right. The waiter still looks at the bill.
#
# The call is a **proposal**, the bowl a **result**, the line on the bill a **fact**.

# %%
TODAY = RULES.only(
    "run_started", "tool_dispatched", "tool_result_recorded",
    "run_completed", "run_failed", "run_cancelled",
)


def run_7(desk: type[StateStore] = StateStore) -> Runtime:
    """Run-7 at revision 3: started, the build and the tests sent for."""
    page = RunState("run-7", goal="ship release 7", success=("build=green",))
    runtime = Runtime(desk(page, rules=TODAY))
    runtime.accept_runtime(StateProposal("run_started", "", 0))
    runtime.accept_runtime(StateProposal("tool_dispatched", ToolCall("c1", "get_status"), 1))
    runtime.accept_runtime(StateProposal("tool_dispatched", ToolCall("c2", "run_tests"), 2))
    return runtime


page = run_7().store.load()
print(page.status, "at revision", page.revision)
print("open: ", *[call.tool for call in page.calls])
print("facts:", *page.facts)

# %% [markdown]
# Two calls are open, and no fact is known. Now the model speaks, through its own
# door, and it has done its homework: revision 3 is the right one.

# %%
predict("01.2")

# %%
def the_model_says(kind: str, text: str, revision: int) -> StateStore:
    runtime = run_7()
    with suppress(Refusal):
        runtime.accept_model_proposal(StateProposal(kind, text, revision))
    return runtime.store


after("01.2", lambda: chart(the_model_says("run_completed", "All green. Release 7 is done!", 3)))

# %% [markdown]
# **Your turn.** Be the model, and be more persuasive. Change the text, the kind
# (`run_started`, `tool_result_recorded`, `run_cancelled`) or the revision in the last
# line, and run the cell again. Can you find one proposal that moves the page?

# %% [markdown]
# The text is never read on the way in. What a model says is worth having, as a wish
# that somebody else looks at. Three words, from now on:
#
# - **proposal**: what anybody wants. Kind, value, revision. No name on it.
# - **event**: the same, with a name on it. The door put it there. Still not state.
# - **fact**: what an *accepted* event left on the page.

# %% [markdown]
# ## A fact that never happened
#
# A scripted planner, and a context builder that means well: to save a turn it also
# shows the model what was *announced*. The tests are still running.

# %%
def planner(reads: list[str]) -> str:
    """What the scripted model wants next, given what it gets to read."""
    return "to deploy" if "tests=green" in reads else "to wait for run_tests"


def hopeful_context(page: RunState, announced: list[str]) -> list[str]:
    return [str(fact) for fact in page.facts] + announced


now, announced = run_7().store.load(), ["tests=green"]


predict("01.3")

# %%
after("01.3", lambda: print("the model wants", planner(hopeful_context(now, announced))))

# %% [markdown]
# Nobody lied. A guess was laid among facts, and the next turn took it for one. After
# a crash, nothing on the page would explain why.
#
# **Repair it.** The model reads what is *committed*, and nothing else.

# %%
def context(page: RunState, announced: list[str]) -> list[str]:
    return [str(fact) for fact in page.facts] + announced


after("01.3", lambda: print("the model wants", planner(context(now, announced))))

# %% [markdown]
# ## A result is not the end
#
# The build answers `build=green`, for call c1, through the tool's own door. The goal
# asks for this fact and for no other. So the runtime, which may, proposes completion.
# Call c2, the tests, has not answered.

# %%
def build_is_green(desk: type[StateStore] = StateStore) -> Runtime:
    """Run-7 at revision 4: the build has answered, the tests have not."""
    runtime = run_7(desk)
    report = StateProposal("tool_result_recorded", "build=green", 3)
    runtime.accept_tool_result("get_status", report, call_id="c1")
    return runtime


predict("01.4")

# %% [markdown]
# First on a desk with one fault: `PendingBlindStore` looks at the goal, and never at
# open calls. Completion is proposed; then the tests answer.

# %%
def complete_then_hear(desk: type[StateStore]) -> StateStore:
    runtime = build_is_green(desk)
    with suppress(Refusal):
        runtime.accept_runtime(StateProposal("run_completed", "", 4))
    now = runtime.store.load().revision
    report = StateProposal("tool_result_recorded", "tests=red", now)
    with suppress(Refusal):
        runtime.accept_tool_result("run_tests", report, call_id="c2")
    return runtime.store


after("01.4", lambda: space_time(complete_then_hear(PendingBlindStore).trace[4:]))

# %%
quiz("01.5")

# %% [markdown]
# The same two offers to the store of the book. Look for the one that is refused now.

# %%
after("01.4", lambda: space_time(complete_then_hear(StateStore).trace[4:]))

# %% [markdown]
# A tool knows one call. It does not know the goal, the other calls, or who still has
# to be asked. So a tool *reports* and the runtime *decides*.
#
# **Your turn.** The tests came back red, and nothing is open any more. May run-7 be
# completed now? Find out in the cell below, then change the goal in `run_7` so that
# red tests cannot be shipped.

# %%
def may_ship() -> None:
    runtime = Runtime(complete_then_hear(StateStore))
    with suppress(Refusal):
        runtime.accept_runtime(StateProposal("run_completed", "", 5))
    print("asked for", *runtime.store.load().success, "and is", runtime.store.load().status)


after("01.4", may_ship)

# %% [markdown]
# ## Five questions to a fact
#
# Where do you come from? Through whose door? From which call? Accepted at which
# revision? Can you be asked again? Nobody typed these answers: the door and the store
# filled them in. (A sixth, *from which checkpoint*, comes with recovery.)

# %%
fact = build_is_green().store.load().facts[0]
for question in ("source", "authority", "call_id", "revision", "verifiable"):
    print(f"{question:>10}: {getattr(fact, question)}")

# %% [markdown]
# A colleague prepares a page by hand. She *saw* that the build was green, and types
# it in. The runtime proposes completion.

# %%
def typed_by_hand(desk: type[StateStore]) -> StateStore:
    typed = (Fact("build", "green"),)
    page = RunState("run-7", success=("build=green",), status=RunStatus.RUNNING, facts=typed)
    runtime = Runtime(desk(page, rules=TODAY))
    with suppress(Refusal):
        runtime.accept_runtime(StateProposal("run_completed", "", 0))
    return runtime.store


predict("01.6")

# %%
after("01.6", lambda: chart(typed_by_hand(StateStore)))

# %% [markdown]
# **Break it.** `HandwrittenFactStore` counts every fact, whoever wrote it. Put it in the
# place of `StateStore` above, and compare the pages.
#
# She may be right; so may the guest with the soup. But in half a year nobody can ask
# `Fact("build", "green")` anything. Now fill in one that can be asked:

# %%
fill("01.7")

# %%
order("01.8")

# %% [markdown]
# ## Your own code
#
# `unfounded(page)`: the facts of a page that no tool's call stands behind. One line
# will do.

# %%
def unfounded(page: RunState) -> list[str]:
    return ["?"]  # your line here


typed, proven = typed_by_hand(StateStore).load(), build_is_green().store.load()
print("typed: ", *unfounded(typed), "(should say build=green)")
print("proven:", *unfounded(proven), "(should say nothing)")

# %% [markdown]
# ## Elsewhere
#
# In smolagents (1.26.0) the model ends a run by calling a tool named `final_answer`;
# the result then says `success`. Which of our beliefs is built in, and where would
# you put the goal? Write one sentence, then open the answer.
#
# <details><summary>Answer</summary>M1, said is done. The goal belongs into
# <code>final_answer_checks</code>, looking at recorded results and not at the text. They
# use <code>assert</code>, so <code>python -O</code> removes them.</details>

# %% [markdown]
# ## Three sentences to keep
#
# 1. A proposal is a wish; a fact is what an accepted event left behind.
# 2. A result settles one call; completion needs the whole goal, and nothing open.
# 3. A fact that cannot say where it comes from is a rumour, even a true one.
#
# **Words.** *Event*: a proposal with a name on it. *Fact*: one accepted observation.
# *Provenance*: its five answers. *Open call*: sent, not answered. *Context*: what
# the model reads.
#
# **Next:** lesson 02, *Who may write*; then exercise 02: you build the desk.
