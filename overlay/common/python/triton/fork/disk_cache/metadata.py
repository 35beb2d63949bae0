"""The class of a kernel's metadata, made once for each set of fields.

``collections.namedtuple`` writes and compiles a function for every class, and the fields are the same for nearly all kernels of a
process.

Mirrors python/triton/compiler/compiler.py: CompiledKernel.__init__
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Iterable
from typing import Any

from triton.fork.settings import enabled

__all__ = ["SWITCH", "metadata_class"]

#: The environment variable that makes every kernel have a class of its own, as in the base.
SWITCH = "TRITON_FORK_METADATA"

_MOST_CLASSES = 64
_classes: dict[tuple[str, ...], type[Any]] = {}


def metadata_class(fields: Iterable[str]) -> type[Any]:
    """Give a named tuple called ``KernelMetadata``.

    :param fields: The names of its fields; they are sorted.
    """
    names = tuple(sorted(fields))
    if enabled(SWITCH) and names in _classes:
        return _classes[names]
    made: type[Any] = namedtuple("KernelMetadata", names, module="triton.compiler.compiler")  # type: ignore[misc]
    if len(_classes) < _MOST_CLASSES:
        _classes[names] = made
    return made
