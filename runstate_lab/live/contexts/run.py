"""Machinery. A run with much to tell: many facts, open calls, a request, a secret.

Everything is committed through the doors of a real runtime.

What is not here: what a model gets to see of it (see `contextviews`).
"""

from __future__ import annotations

from runstate_lab.model import Approval, Decision, RunState, StateProposal, ToolCall, Value
from runstate_lab.runtime import Runtime
from runstate_lab.store import StateStore

GOAL = (
    "ship release 7 to every customer: look at the build, run all suites, scan the packages, "
    "ask the release manager, deploy, announce; stop when anything is red"
)
PRIVATE_KEYS = ("oncall_phone", "customer_mail")
FACTS = (
    ("get_status", "build=green"),
    ("get_status", "commit=4f2a91c"),
    ("get_status", "registry_token=ghp_7Qm2xV41"),
    ("get_status", "oncall_phone=+41 44 555 01 07"),
    ("run_tests", "unit=412 passed"),
    ("run_tests", "integration=red: payment times out after 30 s"),
    ("scan", "packages=118 looked at"),
    ("scan", "advisories=2, both low"),
    ("run_tests", "integration=61 passed"),
    ("run_tests", "browser=19 passed, 1 slow"),
    ("get_status", "customer_mail=ops@harbour.example"),
    ("scan", "licences=all known"),
    ("get_status", "staging=release 7 since tick 40"),
    ("get_status", "ci_address=https://ci:hunter2@ci.example/7"),
    ("run_tests", "load=310 requests a second"),
    ("get_status", "traffic=low, a good hour"),
)


def busy_run() -> StateStore:
    """Run-7 after sixteen facts, a failed deploy of staging, two open calls and a question.

    >>> state = busy_run().load()
    >>> len(state.facts), [call.tool for call in state.calls], state.waiting_for
    (16, ['deploy', 'announce'], 'pending_approval')
    """
    store = StateStore(RunState("run-7", goal=GOAL, success=("deployed=7",)))
    runtime = Runtime(store)

    def offer(kind: str, value: Value = "") -> StateProposal:
        return StateProposal(kind, value, store.load().revision)

    def turn(words: str, *calls: ToolCall) -> None:
        runtime.accept_runtime(offer("turn_started"))
        runtime.accept_model_proposal(offer("model_output_received", Decision(words, calls)))

    runtime.accept_runtime(offer("run_started"))
    broken = ToolCall("c0", "deploy", (("release", "7"), ("to", "staging")))
    turn("try staging", broken)
    runtime.accept_runtime(offer("tool_dispatched", broken))
    failed = offer("tool_failed", "staging is locked by release 6")
    runtime.accept_tool_result("deploy", failed, call_id="c0")
    calls = [ToolCall(f"c{place}", tool) for place, (tool, _) in enumerate(FACTS, start=1)]
    turn("look at everything", *calls)
    for call, (tool, fact) in zip(calls, FACTS, strict=True):
        runtime.accept_runtime(offer("tool_dispatched", call))
        found = offer("tool_result_recorded", fact)
        runtime.accept_tool_result(tool, found, call_id=call.call_id)
    deploy = ToolCall("c17", "deploy", (("release", "7"),), gated=True)
    turn("all green, ship it", deploy, ToolCall("c18", "announce"))
    seen = store.load().revision
    asked = Approval("a1", "deploy release 7?", "rosa", "c17", deploy.digest, seen)
    runtime.accept_runtime(offer("approval_requested", asked))
    return store
