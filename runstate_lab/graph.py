"""Floor 4. A graph of nodes, checked when it is drawn; how its values combine.

The graph is code and stays outside the state; what it plans (names, needs,
attempts, approvers) joins the run as `NodeState`s. What is not here: running
it (see `scheduler`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from runstate_lab.errors import GraphRefused, KeyContested, Malformed
from runstate_lab.model import NodeState, NodeStatus, Plan, RunState
from runstate_lab.shapes import filled, names, text, whole
from runstate_lab.tools import Check, a, able, door, fits, keepable, maybe, shown

Work = Callable[[Mapping[str, str]], Mapping[str, str]]
Reducer = Callable[[tuple[str, ...]], str]


def count(what: str, value: object) -> None:
    """Nothing, when a value is a whole number from one.

    >>> count("a limit", True)
    Traceback (most recent call last):
        ...
    runstate_lab.errors.Malformed: malformed value: asked a limit as a whole number from 1, found True
    hint: give plain text or one of the frozen nouns of runstate_lab.model
    """
    whole(f"{what} as a whole number from 1", value, least=1)


NODE: dict[str, Check] = {
    "work": able("__call__"),
    "needs": names,
    "writes": names,
    "max_attempts": count,
    "approver": maybe(door),
}


@dataclass(frozen=True, slots=True)
class Node:
    """One unit of work: what it needs, what it writes, how often it may try.

    `approver` names who must agree to each attempt: an `Executor` asks before
    the work (`node_asked`), goes on with other nodes, and does the work in a
    claim that follows the answer.

    >>> Node("build", lambda values: {"build": "green"}, writes=("build",)).max_attempts
    1
    >>> Node("deploy", dict, needs="build")
    Traceback (most recent call last):
        ...
    runstate_lab.errors.Malformed: malformed value: asked deploy's needs as a tuple of names, found the text 'build'; one name is ('build',)
    hint: give deploy's needs as asked
    """

    name: str
    work: Work
    needs: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    max_attempts: int = 1
    approver: str | None = None

    def __post_init__(self) -> None:
        filled("a node's name", self.name)
        keepable("a node's name", self.name)
        fits(f"{self.name}'s", NODE, {name: getattr(self, name) for name in NODE})
        for key in self.writes:
            keepable(f"a key that {self.name} writes", key)


class ExecutableGraph:
    """Nodes in an order of their needs, and a reducer for each contested key.

    `start` names the nodes that need nothing; another such node is one that
    nothing leads to. Refused when it is drawn: a cycle, an unknown need, a
    name twice, an unreachable node, a key that two nodes write without a
    reducer.

    >>> a = Node("build", lambda values: {}, needs=("deploy",))
    >>> b = Node("deploy", lambda values: {}, needs=("build",))
    >>> ExecutableGraph([a, b], start=())
    Traceback (most recent call last):
        ...
    runstate_lab.errors.GraphRefused: the graph is refused: asked an order of the nodes, found a cycle among build, deploy
    hint: mend the graph where the message says
    """

    def __init__(
        self,
        nodes: Iterable[Node],
        *,
        start: Iterable[str],
        reducers: Mapping[str, Reducer] | None = None,
    ) -> None:
        start = start if isinstance(start, str) or not isinstance(start, Iterable) else tuple(start)
        fits("a graph's", GRAPH, {"start": start, "reducers": reducers})
        self._nodes = {node.name: node for node in _named_once(_only_nodes(nodes))}
        self._reducers = dict(reducers or {})
        _refuse_unknown(self._nodes)
        self.order = _in_order(self._nodes)
        _refuse_unreachable(self._nodes, frozenset(start))
        _refuse_contested(self._nodes, self._reducers)

    def node(self, name: str) -> Node:
        """The node of that name.

        >>> ExecutableGraph([], start=()).node("build")
        Traceback (most recent call last):
            ...
        runstate_lab.errors.GraphRefused: the graph is refused: asked node build, found the nodes none
        hint: mend the graph where the message says
        """
        if name not in self._nodes:
            raise GraphRefused(f"node {name}", f"the nodes {', '.join(self._nodes) or 'none'}")
        return self._nodes[name]

    @property
    def plan(self) -> Plan:
        """The nodes as they join a run, in the graph's order."""
        return Plan(
            tuple(
                NodeState(
                    name,
                    needs=self._nodes[name].needs,
                    max_attempts=self._nodes[name].max_attempts,
                    approver=self._nodes[name].approver,
                )
                for name in self.order
            )
        )

    def values(self, state: RunState) -> dict[str, str]:
        """What the completed nodes wrote, combined in the graph's order.

        The order in which reports arrived plays no part.

        >>> both = [Node(n, dict, writes=("notes",)) for n in ("build", "tests")]
        >>> graph = ExecutableGraph(both, start=("build", "tests"), reducers={"notes": ", ".join})
        >>> late = NodeState("build", status=NodeStatus.COMPLETED, writes=(("notes", "built"),))
        >>> early = NodeState("tests", status=NodeStatus.COMPLETED, writes=(("notes", "tested"),))
        >>> graph.values(RunState("run-7", nodes=(early, late)))
        {'notes': 'built, tested'}
        """
        written: dict[str, list[str]] = {}
        nodes = {node.name: node for node in state.nodes}
        for name in self.order:
            node = nodes.get(name)
            if node is not None and node.status is NodeStatus.COMPLETED:
                for key, text in node.writes:
                    written.setdefault(key, []).append(text)
        return {key: self._combined(key, tuple(texts)) for key, texts in written.items()}

    def accept_writes(self, name: str, writes: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
        """The writes of a node as pairs; refuses a key that it did not declare.

        >>> graph = ExecutableGraph([Node("build", dict, writes=("build",))], start=("build",))
        >>> graph.accept_writes("build", {"status": "completed"})
        Traceback (most recent call last):
            ...
        runstate_lab.errors.KeyContested: the key was not declared: asked build to write status, found the declared keys build
        hint: give the key a reducer, or let one node write it
        """
        declared = self.node(name).writes
        a(Mapping)(f"what {name} writes", writes)
        for key in writes:
            text(f"a key that {name} writes", key)
            if key not in declared:
                found = f"the declared keys {', '.join(declared) or 'none'}"
                asked = f"{name} to write {key}"
                raise KeyContested(asked, found, reason="the key was not declared")
        pairs = tuple([(key, str(writes[key])) for key in declared if key in writes])
        for key, words in pairs:
            keepable(f"{key} of {name}", words)
        return pairs

    def _combined(self, key: str, texts: tuple[str, ...]) -> str:
        if key not in self._reducers:
            return texts[-1]
        combined = self._reducers[key](texts)
        text(f"what the reducer of {key} gives", combined)
        return combined


def _reducers(what: str, value: object) -> None:
    a(Mapping)(what, value)
    for key, reducer in dict(value).items():
        text(f"a key of {what}", key)
        able("__call__")(f"the reducer of {key}", reducer)


GRAPH: dict[str, Check] = {"start": names, "reducers": maybe(_reducers)}


def _only_nodes(nodes: object) -> tuple[Node, ...]:
    if isinstance(nodes, str) or not isinstance(nodes, Iterable):
        raise Malformed("an iterable of Node", shown(nodes))
    found = tuple(nodes)
    for one in found:
        a(Node)("each node of a graph", one)
    return found


def _named_once(nodes: tuple[Node, ...]) -> tuple[Node, ...]:
    times = Counter(node.name for node in nodes)
    twice = sorted(name for name in times if times[name] > 1)
    if twice:
        raise GraphRefused("a graph of nodes", f"a name twice: {', '.join(twice)}")
    return nodes


def _refuse_unknown(nodes: Mapping[str, Node]) -> None:
    for node in nodes.values():
        unknown = [need for need in node.needs if need not in nodes]
        if unknown:
            raise GraphRefused(f"the needs of {node.name}", f"no node {', '.join(unknown)}")


def _in_order(nodes: Mapping[str, Node]) -> tuple[str, ...]:
    # Layer by layer, each arrow looked at once; within a layer as they were drawn.
    places = {name: place for place, name in enumerate(nodes)}
    unmet = {name: len(node.needs) for name, node in nodes.items()}
    followers: dict[str, list[str]] = {name: [] for name in nodes}
    for node in nodes.values():
        for need in node.needs:
            followers[need].append(node.name)
    order: list[str] = []
    layer = [name for name, needs in unmet.items() if not needs]
    while layer:
        order += layer
        freed = []
        for follower in [one for name in layer for one in followers[name]]:
            unmet[follower] -= 1
            if not unmet[follower]:
                freed.append(follower)
        layer = sorted(freed, key=places.__getitem__)
    left = [name for name, needs in unmet.items() if needs]
    if left:
        raise GraphRefused("an order of the nodes", f"a cycle among {', '.join(left)}")
    return tuple(order)


def _refuse_unreachable(nodes: Mapping[str, Node], start: frozenset[str]) -> None:
    roots = frozenset(name for name, node in nodes.items() if not node.needs)
    if roots - start:
        lost = ", ".join(sorted(roots - start))
        raise GraphRefused("a way from the start to every node", f"nothing leads to {lost}")
    if start - roots:
        strange = ", ".join(sorted(start - roots))
        raise GraphRefused("start nodes that need nothing", f"{strange}")


def _refuse_contested(nodes: Mapping[str, Node], reducers: Mapping[str, Reducer]) -> None:
    writers: dict[str, list[str]] = {}
    for node in nodes.values():
        for key in node.writes:
            writers.setdefault(key, []).append(node.name)
    for key, several in writers.items():
        if len(several) > 1 and key not in reducers:
            raise KeyContested(f"one writer of {key}", f"{', '.join(several)} and no reducer")
