"""Floor 4. Checkpoints, and what a recovery knows about every open call.

A checkpoint is a state with a name. Recovery looks at the committed state
and says of each open call: not executed, failed, or outcome unknown; it
never guesses. What is not here: going on (see `driver`).
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import quote, unquote

from runstate_lab.errors import Malformed, StoreUnreadable
from runstate_lab.model import CallStatus, Fact, NodeStatus, RunState
from runstate_lab.nouns import changed
from runstate_lab.records import read_state, write_state
from runstate_lab.sqlitefile import Told

ANSWERS = {
    CallStatus.PROPOSED: "not executed",
    CallStatus.NOT_EXECUTED: "not executed",
    CallStatus.FAILED: "failed",
    CallStatus.DISPATCHED: "outcome unknown",
    CallStatus.UNKNOWN: "outcome unknown",
}


LONGEST_NAME = 200
NAME = re.compile(r".+@-?[0-9]+", re.DOTALL)


@dataclass(frozen=True, slots=True)
class OpenCall:
    """What is known about one call that has no result.

    >>> OpenCall("c1", "deploy", "outcome unknown", repeatable=False).repeatable
    False
    """

    call_id: str
    tool: str
    answer: str
    repeatable: bool


@dataclass(frozen=True, slots=True)
class Recovery:
    """A committed state and the three-way answer for each open call; nodes that are held.

    >>> print(recover(RunState("run-7")))
    run-7 queued at revision 0, nothing open
    """

    state: RunState
    calls: tuple[OpenCall, ...]
    nodes: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        state = self.state
        head = f"{state.run_id} {state.status} at revision {state.revision}"
        lines = [f"  {call.call_id} {call.tool}: {call.answer}" for call in self.calls]
        lines += [f"  node {name}: {answer}" for name, answer in self.nodes]
        return "\n".join([head + ("" if lines else ", nothing open"), *lines])


def recover(state: RunState) -> Recovery:
    """What a committed state tells after a crash; pure, and the same every time.

    >>> from runstate_lab.model import ToolCall
    >>> calls = (ToolCall("c1", "scan"), ToolCall("c2", "deploy", status=CallStatus.DISPATCHED))
    >>> print(recover(RunState("run-7", calls=calls)))
    run-7 queued at revision 0
      c1 scan: not executed
      c2 deploy: outcome unknown
    """
    return Recovery(
        state,
        tuple(
            OpenCall(
                call.call_id,
                call.tool,
                ANSWERS[call.status],
                ANSWERS[call.status] != "outcome unknown" or call.key is not None,
            )
            for call in state.calls
        ),
        tuple(
            (node.name, f"attempt {node.attempt} by {node.worker}, outcome unknown")
            for node in state.nodes
            if node.status is NodeStatus.RUNNING
        ),
    )


class CheckpointStore:
    """Named states in memory; the name says run and revision.

    >>> checkpoints = CheckpointStore()
    >>> checkpoints.save(RunState("run-7", revision=4))
    'run-7@4'
    >>> checkpoints.load("run-7@9")
    Traceback (most recent call last):
        ...
    runstate_lab.errors.StoreUnreadable: no such checkpoint: asked run-7@9, found the checkpoints run-7@4
    hint: keep the file; name another one, or restore it from a copy
    """

    def __init__(self) -> None:
        self._lines: dict[str, str] = {}

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the checkpoints, oldest first."""
        return tuple(self._lines)

    def save(self, state: RunState) -> str:
        """The name under which a state can be had again; never another state's.

        >>> checkpoints = CheckpointStore()
        >>> name = checkpoints.save(RunState("run-7", revision=4))
        >>> checkpoints.save(RunState("run-7", goal="another", revision=4))
        Traceback (most recent call last):
            ...
        runstate_lab.errors.Malformed: malformed value: asked to save run-7@4, found another state under that name
        hint: give plain text or one of the frozen nouns of runstate_lab.model
        """
        if not isinstance(state, RunState):
            raise Malformed("a RunState to save", f"a {type(state).__name__}")
        name, line = f"{state.run_id}@{state.revision}", write_state(state)
        if self._lines.get(name, line) != line:
            raise Malformed(f"to save {name}", "another state under that name")
        self._keep(name, line)
        return name

    def load(self, name: str) -> RunState:
        """The saved state; facts that came through it say so.

        >>> from runstate_lab.model import Fact
        >>> checkpoints = CheckpointStore()
        >>> name = checkpoints.save(RunState("run-7", facts=(Fact("build", "green"),)))
        >>> checkpoints.load(name).facts[0].checkpoint
        'run-7@0'
        """
        if name not in self._lines:
            found = f"the checkpoints {', '.join(self._lines) or 'none'}"
            raise StoreUnreadable(name, found, reason="no such checkpoint")
        try:
            state = read_state(self._lines[name])
        except Malformed as damage:
            found = f"{damage.found} instead of {damage.asked}"
            raise Malformed(name, found, reason="damaged checkpoint") from damage
        if f"{state.run_id}@{state.revision}" != name:
            raise StoreUnreadable(name, f"a state of {state.run_id}", reason="not that checkpoint")
        facts = tuple(_through(fact, name) for fact in state.facts)
        return changed(state, facts=facts)

    def _keep(self, name: str, line: str) -> None:
        self._lines[name] = line


