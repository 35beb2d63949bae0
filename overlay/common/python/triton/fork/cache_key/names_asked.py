"""What the code of a kernel may ask objects for, by name.

An object may hold a time, a rank or a counter that its own ``repr`` leaves out. Such an attribute cannot reach generated code if
nothing that runs while the kernel is compiled names it. Where that cannot be told, everything counts.
"""

from __future__ import annotations

import ast
import enum
import re
from collections.abc import Callable, Iterable
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

from triton.fork.cache_key.definition_texts import SIMPLE, is_installed, may_be_asked
from triton.fork.python.code_uses import READ_ANYTHING, uses_of
from triton.fork.python.interruptions import pass_on
from triton.fork.python.static_look import attributes_of, function_of, members_of, mro_of, name_of
from triton.fork.source.trees import parse

__all__ = ["Names", "names_asked", "names_of_source"]

_MOST_VALUES = 5_000
_IDENTIFIER = re.compile(r"[^\W\d]\w*")
_ASKING = frozenset({"getattr", "hasattr"})
#: Installed packages that ask objects of others for nothing but what the signs of the language stand for.
_ASKING_NOTHING = frozenset(
    [
        *("triton", "math", "cmath", "operator", "functools", "itertools", "enum", "typing", "collections", "numbers"),
        *("abc", "types", "builtins", "sys", "os", "time", "logging", "warnings", "numpy", "torch", "dataclasses"),
        *("reprlib", "_thread"),
    ]
)
#: What Triton itself may ask of whatever comes to its functions.
_ASKED_BY_TRITON = frozenset(
    [
        "type",
        "dtype",
        "value",
        "values",
        "name",
        "shape",
        "numel",
        "handle",
        "cache_key",
        "scalar",
        "is_block",
        "is_ptr",
    ]
)


class _UnknownError(Exception):
    """Anything may be asked for."""


class Names:
    """What code may ask objects for, found out when it is first needed.

    :param find: Gives the names, ``None`` where they cannot be told.
    """

    def __init__(self, find: Callable[[], frozenset[str] | None]) -> None:
        self._find = find
        self._found: list[frozenset[str] | None] = []

    def get(self) -> frozenset[str] | None:
        """Give the names."""
        if not self._found:
            self._found.append(self._find())
        return self._found[0]


def names_of_source(function: Any) -> Names:
    """Give what code may ask of the objects that a function reads: itself, and what it calls.

    :param function: A ``JITCallable``. Where it may hand objects on to its callers, the names cannot be told.
    """
    return Names(lambda: None if _hands_on(function) else names_asked([function]))


def _hands_on(function: Any) -> bool:
    """Tell whether a function returns something, or sets parts of what it was given."""
    try:
        tree = parse(function.src)
    except Exception as error:  # it cannot be compiled either
        pass_on(error)
        return True
    return any(
        (type(node) is ast.Return and node.value is not None)
        or type(node) in (ast.Yield, ast.YieldFrom, ast.Lambda)
        or (type(node) in (ast.Attribute, ast.Subscript) and type(node.ctx) is ast.Store)  # type: ignore[attr-defined]
        for node in ast.walk(tree)
    )


def names_asked(roots: Iterable[Any]) -> frozenset[str] | None:
    """Find the names by which code may ask objects for attributes.

    :param roots: A kernel and its constants, whose methods are code too.
    :returns: ``None`` where that cannot be told.
    """
    try:
        return _Search(roots).names()
    except Exception as error:  # a name not yet defined, a source that cannot be read: then everything counts
        pass_on(error)
        return None


