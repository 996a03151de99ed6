"""Floor 3. Tools, who may call them with what, and what became of a call.

A call goes proposed -> dispatched -> succeeded, failed or unknown. The
registry answers the three questions before a dispatch (schema, allow-list,
permission); the session carries it out and says which of the three
outcomes it was. What is not here: writing any of it down (see `driver`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from runstate_lab.errors import Malformed, OutcomeUnknown, ToolFailure, ToolRefused
from runstate_lab.model import CallStatus, ToolCall
from runstate_lab.nouns import changed, filled

Act = Callable[[Mapping[str, str]], str]
Middleware = Callable[[ToolCall, Act], Act]


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool: its name, what it does, what it takes, who must agree.

    `act` gives key=value, raises ToolFailure when it certainly did nothing,
    and anything else when nobody can tell. `gated_by` names the approver.
    `keyed` tools take an idempotency key: twice with one key is once.

    >>> Tool("scan", act=lambda arguments: "scan=clean").gated_by is None
    True
    """

    name: str
    act: Act
    takes: tuple[str, ...] = ()
    permission: str | None = None
    gated_by: str | None = None
    keyed: bool = False

    def __post_init__(self) -> None:
        _door("a tool's name", self.name)
        if self.gated_by is not None:
            _door(f"an approver of {self.name}", self.gated_by)
        if not callable(self.act) or type(self.takes) is not tuple:
            found = f"act {type(self.act).__name__}, takes {self.takes!r}"
            raise Malformed(f"what {self.name} does and a tuple of what it takes", found)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one dispatched call.

    >>> Outcome("c1", CallStatus.UNKNOWN, "no answer").status.pending
    True
    """

    call_id: str
    status: CallStatus
    words: str


class ToolRegistry:
    """The tools of a run, the allow-list and the permissions it was given.

    >>> registry = ToolRegistry([Tool("scan", act=lambda arguments: "scan=clean")])
    >>> registry.admit(ToolCall("c1", "deploy"))
    Traceback (most recent call last):
        ...
    runstate_lab.errors.ToolRefused: not on the allow-list: asked deploy as call c1, found the tools scan
    hint: propose a tool of the allow-list, with its arguments and permission
    """

    def __init__(
        self,
        tools: Iterable[Tool],
        *,
        allow: Iterable[str] | None = None,
        permissions: Iterable[str] = (),
    ) -> None:
        self._tools: dict[str, Tool] = {}
        for tool in tools:
            if not isinstance(tool, Tool) or tool.name in self._tools:
                raise Malformed("tools with a name each", repr(tool)[:80])
            self._tools[tool.name] = tool
        self._allow = frozenset(self._tools if allow is None else allow)
        self._permissions = frozenset(permissions)
        strange = self._allow - set(self._tools)
        if strange:
            raise Malformed("an allow-list of known tools", f"{sorted(strange)}")

    def tool(self, name: str) -> Tool:
        """The tool of that name, which must be on the allow-list.

        >>> ToolRegistry([]).tool("scan")
        Traceback (most recent call last):
            ...
        runstate_lab.errors.ToolRefused: not on the allow-list: asked scan, found the tools none
        hint: propose a tool of the allow-list, with its arguments and permission
        """
        if name not in self._allow:
            found = f"the tools {', '.join(sorted(self._allow)) or 'none'}"
            raise ToolRefused(name, found, reason="not on the allow-list")
        return self._tools[name]

    def admit(self, call: ToolCall) -> ToolCall:
        """The call as it may be dispatched: gated where its tool is, keyed where it can be.

        >>> pay = Tool("pay", act=lambda arguments: "paid=yes", takes=("sum",), permission="money")
        >>> ToolRegistry([pay]).admit(ToolCall("c1", "pay", (("sum", "7"),)))
        Traceback (most recent call last):
            ...
        runstate_lab.errors.ToolRefused: the permission is missing: asked pay as call c1, found the permissions []
        hint: propose a tool of the allow-list, with its arguments and permission
        """
        asked = f"{call.tool} as call {call.call_id}"
        if call.tool not in self._allow:
            found = f"the tools {', '.join(sorted(self._allow)) or 'none'}"
            raise ToolRefused(asked, found, reason="not on the allow-list")
        tool = self._tools[call.tool]
        names = tuple(name for name, _ in call.arguments)
        if sorted(names) != sorted(tool.takes):
            found = f"arguments {names}, not {tool.takes}"
            raise ToolRefused(asked, found, reason="the arguments do not fit the schema")
        if tool.permission is not None and tool.permission not in self._permissions:
            found = f"the permissions {sorted(self._permissions)}"
            raise ToolRefused(asked, found, reason="the permission is missing")
        # The call id is in it: the same wish, uttered twice on purpose, is two effects.
        key = f"{call.tool}:{call.call_id}:{call.digest}" if tool.keyed else None
        return changed(call, gated=tool.gated_by is not None, key=key)


class ToolSession:
    """The registry as one turn uses it, wrapped in the turn's middleware.

    >>> def loud(call, act):
    ...     return lambda arguments: act(arguments).upper()
    >>> scan = Tool("scan", act=lambda arguments: "scan=clean")
    >>> ToolSession(ToolRegistry([scan]), middleware=(loud,)).execute(ToolCall("c1", "scan")).words
    'SCAN=CLEAN'
    """

    def __init__(self, registry: ToolRegistry, *, middleware: tuple[Middleware, ...] = ()) -> None:
        self.registry = registry
        self._middleware = middleware

    def execute(self, call: ToolCall) -> Outcome:
        """What became of the call: succeeded, failed or unknown; never an exception.

        >>> def lost(arguments):
        ...     raise ConnectionError("reset after the request was sent")
        >>> session = ToolSession(ToolRegistry([Tool("deploy", act=lost)]))
        >>> print(session.execute(ToolCall("c1", "deploy")).status)
        unknown
        """
        act = self.registry.tool(call.tool).act
        for wrap in reversed(self._middleware):
            act = wrap(call, act)
        arguments = dict(call.arguments)
        if call.key is not None:
            arguments["idempotency_key"] = call.key
        try:
            return Outcome(call.call_id, CallStatus.SUCCEEDED, act(arguments))
        except ToolFailure as failure:
            return Outcome(call.call_id, CallStatus.FAILED, str(failure) or "the tool failed")
        except OutcomeUnknown as silence:
            return Outcome(call.call_id, CallStatus.UNKNOWN, str(silence))
        except Exception as error:  # Nobody can tell whether the effect came before the error.
            return Outcome(call.call_id, CallStatus.UNKNOWN, _told(error))


def _told(error: Exception) -> str:
    try:
        return f"{type(error).__name__}: {error}"
    except Exception:  # Somebody else's exception may fail to say what it is.
        return type(error).__name__


def _door(what: str, name: object) -> None:
    # A colon would make a second source of it, at a door that refuses such names.
    filled(what, name)
    if ":" in str(name):
        raise Malformed(what, repr(name)[:80])