class FileCheckpointStore(CheckpointStore):
    """Checkpoints in a folder, one file each, replaced as a whole or not at all.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     name = FileCheckpointStore(Path(folder)).save(RunState("run-7"))
    ...     FileCheckpointStore(Path(folder)).load(name).run_id
    'run-7'
    """

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._folder = Path(folder)
        with Told(f"checkpoints in {folder}"):
            self._folder.mkdir(parents=True, exist_ok=True)
            with os.scandir(self._folder) as there:
                # Not what stands there under another kind of name, nor links and folders.
                found = [one for one in there if _named(one.name) and _is_file(one)]
            for one in sorted(found, key=lambda one: one.stat().st_mtime_ns):
                self._lines[_named(one.name)] = _line(Path(one.path))

    def save(self, state: RunState) -> str:
        """The name under which a state can be had again, in this folder and for good."""
        if isinstance(state, RunState):
            # Another process may have saved under that name since.
            name = f"{state.run_id}@{state.revision}"
            path = self._folder / f"{_stem(name)}.json"
            if name not in self._lines and path.is_file():
                self._lines[name] = _line(path)
        return super().save(state)

    def _keep(self, name: str, line: str) -> None:
        stem = _stem(name)
        part = self._folder / f"{stem}.{os.getpid()}.part"
        with Told(f"to save {name} in {self._folder}"):
            try:
                with open(part, "w", encoding="utf-8") as file:
                    file.write(line)
                    file.flush()
                    _to_disk(file.fileno())
                part.replace(self._folder / f"{stem}.json")
            finally:
                part.unlink(missing_ok=True)
        super()._keep(name, line)


def _stem(name: str) -> str:
    # A run's id may hold what a file's name may not, a way out of the folder included.
    try:
        stem = quote(name, safe="@")
    except UnicodeEncodeError as error:
        raise Malformed(f"to save {name!r}", "an id that is no text") from error
    if len(stem) > LONGEST_NAME:
        raise Malformed(f"to save {name[:40]!r}...", f"a name of {len(stem)} characters")
    return stem


def _named(file: str) -> str:
    stem, _, ending = file.rpartition(".")
    if ending != "json" or not stem.isascii():
        return ""
    name = unquote(stem)
    return name if NAME.fullmatch(name) and quote(name, safe="@") == stem else ""


def _is_file(one: os.DirEntry[str]) -> bool:
    return one.is_file(follow_symlinks=False)


def _line(path: Path) -> str:
    # What cannot be read or decoded stays a line, and is refused when it is asked for.
    try:
        return path.read_text("utf-8", "replace")
    except OSError as fault:
        return f"{fault.strerror}"


def _through(fact: Fact, name: str) -> Fact:
    return fact if fact.checkpoint else replace(fact, checkpoint=name)


def _to_disk(number: int) -> None:
    os.fsync(number)