class _Search:
    def __init__(self, roots: Iterable[Any]) -> None:
        self._names: set[str] = set(_ASKED_BY_TRITON)
        self._left: list[Any] = list(roots)
        self._seen: dict[int, Any] = {}  # held, so that no other one gets the id
        self._holders: list[Any] = []  # modules and objects, of which only what is asked for is looked at

    def names(self) -> frozenset[str]:
        """Give all names, those in methods included that are called by one of them."""
        while self._left:
            while self._left:
                self._look(self._left.pop())
            asked = [value for holder in self._holders for value in self._asked_of(holder)]
            self._left = [
                value for value in asked if not issubclass(type(value), SIMPLE) and id(value) not in self._seen
            ]
        if not self._names.isdisjoint(READ_ANYTHING):
            raise _UnknownError
        return frozenset(self._names)

    def _asked_of(self, holder: Any) -> list[Any]:
        names = frozenset(self._names)
        held = attributes_of(holder) or {}
        found = [held[name] for name in held if name in names]
        if type(holder) is ModuleType:
            return found
        for base in mro_of(type(holder)):
            if not is_installed(name_of(base)[0]):
                for name, member in members_of(base).items():
                    if may_be_asked(name, names):
                        found.append(function_of(member) or member)
        return found

    def _look(self, value: Any) -> None:
        from triton.language.core import base_type, constexpr
        from triton.language.core import tuple as language_tuple
        from triton.runtime.jit import JITCallable

        kind = type(value)
        if issubclass(kind, SIMPLE) or id(value) in self._seen:
            return
        self._seen[id(value)] = value
        if len(self._seen) > _MOST_VALUES:
            raise _UnknownError
        if issubclass(kind, JITCallable):
            self._look_at_kernel(value)
        elif issubclass(kind, (FunctionType, MethodType)):
            self._look_at_function(value)
        elif issubclass(kind, type):
            self._look_at_class(value)
        elif issubclass(kind, ModuleType):
            self._look_at_module(value)
        elif issubclass(kind, (constexpr, language_tuple)):
            self._left += [value.value] if issubclass(kind, constexpr) else value.values
        elif issubclass(kind, dict):
            self._left += [*dict.keys(value), *dict.values(value)]
        elif issubclass(kind, (tuple, list, set, frozenset)):
            base = next(base for base in (tuple, list, set, frozenset) if issubclass(kind, base))
            self._left += list(base.__iter__(value))
        elif not issubclass(kind, (base_type, BuiltinFunctionType)):
            self._look_at_object(value, kind)

    def _look_at_object(self, value: Any, kind: type) -> None:
        module = name_of(kind)[0].partition(".")[0]
        if is_installed(module) and not issubclass(kind, enum.Enum):
            if module not in ("triton", "builtins") and callable(value):
                raise _UnknownError  # operator.attrgetter, functools.partial
            return
        self._holders.append(value)

    def _look_at_kernel(self, value: Any) -> None:
        if type(value).__name__ != "JITFunction" and type(value).__name__ != "GluonJITFunction":
            self._left.append(value.fn)
            return
        names = set(_IDENTIFIER.findall(value.src))
        if not names.isdisjoint(_ASKING):
            raise _UnknownError
        self._names |= names
        self._left += [value.__globals__[name] for name in names if name in value.__globals__]
        self._left += [*_captured(value.fn), value.fn.__defaults__, value.fn.__kwdefaults__]

    def _look_at_function(self, value: Any) -> None:
        if type(value) is MethodType:
            self._left += [value.__self__, value.__func__]
            return
        if value.__module__ is None or is_installed(value.__module__):
            if str(value.__module__).partition(".")[0] not in _ASKING_NOTHING:
                raise _UnknownError
            return
        uses = uses_of(value.__code__)
        if uses.imports or not READ_ANYTHING.isdisjoint(uses.variables):
            raise _UnknownError
        self._names |= uses.attributes | uses.words
        read = uses.variables - uses.tested
        self._left += [value.__globals__[name] for name in read if name in value.__globals__]
        self._left += [*_captured(value), value.__defaults__, value.__kwdefaults__]

    def _look_at_class(self, value: type) -> None:
        """Code that has a class may make instances, and call anything of it."""
        for base in mro_of(value):
            if not is_installed(name_of(base)[0]):
                self._left += [function_of(member) or member for member in members_of(base).values()]

    def _look_at_module(self, value: ModuleType) -> None:
        root = value.__name__.partition(".")[0]
        if root in _ASKING_NOTHING:
            return
        if is_installed(root):
            raise _UnknownError
        self._holders.append(value)


def _captured(function: FunctionType) -> list[Any]:
    found = []
    for cell in function.__closure__ or ():
        try:
            found.append(cell.cell_contents)
        except ValueError:  # not yet assigned
            continue
    return found
