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
