"""What the key of a kernel says of the values that its source names.

Two programs may share cached code only when every value that the source reads is the same. This module looks names up as
Python does, says which values belong into a key, and finishes the key of a function that (indirectly) calls itself.
The hooks are in ``triton/runtime/jit.py``: ``DependenciesFinder`` and ``JITCallable.cache_key``.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping
from types import TracebackType
from typing import Any

from triton.fork import _value_texts

__all__ = ["KeyComputation", "called_key", "finish_key", "is_key_part", "key_text", "look_up"]

#: One lock for all keys. A lock for each function deadlocks when two threads enter a cycle of functions at different places.
_KEY_LOCK = threading.RLock()
_BEGUN: list[Any] = []

_PLACEHOLDER = "recursion:"


def look_up(
    name: str, nonlocals: Mapping[str, Any], global_values: Mapping[str, Any]
) -> tuple[Any, Mapping[str, Any] | None]:
    """Find the value of a free variable: closure first, then the module; a value of ``None`` counts.

    :param name: The variable; the caller has already ruled out a local one.
    :param nonlocals: The closure of the function, by name.
    :param global_values: The module of the function, by name.
    :returns: The value and the mapping that holds it; ``(None, None)`` for a builtin or an unknown name.
    """
    for scope in (nonlocals, global_values):
        if name in scope:
            return scope[name], scope
    return None, None


def is_key_part(value: object) -> bool:
    """Tell whether a value that replaces a supported builtin (a function named ``max``, say) belongs into the key."""
    from triton.language.core import constexpr
    from triton.runtime.jit import JITCallable

    return isinstance(value, (JITCallable, constexpr))


def key_text(recorded: Mapping[tuple[str, int], Any], unrecorded: list[str]) -> str:
    """Give the part of a key that stands for the values of free variables.

    It equals the base's text where the base's text is complete and the same in every process.

    :param recorded: Name and ``id`` of the scope -> value, for what the function itself reads (what it calls has a key of
        its own). The ``id`` never enters the text, nor does it decide the order.
    :param unrecorded: Texts of the values that are used but not watched for changes, in the order of the source.
    """
    from triton.language.core import constexpr

    constexprs, others = [], []
    for (name, _), value in recorded.items():
        if isinstance(value, constexpr):
            constexprs.append(f"({name!r}, {_value_texts.constant_text(value)})")
        elif _value_texts.is_data(value):
            others.append(f"({name!r}, {_value_texts.describe(value)})")
    text = f"[{', '.join(sorted(constexprs))}]"
    if others or unrecorded:
        text += f"; {sorted(others)}; {unrecorded}"
    return text


class KeyComputation:
    """Guards the computation of one key, as a context manager: one thread at a time, and no placeholder left by an error.

    :param function: The ``JITCallable`` whose key is asked for.
    """

    __slots__ = ("_function", "_lock")

    def __init__(self, function: Any) -> None:
        self._function = function
        self._lock = _KEY_LOCK

    def __enter__(self) -> None:
        self._lock.acquire()
        _BEGUN.append(self._function)

    def __exit__(self, kind: type[BaseException] | None, _: BaseException | None, __: TracebackType | None) -> None:
        if kind is not None:
            # Left in place, the next caller would take the placeholder, which says nothing of the source, for the key.
            self._function.hash = None
        if _BEGUN:
            _BEGUN.pop()
        self._lock.release()


def _start_afresh() -> None:
    """In a forked child: forget what another thread of the parent had begun, and the lock that it held."""
    global _KEY_LOCK
    _KEY_LOCK = threading.RLock()
    for function in _BEGUN:
        function.hash = None
    _BEGUN.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_start_afresh)


def _is_placeholder(key: str | None) -> bool:
    return key is not None and key.startswith(_PLACEHOLDER)


def called_key(called: Any) -> tuple[str, frozenset[int]]:
    """Give the key of a function that another one calls, as part of the caller's key.

    :param called: The called ``JITCallable``.
    :returns: Its key, and the ``id`` of each function whose placeholder is part of it.
    """
    if getattr(called, "_fork_in_cycle", False) and not _is_placeholder(called.hash):
        # What it kept is its key seen from outside the cycle; whether the caller is in the cycle is not known yet.
        called.hash = None
    key: str = called.cache_key
    if _is_placeholder(key):
        return key, frozenset((id(called),))
    return key, getattr(called, "_fork_unfinished", frozenset())


def finish_key(function: Any, unfinished: frozenset[int]) -> str:
    """Return the key just computed, and forget it where it holds the placeholder of another function.

    In a cycle of functions only the key of the one that was asked for is complete. The base kept the others too: their
    keys depended on who was asked first, and lacked the source of the caller.

    :param function: The ``JITCallable`` whose ``hash`` holds the key.
    :param unfinished: ``id`` of the functions whose placeholder went into the key.
    """
    key: str = function.hash
    function._fork_in_cycle = bool(unfinished)
    function._fork_unfinished = unfinished - {id(function)}
    if function._fork_unfinished:
        function.hash = None
    return key
