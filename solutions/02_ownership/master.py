# %% [markdown]
# # Exercise 02: ownership
#
# Run-7 is on its way to ship release 7, and everybody wants to write in its
# book: the model, the tools, the release manager, the logger. In three tasks
# you build the desk they all have to pass: **who owns what** (02.1), **who is
# let in** (02.2), and **what a fact can say about itself** (02.3).
#
# Every task has visible checks right below it. A few more are held back.
# In a terminal: `runstate-lab check 02`, and `runstate-lab hint 02.1` when stuck.

# %%
from runstate_lab import Fact, Refusal, RevisionConflict, StateEvent, WriterRejected

# %% [markdown]
# ## 02.1 The owner of each datum
#
# **Goal.** A table of who proposes and who finally writes, and a function that reads it.
#
# **Given.** The row of the diagnostic event. A slash, as in `runtime/store`, names
# two writers of one contract: either may write.
#
# **Do.** Add the rows of `candidate action`, `tool result`, `run status` and
# `approval decision`, in the words of lesson 02's table. Then write `may_write`:
# True for a final writer, False for everybody else, and `KeyError` for a datum
# that has no row.
#
# **Check.** Two cells below; more are held back.

# %%
# answer: 02.1
def owner_table() -> dict[str, tuple[str, str]]:
    """For each datum: who proposes it, and who finally writes it."""
    table = {"diagnostic event": ("any component", "trace")}
    # BEGIN SOLUTION
    table["candidate action"] = ("model", "runtime")
    table["tool result"] = ("tool executor", "runtime/store")
    table["run status"] = ("runtime", "store")
    table["approval decision"] = ("user or approval service", "runtime")
    # END SOLUTION
    return table


def may_write(who: str, datum: str) -> bool:
    """Whether `who` is a final writer of the datum; refuses an unknown datum."""
    # BEGIN SOLUTION
    table = owner_table()
    if datum not in table:
        raise KeyError(f"nobody owns {datum!r}; the owned data are {', '.join(table)}")
    proposer, writer = table[datum]
    return who in writer.split("/")
    # END SOLUTION


# %%
# check: 02.1 every datum has a proposer and a final writer
rows = owner_table()
for datum in ("candidate action", "tool result", "run status", "approval decision"):
    assert datum in rows, f"expected a row for the {datum}; the table has {', '.join(rows)}"
    assert all(rows[datum]), f"expected a proposer and a writer of the {datum}, got {rows[datum]}"
    print(f"{datum}: a proposer and a final writer")

# %%
# check: 02.1 who proposes does not write
for who, expected in (("model", False), ("runtime", True)):
    found = may_write(who, "candidate action")
    claim = f"the {who} may write a candidate action"
    assert found is expected, f"{claim}: expected {expected}, got {found}"
    print(f"{claim}: {found}")

# %% [markdown]
# ## 02.2 Let in, or turn away
#
# **Goal.** The desk itself. `admit(event, row, revision)` returns nothing for a
# welcome event and raises for any other.
#
# **Given.** A row of the rules as plain data: `row["authority"]` is a text,
# `row["sources"]` a tuple of names. `tool:*` means *any tool with a name*;
# every other entry means exactly itself. `revision` is the revision now.
#
# **Do.** Ask for the authority **and** for the source; if either is wrong, raise the
# book's `WriterRejected(asked, found)`. Only a welcome writer hears about
# revisions: `RevisionConflict(asked, found)` when `event.expected_revision` is
# another one. A stranger must learn nothing about it.
#
# **Check.** Three cells below; more are held back.

# %%
REPORT = {"authority": "tool_executor", "sources": ("tool:get_status", "tool:scan")}
ANY_TOOL = {"authority": "tool_executor", "sources": ("tool:*",)}
FINISH = {"authority": "runtime", "sources": ("runtime",)}


def said(event: StateEvent, row: dict[str, object], revision: int) -> str:
    """What admit said to an event: let in, or the code of the refusal."""
    try:
        admit(event, row, revision)
    except Refusal as refusal:
        return refusal.code
    return "let in"


