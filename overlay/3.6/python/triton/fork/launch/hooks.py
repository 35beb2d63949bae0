"""Make no metadata of a launch for hooks that are not there.

The base leaves out what only hooks look at where there is no hook, but what it asks for is never ``None``: it is a chain of
hooks, mostly an empty one (triton-lang/triton#11881). So each launch made a dictionary for nobody.

Mirrors python/triton/compiler/compiler.py: CompiledKernel.launch_metadata
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from triton.fork.settings import at_import

__all__ = ["SWITCH", "launch_metadata", "own"]

#: The environment variable that makes metadata for every launch, as in the base; read when Triton is imported.
SWITCH = "TRITON_FORK_LAUNCH_METADATA"

_ON = at_import(SWITCH)
_knobs: Any = importlib.import_module("triton.knobs")

Function = TypeVar("Function", bound=Callable[..., Any])

# The base's CompiledKernel.launch_metadata; another one in its place is always called.
_own: Any = None


def own(function: Function) -> Function:
    """Note the base's ``CompiledKernel.launch_metadata``, as a decorator."""
    global _own
    _own = function
    return function


def launch_metadata(kernel: Any, grid: Any, stream: Any, arguments: Iterable[Any]) -> Any:
    """Give what the hooks of a launch get.

    :param kernel: The compiled kernel.
    :param grid: As in ``CompiledKernel.launch_metadata``, like the rest.
    :returns: ``None`` where both chains of hooks are empty.
    """
    method = kernel.launch_metadata
    if _ON and getattr(method, "__func__", None) is _own and _are_asked():
        # As the base's method does, and before a look at the hooks: loading the kernel may add one, and while another thread loads
        # the kernel, its launcher is there before its function.
        kernel._init_handles()
        runtime = _knobs.runtime
        if _is_empty(runtime.launch_enter_hook) and _is_empty(runtime.launch_exit_hook):
            return None
    return method(grid, stream, *arguments)


# The dictionaries of the modules that ask for hooks.
_asking: list[dict[str, Any]] = []


def _are_asked() -> bool:
    """Tell whether launches ask ``triton.knobs`` for hooks: others may have put something else there."""
    if not _asking:
        names = ("triton.runtime.jit", "triton.compiler.compiler")
        _asking.extend([vars(importlib.import_module(name)) for name in names])
    jit, compiler = _asking
    return jit["knobs"] is _knobs and compiler["knobs"] is _knobs


def _is_empty(hook: Any) -> bool:
    return hook is None or (hook.__class__ is _knobs.HookChain and not hook.calls)
