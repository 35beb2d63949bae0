"""Notice that a variable which a kernel reads from a function around it was bound to something else.

The base takes such a variable, a closure cell, for what it was when the key of the kernel was made: a later launch with other
arguments generated code with the new value and stored it under the key of the old one, for other processes too. Here a key
knows the cells that it was made of, also those of called functions. When one holds something else, the key is made again, the
kernels of the old one are put aside until the variable is bound as before, and code is generated from what its key was made of.

What no kernel could read counts for nothing: a name that the program around uses again for something of its own.

Mirrors python/triton/runtime/jit.py: JITCallable.get_capture_scope, JITCallable.__hash__

Mirrors python/triton/compiler/code_generator.py: CodeGenerator._define_name_lookup
"""

from __future__ import annotations

import functools
import importlib
import os
import threading
from collections import defaultdict
from collections.abc import Callable
from types import ModuleType
from typing import Any

from triton.fork.python.interruptions import pass_on
from triton.fork.settings import at_import
from triton.fork.state.beside import Beside
from triton.fork.state.current_kernel import current

__all__ = [
    "ON",
    "SWITCH",
    "Cells",
    "FunctionKey",
    "as_keyed",
    "holds",
    "kernels_of",
    "key_of_source",
    "names_builtin",
    "publish",
    "renew",
    "steady",
    "variant",
]

#: The environment variable that lets cells go unnoticed, as the base does; read when this module is imported.
SWITCH = "TRITON_FORK_FIX_REBOUND_CELLS"

ON = at_import(SWITCH)

#: id of a cell -> the cell, what it held, and whether its reader can make something of every value, as Python can.
Cells = dict[int, tuple[Any, Any, bool]]

_ABSENT = object()
#: Equal values of these types are the same to a kernel.
_PLAIN = frozenset({bool, int, str, type(None)})

# Held for a few assignments, never while a key is worked out.
_lock = threading.RLock()


class FunctionKey(str):
    """The text of a function's key together with what the text does not show. Pickled, it is the text alone."""

    #: Ids of the functions that call each other in a cycle which the function takes part in.
    cycle: frozenset[int]
    #: What the function and those that it calls read from closures, as it was for the key.
    cells: Cells
    #: Cell, what it held when it was looked at last, cell... ``native/src/guards.c`` compares these in each launch.
    seen: tuple[Any, ...]
    #: ``device_caches`` of the function by the text of its key, once it has had more than one.
    kernels: dict[str, Any]
    #: The first key of the function, which its hash stays that of: it may lie in dictionaries.
    first: str

    __slots__ = ("cells", "cycle", "first", "kernels", "seen")

    @classmethod
    def of(cls, text: str, cells: Cells, cycle: frozenset[int]) -> str:
        """Make a key; a plain text where there is nothing else to know."""
        if not ON:
            cells = {}
        return cls._with(text, cells, cycle, {}) if cells or cycle else text

    @classmethod
    def _with(cls, text: str, cells: Cells, cycle: frozenset[int], kernels: dict[str, Any]) -> FunctionKey:
        made = cls(text)
        made.cells, made.cycle, made.kernels, made.first = cells, cycle, kernels, text
        made.seen = tuple([part for cell, held, _ in cells.values() for part in (cell, held)])
        return made

    def with_seen(self, seen: tuple[Any, ...]) -> FunctionKey:
        """Give the same key after another look at the cells."""
        made = self._with(str(self), self.cells, self.cycle, self.kernels)
        made.seen, made.first = seen, self.first
        return made

    def __reduce__(self) -> tuple[type[str], tuple[str]]:
        return str, (str(self),)


#: The key of its function that a source had when it was asked last.
_pinned = Beside[FunctionKey]()


def holds(key: str) -> bool:
    """Tell whether the variables that a key was made of are bound as they were.

    :param key: The ``hash`` of a function.
    """
    return type(key) is not FunctionKey or _look(key) is not None


def _look(key: FunctionKey) -> tuple[Any, ...] | None:
    """Give the cells of a key and what they hold now, in a row; nothing where that is something else to a kernel."""
    seen: list[Any] = []
    for cell, held, any_value in key.cells.values():
        value = _content(cell, held)
        if value is not held and not _are_same(held, value) and (any_value or _may_be_read(value)):
            return None
        seen += (cell, value)
    return tuple(seen)


def _content(cell: Any, otherwise: Any) -> Any:
    """Give what a cell holds; of a variable that was deleted no kernel can be compiled, and what was compiled stays."""
    try:
        return cell.cell_contents
    except ValueError:
        return otherwise


def _are_same(held: Any, value: Any) -> bool:
    from triton.language.core import constexpr, dtype

    kind = type(held)
    if type(value) is not kind:
        return False
    if kind is constexpr:
        return _are_same(held.value, value.value)
    if kind is float:
        return bool(held.hex() == value.hex())  # there are two zeros, and NaN does not equal itself
    return (kind in _PLAIN or kind is dtype) and bool(held == value)


