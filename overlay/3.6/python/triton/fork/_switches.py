"""The environment variables that switch parts of the fork off.

Every part that changes how Triton does something asks here whether it is on. A value of ``0``, ``false``, ``off`` or ``no``
restores the base's path; anything else, or no value, leaves the part on. ``TRITON_FORK=0`` switches everything off at once,
``TRITON_FORK_FIXES=0`` all corrections. The variable of a correction has the name of its patch.
"""

from __future__ import annotations

import os
from collections.abc import Callable

__all__ = ["SWITCHES", "enabled", "installation"]

#: Name of the environment variable -> what the part does when it is on.
SWITCHES: dict[str, str] = {
    "TRITON_FORK": "all parts below",
    "TRITON_FORK_INSTALLATION_KEY": "remember the digests of the installed files instead of reading 415 MB in every process",
    "TRITON_FORK_LAZY_IMPORTS": "import modules when they are first used",
    "TRITON_FORK_DEFERRED_SOURCE": "take a kernel's source out of its file when it is first asked for",
    "TRITON_FORK_BACKEND_DISCOVERY": "read the entry points of backends without importlib.metadata",
    "TRITON_FORK_TOOL_ANSWERS": "remember what ptxas --version and ldconfig -p answered",
    "TRITON_FORK_SOURCE_KEYS": "keys of sources worked out in one pass over the tree that is compiled",
    "TRITON_FORK_VISIT": "code generation: warning filters set once a function, locations when used, nodes dispatched in place",
    "TRITON_FORK_SIGNATURES": "signatures of builtins inspected once, of member functions of tensors not at all",
    "TRITON_FORK_PARSE": "code generation: one parse per source",
    "TRITON_FORK_LOOPS": "code generation: loop bodies generated once",
    "TRITON_FORK_LAZY_TYPES": "code generation: names of types and shapes of tensors made when asked for",
    "TRITON_FORK_PLAIN_VALUES": "code generation: short ways for integers, constants, scalar types and names",
    "TRITON_FORK_VALUES": "code generation: values copied and shared without the types of their fields",
    "TRITON_FORK_CALLS": "code generation: names and types of called functions worked out once",
    "TRITON_FORK_METADATA": "one class for the metadata of kernels with the same fields",
    "TRITON_FORK_LAUNCH_METADATA": "metadata of launches made for hooks only where there are some",
    "TRITON_FORK_NATIVE": "driver utilities and launchers without a C compiler",
    "TRITON_FORK_FIXES": "all corrections below; a fault of the base is back where one is off",
    "TRITON_FORK_FIX_KEY_HOLDS_EVERY_VALUE": "every value that a kernel reads is in its key",
    "TRITON_FORK_FIX_KEY_OF_CYCLES": "whole keys for functions that call each other, worked out without a lock",
    "TRITON_FORK_FIX_KEY_OF_CONSTANTS": "constants in keys by type and content",
    "TRITON_FORK_FIX_EQUAL_CONSTANTS": "launches tell constants apart that are equal but not the same",
    "TRITON_FORK_FIX_CACHE_NOT_WRITABLE": "a cache that cannot be written is no error",
    "TRITON_FORK_FIX_CACHE_DAMAGED": "damaged entries of the cache are compiled again",
    "TRITON_FORK_FIX_CACHE_DAMAGED_LIBRARIES": "damaged libraries in the cache are built again",
    "TRITON_FORK_FIX_CACHE_DAMAGED_TIMINGS": "damaged timings of an autotuner are measured again",
    "TRITON_FORK_FIX_CALLED_FUNCTIONS_TOLD_APART": "called functions of one name are told apart",
    "TRITON_FORK_FIX_REBOUND_CELLS": "variables of functions around a kernel may be bound anew; needs KEY_OF_CYCLES",
}

_FIX = "TRITON_FORK_FIX_"
_OF_CODE = (
    "TRITON_FORK_FIX_KEY_HOLDS_EVERY_VALUE",
    "TRITON_FORK_FIX_KEY_OF_CYCLES",
    "TRITON_FORK_FIX_KEY_OF_CONSTANTS",
    "TRITON_FORK_FIX_CALLED_FUNCTIONS_TOLD_APART",
    "TRITON_FORK_FIX_REBOUND_CELLS",
)
_OFF = frozenset({"0", "false", "off", "no"})


def enabled(name: str) -> bool:
    """Tell whether a part is switched on.

    :param name: The name of a variable in :data:`SWITCHES`.
    :raises KeyError: The name is not in :data:`SWITCHES`.
    """
    SWITCHES[name]
    above = ("TRITON_FORK", "TRITON_FORK_FIXES") if name.startswith(_FIX) else ("TRITON_FORK",)
    return all(os.environ.get(variable, "1").lower() not in _OFF for variable in (*above, name))


def installation(base: Callable[[], str]) -> Callable[[], str]:
    """Let the key of the installation say which corrections of generated code and of its keys are off.

    Without these, wrong code is stored under keys that are right with them. With all of them on the key is what it was.

    :param base: What works the key out.
    """
    missing = "".join(f"-without-{name}" for name in _OF_CODE if not enabled(name))
    return (lambda: base() + missing) if missing else base
