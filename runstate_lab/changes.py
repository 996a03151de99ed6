"""Floor 1. What each event changes, beyond revision and status.

A change gives the fields that the reducer writes. The first line of its
docstring is what the documents print; `rules` lists the fields beside it.
"""

from __future__ import annotations

from dataclasses import replace

from runstate_lab.model import Fact, RunState, StateEvent


def record_fact(state: RunState, event: StateEvent) -> dict[str, object]:
    """The reported fact joins the facts, with its provenance; its call is closed.

    >>> event = StateEvent("tool_result", "tool:get_status", "tool_executor", "build=green", 1)
    >>> fields = record_fact(RunState("run-7", revision=1), event)
    >>> fields["facts"][0].source, fields["facts"][0].revision
    ('tool:get_status', 2)
    """
    bare = Fact.parse(str(event.value))
    fact = replace(
        bare,
        source=event.source,
        authority=event.authority,
        call_id=event.call_id,
        revision=state.revision + 1,
    )
    calls = tuple(call for call in state.calls if call.call_id != event.call_id)
    return {"facts": (*state.facts, fact), "calls": calls}


def open_call(state: RunState, event: StateEvent) -> dict[str, object]:
    """The call joins the open calls and the step is counted, before any effect.

    >>> from runstate_lab.model import ToolCall
    >>> call = ToolCall("c1", "deploy")
    >>> open_call(RunState("run-7"), StateEvent("tool_dispatched", "runtime", "runtime", call, 1))["step"]
    1
    """
    return {"calls": (*state.calls, event.value), "step": state.step + 1}


def open_request(state: RunState, event: StateEvent) -> dict[str, object]:
    """The request joins the open requests, in the same event that starts the wait.

    >>> from runstate_lab.model import Callback
    >>> asked = Callback("k1", "ci")
    >>> event = StateEvent("callback_awaited", "runtime", "runtime", asked, 1)
    >>> open_request(RunState("run-7"), event)["requests"] == (asked,)
    True
    """
    return {"requests": (*state.requests, event.value)}


def close_request(state: RunState, event: StateEvent) -> dict[str, object]:
    """The answered request leaves the open requests.

    >>> from runstate_lab.model import Callback
    >>> state = RunState("run-7", requests=(Callback("k1", "ci"),))
    >>> event = StateEvent("callback_received", "service:ci", "service", "k1", 2)
    >>> close_request(state, event)
    {'requests': ()}
    """
    kept = tuple(one for one in state.requests if one.request_id != event.value)
    return {"requests": kept}
