"""The order in which the keys of functions that call each other are worked out.

The hooks are in ``JITCallable.cache_key`` and ``DependenciesFinder`` of ``triton/runtime/jit.py``.
"""

from __future__ import annotations

import os
import threading
from types import TracebackType
from typing import Any

__all__ = ["KeyComputation", "finished_key", "key_of_called"]

#: One lock for all keys. A lock for each function deadlocks when two threads enter a cycle of functions at different places.
_KEY_LOCK = threading.RLock()

_PLACEHOLDER = "recursion:"


class _Search:
    """The search for functions that call each other, one for all keys: Tarjan's algorithm for strongly connected components.

    The key of a function is computed by visiting what it calls, depth first. A function in a cycle is visited once for each
    member of the cycle that is asked for: while the cycle is open its ``hash`` is a placeholder, for those still being visited
    their name, for those already visited the key that they have within this visit. When the member that was entered first
    is done it has its key, and the others forget theirs: what they have from outside the cycle is another key.
    """

    def __init__(self) -> None:
        self.numbers: dict[int, int] = {}  # id of each function of an open cycle -> in which place it was entered
        self.lowest: dict[int, int] = {}  # id -> the lowest number that can be reached from it
        self.open: list[Any] = []  # those functions, in that order
        self.path: list[Any] = []  # those still being visited
        self.kept: dict[
            int, str
        ] = {}  # id -> the finished key of a function that is visited again as a part of a cycle

    def enter(self, function: Any) -> bool:
        """Begin with a function, or note that the one being visited calls it again; tell whether it was begun."""
        if function.hash is None:
            self.numbers[id(function)] = self.lowest[id(function)] = len(self.open)
            self.open.append(function)
            self.path.append(function)
            return True
        if self.path and id(function) in self.numbers:
            self._reach(self.numbers[id(function)])
        return False

    def finish(self, function: Any) -> str:
        """Settle the key of the function being visited, which its ``hash`` holds; give what stands for it in its caller's."""
        key: str = function.hash
        lowest = self.lowest[id(function)]
        self.path.pop()
        if lowest < self.numbers[id(function)]:
            self._reach(lowest)
            function.hash = f"{_PLACEHOLDER}{key}"
            return f"{_PLACEHOLDER}{key}"
        members = self._close(function)
        cycle = frozenset(map(id, members)) if len(members) > 1 else frozenset()
        for member in members:
            member._fork_cycle = cycle
        function.hash = key
        return key

    def abandon(self, function: Any) -> None:
        """Forget a function whose key could not be computed, and all that was entered after it."""
        if function in self.path:
            del self.path[self.path.index(function) :]
        if id(function) in self.numbers:
            self._close(function)
        function.hash = None

    def reopen(self, function: Any) -> None:
        """Put the finished key of a function aside if it takes part in a cycle that is open now."""
        cycle = function.__dict__.get("_fork_cycle")
        if cycle and id(function) not in self.numbers and not cycle.isdisjoint(self.numbers):
            self.kept[id(function)] = function.hash
            function.hash = None

    def _reach(self, number: int) -> None:
        caller = id(self.path[-1])
        self.lowest[caller] = min(self.lowest[caller], number)

    def _close(self, function: Any) -> list[Any]:
        start = self.numbers[id(function)]
        members = self.open[start:]
        del self.open[start:]
        for member in members:
            del self.numbers[id(member)], self.lowest[id(member)]
            member.hash = self.kept.pop(id(member), None)
        return members


_search = _Search()


class KeyComputation:
    """Guards the computation of one key, as a context manager: one thread at a time, and no placeholder left by an error.

    :param function: The ``JITCallable`` whose key is asked for.
    """

    __slots__ = ("_begun", "_function", "_lock")

    def __init__(self, function: Any) -> None:
        self._function = function
        self._lock = _KEY_LOCK

    def __enter__(self) -> None:
        self._lock.acquire()
        self._begun = _search.enter(self._function)

    def __exit__(self, kind: type[BaseException] | None, _: BaseException | None, __: TracebackType | None) -> None:
        if kind is not None and self._begun:
            # Left in place, the next caller would take the placeholder, which says nothing of the source, for the key.
            _search.abandon(self._function)
        self._lock.release()


def _start_afresh() -> None:
    """In a forked child: forget what another thread of the parent had begun, and the lock that it held."""
    global _KEY_LOCK, _search
    _KEY_LOCK = threading.RLock()
    for function in _search.open:
        function.hash = _search.kept.get(id(function))
    _search = _Search()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_start_afresh)


def key_of_called(called: Any) -> str:
    """Give the key of a function that another one calls, as part of the caller's key.

    :param called: The called ``JITCallable``.
    :returns: Its key, or what stands for it while a cycle is open.
    """
    _search.reopen(called)
    key: str = called.cache_key
    return key


def finished_key(function: Any) -> str:
    """Return the key just computed, and forget it where it is that of a function inside an open cycle.

    In a cycle of functions only the key of the one that was asked for is complete. The base kept the others too: their
    keys depended on who was asked first, and lacked the source of the caller.

    :param function: The ``JITCallable`` whose ``hash`` holds the key.
    """
    return _search.finish(function)
