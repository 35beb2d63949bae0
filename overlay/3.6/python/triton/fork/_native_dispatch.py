"""The fast path of ``kernel[grid](...)``: launches that the native extension does from the arguments on.

The extension's dispatcher of a function tells calls apart by what a specialisation depends on and remembers which kernel the base
chose. A call of a kind that it knows, with nothing unusual on, it launches; every other call comes here, goes through the base,
and may be described in a recipe for the next ones. What the extension looks at in each call is in ``native/src/guards.h``.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any

from ._native import extension

__all__ = ["launcher"]

# Values of these types are immutable, and one that is the same object is the same value.
_CONSTANTS = (int, float, bool, str, type(None))
_SCALARS = (int, float, bool, type(None))
_MOST_PARAMETERS = 64


def launcher(function: Any, grid: Any) -> Callable[..., Any] | None:
    """Return what launches a JIT function on a grid.

    :param function: The function.
    :param grid: As in ``function[grid]``.
    :returns: ``None`` where the base's way is the only one.
    """
    try:
        dispatcher = function._dispatcher
    except AttributeError:
        dispatcher = function._dispatcher = _make(function)
    if dispatcher is None:
        return None
    bound: Callable[..., Any] | None = dispatcher.bind(function, grid)
    return bound


def _make(function: Any) -> Any:
    from triton.runtime.driver import driver
    from triton.runtime.jit import JITFunction

    knobs = importlib.import_module("triton.knobs")
    module = extension()
    if module is None or type(function).run is not JITFunction.run or len(function.params) > _MOST_PARAMETERS:
        return None
    names = tuple(parameter.name for parameter in function.params)
    constants = "".join("C" if parameter.is_constexpr else "-" for parameter in function.params)
    return module.make_dispatcher(
        function, _launch, names, constants, (vars(knobs), driver, knobs.HookChain, JITFunction.run)
    )


def _launch(function: Any, grid: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> tuple[Any, Any]:
    """Launch as the base does.

    :returns: The kernel, and a recipe for the extension where it can launch such calls itself.
    """
    from triton.runtime.jit import KernelInterface

    kernel = KernelInterface.__getitem__(function, grid)(*arguments, **keywords)
    return kernel, _recipe(function, kernel, arguments, keywords)


def _recipe(function: Any, kernel: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> tuple[Any, ...] | None:
    from triton.backends.nvidia.compiler import CUDABackend
    from triton.backends.nvidia.driver import CudaLauncher
    from triton.compiler import CompiledKernel
    from triton.runtime.driver import driver

    run: Any = getattr(kernel, "_run", None)
    if type(kernel) is not CompiledKernel or type(run) is not CudaLauncher:
        return None
    steps = getattr(run.launch, "__self__", None)
    device = driver.active.get_current_device()
    caches = function.device_caches.get(device)
    if type(steps).__name__ != "PyCapsule" or caches is None or type(caches[3]) is not CUDABackend:
        return None
    keys = [key for key, cached in caches[0].items() if cached is kernel]
    values = _values(function, kernel.src.signature, arguments, keywords)
    if not keys or values is None or run.global_scratch_size or run.profile_scratch_size:
        return None
    defaults = tuple(parameter.default if parameter.has_default else None for parameter in function.params)
    tensors = [value for value in values if hasattr(value, "data_ptr")]
    types = tuple({type(value) for value in tensors})
    # What the tokens of a call point to lives as long as they do. Tensors themselves are not held.
    constants = [value for value in values if type(value) in _CONSTANTS]
    kept = (types, [value.dtype for value in tensors], constants, tuple(keywords))
    flags = (run.launch_cooperative_grid, run.launch_pdl)
    return (
        kernel,
        run,
        steps,
        keys[0],
        device,
        kernel.function,
        *flags,
        *kernel.packed_metadata,
        defaults,
        kept,
        types,
    )


def _values(
    function: Any, signature: Mapping[str, Any], arguments: tuple[Any, ...], keywords: dict[str, Any]
) -> list[Any] | None:
    """Return all values that the extension has to look at in a call, ``None`` where it cannot tell one from another."""
    parameters = {parameter.name: parameter for parameter in function.params}
    given = dict(zip(parameters, arguments, strict=False))
    own_names = set(map(id, parameter_names := tuple(parameters)))
    for name, value in keywords.items():
        # The extension compares names by identity.
        if name in parameters and id(name) not in own_names:
            return None
        if name not in parameters and type(value) not in _CONSTANTS:
            return None
        given[name] = value
    for name in parameter_names:
        constant = parameters[name].is_constexpr
        value = given[name] if name in given else parameters[name].default
        allowed = _CONSTANTS if constant else _SCALARS
        if type(value) not in allowed and (constant or name not in given or not _is_tensor(value, signature[name])):
            return None
    return list(given.values())


def _is_tensor(value: Any, type_: Any) -> bool:
    return isinstance(type_, str) and type_.startswith("*") and hasattr(value, "data_ptr") and hasattr(value, "dtype")
