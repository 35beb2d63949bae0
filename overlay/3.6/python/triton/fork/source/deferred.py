"""Triton's own JIT functions, made when they are first looked at.

``triton.language`` decorates some fifty functions of which a program uses a few.  The signature and the source of each cost more
than all else that ``@jit`` does, so what the decorator gives is empty until somebody asks it for anything but its names; then it is
what the base would have made at once, an object of the base's class with the base's attributes.  The lines of the file are
taken when the function is decorated, so a file that changes later does no harm.

Functions of everybody else are made at once: they may be inspected, copied, wrapped, or changed by others before their first use.

Mirrors python/triton/runtime/jit.py: JITFunction.__init__, JITCallable.__init__
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from types import FunctionType
from typing import Any

from triton.fork.settings import enabled
from triton.fork.source import function_text

__all__ = ["maker"]

_SWITCH = function_text.SWITCH
#: Where Triton's own modules are.
_PACKAGE = __file__.rpartition("fork")[0]

#: What can be read of a function that was not made yet; `__class__` also by isinstance, where another class is asked for.
_NAMES = frozenset({"__doc__", "__module__", "__name__", "__qualname__"})


class _Pending:
    """What an object of a JIT class is to be made of."""

    __slots__ = ("arguments", "begun", "cls", "doc", "function", "lines")

    def __init__(self, cls: type, function: FunctionType, lines: list[str], arguments: dict[str, Any]) -> None:
        self.cls, self.function, self.lines, self.arguments = cls, function, lines, arguments
        self.doc = function.__doc__
        # The lock under which it is being made.
        self.begun: Any = None


# Identity of an object -> what it is to be made of. The object keeps its entry until it is made.
_pending: dict[int, _Pending] = {}
_lock = threading.RLock()
_classes: dict[type, type] = {}


def maker(cls: Any, function: Any) -> Callable[..., Any]:
    """Give what makes the JIT function of a function: the class, or something like it that waits.

    :param cls: The class.
    :param function: What was decorated.
    :returns: To be called with the arguments of the class.
    """
    if type(function) is not FunctionType or not function.__code__.co_filename.startswith(_PACKAGE):
        return cls  # type: ignore[no-any-return]
    lines = function_text.lines_of(function) if enabled(_SWITCH) else None
    if lines is None:
        return cls  # type: ignore[no-any-return]

    def make(function: FunctionType, **arguments: Any) -> Any:
        made: Any = object.__new__(_class_of_pending(cls))
        _pending[id(made)] = _Pending(cls, function, lines, arguments)
        return made

    return make


def _class_of_pending(cls: type) -> type:
    """Give the class that objects have until they are made; it looks like the one that they will have."""
    known = _classes.get(cls)
    if known is None:
        body = {
            "__getattribute__": _get,
            "__setattr__": _set,
            "__delattr__": _delete,
            "__module__": cls.__module__,
            "__qualname__": cls.__qualname__,
            "__doc__": cls.__doc__,
        }
        known = _classes[cls] = type(cls)(cls.__name__, (cls,), body)
    return known


def _get(self: Any, name: str) -> Any:
    pending = _pending.get(id(self))
    if pending is not None and pending.begun is None:
        if name == "__class__":
            return pending.cls
        if name in _NAMES:
            return pending.doc if name == "__doc__" else getattr(pending.function, name)
    _make(self)
    return object.__getattribute__(self, name)


def _set(self: Any, name: str, value: Any) -> None:
    pending = _pending.get(id(self))
    # Triton writes into the documentation of functions that are also members of tensors.
    if name == "__doc__" and pending is not None and pending.begun is None:
        pending.doc = value
        return
    _make(self)
    object.__setattr__(self, name, value)


def _delete(self: Any, name: str) -> None:
    _make(self)
    object.__delattr__(self, name)


def _make(self: Any) -> None:
    """Make an object what it is to be, in one thread; the attributes that its ``__init__`` reads and sets pass through."""
    with _lock:
        pending = _pending.get(id(self))
        if pending is None or pending.begun is _lock:
            return
        pending.begun = _lock
        function_text.given[pending.function] = pending.lines
        try:
            pending.cls.__init__(self, pending.function, **pending.arguments)  # type: ignore[misc]
            object.__setattr__(self, "__doc__", pending.doc)
            object.__setattr__(self, "__class__", pending.cls)
            del _pending[id(self)]
        finally:
            del function_text.given[pending.function]
            pending.begun = None


def _start_afresh() -> None:
    """In a forked child: what another thread of the parent was making is begun again, and its lock is nobody's."""
    global _lock
    _lock = threading.RLock()
    function_text.given.clear()
    for pending in _pending.values():
        pending.begun = None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_start_afresh)
