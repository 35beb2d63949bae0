"""What a loop needs to know of the handles in frontend values."""

from __future__ import annotations

import types
from collections.abc import Collection
from typing import Any

__all__ = ["Handles", "flatten", "is_known", "is_value", "share_handles", "with_handles"]

Handles = list[Any]

_PLAIN_TYPES = frozenset({type(None), bool, int, float, str, types.ModuleType})


def flatten(value: Any) -> Handles:
    """Give the handles of a frontend value."""
    handles: Handles = []
    value._flatten_ir(handles)
    return handles


def is_value(value: Any) -> bool:
    """Tell whether something is a frontend value."""
    from triton.language.core import base_value

    return isinstance(value, base_value)


def is_known(value: Any) -> bool:
    """Tell whether all handles that can be reached through a variable are those it flattens to."""
    from triton.language.core import constexpr, dtype
    from triton.runtime.jit import JITCallable

    if isinstance(value, constexpr):
        return not _holds_handles(value.value)
    return is_value(value) or type(value) in _PLAIN_TYPES or isinstance(value, (dtype, JITCallable))


def _holds_handles(value: Any) -> bool:
    from triton.language.core import tuple as language_tuple

    if isinstance(value, (list, tuple, language_tuple)):  # items of a constant may be of any class
        return any(_holds_handles(item) for item in value)
    return is_value(value) and bool(flatten(value))


def share_handles(live: dict[str, Handles], names: Collection[str]) -> bool:
    """Tell whether a handle of the named variables is also one of another variable, or there twice."""
    uses: dict[Any, int] = {}
    for handles in live.values():
        for handle in handles:
            uses[handle] = uses.get(handle, 0) + 1
    return any(uses[handle] > 1 for name in names for handle in live[name])


def with_handles(value: Any, replaced: dict[Any, Any]) -> Any:
    """Give a value with some of its handles replaced."""
    handles = flatten(value)
    if not any(handle in replaced for handle in handles):
        return value
    new_value, _ = value.type._unflatten_ir([replaced.get(handle, handle) for handle in handles], 0)
    return new_value
