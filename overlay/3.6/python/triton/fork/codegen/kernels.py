"""What holds for one kernel while it is generated: its switches, which code generators are plain, which values are shared."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

from triton.fork import settings
from triton.fork.codegen import lazy
from triton.fork.state.current_kernel import state

__all__ = ["Changed", "Kernel", "enabled", "whole_kernel"]

Function = TypeVar("Function", bound=Callable[..., Any])


class Changed(BaseException):
    """An aggregate that had been shared was changed: the kernel has to be generated without sharing."""


class Kernel:
    """One kernel.

    :param source: What it is made of, an ``ASTSource``.
    :param shares: Whether aggregates of constants are shared.
    """

    def __init__(self, source: Any, shares: bool) -> None:
        self.source = source
        self.shares = shares
        #: Whether one of them was changed, also when a function that did so kept the exception to itself.
        self.changed = False
        #: What was found out once: the states of switches, the methods of classes of code generators.
        self.known: dict[Any, Any] = {}
        #: Identity of an aggregate that is shared -> what is known of it, with the aggregate.
        self.seals: dict[int, Any] = {}


def enabled(name: str) -> bool:
    """Tell whether a part is switched on, asking once a kernel.

    :param name: The name of a variable in ``triton.fork.settings.SWITCHES``.
    """
    kernel: Kernel | None = state.kernel
    if kernel is None:
        return settings.enabled(name)
    known: bool | None = kernel.known.get(name)
    if known is None:
        known = kernel.known[name] = settings.enabled(name)
    return known


def whole_kernel(make_ir: Function) -> Function:
    """Note in ``make_ir`` of a source that a kernel is generated.

    When an aggregate is changed after it was shared, the kernel is generated once more without sharing.
    """

    @functools.wraps(make_ir)
    def wrapper(self: Any, *args: Any, **kwargs: Any) -> Any:
        outer = state.kernel
        lazy.begin()
        try:
            kernel = state.kernel = Kernel(self, shares=True)
            try:
                made = make_ir(self, *args, **kwargs)
            except BaseException:
                if not kernel.changed:
                    raise
            else:
                if not kernel.changed:
                    return made
            state.kernel = Kernel(self, shares=False)
            return make_ir(self, *args, **kwargs)
        finally:
            state.kernel = outer
            lazy.end()

    return wrapper  # type: ignore[return-value]
