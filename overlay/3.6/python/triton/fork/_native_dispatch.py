"""The fast path of ``kernel[grid](...)``: launches that the native extension does from the arguments on.

The extension's dispatcher of a function tells calls apart by what a specialisation depends on and remembers which kernel the base
chose. A call of a kind that it knows, with nothing unusual on, it launches; every other call comes here, goes through the base,
and may be described for the next ones (:mod:`triton.fork._native_recipe`). What the extension looks at in each call is in
``native/src/guards.h``.
"""

from __future__ import annotations

import importlib
from typing import Any

from ._native import extension, is_own

__all__ = ["make"]

_MOST_PARAMETERS = 64


class _Absent:
    """Stands where a function has no dispatcher: every launch goes the base's way."""

    def bind(self, function: Any, grid: Any) -> None:
        """Say that there is no other way to launch the function on the grid than the base's."""


_ABSENT = _Absent()


def make(function: Any) -> Any:
    """Make the dispatcher of a JIT function, and keep it as ``function._dispatcher``.

    :returns: What has ``bind(function, grid)``, which gives what launches the function on the grid, or ``None`` where the
        base's way is the only one.
    """
    function._dispatcher = made = _made(function) or _ABSENT
    return made


def _made(function: Any) -> Any:
    from triton.runtime.driver import driver
    from triton.runtime.jit import JITFunction

    knobs = importlib.import_module("triton.knobs")
    module = extension()
    if module is None or type(function).run is not JITFunction.run or len(function.params) > _MOST_PARAMETERS:
        return None
    if not is_own(JITFunction.run, JITFunction.create_binder):
        return None
    names = tuple(parameter.name for parameter in function.params)
    constants = "".join("C" if parameter.is_constexpr else "-" for parameter in function.params)
    return module.make_dispatcher(
        function, _launch, _finish, names, constants, (vars(knobs), driver, knobs.HookChain, JITFunction.run)
    )


def _launch(function: Any, grid: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> tuple[Any, Any]:
    """Launch as the base does.

    :returns: The kernel, and what the extension needs to launch such calls itself, if it can.
    """
    from triton.runtime.jit import KernelInterface

    from ._native_recipe import lesson

    kernel = KernelInterface.__getitem__(function, grid)(*arguments, **keywords)
    return kernel, lesson(function, kernel, arguments, keywords)


def _finish(kernel: Any, grid: Any, stream: Any, values: list[Any]) -> Any:
    """Launch a kernel on a grid that was computed, as the base does it from there on.

    :returns: The kernel.
    """
    runtime = importlib.import_module("triton.knobs").runtime
    size = len(grid)
    extents = (grid[0], grid[1] if size > 1 else 1, grid[2] if size > 2 else 1)
    metadata = kernel.launch_metadata(grid, stream, *values)
    hooks = (runtime.launch_enter_hook, runtime.launch_exit_hook)
    kernel.run(*extents, stream, kernel.function, kernel.packed_metadata, metadata, *hooks, *values)
    return kernel
