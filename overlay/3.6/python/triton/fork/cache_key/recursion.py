"""The keys of functions that call each other: in which order they are worked out, and that no thread waits for another.

While a key is worked out, code of others runs: modules are imported, objects are asked for attributes and texts. So no lock is
held: each thread works with notes of its own, and a key is set when it is finished. Two threads may work out one key; they come
to the same. The hooks are in ``JITCallable.cache_key`` and ``DependenciesFinder`` of ``triton/runtime/jit.py``.

Mirrors python/triton/runtime/jit.py: JITCallable.cache_key, DependenciesFinder.visitAssnTarget
"""

from __future__ import annotations

import functools
import hashlib
import threading
from collections.abc import Callable
from typing import Any

from triton.fork.cache_key.rebound_cells import Cells, FunctionKey, holds, names_builtin, publish
from triton.fork.python.interruptions import pass_on
from triton.fork.settings import at_import

__all__ = ["ON", "SWITCH", "current_key", "names_of", "without_lock"]

#: The environment variable that leaves keys to the base, with a lock for each function; read when this module is imported.
SWITCH = "TRITON_FORK_FIX_KEY_OF_CYCLES"

ON = at_import(SWITCH)

_PLACEHOLDER = "recursion:"
#: How often a key is worked out when another thread binds a variable anew meanwhile.
_ATTEMPTS = 3


class _Search:
    """A search for functions that call each other: Tarjan's algorithm for strongly connected components.

    The key of a function is worked out by visiting what it calls, depth first. A function in a cycle is visited once for each
    member of the cycle that is asked for: while the cycle is open a text stands for its key, for those still being visited
    their name, for those already visited the key that they have within this visit. When the member that was entered first
    is done it has its key. The others are forgotten: what they have from outside the cycle is another key.
    """

    def __init__(self) -> None:
        self.texts: dict[int, str] = {}  # id of each function of an open cycle -> what stands for its key
        self.numbers: dict[int, int] = {}  # id -> in which place it was entered
        self.lowest: dict[int, int] = {}  # id -> the lowest number that can be reached from it
        self.open: list[Any] = []  # those functions, in that order
        self.path: list[int] = []  # ids of those still being visited
        self.cells: list[Cells] = []  # for each of those, the cells that it and what it calls read
        self.met_again: set[int] = set()  # ids of functions that call themselves

    def key_of(self, function: Any) -> str:
        """Give the key of a function, or what stands for it while its cycle is open."""
        place = id(function)
        known = self.texts.get(place)
        if known is not None:
            self.met_again.add(place)
            self._reach(self.numbers[place])
            return known
        finished: str | None = function.hash
        if finished is None:
            return self._visit(function)
        if holds(finished):
            cycle = finished.cycle if type(finished) is FunctionKey else None
            if cycle and not cycle.isdisjoint(self.numbers):
                return self._visit(function)
        else:
            try:
                return self._visit(function)
            except Exception as error:  # of what variables hold now no code can be made: the function is what it was
                pass_on(error)
        self._note(getattr(finished, "cells", None))
        return finished

    def _visit(self, function: Any) -> str:
        place = id(function)
        self.numbers[place] = self.lowest[place] = len(self.open)
        self.texts[place] = f"{_PLACEHOLDER}{function._fn_name}"
        self.open.append(function)
        self.path.append(place)
        self.cells.append({})
        try:
            key = _digest(function, self.cells[-1])
        except BaseException:
            # Forget the function, and all that was entered after it.
            depth = self.path.index(place)
            del self.path[depth:], self.cells[depth:]
            self._close(place)
            raise
        return self._finish(function, key)

    def _finish(self, function: Any, key: str) -> str:
        place = id(function)
        lowest = self.lowest[place]
        self.path.pop()
        cells = self.cells.pop()
        self._note(cells)
        if lowest < self.numbers[place]:
            self._reach(lowest)
            text = self.texts[place] = f"{_PLACEHOLDER}{key}"
            return text
        in_cycle = place in self.met_again
        members = self._close(place)
        finished = FunctionKey.of(key, cells, frozenset(members) if in_cycle or len(members) > 1 else frozenset())
        publish(function, finished)
        return finished

    def _note(self, cells: Cells | None) -> None:
        """Note that what is being visited depends on cells; where one has two values now, the first one."""
        if cells and self.cells:
            mine = self.cells[-1]
            for place, (cell, held, any_value) in cells.items():
                _, first, also = mine.get(place, (cell, held, False))
                mine[place] = (cell, first, any_value or also)

    def _reach(self, number: int) -> None:
        caller = self.path[-1]
        self.lowest[caller] = min(self.lowest[caller], number)

    def _close(self, place: int) -> list[int]:
        start = self.numbers[place]
        members = [id(member) for member in self.open[start:]]
        for member in members:
            del self.numbers[member], self.lowest[member], self.texts[member]
        del self.open[start:]
        self.met_again.difference_update(members)
        return members


class _State(threading.local):
    search: _Search | None = None


_state = _State()


def _digest(function: Any, cells: Cells) -> str:
    """Work out a key as ``JITCallable.cache_key`` of the base does.

    :param function: The ``JITCallable``.
    :param cells: Gets the cells that it reads.
    """
    from triton.fork.cache_key.free_variables import text_of_values
    from triton.fork.cache_key.reading import read_source
    from triton.runtime.jit import ConstexprFunction, DependenciesFinder, get_nonlocals

    nonlocals = get_nonlocals(function.fn)
    # Defaults of arguments are evaluated while code is generated, and may read any value.
    reads_any = isinstance(function, ConstexprFunction) or bool(function.fn.__defaults__)
    for name, cell in zip(nonlocals, function.fn.__closure__ or (), strict=True):
        cells[id(cell)] = (cell, nonlocals[name], reads_any or names_builtin(name))
    finder = DependenciesFinder(
        name=function._fn_name, globals=function.__globals__, nonlocals=nonlocals, src=function.src
    )
    read_source(finder, function)
    text = finder.ret + str(function.starting_line_number) + text_of_values(finder, function)
    function.used_global_vals = dict(sorted(finder.used_global_vals.items()))
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def current_key(function: Any) -> str:
    """Give the key of a function as the variables are bound now.

    :param function: A ``JITCallable``.
    :returns: Its key; what stands for it where this thread is at work on a cycle of functions that it takes part in. A
        :class:`FunctionKey` where the function depends on closures or takes part in a cycle.
    """
    search = _state.search
    if search is not None:
        return search.key_of(function)
    search = _state.search = _Search()
    try:
        for _ in range(_ATTEMPTS):
            before = function.hash
            key = search.key_of(function)
            if key is before or holds(key):
                break
        return key
    finally:
        _state.search = None


def without_lock(base: Callable[[Any], str]) -> Callable[[Any], str]:
    """Work keys out without a lock, instead of a function of the base.

    :param base: What computes ``JITCallable.cache_key``.
    """
    if not ON:
        return base

    @functools.wraps(base)
    def cache_key(self: Any) -> str:
        key = self.hash
        return key if type(key) is str else str(current_key(self))

    return cache_key


def names_of(target: list[Any]) -> list[Any]:
    """Give the names in the target of an assignment, with those of tuples in it: ``a, (b, c) = ...``.

    The base takes a tuple in a tuple for a name: making the key fails at first, and later finds what that left behind.

    :param target: Names, and lists of such.
    """
    if not ON:
        return target
    names, left = [], [*target]
    while left:
        each = left.pop()
        if isinstance(each, list):
            left += each
        else:
            names.append(each)
    return names
