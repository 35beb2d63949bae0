"""Modules and names that are imported when they are first used."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

from triton.fork.settings import enabled

__all__ = ["lazy_imports_enabled", "lazy_module", "lazy_names", "lazy_subpackages"]


def lazy_imports_enabled() -> bool:
    """Tell whether packages leave modules to their first use (``TRITON_FORK_LAZY_IMPORTS``)."""
    return enabled("TRITON_FORK_LAZY_IMPORTS")


class _LazyModule(ModuleType):
    """Stands for a module that is not imported yet; reading or setting an attribute imports it and goes through to it."""

    def __getattribute__(self, name: str) -> Any:
        if name in {"__class__", "__name__"}:
            return ModuleType.__getattribute__(self, name)
        return getattr(importlib.import_module(ModuleType.__getattribute__(self, "__name__")), name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(importlib.import_module(self.__name__), name, value)

    def __delattr__(self, name: str) -> None:
        delattr(importlib.import_module(self.__name__), name)

    def __dir__(self) -> list[str]:
        return dir(importlib.import_module(self.__name__))

    def __reduce__(self) -> tuple[Callable[[str], ModuleType], tuple[str]]:
        return importlib.import_module, (self.__name__,)


def lazy_module(name: str) -> ModuleType:
    """Return a module, or what stands for it until its first use.

    :param name: The full name of the module, one that can be imported without side effects.
    :returns: The module itself where it is imported already, or with ``TRITON_FORK_LAZY_IMPORTS=0``.
    """
    loaded = sys.modules.get(name)
    if loaded is not None:
        return loaded
    return _LazyModule(name) if lazy_imports_enabled() else importlib.import_module(name)


def lazy_subpackages(package: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Make the ``__getattr__`` and ``__dir__`` of a package that imports its subpackages on first access.

    :param package: The name of the package, whose ``__all__`` is to be the list of the full names of its subpackages.
    """
    namespace = sys.modules[package].__dict__

    def names() -> list[str]:
        import pkgutil

        return [name for _, name, is_package in pkgutil.iter_modules(namespace["__path__"]) if is_package]

    def __getattr__(name: str) -> Any:  # noqa: N807 (the name that Python looks for)
        if name == "__all__":
            return [f"{package}.{found}" for found in names()]
        if name.startswith("_") or name not in names():
            raise AttributeError(f"module {package!r} has no attribute {name!r}", name=name, obj=sys.modules[package])
        return importlib.import_module(f"{package}.{name}")

    def __dir__() -> list[str]:  # noqa: N807 (the name that Python looks for)
        return sorted({*namespace, *names()})

    return __getattr__, __dir__


def lazy_names(package: str, origins: dict[str, str]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Make the ``__getattr__`` and ``__dir__`` of a package that imports some of its names on first access (PEP 562).

    :param package: The name of the package.
    :param origins: Name -> the module it comes from, relative to the package; ``"."`` where it is itself a submodule.
    """
    namespace = sys.modules[package].__dict__

    def __getattr__(name: str) -> Any:  # noqa: N807 (the name that Python looks for)
        origin = origins.get(name)
        if origin is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}", name=name, obj=sys.modules[package])
        if origin == ".":
            value: Any = importlib.import_module(f"{package}.{name}")
        else:
            value = getattr(importlib.import_module(origin, package), name)
        namespace[name] = value
        return value

    def __dir__() -> list[str]:  # noqa: N807 (the name that Python looks for)
        return sorted(namespace.keys() | origins.keys())

    return __getattr__, __dir__
