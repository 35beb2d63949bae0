"""Texts of functions and classes for the keys of kernels: what they are made of, not what they are called.

A kernel may have them as constants, call them while it is compiled, or read what they hold.
"""

from __future__ import annotations

import dataclasses
import enum
import hashlib
import sys
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any

from triton.fork.cache_key.descriptions import Parts
from triton.fork.python.code_uses import uses_of
from triton.fork.python.static_look import attributes_of, found_in, function_of, members_of, mro_of, name_of

__all__ = [
    "SIMPLE",
    "class_parts",
    "code_parts",
    "function_parts",
    "is_data",
    "is_installed",
    "may_be_asked",
    "method_parts",
]

#: Types whose values have no parts.
SIMPLE = (bool, int, float, complex, type(None), str, bytes, type(Ellipsis), range, slice)
# Methods that make an object, or copy it, and are not called on one that is there.
_MAKERS = frozenset(
    [
        "__init__",
        "__new__",
        "__post_init__",
        "__init_subclass__",
        "__set_name__",
        "__setstate__",
        "__getstate__",
        "__reduce__",
        "__reduce_ex__",
        "__copy__",
        "__deepcopy__",
        "__del__",
        "__setattr__",
        "__delattr__",
    ]
)


def is_data(value: Any) -> bool:
    """Tell whether a value that kernels name without wrapping it in ``constexpr`` belongs into the key.

    Kernels reach these through modules, defaults and closures. Anything else (a logger, a table that changes as the
    program runs) cannot reach the code and would only spoil the key.

    :param value: Anything. Its class is asked.
    """
    from triton.language.core import constexpr, dtype

    kinds = (*SIMPLE, dtype, constexpr, enum.Enum)
    if not issubclass(type(value), tuple):
        return issubclass(type(value), kinds)
    left, seen = [value], {id(value)}
    while left:
        for item in tuple.__iter__(left.pop()):
            if issubclass(type(item), tuple):
                if id(item) not in seen:
                    seen.add(id(item))
                    left.append(item)
            elif not issubclass(type(item), kinds):
                return False
    return True


def is_installed(module: Any) -> bool:
    """Tell whether the module of a class or function comes with Python or Triton, which are in the key as a whole.

    :param module: Its name.
    """
    root = str(module).partition(".")[0]
    return root == "triton" or root in sys.stdlib_module_names


def _edition(module: str) -> str | None:
    """Give what stands for all of a package that was installed: going through it would take too long.

    :param module: The name of a module.
    :returns: ``None`` for a program's own modules.
    """
    root = sys.modules.get(module.partition(".")[0])
    held = (attributes_of(root) if type(root) is ModuleType else None) or {}
    path = str(held.get("__file__"))
    if "site-packages" not in path and "dist-packages" not in path:
        return None
    return f"{held.get('__name__', '')} {held.get('__version__', '')}"


def class_parts(kind: type, names: frozenset[str] | None = None, siblings: bool = True) -> Parts:
    """Describe the methods and the plain values of a class: a kernel may call the one and read the other.

    :param kind: The class.
    :param names: What code may ask instances for; ``None`` where that is not known, or code has the class itself.
    :param siblings: Whether what the class holds that is no method is described: of an enumeration that is the other members.
    """
    parts = []
    for base in mro_of(kind):
        module, name = name_of(base)
        if is_installed(module):
            continue
        edition = _edition(module)
        if edition is not None:
            parts.append(f"{name} of {edition}")
            continue
        for member_name, member in sorted(members_of(base).items()):
            if names is not None and not may_be_asked(member_name, names):
                continue
            function = function_of(member) or _kernel_function_of(member)
            if function is not None:
                parts.append(f"{member_name}={(yield function)}")
            elif siblings and not member_name.startswith("__") and is_data(member):
                parts.append(f"{member_name}={(yield member)}")
    return hashlib.sha256("; ".join(parts).encode()).hexdigest()


def _kernel_function_of(member: Any) -> Any:
    """Give the function of kernels that a member of a class is, also as a static method."""
    from triton.runtime.jit import JITCallable

    function = member.__func__ if type(member) in (staticmethod, classmethod) else member
    return function if issubclass(type(function), JITCallable) else None


def may_be_asked(name: str, names: frozenset[str]) -> bool:
    """Tell whether code that uses some names may use a member of a class: by its name, or with a sign of the language.

    :param name: The name of the member.
    :param names: What the code uses.
    """
    if name in _MAKERS:
        return False
    return name in names or (name.startswith("__") and name.endswith("__"))


def function_parts(function: FunctionType) -> Parts:
    """Describe a Python function by its code, its defaults, and the values that it names.

    :param function: The function.
    """
    name = f"function {function.__module__}.{function.__qualname__}"
    if is_installed(function.__module__):
        return name
    code = yield function.__code__
    defaults = yield function.__defaults__
    by_name = yield function.__kwdefaults__
    parts = [code, defaults, by_name]
    tested = uses_of(function.__code__).tested
    for held_name, value in sorted(_values_named(function).items()):
        if held_name in tested and issubclass(type(value), type):
            parts.append(f"{held_name}={'.'.join(name_of(value))}")
        elif _may_decide(value):
            parts.append(f"{held_name}={(yield value)}")
    return f"{name} {hashlib.sha256('; '.join(parts).encode()).hexdigest()}"


def code_parts(code: CodeType) -> Parts:
    """Describe code by what it does and with which constants."""
    constants = []
    for constant in code.co_consts:
        constants.append((yield constant))  # noqa: PERF401 - the texts are sent
    return f"{code.co_code.hex()} {code.co_names} {code.co_varnames} {constants}"


def method_parts(value: MethodType) -> Parts:
    """Describe a bound method.

    :param value: The method.
    """
    owner = yield value.__self__
    function = yield value.__func__
    return f"method of {owner}: {function}"


def _names_in(code: CodeType) -> set[str]:
    names, left = set[str](), [code]
    while left:
        one = left.pop()
        names.update(one.co_names)
        left += [constant for constant in one.co_consts if type(constant) is CodeType]
    return names


def _values_named(function: FunctionType) -> dict[str, Any]:
    """Give what the names in a function's code mean: globals, what modules among these hold, and the closure."""
    names, scope = sorted(_names_in(function.__code__)), function.__globals__
    named = {name: scope[name] for name in names if name in scope}
    for holder_name, holder in list(named.items()):
        if type(holder) is ModuleType and not is_installed(holder.__name__) and _edition(holder.__name__) is None:
            held = vars(holder)
            named.update({f"{holder_name}.{name}": held[name] for name in names if name in held})
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=False):
        try:
            named[name] = cell.cell_contents
        except ValueError:  # not yet assigned
            continue
    return named


def _may_decide(value: Any) -> bool:
    """Tell whether a value that a plain function names is looked at: not what changes as the program runs, a logger say."""
    from triton.runtime.jit import JITCallable

    kind = type(value)
    if issubclass(kind, (FunctionType, MethodType, type, tuple, list, dict, set, frozenset, JITCallable)):
        return True
    return is_data(value) or found_in(kind, dataclasses._FIELDS) is not None  # type: ignore[attr-defined]
