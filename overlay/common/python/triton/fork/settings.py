"""The environment variables that switch parts of the fork off.

Every part that changes how Triton does something asks here whether it is on. A value of ``0``, ``false``, ``off`` or ``no``
restores the base's path; anything else, or no value, leaves the part on. ``TRITON_FORK=0`` switches everything off at once,
``TRITON_FORK_FIXES=0`` all corrections. The variable of a correction has the name of its patch.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Literal

__all__ = ["SWITCHES", "Switch", "at_import", "enabled", "in_force", "installation"]


class Switch:
    """A part of the fork that an environment variable turns off.

    :param name: The variable.
    :param part: What the part does when it is on.
    :param needs: Another switch without which the part is off too.
    :param read: When the variable is read: ``"use"``, whenever the part has something to do, or ``"import"``, once, with the
        part's module.
    """

    def __init__(self, name: str, part: str, needs: str | None = None, read: Literal["import", "use"] = "use") -> None:
        self.name, self.part, self.needs, self.read = name, part, needs, read


#: Name of the environment variable -> the switch.
SWITCHES: dict[str, Switch] = {
    switch.name: switch
    for switch in (
        Switch("TRITON_FORK", "all parts below"),
        Switch(
            "TRITON_FORK_INSTALLATION_KEY",
            "remember the digests of the installed files instead of reading 415 MB in every process",
        ),
        Switch("TRITON_FORK_LAZY_IMPORTS", "import modules when they are first used"),
        Switch("TRITON_FORK_DEFERRED_SOURCE", "take a kernel's source out of its file when it is first asked for"),
        Switch("TRITON_FORK_BACKEND_DISCOVERY", "read the entry points of backends without importlib.metadata"),
        Switch("TRITON_FORK_TOOL_ANSWERS", "remember what ptxas --version and ldconfig -p answered"),
        Switch(
            "TRITON_FORK_SOURCE_KEYS",
            "keys of sources worked out in one pass over the tree that is compiled",
            needs="TRITON_FORK_FIX_KEY_HOLDS_EVERY_VALUE",
        ),
        Switch(
            "TRITON_FORK_VISIT",
            "code generation: warning filters set once a function, locations when used, nodes dispatched in place",
        ),
        Switch(
            "TRITON_FORK_SIGNATURES", "signatures of builtins inspected once, of member functions of tensors not at all"
        ),
        Switch("TRITON_FORK_PARSE", "code generation: one parse per source"),
        Switch("TRITON_FORK_LOOPS", "code generation: loop bodies generated once"),
        Switch(
            "TRITON_FORK_LAZY_TYPES",
            "code generation: names of types and shapes of tensors made when asked for",
            read="import",
        ),
        Switch(
            "TRITON_FORK_PLAIN_VALUES",
            "code generation: short ways for integers, constants, scalar types and names",
            read="import",
        ),
        Switch(
            "TRITON_FORK_VALUES",
            "code generation: values copied and shared without the types of their fields",
            needs="TRITON_FORK_LAZY_TYPES",
            read="import",
        ),
        Switch(
            "TRITON_FORK_CALLS", "code generation: names and types of called functions worked out once", read="import"
        ),
        Switch("TRITON_FORK_METADATA", "one class for the metadata of kernels with the same fields"),
        Switch(
            "TRITON_FORK_LAUNCH_METADATA",
            "metadata of launches made for hooks only where there are some",
            read="import",
        ),
        Switch("TRITON_FORK_NATIVE", "driver utilities and launchers without a C compiler"),
        Switch(
            "TRITON_FORK_DISPATCH",
            "launches of kinds that are known, done by the extension from the arguments on",
            needs="TRITON_FORK_NATIVE",
            read="import",
        ),
        Switch("TRITON_FORK_FIXES", "all corrections below; a fault of the base is back where one is off"),
        Switch("TRITON_FORK_FIX_KEY_HOLDS_EVERY_VALUE", "every value that a kernel reads is in its key", read="import"),
        Switch(
            "TRITON_FORK_FIX_KEY_OF_CYCLES",
            "whole keys for functions that call each other, worked out without a lock",
            read="import",
        ),
        Switch("TRITON_FORK_FIX_KEY_OF_CONSTANTS", "constants in keys by type and content", read="import"),
        Switch(
            "TRITON_FORK_FIX_EQUAL_CONSTANTS",
            "launches tell constants apart that are equal but not the same",
            read="import",
        ),
        Switch("TRITON_FORK_FIX_CACHE_NOT_WRITABLE", "a cache that cannot be written is no error", read="import"),
        Switch("TRITON_FORK_FIX_CACHE_DAMAGED", "damaged entries of the cache are compiled again", read="import"),
        Switch(
            "TRITON_FORK_FIX_CACHE_DAMAGED_LIBRARIES", "damaged libraries in the cache are built again", read="import"
        ),
        Switch(
            "TRITON_FORK_FIX_CACHE_DAMAGED_TIMINGS", "damaged timings of an autotuner are measured again", read="import"
        ),
        Switch(
            "TRITON_FORK_FIX_CALLED_FUNCTIONS_TOLD_APART", "called functions of one name are told apart", read="import"
        ),
        Switch(
            "TRITON_FORK_FIX_REBOUND_CELLS",
            "variables of functions around a kernel may be bound anew",
            needs="TRITON_FORK_FIX_KEY_OF_CYCLES",
            read="import",
        ),
    )
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
# Name of a switch that was read for good -> whether the part is on.
_read: dict[str, bool] = {}


def enabled(name: str) -> bool:
    """Tell whether a part is switched on, by its variable as it is now.

    :param name: The name of a switch.
    :raises KeyError: There is no such switch.
    """
    needs = SWITCHES[name].needs
    above = ("TRITON_FORK", "TRITON_FORK_FIXES") if name.startswith(_FIX) else ("TRITON_FORK",)
    on = all(os.environ.get(variable, "1").lower() not in _OFF for variable in (*above, name))
    return on and (needs is None or in_force(needs))


def at_import(name: str) -> bool:
    """Read a switch once, for a part that cannot change its mind later.

    :param name: The name of a switch that says so.
    :returns: The same each time.
    """
    return _read.setdefault(name, enabled(name))


def in_force(name: str) -> bool:
    """Tell whether a part is on in this process: as it was read, where it is read once.

    :param name: The name of a switch.
    """
    return _read[name] if name in _read else enabled(name)


def installation(base: Callable[[], str]) -> Callable[[], str]:
    """Let the key of the installation say which corrections of generated code and of its keys are off.

    Without these, wrong code is stored under keys that are right with them. With all of them on the key is what it was.

    :param base: What works the key out.
    """
    missing = "".join(f"-without-{name}" for name in _OF_CODE if not in_force(name))
    return (lambda: base() + missing) if missing else base
