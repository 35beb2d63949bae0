"""Make what is rarely asked for when it is asked for: the names of types, the types of constants, the shapes of tensors.

A Gluon attention kernel makes thousands of tuple types and tensors; the base gives each a name or a tuple of constants that
nothing reads.  What is made while no kernel is generated has everything at once, as in the base: others may inspect, copy or
pickle it, and Dynamo traces into it.

Mirrors python/triton/language/core.py: block_type.__init__, tuple_type.__init__, tensor.__init__
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import Any

from triton.fork.settings import at_import

__all__ = ["EAGER", "ON", "SWITCH", "ComputedOnce", "begin", "end"]

#: The environment variable that makes everything at once, as the base does; read when ``triton.language`` is imported.
SWITCH = "TRITON_FORK_LAZY_TYPES"

#: Whether these attributes wait while a kernel is generated.
ON = at_import(SWITCH)

#: Whether the classes of ``triton.language`` fill in these attributes when an object is made: while no thread generates a kernel.
EAGER = True

_lock = threading.Lock()
_kernels = 0


def begin() -> None:
    """Note that a kernel is generated from now on."""
    _count(1)


def end() -> None:
    """Note that a kernel is generated no longer."""
    _count(-1)


def _count(more: int) -> None:
    global EAGER, _kernels
    with _lock:
        _kernels += more
        EAGER = not ON or _kernels <= 0


def _start_afresh() -> None:
    """In a forked child: forget the kernels that other threads of the parent were generating, and their lock."""
    global EAGER, _kernels, _lock
    _lock = threading.Lock()
    EAGER, _kernels = True, 0


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_start_afresh)


class ComputedOnce:
    """An attribute that is computed when it is first read, and then is an ordinary attribute of the object.

    Assigning it works as for an ordinary attribute.  The class has this object under the name, as it would have a property.

    :param compute: Gives the value for an object.
    """

    def __init__(self, compute: Callable[[Any], Any]) -> None:
        self._compute = compute
        self.__doc__ = compute.__doc__
        self._name = compute.__name__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, instance: Any, owner: type) -> Any:
        if instance is None:
            return self
        value = instance.__dict__[self._name] = self._compute(instance)
        return value
