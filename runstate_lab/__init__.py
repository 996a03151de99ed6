"""The book of runstate-lab: run state, and who may write it.

Read the modules floor by floor; each imports lower floors only. The package
loads what a run in memory needs; the rest comes when it is first named.

    0  errors, nouns, model       refusals and frozen nouns
    1  conditions, answers,       what must hold, and what changes;
       nodewise, changes, rows,   the rules as a value, row by row;
       runrows, callrows,         what is read from them
       noderows, rules, ownership
    2  trace, store, records,     compare, then swap; refusals are kept;
       queueing, sqlitefile,      the same on disk
       sqlite
    3  conformance, ledgers,      promises as clauses; tools, views,
       tools, context, scripted   scripts
    4  runtime, settle, turn,     the doors, the run loop, graphs,
       driver, control, graph,    recovery; what is wrong on purpose
       scheduler, checkpoint,
       batching, broken,
       brokenledgers, brokenfiles
    5  promises, brokenloops,     promises of loops;
       watch, line, race, laws,   workers and one store, in any order;
       variants, writers, claims, small worlds, right and wrong;
       desks, retries, worlds,    what every order shows, and any one
       exploration, tally,        of them again; tables of acts, for
       search, tables, places,    large spaces
       routes, spaces, tokens,
       orders

The learner's own words (`check`, `predict`, `reveal`, `quiz`) come from
`runstate_lab.course`; the pictures from `runstate_lab.show`.
"""

import os
import sys

# First of all: `python -m` puts the working folder before every library, and what
# lies there may be somebody else's. Why, and what is left, says `__main__`.
_CHECKOUT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_ASKED = {word.removeprefix("-m").partition(".")[0] for word in sys.orig_argv}
if sys.argv[:1] == ["-m"] and __name__ in _ASKED and sys.path[0] == os.getcwd() != _CHECKOUT:
    del sys.path[0]

from importlib import import_module
from types import ModuleType

from runstate_lab.context import Context, ContextBuilder, LeftOut
from runstate_lab.control import ActiveRunControl
from runstate_lab.driver import Driver, Model
from runstate_lab.errors import (
    AnswerExpired,
    AnswerForeign,
    AnswerMisbound,
    AnswerRepeated,
    AnswerStale,
    AttemptFenced,
    BudgetSpent,
    CallForeign,
    CallLate,
    CallNotApproved,
    CallRepeated,
    CallUnknown,
    ContextRejected,
    DriverFenced,
    GraphRefused,
    IllegalTransition,
    KeyContested,
    LeaseHeld,
    Malformed,
    NeedsUnmet,
    NodeUnknown,
    OrderRefused,
    OutcomeUnknown,
    ReasonMissing,
    Refusal,
    RequestRepeated,
    RequestUnknown,
    ResultRepeated,
    RetryUnsafe,
    RevisionConflict,
    StillPending,
    StoreUnreadable,
    SuccessNotMet,
    TokenRefused,
    ToolFailure,
    ToolRefused,
    UnknownEvent,
    WriterRejected,
)
from runstate_lab.model import ExecutionContext, RunState, StateEvent, StateProposal
from runstate_lab.nouns import (
    Answer,
    Approval,
    Budget,
    Callback,
    CallStatus,
    Claim,
    Decision,
    Fact,
    FirstError,
    Lease,
    NodeReport,
    NodeState,
    NodeStatus,
    Plan,
    RunStatus,
    ToolCall,
    TurnState,
)
from runstate_lab.ownership import (
    OWNERSHIP,
    FieldOwner,
    StateOwnership,
    field_owners,
    kinds_of,
    ownership,
)
from runstate_lab.rows import Rule, Rules
from runstate_lab.rules import RULES, SOURCE_TEXT, arrows, node_arrows, reduce, replay
from runstate_lab.runtime import Runtime
from runstate_lab.scripted import (
    LogicalClock,
    ScriptedApprover,
    ScriptedModel,
    ScriptedTool,
    silent_after_its_effect,
)
from runstate_lab.settle import Settlement, Settling, settle
from runstate_lab.store import StateStore
from runstate_lab.tools import Outcome, Tool, ToolRegistry, ToolSession
from runstate_lab.trace import Diagnostic, Entry, Trace, redact
from runstate_lab.turn import Observation, Resource, TurnContext

