"""Machinery. A proposal's value in a few words, for tables and pictures.

What is not here: what is done with the words (see `tables`, `spacetime`).
"""

from __future__ import annotations

from runstate_lab.model import (
    Answer,
    Approval,
    Callback,
    Claim,
    Decision,
    Lease,
    NodeReport,
    Plan,
    ToolCall,
)


def told(value: object) -> str:
    """A proposal's value in a few words.

    >>> told(ToolCall("c1", "run_tests"))
    'run_tests as c1'
    >>> told(Decision("all green", (ToolCall("c2", "deploy"),), final=True))
    'all green; wants deploy as c2; done'
    >>> told(NodeReport("build", attempt=2, reason="no disk"))
    'build, attempt 2: no disk'
    """
    match value:
        case ToolCall():
            again = f", attempt {value.attempt}" if value.attempt > 1 else ""
            return f"{value.tool} as {value.call_id}{again}"
        case Decision():
            return _decision(value)
        case Approval() | Callback():
            asked = value.approver if isinstance(value, Approval) else value.service
            return f"{value.request_id} of {asked}"
        case Answer():
            return f"to {value.request_id}"
        case Lease():
            return f"reign {value.epoch} until tick {value.until}"
        case Plan():
            return ", ".join(node.name for node in value.nodes)
        case Claim():
            return f"{value.node}, attempt {value.attempt} until tick {value.until}"
        case NodeReport():
            return _report(value)
    return str(value)


def _decision(decision: Decision) -> str:
    wishes = [f"{call.tool} as {call.call_id}" for call in decision.calls]
    wants = f"wants {', '.join(wishes)}" if wishes else ""
    return "; ".join(part for part in (decision.words, wants, decision.final and "done") if part)


def _report(report: NodeReport) -> str:
    attempt = f", attempt {report.attempt}" if report.attempt else ""
    writes = ", ".join(f"{key}={text}" for key, text in report.writes)
    said = "; ".join(part for part in (writes, report.reason) if part)
    return f"{report.node}{attempt}{f': {said}' if said else ''}"
