"""Floor 5. Small worlds to explore: who acts in them, on which store, under which laws.

Each world has one variant that is right, and beside it variants that are wrong
on purpose. The right one is named first.

What is not here: exploring them (see `orders`).
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass

from runstate_lab.broken import LastWriteWinsStore, NaiveStore, NoAuthorityStore
from runstate_lab.errors import Malformed
from runstate_lab.laws import Law, no_decision_on_old_facts, no_lost_update
from runstate_lab.model import RunState, StateProposal, ToolCall
from runstate_lab.race import Worker
from runstate_lab.runtime import Runtime
from runstate_lab.store import StateStore

MakeStore = Callable[[RunState], StateStore]


@dataclass(frozen=True, slots=True)
class Variant:
    """One way to build a world: its workers, and the kind of store they share."""

    workers: Mapping[str, Worker]
    store: MakeStore = StateStore


@dataclass(frozen=True, slots=True)
class World:
    """A start, the variants to try, and the laws that hold in the right one.

    `actors` names the workers in words; `faults` are the marks that an
    exploration may set, each once.
    """

    name: str
    story: str
    start: Callable[[], RunState]
    actors: Mapping[str, str]
    variants: Mapping[str, Variant]
    invariants: tuple[Law, ...]
    at_end: tuple[Law, ...] = ()
    faults: str = ""

    def variant(self, name: str = "") -> Variant:
        """The named variant; without a name, the right one.

        >>> WORLDS["two_writers"].variant("hopeful")
        Traceback (most recent call last):
            ...
        runstate_lab.errors.Malformed: malformed value: asked the variant 'hopeful' of two_writers, found compare-and-swap, naive, last-write-wins, no authority
        hint: give plain text or one of the frozen nouns of runstate_lab.model
        """
        if name and name not in self.variants:
            raise Malformed(f"the variant {name!r} of {self.name}", ", ".join(self.variants))
        return self.variants[name or next(iter(self.variants))]

    def fresh(self, variant: str = "", *, store: MakeStore | None = None) -> StateStore:
        """A new store of the variant, or of your own kind, at the world's start.

        >>> WORLDS["two_writers"].fresh("naive").load().revision
        4
        """
        return (store or self.variant(variant).store)(self.start())


def reporting(tool: str, result: str, call_id: str) -> Worker:
    """A worker of three steps: read the state, compute, submit the result.

    >>> work = reporting("run_tests", "tests=green", "c2")(StateStore(run_7_at_revision_4()))
    >>> len(list(work))
    2
    """

    def worker(store: StateStore) -> Generator[object, None, None]:
        seen = store.load()
        yield
        proposal = StateProposal("tool_result_recorded", result, seen.revision)
        yield
        Runtime(store).accept_tool_result(tool, proposal, call_id=call_id)

    return worker


def two_reporters() -> dict[str, Worker]:
    """Two tools of run-7 that finish at the same moment: tests (A) and scan (B).

    >>> list(two_reporters())
    ['A', 'B']
    """
    return {
        "A": reporting("run_tests", "tests=green", "c2"),
        "B": reporting("scan", "scan=clean", "c3"),
    }


def run_7_at_revision_4() -> RunState:
    """Run-7 after three dispatches: its build, its tests and its scan are running.

    >>> state = run_7_at_revision_4()
    >>> print(state.revision, state.facts, [call.tool for call in state.calls])
    4 () ['get_status', 'run_tests', 'scan']
    """
    success = ("build=green", "tests=green", "scan=clean")
    runtime = Runtime(StateStore(RunState("run-7", goal="ship release 7", success=success)))
    runtime.accept_runtime(StateProposal("run_started", "", 0))
    for revision, tool in enumerate(("get_status", "run_tests", "scan"), start=1):
        call = ToolCall(f"c{revision}", tool)
        runtime.accept_runtime(StateProposal("tool_dispatched", call, revision))
    return runtime.store.load()


TWO_WRITERS = World(
    "two_writers",
    "The tests and the scan of run-7 finish at the same moment; each has a result to add.",
    run_7_at_revision_4,
    {"A": "the test tool", "B": "the scanner"},
    {
        "compare-and-swap": Variant(two_reporters()),
        "naive": Variant(two_reporters(), NaiveStore),
        "last-write-wins": Variant(two_reporters(), LastWriteWinsStore),
        "no authority": Variant(two_reporters(), NoAuthorityStore),
    },
    (no_lost_update, no_decision_on_old_facts),
)

WORLDS = {world.name: world for world in (TWO_WRITERS,)}
