"""Backends of this package whose modules are imported when they are first used.

Mirrors python/triton/backends/__init__.py: _discover_backends, _find_concrete_subclasses
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Iterator
from typing import Any

from triton.backends import Backend, _find_concrete_subclasses
from triton.backends.compiler import BaseBackend, GPUTarget
from triton.backends.driver import DriverBase
from triton.fork.startup.lazy_import import lazy_imports_enabled

__all__ = ["LazyBackend", "lazy_backend", "package_of", "possible"]

#: The backends that come with Triton -> the only target that each supports.
_TARGETS = {"triton.backends.nvidia": "cuda", "triton.backends.amd": "hip"}
_BASES: dict[str, Any] = {"compiler": BaseBackend, "driver": DriverBase}


class LazyBackend(Backend):  # type: ignore[misc]  # the base is untyped
    """A backend whose compiler and driver classes are found when they are first asked for."""

    package: str

    def __init__(self, package: str) -> None:
        object.__setattr__(self, "package", package)

    def __getattr__(self, name: str) -> Any:
        if name not in _BASES:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}", name=name, obj=self)
        module = importlib.import_module(f"{self.package}.{name}")
        found = _find_concrete_subclasses(module, _BASES[name])
        object.__setattr__(self, name, found)
        return found


def lazy_backend(package: str) -> LazyBackend | None:
    """Return a backend to be loaded later, if it is one of Triton's own.

    :param package: The package of the backend.
    :returns: ``None`` for other packages, and with ``TRITON_FORK_LAZY_IMPORTS=0``.
    """
    return LazyBackend(package) if package in _TARGETS and lazy_imports_enabled() else None


def possible(backends: Iterable[Backend], target: GPUTarget) -> Iterator[Backend]:
    """Leave out the backends that need not be loaded to tell that they do not support a target.

    :param backends: All backends.
    :param target: The target to compile for.
    """
    for backend in backends:
        loaded = "compiler" in vars(backend)
        if loaded or not isinstance(backend, LazyBackend) or _TARGETS[backend.package] == target.backend:
            yield backend


def package_of(backend: Backend) -> str:
    """Return the name of the package of a backend, without loading it.

    :param backend: The backend.
    """
    if isinstance(backend, LazyBackend):
        return backend.package
    return str(backend.compiler.__module__.rpartition(".")[0])
