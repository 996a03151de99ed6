"""The book of runstate-lab: run state, and who may write it.

Read the modules floor by floor; each imports lower floors only.

    0  errors, model            refusals and frozen nouns
    1  conditions, changes,     the rules as a value, and what is read from them
       rows, rules, ownership
    2  store                    compare, then swap; refusals are kept
    3  conformance              the store's promises, as clauses
    4  runtime, broken          the doors; stores that are wrong on purpose
    5  orders                   every order of two workers

The learner's own words (`check`, `predict`, `reveal`, `quiz`) come from
`runstate_lab.course`; the pictures from `runstate_lab.show`.
"""

from __future__ import annotations

from runstate_lab.broken import (
    BROKEN,
    AnyReasonStore,
    ForgetfulStore,
    ForgivingStore,
    FreeTextStore,
    HandwrittenFactStore,
    JumpyStore,
    LastWriteWinsStore,
    LiveStateStore,
    NaiveStore,
    NoAuthorityStore,
    NoSourceStore,
    OffByOneStore,
    OpenDoorStore,
    PendingBlindStore,
    RepeatingStore,
    RestartableStore,
    SecretiveStore,
    TalkativeStore,
    TwiceCompletedStore,
    UnsavedStore,
)
from runstate_lab.conformance import CLAUSES, Clause, Report, Verdict, audit
from runstate_lab.errors import (
    CallForeign,
    CallRepeated,
    CallUnknown,
    ContextRejected,
    IllegalTransition,
    Malformed,
    ReasonMissing,
    Refusal,
    RequestRepeated,
    RequestUnknown,
    ResultRepeated,
    RevisionConflict,
    StillPending,
    SuccessNotMet,
    UnknownEvent,
    WriterRejected,
)
from runstate_lab.model import (
    Approval,
    Callback,
    ExecutionContext,
    Fact,
    RunState,
    RunStatus,
    StateEvent,
    StateProposal,
    ToolCall,
)
from runstate_lab.orders import (
    Exploration,
    Outcome,
    Race,
    every_revision_was_current,
    explore,
    no_lost_update,
    play,
    reporting,
    run_7_at_revision_4,
    two_reporters,
)
from runstate_lab.ownership import OWNERSHIP, FieldOwner, StateOwnership, field_owners, ownership
from runstate_lab.rules import RULES, SOURCE_TEXT, Rule, Rules, arrows, reduce, replay
from runstate_lab.runtime import Runtime
from runstate_lab.store import Entry, StateStore, Trace
