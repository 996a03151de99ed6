"""Folders and files opened step by step, so that no link is ever followed.

Each step is opened from the one before it, by descriptor. Whoever swaps a
folder for a link while it is being read is refused: the name is not looked up
a second time. Where the system has no such calls (Windows), each step is looked
at before and after it is opened.

What is not here: what stands in the file (see `saved`).
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from runstate_lab.course.reasons import LARGEST, Unreadable

BY_DESCRIPTOR = os.open in os.supports_dir_fd and os.scandir in os.supports_fd
FLAGS = os.O_RDONLY
# O_NONBLOCK: opening a named pipe must not wait for a writer.
for _name in ("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "O_BINARY"):
    FLAGS |= getattr(os, _name, 0)
CODES = {
    errno.ELOOP: "symlink",
    errno.EMLINK: "symlink",
    errno.ENOTDIR: "not-a-file",
    errno.ENOENT: "gone",
    errno.ENXIO: "not-a-file",
    errno.ENODEV: "not-a-file",
    errno.EISDIR: "folder",
}
REPARSE_POINT = 0x400


@dataclass(frozen=True)
class Entry:
    """A name in a folder, and what stood under it: folder, file, link or other."""

    name: str
    kind: str


@dataclass(frozen=True)
class Folder:
    """An open folder; what is opened below it follows no link."""

    path: Path
    descriptor: int = -1

    def entries(self) -> list[Entry]:
        """What stands in it, by name."""
        with os.scandir(self.descriptor if self.descriptor >= 0 else self.path) as found:
            return sorted((Entry(each.name, _kind(each)) for each in found), key=_by_name)

    def read(self, name: str) -> bytes:
        """The bytes of a regular file of at most 20 MB in it."""
        path = self.path / name
        if self.descriptor >= 0:
            return _content(_opened(name, FLAGS, self.descriptor))
        before = _look(path)
        descriptor = _opened(path, FLAGS)
        # What was opened must be what was looked at.
        if not os.path.samestat(before, os.fstat(descriptor)):
            os.close(descriptor)
            raise Unreadable("symlink")
        return _content(descriptor)

    @contextlib.contextmanager
    def below(self, name: str) -> Iterator[Folder]:
        """The folder of that name in it, open; a link is refused."""
        path = self.path / name
        if self.descriptor < 0:
            if not stat.S_ISDIR(_look(path).st_mode):
                raise Unreadable("symlink")
            yield Folder(path)
            return
        descriptor = _opened(name, FLAGS | os.O_DIRECTORY, self.descriptor)
        try:
            yield Folder(path, descriptor)
        finally:
            os.close(descriptor)


@contextlib.contextmanager
def opened(path: Path) -> Iterator[Folder]:
    """The folder, open; it is the caller's own, so links on the way to it count.

    >>> with opened(Path("/no/such/folder")) as folder:
    ...     pass
    Traceback (most recent call last):
    ...
    runstate_lab.course.reasons.Unreadable: there is no such file any more
    hint: hand in the notebook file itself, which ends in .ipynb
    """
    if not BY_DESCRIPTOR:
        yield Folder(path)
        return
    flags = (FLAGS & ~getattr(os, "O_NOFOLLOW", 0)) | os.O_DIRECTORY
    descriptor = _opened(path, flags)
    try:
        yield Folder(path, descriptor)
    finally:
        os.close(descriptor)


def read_bytes(path: Path, *, within: Path | None = None) -> bytes:
    """The file's bytes; refuses links, devices and more than 20 MB.

    No step below `within` may be a link; without it only the last one.

    >>> read_bytes(Path("/dev/null"))
    Traceback (most recent call last):
    ...
    runstate_lab.course.reasons.Unreadable: what stands in the notebook's place is not a regular file
    hint: hand in the notebook file itself, which ends in .ipynb
    """
    start = path.parent if within is None else within
    *steps, name = path.relative_to(start).parts
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(opened(start))
        for step in steps:
            folder = stack.enter_context(folder.below(step))
        return folder.read(name)


def _opened(path: Path | str, flags: int, descriptor: int | None = None) -> int:
    try:
        return os.open(path, flags, dir_fd=descriptor)
    except (OSError, ValueError) as error:
        number = getattr(error, "errno", None) or 0
        # A link that is opened as a folder is refused as "not a folder".
        link = number == errno.ENOTDIR and _is_link(path, descriptor)
        raise Unreadable("symlink" if link else CODES.get(number, "unreadable")) from None


def _is_link(path: Path | str, descriptor: int | None) -> bool:
    try:
        found = os.stat(path, dir_fd=descriptor, follow_symlinks=False)
    except OSError:
        return False
    return stat.S_ISLNK(found.st_mode)


def _content(descriptor: int) -> bytes:
    try:
        mode = os.fstat(descriptor).st_mode
        if not stat.S_ISREG(mode):
            raise Unreadable("folder" if stat.S_ISDIR(mode) else "not-a-file")
    except Unreadable:
        os.close(descriptor)
        raise
    try:
        with os.fdopen(descriptor, "rb") as stream:
            content = stream.read(LARGEST + 1)
    except OSError:
        raise Unreadable("unreadable") from None
    if len(content) > LARGEST:
        raise Unreadable("too-big")
    return content


def _look(path: Path) -> os.stat_result:
    """What stands there, links not followed; a junction counts as a link."""
    try:
        found = path.lstat()
    except OSError as error:
        raise Unreadable(CODES.get(error.errno or 0, "unreadable")) from None
    if stat.S_ISLNK(found.st_mode) or getattr(found, "st_file_attributes", 0) & REPARSE_POINT:
        raise Unreadable("symlink")
    return found


def _kind(entry: os.DirEntry[str]) -> str:
    try:
        if entry.is_symlink():
            return "link"
        if entry.is_dir(follow_symlinks=False):
            return "folder"
        return "file" if entry.is_file(follow_symlinks=False) else "other"
    except OSError:
        return "other"


def _by_name(entry: Entry) -> str:
    return entry.name
