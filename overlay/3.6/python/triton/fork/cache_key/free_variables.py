"""What the key of a kernel says of the values that its source names.

Two programs may share cached code only when every value that the source reads is the same. This module looks names up as
Python does and says which values belong into a key. The hooks are in ``triton/runtime/jit.py``: ``DependenciesFinder`` and
``JITCallable.cache_key``.

Mirrors python/triton/runtime/jit.py: DependenciesFinder.visit_Name, JITCallable.cache_key
"""

from __future__ import annotations

import ast
from collections.abc import Container, Mapping
from typing import Any

from triton.fork.cache_key import value_texts
from triton.fork.cache_key.names_asked import names_of_source
from triton.fork.python.interruptions import pass_on
from triton.fork.settings import at_import

__all__ = [
    "ON",
    "SWITCH",
    "is_key_part",
    "key_text",
    "look_up",
    "own_texts",
    "parameters",
    "read_by_name",
    "reads_by_name",
    "text_of_values",
]

#: The environment variable that leaves it to the base which values are in a key; read when this module is imported.
SWITCH = "TRITON_FORK_FIX_KEY_HOLDS_EVERY_VALUE"

ON = at_import(SWITCH)


def look_up(
    name: str, nonlocals: Mapping[str, Any], global_values: Mapping[str, Any]
) -> tuple[Any, Mapping[str, Any] | None]:
    """Find the value of a free variable: closure first, then the module; a value of ``None`` counts.

    :param name: The variable; the caller has already ruled out a local one.
    :param nonlocals: The closure of the function, by name.
    :param global_values: The module of the function, by name.
    :returns: The value and the mapping that holds it; ``(None, None)`` for a builtin or an unknown name.
    """
    if not ON:  # the base's way, for which there is nothing that is None
        scopes = [scope for scope in (global_values, nonlocals) if scope.get(name) is not None]
        return (scopes[0][name], scopes[0]) if scopes else (None, None)
    for scope in (nonlocals, global_values):
        if name in scope:
            return scope[name], scope
    return None, None


def is_key_part(value: object) -> bool:
    """Tell whether a value that replaces a supported builtin (a function named ``max``, say) is looked at like any other."""
    from triton.language.core import constexpr
    from triton.runtime.jit import JITCallable

    return ON and isinstance(value, (JITCallable, constexpr))


def parameters(arguments: ast.arguments) -> set[str]:
    """Give the names that hide globals.

    :param arguments: The parameters of a function.
    """
    plain = {argument.arg for argument in arguments.args}
    if not ON:
        return plain
    rest = (*arguments.posonlyargs, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg)
    return plain | {argument.arg for argument in rest if argument is not None}


def reads_by_name(call: ast.Call, local_names: Container[str]) -> bool:
    """Tell whether a call is ``getattr(object, name)`` or ``hasattr``, which Triton answers while compiling.

    :param call: The call.
    :param local_names: What hides builtins.
    """
    function = call.func
    return (
        ON
        and isinstance(function, ast.Name)
        and function.id in ("getattr", "hasattr")
        and function.id not in local_names
        and len(call.args) > 1
    )


def read_by_name(finder: Any, holder: Any, name: ast.expr) -> Any:
    """Let a finder record an attribute that is read by its name.

    :param finder: A ``DependenciesFinder``.
    :param holder: What the attribute is read from; ``None`` where that is not known.
    :param name: The expression of the name. Where it is no literal, all that the holder has may be meant.
    :returns: The attribute, ``None`` where it is not known.
    """
    if holder is None or getattr(holder, "__name__", "") in finder.supported_modules:
        return None
    if not isinstance(name, ast.Constant) or not isinstance(name.value, str):
        finder.unrecorded.append(value_texts.text_of_attributes(holder))
        return None
    try:
        value = getattr(holder, name.value)
    except Exception as error:  # of anybody's code; in a branch that is compiled it fails by itself
        pass_on(error)
        finder.unrecorded.append(f"no {name.value}")
        return None
    # A plain function that is read by its name may be called, other than one that is named.
    if not callable(value) or isinstance(value, type) or is_key_part(value):
        finder.record_reference(value)
    finder.record_text(value)
    return value


def own_texts(function: Any) -> list[str]:
    """Give texts of what belongs to a function but is no part of its source.

    :param function: A ``JITCallable``.
    """
    plain = function.fn
    defaults = [*(getattr(plain, "__defaults__", None) or ()), *(getattr(plain, "__kwdefaults__", None) or {}).values()]
    return [value_texts.text_of_default(value) for value in defaults]


def key_text(recorded: Mapping[tuple[str, int], Any], unrecorded: list[str], function: Any) -> str:
    """Give the part of a key that stands for the values of free variables.

    :param recorded: Name and ``id`` of the scope -> value, for what the function itself reads (what it calls has a key of
        its own). The ``id`` never enters the text, nor does it decide the order.
    :param unrecorded: Texts of the values that are used but not watched for changes, in the order of the source.
    :param function: The ``JITCallable``.
    """
    if not recorded and not unrecorded:
        return "[]"
    from triton.language.core import constexpr

    names = names_of_source(function)
    constexprs, others = [], []
    for (name, _), value in recorded.items():
        if isinstance(value, constexpr):
            constexprs.append(f"({name!r}, {value_texts.constant_text(value, names)})")
        elif (text := value_texts.text_of_read(value, names=names)) is not None:
            others.append(f"({name!r}, {text})")
    text = f"[{', '.join(sorted(constexprs))}]"
    if others or unrecorded:
        text += f"; {sorted(others)}; {unrecorded}"
    return text


def text_of_values(finder: Any, function: Any) -> str:
    """Give the part of a function's key that stands for the values that it names.

    :param finder: The ``DependenciesFinder`` that has visited its source.
    :param function: The ``JITCallable``.
    """
    if ON:
        return key_text(finder.own_global_vals, finder.unrecorded + own_texts(function), function)
    from triton.language.core import constexpr

    found = [(name, value) for (name, _), (value, _) in sorted(finder.used_global_vals.items())]
    return str([pair for pair in found if isinstance(pair[1], constexpr)])