# %%
# answer: 02.2
def admit(event: StateEvent, row: dict[str, object], revision: int) -> None:
    """Nothing for a welcome event; raises the book's refusal for any other."""
    # BEGIN SOLUTION
    role, colon, name = event.source.partition(":")
    any_of_its_role = f"{role}:*" in row["sources"] and name != ""
    welcome = event.source in row["sources"] or any_of_its_role
    if event.authority != row["authority"] or not welcome:
        raise WriterRejected(
            f"{event.kind} as {event.source} with authority {event.authority}",
            f"a row for {' or '.join(row['sources'])} with authority {row['authority']}",
        )
    if event.expected_revision != revision:
        asked = f"{event.kind} at revision {event.expected_revision}"
        raise RevisionConflict(asked, f"revision {revision}")
    # END SOLUTION


# %%
# check: 02.2 the tool that was asked is let in
report = StateEvent("tool_result_recorded", "tool:scan", "tool_executor", "scan=clean", 4, "c3")
for name, row in (("a row that names it", REPORT), ("a row for any tool", ANY_TOOL)):
    found = said(report, row, 4)
    assert found == "let in", f"tool:scan, {name}: expected 'let in', got {found!r}"
    print(f"tool:scan, {name}: {found}")

# %%
# check: 02.2 a wrong authority or a wrong source is turned away
model = StateEvent("run_completed", "model:planner", "model", "", 4)
other = StateEvent("tool_result_recorded", "tool:other", "tool_executor", "build=green", 4, "c1")
disguised = StateEvent("tool_result_recorded", "tool:scan", "model", "scan=clean", 4, "c3")
for event, row in ((model, FINISH), (other, REPORT), (disguised, REPORT)):
    found = said(event, row, 4)
    claim = f"{event.source} with authority {event.authority}"
    assert found == "writer_rejected", f"{claim}: expected 'writer_rejected', got {found!r}"
    print(f"{claim}: {found}")

# %%
# check: 02.2 a welcome writer who is late hears of a conflict
found = said(report, REPORT, 5)
claim = "a report made from revision 4, the state is at 5"
assert found == "revision_conflict", f"{claim}: expected 'revision_conflict', got {found!r}"
print(f"{claim}: {found}")

# %% [markdown]
# ## 02.3 What a fact can say about itself
#
# **Goal.** Turn an accepted event into a fact, and put the five questions to any fact.
#
# **Given.** `Fact.parse("tests=green")` gives the bare fact: key and value.
#
# **Do.** `as_fact(event)` gives the fact with source, authority, call id, and the
# revision **at which it was accepted** (not the one it was computed from).
# `five_answers(fact)` gives a tuple: source, authority, call id, revision, and
# whether a recovery could ask again. An answer that the fact cannot give is
# `None`. Only a *tool's* fact with a call id can be asked again: True or False.
#
# **Check.** Two cells below; more are held back.

# %%
# answer: 02.3
def as_fact(event: StateEvent) -> Fact:
    """The fact that an accepted event leaves in the state, with its provenance."""
    # BEGIN SOLUTION
    bare = Fact.parse(event.value)
    accepted_at = event.expected_revision + 1
    return Fact(
        bare.key,
        bare.value,
        source=event.source,
        authority=event.authority,
        call_id=event.call_id,
        revision=accepted_at,
    )
    # END SOLUTION


def five_answers(fact: Fact) -> tuple[str | None, str | None, str | None, int | None, bool]:
    """Source, authority, call id, revision, and whether it can be asked again."""
    # BEGIN SOLUTION
    can_ask_again = fact.authority == "tool_executor" and fact.call_id is not None
    return (
        fact.source or None,
        fact.authority or None,
        fact.call_id,
        fact.revision or None,
        can_ask_again,
    )
    # END SOLUTION


# %%
# check: 02.3 an accepted report becomes a fact that knows where it comes from
result = ("tests=green", 4, "c2")
tests = StateEvent("tool_result_recorded", "tool:run_tests", "tool_executor", *result)
fact = as_fact(tests)
assert str(fact) == "tests=green", f"expected the fact tests=green, got {fact}"
assert fact.revision == 5, f"computed from revision 4, so accepted at 5; got {fact.revision}"
print(fact, "|", *five_answers(fact), sep="  ")

# %%
# check: 02.3 a fact typed by hand has no answers
typed = Fact("tests", "green")
answers = five_answers(typed)
nothing = (None, None, None, None, False)
assert answers == nothing, f"expected four times None, and False; got {answers}"
print(typed, "typed by hand: nobody to ask again")

# %% [markdown]
# ## When all cells are green
#
# `runstate-lab check 02` runs the visible checks as the grader will. Save first.
# Then go on with lesson 03: being let in is not yet being *legal*.
