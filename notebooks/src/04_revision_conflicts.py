# %% [markdown]
# # 04 Revision conflicts
#
# **Where we are.** Run-7 is at revision 4. Its tests and its scan finish at the same moment.
# Both may write, and both write the truth.
#
# In 40 minutes you will
#
# - be the scheduler of two honest writers;
# - say what a store compares before it swaps, and what a conflict is for;
# - tell a right retry from a blind one.
#
# Three beliefs do not survive: M4 *the later write wins*, M5 *after a conflict, send it
# again*, M14 *a hundred green tests, no race*.

# %%
from runstate_lab import (
    LastWriteWinsStore, NaiveStore, NoAuthorityStore, Refusal, RevisionConflict, RunState,
    RunStatus, Runtime, StateProposal, StateStore, ToolCall, no_decision_on_old_facts,
    explore, no_lost_update, play, run_7_at_revision_4, two_reporters,
)
from runstate_lab.course import after, fill, locked, order, predict, quiz, reveal
from runstate_lab.show import Move, space_time
from runstate_lab.live import Board

# %% [markdown]
# ## What you still know
#
# Three questions from lessons 03, 02 and 00. No scrolling back.

# %%
quiz("04.recall")

# %% [markdown]
# ## Two sellers, one seat
#
# A theatre keeps one ledger page of sold seats. Ann and Ben each photograph page 4 and go
# to their windows. Ann sells seat 12. Ben sells seat 13. Each writes the whole page anew,
# from the photograph, and walks back to put it into the ledger.
#
# Nobody is lazy and nobody cheats.

# %%
space_time(
    [
        Move("Ann", 1, "read", seen=4),
        Move("Ben", 2, "read", seen=4),
        Move("Ann", 3, "compute", value="seat 12 is sold"),
        Move("Ben", 4, "compute", value="seat 13 is sold"),
    ]
)

# %% [markdown]
# The picture ends where it becomes interesting. Run-7 has the same evening: its tests and
# its scan read revision 4, and each has a result to add. The store is a simple soul: it takes
# the page that it is given.

# %%
predict("04.lost")

# %% [markdown]
# ## Be the scheduler
#
# Each writer has three steps: *read*, *compute*, *submit*. Nobody else sees the second one:
# there it *works on its own*. You decide who goes next, with the two buttons, the keys `A`
# and `B`, or `board.step("A")`. Give each its three steps.

# %%
FEW = ("picture", "state", "trace", "tried")
board = locked("04.lost", lambda: Board("two_writers", variants=("naive",), parts=FEW))
board

# %% [markdown]
# The same as a table: **run this cell when all six steps are taken.** Read the column *answer*
# from top to bottom: that is what the writers were told. The *remark* is only for you. Then
# count the facts on the board.

# %%
after("04.lost", lambda: board.table())

# %%
quiz("04.silent")

# %% [markdown]
# **Your turn.** Find an order after which both results are in the state, and one after which
# they are not: with the buttons above, or with six letters here. The board counts what you have
# tried.

# %%
def put(letters):
    """The board, after these steps."""
    if letters:
        board.play(letters)
    return board


letters = ""  # three A and three B, in your order
after("04.lost", lambda: put(letters))

# %% [markdown]
# ## All of them
#
# You have tried a few. There are 20 orders of three steps and three; a machine can try them
# all before you have found your tea.

# %%
predict("04.count")

# %%
def every_order(store, *laws):
    """All orders of the tests (A) and the scan (B), each on a fresh store."""
    return explore(two_reporters(), store=lambda: store(run_7_at_revision_4()), invariants=laws)


after("04.count", lambda: every_order(NaiveStore, no_lost_update))

# %% [markdown]
# For each law that is broken the explorer keeps the shortest order, with the fewest changes of
# hands. Six letters, and ten digits that say which workers and which store they belong to: small
# enough for a bug report, and whoever gets them sees what you saw.

# %%
after("04.count", lambda: every_order(NaiveStore, no_lost_update).tokens)

# %% [markdown]
# **Your turn.** Put the token between the quotes and go through it with the arrow keys. Which
# of the six steps is the one that does it?

# %%
token = ""
after("04.count", lambda: put(token))

