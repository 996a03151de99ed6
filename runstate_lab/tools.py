"""Floor 3. Tools, who may call them with what, and what became of a call.

A call goes proposed -> dispatched -> succeeded, failed or unknown. The
registry answers the three questions before a dispatch (schema, allow-list,
permission); the session carries it out and says which of the three
outcomes it was. What is not here: writing any of it down (see `driver`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from runstate_lab.errors import Malformed, OutcomeUnknown, ToolFailure, ToolRefused, words_of
from runstate_lab.model import CallStatus, ToolCall
from runstate_lab.nouns import changed, filled, text

Act = Callable[[Mapping[str, str]], str]
Middleware = Callable[[ToolCall, Act], Act]
Check = Callable[[str, object], None]
# A fact is an observation, not a file; whoever explains needs fewer words still.
LONGEST = 100_000
LONGEST_WORDS = 1_000
KEY = "idempotency_key"


def keepable(what: str, value: object) -> None:
    """Nothing, when a value is text that every store can keep.

    >>> keepable("a result", "build=" + chr(0xD800))
    Traceback (most recent call last):
        ...
    runstate_lab.errors.Malformed: malformed value: asked a result, found half a character (a lone surrogate) at place 6
    hint: give plain text or one of the frozen nouns of runstate_lab.model
    """
    text(what, value)
    words = str(value)
    if len(words) > LONGEST:
        raise Malformed(what, f"{len(words)} characters, more than {LONGEST}")
    if "\0" in words:
        raise Malformed(what, f"a NUL character at place {words.index(chr(0))}")
    try:
        words.encode()
    except UnicodeEncodeError as error:
        found = f"half a character (a lone surrogate) at place {error.start}"
        raise Malformed(what, found) from None


def readable(words: str, *, longest: int = LONGEST_WORDS) -> str:
    """The words in a form that every store can keep: escaped where needed, and cut.

    >>> readable("no route at all", longest=8), len(readable(chr(0xD800)))
    ('no rout…', 6)
    """
    kept = words if len(words) <= longest else words[: longest - 1] + "…"
    return kept.replace("\0", "\\0").encode("utf-8", "backslashreplace").decode()


def fits(whose: str, table: Mapping[str, Check], given: Mapping[str, object]) -> None:
    """Nothing, when each argument fits its row of a table.

    >>> fits("a call's", {"limit": a(int)}, {"limit": "7"})
    Traceback (most recent call last):
        ...
    runstate_lab.errors.Malformed: malformed value: asked a call's limit: int, found '7'
    hint: give a call's limit as asked
    """
    for name, check in table.items():
        try:
            check(f"{whose} {name}", given[name])
        except Malformed as refusal:
            refusal.hint = f"give {whose} {name} as asked"
            raise


def a(*kinds: type) -> Check:
    """A check that a value is of one of the kinds.

    >>> a(bool)("a flag", True)
    """

    def check(what: str, value: object) -> None:
        if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
            raise Malformed(f"{what}: {' or '.join(kind.__name__ for kind in kinds)}", shown(value))

    return check


def able(*methods: str) -> Check:
    """A check that a value can do something: its methods, or to be called.

    >>> able("decide")("a model", type)
    Traceback (most recent call last):
        ...
    runstate_lab.errors.Malformed: malformed value: asked a model that has decide(), found <class 'type'>
    hint: give plain text or one of the frozen nouns of runstate_lab.model
    """

    def check(what: str, value: object) -> None:
        made = methods == ("__call__",) or not isinstance(value, type)
        if not made or not all(callable(getattr(value, one, None)) for one in methods):
            named = "can be called" if methods == ("__call__",) else f"has {', '.join(methods)}()"
            raise Malformed(f"{what} that {named}", shown(value))

    return check


def each(check: Check, *, of: tuple[type, ...] = (tuple,)) -> Check:
    """A check that a value is a collection, a tuple as a rule, whose items all fit.

    >>> each(filled)("names", ("scan", ""))
    Traceback (most recent call last):
        ...
    runstate_lab.errors.Malformed: malformed value: asked one of names, found ''
    hint: give plain text or one of the frozen nouns of runstate_lab.model
    """

    def check_all(what: str, value: object) -> None:
        a(*of)(what, value)
        for one in value if isinstance(value, Iterable) else ():
            check(f"one of {what}", one)

    return check_all


def maybe(check: Check) -> Check:
    """A check that lets None through.

    >>> maybe(filled)("a name", None)
    """
    return lambda what, value: None if value is None else check(what, value)


def door(what: str, value: object) -> None:
    """Nothing, when a value is a name that a door of the Runtime would take.

    >>> door("an approver", "rosa:admin")
    Traceback (most recent call last):
        ...
    runstate_lab.errors.Malformed: malformed value: asked an approver without a colon, found 'rosa:admin'
    hint: give plain text or one of the frozen nouns of runstate_lab.model
    """
    filled(what, value)
    keepable(what, value)
    # A colon would make a second source of it, at a door that refuses such names.
    if ":" in str(value):
        raise Malformed(f"{what} without a colon", shown(value))


def shown(value: object) -> str:
    """What a value looks like, cut; its class where it cannot say.

    >>> shown(None)
    'None'
    """
    try:
        return readable(repr(value), longest=80)
    except Exception:  # Somebody else's repr may do anything.
        return f"a {type(value).__name__}"


def _names(what: str, value: object) -> None:
    each(filled)(what, value)
    if isinstance(value, tuple) and len(set(value)) < len(value):
        raise Malformed(f"{what}, each once", shown(value))


NAMES = (tuple, list, set, frozenset)
TOOL: dict[str, Check] = {
    "name": door,
    "act": able("__call__"),
    "takes": _names,
    "permission": maybe(filled),
    "gated_by": maybe(door),
    "keyed": a(bool),
}
REGISTRY: dict[str, Check] = {
    "allow-list": maybe(each(filled, of=NAMES)),
    "permissions": each(filled, of=NAMES),
}


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
        fits("a tool's", TOOL, {name: getattr(self, name) for name in TOOL})
        if self.keyed and KEY in self.takes:
            raise Malformed(f"{self.name} to take {KEY}", "that name in use for the key itself")


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
        fits("a registry's", REGISTRY, {"allow-list": allow, "permissions": permissions})
        if isinstance(tools, str) or not isinstance(tools, Iterable):
            raise Malformed("tools with a name each", shown(tools))
        self._tools: dict[str, Tool] = {}
        for tool in tools:
            if not isinstance(tool, Tool) or tool.name in self._tools:
                raise Malformed("tools with a name each", shown(tool))
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
        text("a tool's name", name)
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
        a(ToolCall)("a call to admit", call)
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
        fits("a session's", SESSION, {"registry": registry, "middleware": middleware})
        self.registry = registry
        self._middleware = middleware

    def execute(self, call: ToolCall) -> Outcome:
        """What became of the call: succeeded, failed or unknown; never an exception.

        An error before the tool was reached is a failure, one after it has
        answered is not: nobody can tell what the answer would have been.

        >>> def lost(arguments):
        ...     raise ConnectionError("reset after the request was sent")
        >>> session = ToolSession(ToolRegistry([Tool("deploy", act=lost)]))
        >>> print(session.execute(ToolCall("c1", "deploy")).status)
        unknown
        """
        a(ToolCall)("a call to execute", call)
        watched = _Watched(self.registry, call)
        try:
            act: Act = watched
            for wrap in reversed(self._middleware):
                act = wrap(call, act)
            arguments = dict(call.arguments)
            if call.key is not None:
                arguments[KEY] = call.key
            answer = act(arguments)
        except Exception as error:  # A tool and its middleware are somebody else's code.
            return watched.outcome(error)
        try:
            keepable("an answer that can be kept", answer)
        except Malformed as refusal:
            # The tool may well have had its effect; only its words are of no use.
            words = f"an answer that nobody can keep: {refusal.found}"
            return Outcome(call.call_id, CallStatus.UNKNOWN, words)
        return Outcome(call.call_id, CallStatus.SUCCEEDED, answer)


class _Watched:
    # The tool as its middleware gets it; it knows how far a call came.
    def __init__(self, registry: ToolRegistry, call: ToolCall) -> None:
        self._registry = registry
        self._call = call
        self._acted = False
        self._before = "the tool was not reached: "

    def __call__(self, arguments: Mapping[str, str]) -> str:
        self._registry.admit(self._call)
        acted, self._acted, self._before = self._acted, True, ""
        try:
            answer = self._registry.tool(self._call.tool).act(arguments)
        except ToolFailure:
            self._acted = acted
            raise
        self._before = "the tool answered, then "
        return answer

    def outcome(self, error: Exception) -> Outcome:
        plain = isinstance(error, ToolFailure | OutcomeUnknown)
        words = words_of(error)
        if plain:
            words = words.partition(": ")[2].strip() or "the tool said no more"
        if self._acted or not plain:
            words = self._before + words
        failed = not self._acted and not isinstance(error, OutcomeUnknown)
        status = CallStatus.FAILED if failed else CallStatus.UNKNOWN
        return Outcome(self._call.call_id, status, readable(words))


SESSION: dict[str, Check] = {"registry": a(ToolRegistry), "middleware": each(able("__call__"))}
