"""The fast path of ``kernel[grid](...)``: launches that the native extension does from the arguments on.

The extension tells calls apart by what a specialisation depends on, and remembers for each kind which kernel the base's caches
have. It learns that from the caches, with the base's own functions (:mod:`triton.fork.launch.entry_specification`), and from
nothing that happens in a launch. A kind that it knows it launches, where all is as usual (:mod:`triton.fork.launch.guards`);
every other call goes the base's way.

Mirrors python/triton/runtime/jit.py: KernelInterface.__getitem__, JITFunction.run
"""

from __future__ import annotations

import collections
import sys
from types import FunctionType
from typing import Any

from triton.fork.launch import entry_specification, guards
from triton.fork.launch.native import extension
from triton.fork.python.interruptions import quiet
from triton.fork.settings import at_import

__all__ = ["answers", "launch", "prepare"]


def prepare() -> Any:
    """Load the extension and make :data:`launch` and :data:`answers` its own.

    :returns: What :data:`launch` is from now on.
    """
    global answers, launch
    module = extension()
    if module is None or not guards.versions_tell(module.type_version):
        launch = _nothing
    else:
        learned: tuple[Any, ...] = (
            guards.environment,
            guards.guards_ok,
            entry_specification.describe,
            entry_specification.specify,
        )
        launcher = module.make_launcher(*map(quiet, learned), _finish, collections.defaultdict, FunctionType)
        launch, answers = launcher.launch, launcher.answers
    return launch


def _first(function: Any, grid: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    return prepare()(function, grid, arguments, keywords)


def _nothing(_function: Any, _grid: Any, _arguments: tuple[Any, ...], _keywords: dict[str, Any]) -> None:
    """Leave every launch to the base."""


#: Gives the device and the stream that the driver told for the launch of a function on a grid which :data:`launch` left to the base
#: just now, so that it is not asked twice; nothing where it has not been asked. ``None`` where the extension is not in use.
answers: Any = None

#: Launches a function on a grid: gives the kernel, or None where the base has to launch. ``None`` where it never will.
launch: Any = _first if at_import("TRITON_FORK_DISPATCH") and "t" not in sys.abiflags else None


def _finish(kernel: Any, grid: tuple[Any, Any, Any, Any], stream: Any, values: list[Any]) -> Any:
    """Launch a kernel on a grid that was computed, as the base does it from there on.

    :param grid: As it was given, and its three extents.
    :returns: The kernel.
    """
    if hasattr(kernel, "result"):
        kernel = kernel.result()
    knobs = sys.modules["triton.runtime.jit"].knobs
    metadata = kernel.launch_metadata(grid[0], stream, *values)
    kernel.run(
        *grid[1:],
        stream,
        kernel.function,
        kernel.packed_metadata,
        metadata,
        knobs.runtime.launch_enter_hook,
        knobs.runtime.launch_exit_hook,
        *values,
    )
    return kernel