# %% [markdown]
# A colleague is not impressed: "I have tested this. A hundred times." He has: first the tests,
# then the scan, as always.

# %%
def a_test():
    race = play("AAABBB", two_reporters(), store=NaiveStore(run_7_at_revision_4()))
    return no_lost_update(race)


after("04.count", lambda: all(a_test() for attempt in range(100)))

# %%
quiz("04.hundred")

# %% [markdown]
# ## Compare, then swap
#
# A proposal names the revision that it was **computed from**. The store **compares**: is that
# still the page? Only then it **swaps** the page for the next one, and the revision grows by
# one. Of two proposals from one revision, the first that commits wins.
#
# The second gets a **conflict**. It is not an error in a log. It is an answer, to whoever has
# to decide what comes next.

# %%
fill("04.compare")

# %%
fill("04.apply")

# %% [markdown]
# ## Four stores, one order
#
# Before you see yours at work, somebody has a simpler idea.

# %%
predict("04.append")

# %%
FOUR = ("naive", "last-write-wins", "no authority", "compare-and-swap")


def four_boards():
    more = (*FEW, "stores", "laws", "explore")
    return Board("two_writers", variants=FOUR, parts=more, schedule="ABABAB", compare=True)


stores = locked("04.append", four_boards)
stores

# %% [markdown]
# **Your turn.** Change the order, here or by `stores.play("AABABB")`; swap the store with the key
# `s`. Where the thick line of a writer breaks into dashes, it believes in an old page. Which of
# the four ever tells it?
#
# Now all orders at once. *Old decisions* were made on an older page than the one they met, and
# were accepted.

# %%
def four_stores():
    print(f"{'of 20 orders':<20}lost   old decisions   conflicts")
    for store in (NaiveStore, LastWriteWinsStore, NoAuthorityStore, StateStore):
        found = every_order(store, no_lost_update, no_decision_on_old_facts)
        lost, old = found.broken.values()
        told = found.refused.get("revision_conflict", 0)
        print(f"{store.__name__:<20}{lost:>4}{old:>16}{told:>12}")


after("04.append", four_stores)

# %% [markdown]
# Compare the last two rows with the first. Not one order was forbidden, nobody had to wait:
# where there was silence, there is now an answer.
#
# The last two rows look alike, because both writers may write. `NoAuthorityStore` compares
# numbers only. What it does with a *model* that knows the number, you saw in lesson 02.

# %% [markdown]
# ## The obvious cure for a conflict
#
# Two runtimes serve run-7 tonight, and each wants to ship. Both ask the page: is anybody
# deploying? Then they submit the call. One of them will get a conflict, and then
# what? The obvious thing: *send it again, with the new number*.

# %%
def wanted(page, call_id):
    """The call that deploys release 7, or None: somebody is at it."""
    at_it = any(call.tool == "deploy" for call in page.calls)
    return None if at_it else ToolCall(call_id, "deploy")


def send(store, call, revision):
    return Runtime(store).accept_runtime(StateProposal("tool_dispatched", call, revision))


def send_again(store, call):
    send(store, call, store.load().revision)  # WRONG ON PURPOSE: the old value, the new number

# %%
def dispatcher(call_id, on_conflict):
    """A runtime that reads, decides and submits; and what it does when refused."""

    def work(store):
        page = store.load()
        yield
        call = wanted(page, call_id)
        yield
        if call is not None:
            try:
                send(store, call, page.revision)
            except RevisionConflict:
                on_conflict(store, call)

    return work

# %%
predict("04.blind")

# %%
def deployed_once(race):
    """Whether exactly one deploy of release 7 is under way."""
    return [call.tool for call in race.store.load().calls].count("deploy") == 1


def two_dispatchers(on_conflict):
    both = {"A": dispatcher("c4", on_conflict), "B": dispatcher("c5", on_conflict)}
    store = lambda: StateStore(run_7_at_revision_4())
    return explore(both, store=store, at_end=(deployed_once,))


after("04.blind", lambda: two_dispatchers(send_again))

# %% [markdown]
# The store asks for a writer who may write, the right number and a legal event. It got all
# three. From which page the *value* was made, it cannot know: only the writer can.
#
# **Your turn.** Write the other retry: one line asks the newest page what is wanted *now*. If
# that is None, there is nothing to send.