def _may_be_read(value: Any) -> bool:
    """Tell whether a kernel can name a variable that is bound to a value: the base's code generator decides so."""
    from triton.language.core import constexpr, dtype
    from triton.runtime.jit import GLUON_MODULE, TRITON_MODULE, JITCallable

    knobs = importlib.import_module("triton.knobs")
    if value is None or isinstance(value, (constexpr, dtype, JITCallable, ModuleType)):
        return True
    if knobs.compilation.allow_non_constexpr_globals:
        return True
    try:
        return (
            (isinstance(value, type) and issubclass(value, tuple) and hasattr(value, "_fields"))
            or bool(getattr(value, "__triton_builtin__", False) or getattr(value, "__triton_aggregate__", False))
            or getattr(value, "__module__", "").startswith((TRITON_MODULE, GLUON_MODULE))
        )
    except Exception as error:  # the code generator would fail in the same way
        pass_on(error)
        return False


def names_builtin(name: str) -> bool:
    """Tell whether the code generator lets a kernel read a variable of this name whatever it is bound to."""
    from triton.compiler.code_generator import CodeGenerator

    return name in CodeGenerator.builtin_namespace


def publish(function: Any, key: str) -> None:
    """Set the key of a function; where it had another one, put the kernels of that one aside.

    :param function: A ``JITCallable``.
    :param key: Its key.
    """
    # Attributes are asked for by name: once its dictionary was asked for, CPython up to 3.12 reads an object more slowly.
    with _lock:
        before = function.hash
        if type(before) is FunctionKey:
            if type(key) is not FunctionKey:
                key = FunctionKey._with(key, {}, frozenset(), {})
            key.kernels, key.first = before.kernels, before.first
            if before != key and hasattr(function, "device_caches"):
                key.kernels.setdefault(str(before), function.device_caches)
                function.device_caches = key.kernels.setdefault(str(key), defaultdict(function.create_binder))
        function.hash = key


def _start_afresh() -> None:
    """In a forked child: forget the lock, which another thread of the parent may have held."""
    global _lock
    _lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_start_afresh)


def renew(function: Any) -> None:
    """Let a launch have the kernels that belong to what variables are bound to now.

    :param function: The ``JITFunction``.
    """
    key = function.hash
    if type(key) is not FunctionKey:
        return
    if key.kernels and not function.device_caches:
        key.kernels.clear()  # somebody has dropped all kernels: those that were put aside as well
    if _is_as_seen(key):
        return
    seen = _look(key)
    if seen is None:
        from triton.fork.cache_key.recursion import current_key

        current_key(function)
        return
    with _lock:
        if function.hash is key:
            function.hash = key.with_seen(seen)


def _is_as_seen(key: FunctionKey) -> bool:
    cells = iter(key.seen)
    return all(_content(cell, value) is value for cell, value in zip(cells, cells, strict=True))


def steady(base: Callable[[Any], int]) -> Callable[[Any], int]:
    """Let the hash of a function stay what it is when its key changes, instead of a function of the base.

    :param base: ``JITCallable.__hash__``.
    """
    if not ON:
        return base

    @functools.wraps(base)
    def __hash__(self: Any) -> int:  # noqa: N807 - it takes the place of one
        key = self.hash
        return hash(key.first) if type(key) is FunctionKey else base(self)

    return __hash__


def variant(function: Any) -> str | None:
    """Give what tells apart what a function is, at one time and another, as a constant of a launch.

    :param function: A ``JITCallable``.
    :returns: ``None`` where it depends on no variable.
    """
    key = getattr(function, "hash", None)
    return str(function.cache_key) if type(key) is FunctionKey and key.cells else None


def key_of_source(source: Any) -> str:
    """Give the key of the function of a source, and remember it: code is generated from what it was made of.

    :param source: An ``ASTSource``.
    """
    function = source.fn
    text: str = function.cache_key
    key = getattr(function, "hash", None)
    if type(key) is FunctionKey and key.cells and key == text:
        _pinned.set(source, key)
    return text


def kernels_of(source: Any, device: Any, kernels: dict[Any, Any]) -> dict[Any, Any]:
    """Give the kernels of a function on a device among which that of a source belongs.

    :param source: What was compiled.
    :param device: The device.
    :param kernels: The kernels of the function when the launch began.
    """
    key = _pinned.get(source)
    if key is None or str(key) not in key.kernels:
        return kernels
    own: dict[Any, Any] = key.kernels[str(key)][device][0]
    return own


def as_keyed(scope: dict[str, Any], function: Any) -> dict[str, Any]:
    """Give what a function sees, with its variables as they were bound when the key of the kernel was made.

    :param scope: What it sees now.
    :param function: A ``JITCallable`` of the kernel that this thread generates.
    """
    kernel = current()
    key = None if kernel is None else _pinned.get(kernel.source)
    if key is None:
        return scope
    cells, plain, held = key.cells, function.fn, {}
    for name, cell in zip(plain.__code__.co_freevars, plain.__closure__ or (), strict=True):
        _, value, any_value = cells.get(id(cell), (None, _ABSENT, False))
        now = scope.get(name, _ABSENT)
        # What no kernel can read is left there: the code generator says so, as in the base.
        if value is not _ABSENT and now is not value and (now is _ABSENT or any_value or _may_be_read(now)):
            held[name] = value
    return {**scope, **held} if held else scope
