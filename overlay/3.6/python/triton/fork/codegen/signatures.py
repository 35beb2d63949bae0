"""Find out once per function, instead of once per call, which builder arguments it wants to be given.

The code generator passes ``_semantic`` and ``_generator`` to the builtins that have parameters of these names, and asks
:func:`inspect.signature` about it at every call.
"""

from __future__ import annotations

import inspect
import types
import weakref
from typing import Any

from triton.fork._switches import enabled

__all__ = ["SWITCH", "parameter_names"]

#: The environment variable that makes every call inspect the signature, as the base does.
SWITCH = "TRITON_FORK_SIGNATURES"

#: What a signature is read from: the code object, ``__wrapped__`` and ``__signature__``.
_Origin = tuple[Any, Any, Any]

# Keyed weakly by the function itself: an entry goes with its function, and no other function can have its key.
_known: weakref.WeakKeyDictionary[types.FunctionType, tuple[_Origin, frozenset[str]]] = weakref.WeakKeyDictionary()


def parameter_names(function: Any) -> frozenset[str]:
    """Give the names of the parameters that a call of ``function`` can name.

    :param function: Anything that :func:`inspect.signature` accepts.
    :raises TypeError: As :func:`inspect.signature` does.
    :raises ValueError: As :func:`inspect.signature` does.
    """
    if not enabled(SWITCH):
        return _inspect(function)
    plain = function.__func__ if type(function) is types.MethodType else function
    if type(plain) is not types.FunctionType:
        return _inspect(function)
    attributes = plain.__dict__
    origin = (plain.__code__, attributes.get("__wrapped__"), attributes.get("__signature__"))
    entry = _known.get(plain)
    if entry is None or any(known is not now for known, now in zip(entry[0], origin)):
        # The first parameter of a bound method is left in: it is its ``self``, which no call passes by name.
        entry = (origin, _inspect(plain))
        _known[plain] = entry
    return entry[1]


def _inspect(function: Any) -> frozenset[str]:
    return frozenset(inspect.signature(function).parameters)
