"""The environment variables that switch parts of the fork off.

Every part that changes how Triton does something asks here whether it is on. A value of ``0``, ``false``, ``off`` or ``no``
restores the base's path; anything else, or no value, leaves the part on. ``TRITON_FORK=0`` switches everything off at once.
"""

from __future__ import annotations

import os

__all__ = ["SWITCHES", "enabled"]

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
}

_OFF = frozenset({"0", "false", "off", "no"})


def enabled(name: str) -> bool:
    """Tell whether a part is switched on.

    :param name: The name of a variable in :data:`SWITCHES`.
    :raises KeyError: The name is not in :data:`SWITCHES`.
    """
    SWITCHES[name]
    environ = os.environ
    return environ.get("TRITON_FORK", "1").lower() not in _OFF and environ.get(name, "1").lower() not in _OFF