# %%
def decide_again(store, call):
    page = store.load()
    # your line: call = ...
    if call is not None:
        send(store, call, page.revision)


after("04.blind", lambda: two_dispatchers(decide_again))

# %% [markdown]
# <details><summary>The line</summary><code>call = wanted(page, call.call_id)</code></details>
#
# With two writers one more attempt is enough. In a crowd it may be refused too, so a retry
# counts its attempts and gives up *loudly*. And not everything is to be computed again:
#
# | refused | now |
# |---|---|
# | a test result whose call is still open | **recompute**: read, then submit |
# | a deploy that somebody else has begun | **drop** |
# | a person's wish, made on an old page | **escalate**: ask them |

# %%
order("04.retry")

# %% [markdown]
# ## What a revision is not
#
# **Not a timestamp.** Ten digits of Unix time are much greater than 4, and surely later. (Google
# ADK 2.13.0 does compare times. Two updates with equal ones, and the first is gone.)
#
# **Your turn.** Change the ten digits to 3, then to 4. Which number gets in?

# %%
def answer(offer, *arguments, **named):
    try:
        return f"accepted, revision {offer(*arguments, **named).revision}"
    except Refusal as refusal:
        return f"refused, {refusal.code}"


runtime = Runtime(StateStore(run_7_at_revision_4()))
stamped = StateProposal("tool_result_recorded", "tests=green", 1764440000)
answer(runtime.accept_tool_result, "run_tests", stamped, call_id="c2")

# %% [markdown]
# **Not an authority.** The model is bored, and names exactly the right revision.
#
# **Not business data.** "Done at revision 5," says a goal, and 5 it is. But the revision counts
# what happened to the page; it is no fact about release 7.

# %%
bored = StateProposal("run_cancelled", "I am bored", runtime.store.load().revision)
page = RunState("run-7", status=RunStatus.RUNNING, success=("revision=5",), revision=5)
done = StateProposal("run_completed", "", page.revision)
said = [
    answer(runtime.accept_model_proposal, bored),
    answer(Runtime(StateStore(page)).accept_runtime, done),
]
assert said == ["refused, writer_rejected", "refused, success_not_met"]
said

# %%
quiz("04.first")

# %% [markdown]
# ## Five pairs that look alike
#
# Cover the right column. Which run has shown you the difference?
#
# | not the same | seen |
# |---|---|
# | event, state | 02: the model's event was kept, the page stood still |
# | tool result, completion | 03: `announce` was still open |
# | trace, state | here: hold the answers of your table against the facts |
# | revision, timestamp | here: ten digits |
# | seeing, writing | 02: the model edited its copy |

# %% [markdown]
# ## Elsewhere
#
# Where is the expected revision in *your* framework's save call: which argument says what page
# this was made from, and what if it is not the newest? One sentence, then open an answer.
#
# <details><summary>LangGraph 1.2.24</summary><code>update_state</code> takes a
# <code>checkpoint_id</code>. An old one is no conflict: the thread forks silently, and its head
# is the newest fork. The other work stays in the history.</details>
#
# <details><summary>OpenAI Agents SDK 0.24.0</summary><code>RunState</code> has a schema version
# and no revision. Resume the same saved state twice, and the approved effect happens twice,
# without an error.</details>

# %% [markdown]
# ## Three sentences to keep
#
# 1. A proposal names the page it was computed from; the store compares, then swaps.
# 2. A conflict is an answer: recompute, drop or escalate, but never just send again.
# 3. What goes wrong in one order goes wrong one day: try the orders, not your luck.
#
# **Words.** *Revision*: the count of accepted events; a guard. *Compare and swap*: both, or
# neither. *Lost update*: accepted, then overwritten. *Conflict*: the page has moved on. *Blind
# retry*: an old value under a new number.

# %% [markdown]
# ## Now you
#
# **Exercise 04** lets you build that store, decide what each refused event does next, and
# write the retry that deploys once. Open
# `exercises/04_compare_and_swap/04_compare_and_swap.ipynb`, or in a terminal
# `runstate-lab check 04`. Its checks run your store in every order of two writers and of
# three, and your retry in a crowd that commits behind your back.
