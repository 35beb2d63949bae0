"""What the native extension has to know of a launch to do the next one of its kind itself."""

from __future__ import annotations

import functools
import importlib
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ._native import is_own

__all__ = ["lesson"]

# Values of these types are immutable, and one that is the same object is the same value.
_CONSTANTS = (int, float, bool, str, type(None))
_SCALARS = (int, float, bool, type(None))

# Package of a vendor -> its backend's class and its launcher's.
_CUDA, _HIP = "triton.backends.nvidia", "triton.backends.amd"
_CLASSES = {_CUDA: ("CUDABackend", "CudaLauncher"), _HIP: ("HIPBackend", "HIPLauncher")}

# What the base reads in every launch; HIP's launcher has not all of it.
_OF_KERNEL = ("_run", "function", "packed_metadata")
_OF_LAUNCHER = ("launch", "launch_cooperative_grid", "launch_pdl", "global_scratch_size", "profile_scratch_size")


def lesson(
    function: Any, kernel: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]
) -> tuple[tuple[Any, ...], Any, Any, tuple[Any, ...]] | None:
    """Describe a launch that the base did.

    :param function: The JIT function.
    :param kernel: What the base launched.
    :param arguments: Positional arguments of the call.
    :param keywords: Its other arguments, options of the compiler among them.
    :returns: Types of the tensors among the arguments, the type of the tensor descriptors or ``None``, for HIP the class of
        tensors that have a storage, and a recipe as ``native/src/entry.h`` describes it. ``None`` where only the base can launch
        such calls.
    """
    from triton.runtime.driver import driver

    run: Any = getattr(kernel, "_run", None)
    device = driver.active.get_current_device()
    caches = function.device_caches.get(device)
    vendor = None if caches is None else _vendor(kernel, run, caches[3])
    if vendor is None or run.profile_scratch_size:
        return None
    keys = [key for key, cached in caches[0].items() if cached is kernel]
    values = _values(function, kernel.src.signature, arguments, keywords)
    steps, expanders = _steps(run.launch, len(function.params), kernel.packed_metadata)
    if not keys or values is None or steps is None:
        return None
    defaults = tuple(parameter.default if parameter.has_default else None for parameter in function.params)
    tensors, descriptors, kept = _kept(values)
    kept.append(tuple(keywords))
    settings = (
        kernel.function,
        run.launch_cooperative_grid,
        getattr(run, "launch_pdl", False),
        *kernel.packed_metadata,
    )
    launched = (kernel, run, type(run).__call__, steps, keys[0], device, settings)
    recipe = (*launched, defaults, kept, _watched(kernel, run), expanders, _scratch(run))
    return tensors, descriptors, sys.modules["torch"].Tensor if vendor == _HIP else None, recipe


def _vendor(kernel: Any, run: Any, backend: Any) -> str | None:
    """Return the package of the vendor's backend, ``None`` where something of it is not its own."""
    from triton.compiler import CompiledKernel

    package = type(run).__module__.rpartition(".")[0]
    if type(kernel) is not CompiledKernel or package not in _CLASSES:
        return None
    names = _CLASSES[package]
    backend_class = getattr(importlib.import_module(f"{package}.compiler"), names[0])
    launcher_class = getattr(importlib.import_module(f"{package}.driver"), names[1])
    own = (
        type(backend) is backend_class and type(run) is launcher_class and is_own(run.__call__, launcher_class.__init__)
    )
    if package == _HIP:
        members = (backend_class.get_tensor_specialization, backend_class.is_within_2gb)
        own = own and "torch" in sys.modules and all(is_own(member, backend_class.pack_metadata) for member in members)
    return package if own else None


def _watched(kernel: Any, run: Any) -> tuple[Any, ...]:
    """List what the base reads of a kernel and its launcher in every launch: object, name and value, one after the other.

    Their dictionaries are left alone: once an object's has been asked for, CPython up to 3.12 reads its attributes more slowly.
    """
    watched: list[Any] = []
    for owner, names in ((kernel, _OF_KERNEL), (run, _OF_LAUNCHER)):
        for name in names:
            if hasattr(owner, name):
                watched += (owner, name, getattr(owner, name))
    return tuple(watched)


def _scratch(run: Any) -> tuple[Any, ...] | None:
    from triton.runtime import _allocation

    size = getattr(run, "global_scratch_size", 0)
    return (_allocation, run.num_ctas * size, run.global_scratch_align) if size > 0 else None


