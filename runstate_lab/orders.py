"""Floor 5. Every order in which workers can take their steps.

A worker is ordinary code with `yield` wherever another may run: n yields
make n + 1 steps. `Race` lets you be the scheduler, one step at a time;
`explore` runs every order and counts exactly.

What is not here: threads, time and chance. The order is the only freedom.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass

from runstate_lab.errors import Malformed, Refusal
from runstate_lab.model import RunState, StateProposal, ToolCall
from runstate_lab.runtime import Runtime
from runstate_lab.store import StateStore

Worker = Callable[[StateStore], Generator[object, None, None]]
Invariant = Callable[["Race"], bool]


class Race:
    """One run of some workers on one store, in the order that you choose.

    A refusal ends its worker and is kept under the worker's name; any other
    exception is the worker's own fault and is raised.

    >>> def starter(store):
    ...     seen = store.load().revision
    ...     yield
    ...     Runtime(store).accept_runtime(StateProposal("run_started", "", seen))
    >>> race = Race({"A": starter, "B": starter}, StateStore(RunState("run-7")))
    >>> for name in "ABAB":
    ...     race.step(name)
    >>> race.refusals
    {'B': RevisionConflict(revision_conflict: revision conflict)}
    """

    def __init__(self, workers: Mapping[str, Worker], store: StateStore) -> None:
        if not workers or any(len(name) != 1 for name in workers):
            raise Malformed("workers named by one letter each", str(list(workers)))
        self.store = store
        self.schedule = ""
        self.refusals: dict[str, Refusal] = {}
        self._running = {name: worker(store) for name, worker in workers.items()}

    @property
    def enabled(self) -> tuple[str, ...]:
        """The workers that still have a step to take, in their given order."""
        return tuple(self._running)

    def step(self, name: str) -> None:
        """Let one worker take exactly one step.

        >>> def idle(store):
        ...     yield
        >>> race = Race({"A": idle}, StateStore(RunState("run-7")))
        >>> race.step("B")
        Traceback (most recent call last):
            ...
        runstate_lab.errors.Malformed: malformed value: asked a step of worker 'B', found workers with a step left: A
        hint: give plain text or one of the frozen nouns of runstate_lab.model
        """
        if name not in self._running:
            left = ", ".join(self._running) or "none"
            raise Malformed(f"a step of worker {name!r}", f"workers with a step left: {left}")
        self.schedule += name
        try:
            next(self._running[name])
        except StopIteration:
            del self._running[name]
        except Refusal as refusal:
            self.refusals[name] = refusal.kept()
            del self._running[name]


@dataclass(frozen=True, slots=True)
class Outcome:
    """One final state and in how many orders it came about."""

    state: RunState
    count: int


@dataclass(frozen=True, slots=True)
class Exploration:
    """What all the orders together show; counts are exact.

    `broken` counts the orders that break each invariant, `refused` the orders
    with a refusal of each code, `tokens` holds for each broken invariant the
    schedule with the fewest switches between workers; `play` runs it again.
    """

    schedules: int
    outcomes: tuple[Outcome, ...]
    broken: Mapping[str, int]
    refused: Mapping[str, int]
    tokens: Mapping[str, str]

    def __repr__(self) -> str:
        parts = [f"{self.schedules} orders"]
        parts += [f"{count} break {name}" for name, count in self.broken.items()]
        parts += [f"{count} report {code}" for code, count in self.refused.items()]
        return ", ".join(parts)


def no_lost_update(race: Race) -> bool:
    """Every fact that the store acknowledged is in the state.

    >>> no_lost_update(Race({"A": lambda store: iter(())}, StateStore(RunState("run-7"))))
    True
    """
    state = race.store.load()
    values = {str(fact) for fact in state.facts}
    kinds = ("tool_result", "tool_result_recorded")
    return all(event.value in values for event in race.store.trace.accepted if event.kind in kinds)


def every_revision_was_current(race: Race) -> bool:
    """No accepted event was decided on an older state than the one it met.

    >>> every_revision_was_current(Race({"A": lambda store: iter(())}, StateStore(RunState("run-7"))))
    True
    """
    entries = [entry for entry in race.store.trace if entry.accepted]
    revisions = [entry.event.expected_revision for entry in entries]
    first = revisions[0] if revisions else 0
    return revisions == list(range(first, first + len(revisions)))


def reporting(tool: str, result: str, call_id: str) -> Worker:
    """A worker of three steps: read the state, compute, submit the result.

    >>> tests = reporting("run_tests", "tests=green", "c2")
    >>> race = play("AAA", {"A": tests}, store=StateStore(run_7_at_revision_4()))
    >>> print(race.store.load().revision, *race.store.load().facts)
    5 tests=green
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

    >>> naive = explore(two_reporters(), store=lambda: StateStore(run_7_at_revision_4()))
    >>> naive
    20 orders, 18 report revision_conflict
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


def play(schedule: str, workers: Mapping[str, Worker], *, store: StateStore) -> Race:
    """The race after running a schedule such as "ABAB" on a fresh store.

    >>> def once(store):
    ...     yield
    >>> play("AAB", {"A": once, "B": once}, store=StateStore(RunState("run-7"))).enabled
    ('B',)
    >>> play("AAA", {"A": once}, store=StateStore(RunState("run-7")))
    Traceback (most recent call last):
        ...
    runstate_lab.errors.Malformed: malformed value: asked a step of worker 'A', found workers with a step left: none
    hint: give plain text or one of the frozen nouns of runstate_lab.model
    """
    race = Race(workers, store)
    for name in schedule:
        race.step(name)
    return race


def explore(
    workers: Mapping[str, Worker],
    *,
    store: Callable[[], StateStore],
    invariants: tuple[Invariant, ...] = (),
) -> Exploration:
    """Every order of the workers' steps, each on a fresh store from the factory.

    >>> def two(store):
    ...     yield
    >>> explore({"A": two, "B": two}, store=lambda: StateStore(RunState("run-7"))).schedules
    6
    """
    states: Counter[RunState] = Counter()
    broken: Counter[str] = Counter()
    refused: Counter[str] = Counter()
    tokens: dict[str, str] = {}
    for race in _all_races(workers, store):
        states[race.store.load()] += 1
        refused.update({refusal.code for refusal in race.refusals.values()})
        for invariant in invariants:
            if not invariant(race):
                name = invariant.__name__
                broken[name] += 1
                tokens[name] = min(
                    tokens.get(name, race.schedule), race.schedule, key=_reading_order
                )
    outcomes = tuple(Outcome(state, count) for state, count in states.most_common())
    counts = {invariant.__name__: broken[invariant.__name__] for invariant in invariants}
    return Exploration(states.total(), outcomes, counts, dict(refused), tokens)


def _all_races(
    workers: Mapping[str, Worker], store: Callable[[], StateStore]
) -> Generator[Race, None, None]:
    # Depth first; a generator cannot be copied, so each branch is run afresh.
    prefixes = [""]
    while prefixes:
        race = play(prefixes.pop(), workers, store=store())
        while race.enabled:
            first, *others = race.enabled
            prefixes += [race.schedule + name for name in reversed(others)]
            race.step(first)
        yield race


def _reading_order(schedule: str) -> tuple[int, str]:
    switches = sum(one != other for one, other in zip(schedule, schedule[1:], strict=False))
    return switches, schedule
