"""Machinery. The node chart: eight statuses of a node and the arrows the rules allow.

Every arrow comes from `rules.node_arrows`. Many nodes may be looked at at
once: each status in which one stands is lit and names it.

What is not here: where things lie on the page (see `nodeplaces`), and the
graph of the nodes themselves.
"""

from __future__ import annotations

from collections.abc import Iterable

from runstate_lab.model import NodeState, NodeStatus, RunState
from runstate_lab.rules import RULES, Rules, node_arrows
from runstate_lab.show import palette
from runstate_lab.show.dot import LIT_MARK, width
from runstate_lab.show.nodeplaces import BOXES, PLACES, SIZE, placed, runs_together
from runstate_lab.show.parts import Node
from runstate_lab.show.picture import Picture
from runstate_lab.show.ways import Way, labelled_once, ways

Looked = RunState | Iterable[NodeState] | NodeStatus | str | None


def node_chart(
    nodes: Looked = None,
    *,
    node: str = "",
    rules: Rules = RULES,
    history: Iterable[object] = (),
) -> Picture:
    """The statuses of a node, the arrows between them, and where nodes stand.

    `nodes` is the state of a run, some of its nodes, or one status; `node`
    looks at one of them only. `history` is a trace: what was travelled.

    >>> node_chart(RunState("run-7", nodes=(NodeState("build"), NodeState("tests"))))
    Node chart of RULES: build, tests pending.
    >>> node_chart([NodeState("build")], node="deploy")
    Traceback (most recent call last):
        ...
    ValueError: asked the node 'deploy', found only build
    hint: name a node of the run
    """
    standing = _standing(nodes, node)
    legal = ways(
        node_arrows(rules),
        statuses=tuple(NodeStatus),
        kinds=rules.kinds,
        taken=_travelled(history, node, rules),
    )
    where = "; ".join(
        f"{', '.join(names)} {status}" if names else f"{status} is current"
        for status, names in standing.items()
    )
    title = f"Node chart of {rules.name}"
    return Picture(
        title=title,
        nodes=tuple(_node(status, standing.get(status)) for status in NodeStatus),
        arrows=tuple(placed(arrow) for arrow in labelled_once(legal, runs_together)),
        summary=f"{title}{f': {where}' if where else ''}.",
        size=SIZE,
    )


def _standing(nodes: Looked, wanted: str) -> dict[NodeStatus, list[str]]:
    if nodes is None:
        return {}
    if isinstance(nodes, str):
        return {_status(nodes): []}
    found = tuple(nodes.nodes if isinstance(nodes, RunState) else nodes)
    if wanted and wanted not in [one.name for one in found]:
        raise ValueError(
            f"asked the node {wanted!r}, found only {', '.join(one.name for one in found) or 'none'}\n"
            "hint: name a node of the run"
        )
    standing = {
        status: [one.name for one in found if one.status is status and wanted in ("", one.name)]
        for status in NodeStatus
    }
    return {status: names for status, names in standing.items() if names}


def _status(word: str) -> NodeStatus:
    if word not in tuple(NodeStatus):
        raise ValueError(
            f"asked the status {word!r}, found only {', '.join(NodeStatus)}\n"
            "hint: give a RunState, some NodeStates, or one of these words"
        )
    return NodeStatus(word)


def _node(status: NodeStatus, names: list[str] | None) -> Node:
    note = ", ".join(names or [])
    drawn = ""
    if note and width(note, palette.BODY, bold=True) > BOXES[status][0] - 10:
        drawn = f"{LIT_MARK} {status}\n{_many(names or [])}"
    return Node(
        name=str(status),
        lit=names is not None,
        note=note,
        drawn=drawn,
        at=PLACES[status],
        size=BOXES[status],
    )


def _many(names: list[str]) -> str:
    return f"{len(names)} nodes" if len(names) > 1 else "1 node"


def _travelled(
    history: Iterable[object], wanted: str, rules: Rules
) -> dict[tuple[Way, str], list[int]]:
    """The numbers of the moves along each arrow, in the order of the trace."""
    here: dict[str, NodeStatus] = {}
    found: dict[tuple[Way, str], list[int]] = {}
    number = 0
    for item in history:
        event = getattr(item, "event", None)
        if event is None or item.refusal is not None or event.kind not in rules.kinds:
            continue
        row, name = rules.row(event.kind), getattr(event.value, "node", "")
        if row.node_to is None or wanted not in ("", name):
            continue
        number += 1
        start = here.get(name, row.nodes[0])
        found.setdefault(((start, row.node_to), event.kind), []).append(number)
        here[name] = row.node_to
    return found
