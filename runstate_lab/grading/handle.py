"""Grading. What a test holds of a student's object: a handle, never the thing.

A handle can be called and asked for attributes; both are answered by the
worker. Everything a value can do by itself (`==`, `len`, `in`, `bool` ...) is
refused with HandleMisuse: a student's object could answer as it likes.

What is not here: the wire (see `proxy`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

from runstate_lab.grading.faults import HandleMisuse

if TYPE_CHECKING:
    from runstate_lab.grading.proxy import Student


@dataclass(frozen=True, eq=False)
class Callback:
    """Something of ours that was lent to the student: a function, or some methods."""

    target: Any
    name: str
    methods: tuple[str, ...] = ()


def _refused(operation: str) -> Callable[..., NoReturn]:
    def refuse(self: Handle, *arguments: object) -> NoReturn:
        raise HandleMisuse(
            f"asked {operation} of {self!r}, found a student's own object\n"
            "hint: ask it for plain data first"
        )

    return refuse


class Handle:
    """A student's object, by number. `repr` is the only thing it says itself."""

    __slots__ = ("_student", "_number", "_kind", "_name", "__weakref__")

    def __init__(self, student: Student, number: int, kind: str, name: str) -> None:
        object.__setattr__(self, "_student", student)
        object.__setattr__(self, "_number", number)
        object.__setattr__(self, "_kind", kind)
        object.__setattr__(self, "_name", name)

    def __call__(self, *args: object, **kwargs: object) -> Any:
        return self._student._call(self._number, args, kwargs)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise HandleMisuse(f"asked for {name} of {self!r}, found a student's own object")
        if name.startswith("_"):
            raise AttributeError(f"asked for {name} of {self!r}, found a private name")
        return self._student._request("get", self._number, name)

    def __repr__(self) -> str:
        return f"<student's {self._kind} {self._name!r}>"

    def __del__(self) -> None:
        self._student._dropped.append(self._number)

    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = _refused("a comparison")
    __hash__ = _refused("a hash")  # type: ignore[assignment]
    __bool__ = _refused("its truth")
    __str__ = __format__ = _refused("its text")  # type: ignore[assignment]
    __bytes__ = __fspath__ = _refused("its bytes")
    __int__ = __float__ = __complex__ = __index__ = _refused("its number")
    __round__ = __trunc__ = __floor__ = __ceil__ = _refused("its number")
    __len__ = __length_hint__ = __contains__ = _refused("its length or items")
    __iter__ = __next__ = __reversed__ = __getitem__ = _refused("its items")
    __setitem__ = __delitem__ = __setattr__ = __delattr__ = _refused("a change")
    __add__ = __radd__ = __iadd__ = __sub__ = __rsub__ = __isub__ = _refused("arithmetic")
    __mul__ = __rmul__ = __imul__ = __matmul__ = __rmatmul__ = _refused("arithmetic")
    __truediv__ = __rtruediv__ = __floordiv__ = __rfloordiv__ = _refused("arithmetic")
    __mod__ = __rmod__ = __divmod__ = __rdivmod__ = __pow__ = __rpow__ = _refused("arithmetic")
    __and__ = __rand__ = __or__ = __ror__ = __xor__ = __rxor__ = _refused("arithmetic")
    __lshift__ = __rlshift__ = __rshift__ = __rrshift__ = _refused("arithmetic")
    __neg__ = __pos__ = __abs__ = __invert__ = _refused("arithmetic")
    __enter__ = __exit__ = _refused("a with block")
    __await__ = __aiter__ = __anext__ = __aenter__ = __aexit__ = _refused("waiting")
    __copy__ = __deepcopy__ = __reduce__ = _refused("a copy")  # type: ignore[assignment]
    __reduce_ex__ = _refused("a copy")  # type: ignore[assignment]
    __instancecheck__ = __subclasscheck__ = _refused("an instance check")


def number_of(handle: object, student: Student) -> int:
    """The handle's number; refuses what is no handle of this student's worker.

    >>> number_of(3, None)
    Traceback (most recent call last):
        ...
    TypeError: asked for a handle of this student, found a int
    hint: give an object that this student's worker returned
    """
    if type(handle) is not Handle or handle._student is not student:
        raise TypeError(
            f"asked for a handle of this student, found a {type(handle).__name__}\n"
            "hint: give an object that this student's worker returned"
        )
    return handle._number
