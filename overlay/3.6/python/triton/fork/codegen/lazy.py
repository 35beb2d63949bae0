"""Make what is rarely asked for when it is asked for: the names of types, the types of constants, the shapes of tensors.

A Gluon attention kernel makes thousands of tuple types and tensors; the base gives each a name or a tuple of constants that
nothing reads.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from triton.fork._switches import enabled

__all__ = ["EAGER", "SWITCH", "ComputedOnce"]

#: The environment variable that makes everything at once, as the base does; read when ``triton.language`` is imported.
SWITCH = "TRITON_FORK_LAZY_TYPES"

#: Whether the classes of ``triton.language`` fill in these attributes when an object is made.
EAGER = not enabled(SWITCH)


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