def _steps(
    launch: Any, count: int, packed_metadata: tuple[int, ...]
) -> tuple[Any, tuple[Callable[[Any], Any] | None, ...]]:
    """Take the extension's launcher out of what the base made of it.

    :param launch: What the base's launcher calls: ours, or a function that replaces tensor descriptors and calls ours.
    :param count: How many parameters there are.
    :param packed_metadata: Of the kernel.
    :returns: The launcher's ``self`` or ``None``, and for each parameter what replaces it.
    """
    expanders: list[Callable[[Any], Any] | None] = [None] * count
    if getattr(launch, "__qualname__", None) == "wrap_handle_tensordesc.<locals>.inner":
        cells = (cell.cell_contents for cell in launch.__closure__)
        names = dict(zip(launch.__code__.co_freevars, cells, strict=True))
        expand = launch.__globals__["make_tensordesc_arg"]
        if launch.__module__.startswith(_HIP):
            described = names["tensordesc_metadata"]
            keyword, expand = "tensordesc_metadata", functools.partial(expand, kernel_metadata=packed_metadata)
        else:
            described, keyword = names["tensordesc_meta"], "metadata"
        for index, metadata in zip(sorted(names["tensordesc_indices"]), described, strict=True):
            expanders[index] = functools.partial(expand, **{keyword: metadata})
        launch = names["launcher"]
    steps = getattr(launch, "__self__", None)
    return (steps if type(steps).__name__ == "Program" else None), tuple(expanders)


def _kept(values: list[Any]) -> tuple[tuple[Any, ...], Any, list[Any]]:
    """Sort what the tokens of a call point to, which has to live as long as they do. Tensors themselves are not held.

    :returns: Types of tensors, the type of descriptors or ``None``, and all that is to be kept.
    """
    leaves = [leaf for value in values for leaf in _leaves(value)]
    descriptors = [leaf for leaf in leaves if _is_descriptor(leaf)]
    tensors = [leaf for leaf in leaves if hasattr(leaf, "data_ptr")]
    constants = [value for value in values if _is_constant(value)]
    dtypes = [tensor.dtype for tensor in tensors] + [descriptor.base.dtype for descriptor in descriptors]
    types = {type(value) for value in [*values, *leaves]}
    types |= {type(nested) for value in values for nested in _tuples(value)}
    tensor_types = tuple({type(tensor) for tensor in tensors})
    return tensor_types, type(descriptors[0]) if descriptors else None, [tensor_types, types, dtypes, constants]


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, tuple):
        for item in value:
            yield from _leaves(item)
    else:
        yield value


def _tuples(value: Any) -> Iterator[tuple[Any, ...]]:
    if isinstance(value, tuple):
        yield value
        for item in value:
            yield from _tuples(item)


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
        if name not in given:
            known = type(parameters[name].default) in (_CONSTANTS if constant else _SCALARS)
        else:
            value = given[name]
            known = _is_constant(value) if constant else _is_known(value, signature[name]) or _is_descriptor(value)
        if not known:
            return None
    return list(given.values())


def _is_constant(value: Any) -> bool:
    if isinstance(value, tuple):
        return _is_plain_tuple(value) and all(map(_is_constant, value))
    from triton.language.core import dtype

    return type(value) in _CONSTANTS or type(value) is dtype


def _is_known(value: Any, type_: Any) -> bool:
    """Tell whether an argument is a number, a tensor, or a tuple of such.

    :param type_: Its type in the signature, a tuple for a tuple.
    """
    if isinstance(value, tuple):
        plain = _is_plain_tuple(value) and isinstance(type_, tuple) and len(value) == len(type_)
        return plain and all(map(_is_known, value, type_))
    is_pointer = isinstance(type_, str) and type_.startswith("*")
    return type(value) in _SCALARS or (is_pointer and hasattr(value, "data_ptr") and hasattr(value, "dtype"))


def _is_plain_tuple(value: tuple[Any, ...]) -> bool:
    """Tell whether a tuple has no way of its own to show its items."""
    own = type(value)
    return all(getattr(own, name) is getattr(tuple, name) for name in ("__len__", "__getitem__", "__iter__"))


def _is_descriptor(value: Any) -> bool:
    return type(value) is importlib.import_module("triton.tools.tensor_descriptor").TensorDescriptor