# Graphs, what is kept on disk, judged, or wrong on purpose: loaded when it is first named.
LATER = {
    "batching": "BatchingLoop",
    "broken": (
        "BROKEN AnyReasonStore ForgetfulStore ForgivingStore FreeTextStore "
        "HandwrittenFactStore JumpyStore LastWriteWinsStore LiveStateStore NaiveStore "
        "NoAuthorityStore NoSourceStore OffByOneStore OpenDoorStore PendingBlindStore "
        "RepeatingStore RestartableStore SecretiveStore SoftenedStore TalkativeStore "
        "TwiceCompletedStore UnsavedStore"
    ),
    "brokenfiles": "NaiveFileStore",
    "brokenledgers": (
        "BROKEN_DESKS BROKEN_LEDGERS AlwaysOpenDeskStore AnyApproverStore AnyToolStore "
        "BlindRetryStore EagerLedgerStore ErasedErrorStore ForgivenUnknownStore "
        "LateLedgerStore MisboundDeskStore NervousDeskStore NoGateStore OpenBooksStore "
        "PairedByNameStore SilenceIsFailureStore StaleDeskStore StickyGrantStore "
        "TimelessDeskStore"
    ),
    "brokenloops": (
        "BROKEN_CHECKPOINTS BROKEN_DRIVERS BROKEN_RUNTIMES BROKEN_SCHEDULERS "
        "AllOrNothingDriver AmnesiacDriver AnonymousCheckpoints CarefreeScheduler "
        "CredulousDriver EffectFirstDriver FencedByNameScheduler FirstComeScheduler "
        "ForgetfulCheckpoints GrabbingScheduler GreedyScheduler HastyScheduler "
        "LenientCheckpoints NamelessUserRuntime OneVoiceRuntime OverwritingCheckpoints "
        "SilenceIsFailureDriver TimelessRuntime TrustingRuntime UnleasedDriver"
    ),
    "checkpoint": "CheckpointStore FileCheckpointStore OpenCall Recovery recover",
    "conformance": "CLAUSES Clause Report Verdict audit",
    "graph": "ExecutableGraph Node",
    "ledgers": "APPROVALS LEDGERS",
    "exploration": "Exploration Failure Outcome",
    "laws": (
        "Keyed intent_before_effect no_decision_on_old_facts no_double_claim no_effect_twice "
        "no_event_of_a_stranger no_lost_update no_result_for_a_closed_call no_stale_approval "
        "no_terminal_return nothing_begins_after_the_end nothing_left_open "
        "nothing_pending_at_completion one_approval_one_effect only_the_holder_reports"
    ),
    "line": "FAULTS",
    "orders": "explore explore_world play",
    "race": "Race Step moves",
    "tables": "END Act Place Table register_writers symmetric",
    "tokens": "Token",
    "variants": "Variant World",
    "worlds": "WORLDS",
    "writers": "reporting run_7_at_revision_4 two_reporters",
    "promises": "CHECKPOINTS DRIVERS PROMISES RUNTIMES SCHEDULERS",
    "scheduler": "Executor Scheduler",
    "sqlite": "SqliteStateStore",
}
_HOME = {name: module for module, names in LATER.items() for name in names.split()}


def __getattr__(name: str) -> object:
    """What the package gives under a name that is loaded late.

    >>> import runstate_lab
    >>> runstate_lab.BROKEN is runstate_lab.BROKEN
    True
    >>> runstate_lab.NoSuchStore
    Traceback (most recent call last):
        ...
    AttributeError: module 'runstate_lab' has no attribute 'NoSuchStore'
    """
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    return value


def __dir__() -> list[str]:
    return __all__


_HERE = [name for name, value in globals().items() if not isinstance(value, ModuleType)]
_OWN = ("LATER", "ModuleType", "import_module")
__all__ = sorted(name for name in (*_HERE, *_HOME) if name[0] != "_" and name not in _OWN)
