"""What the native extension has to know of a kind of calls to launch it itself.

Which kernel the base has for a call is asked of the base: its binder gets stand-ins that answer what the arguments answered, and
its caches get the key that comes out. So nothing that an argument, a grid, a hook or another thread does meanwhile can tie a
kernel to calls that are not its own, and no argument is asked anything for this.

Mirrors python/triton/runtime/jit.py: JITFunction.run, JITFunction.create_binder, create_function_from_signature,
compute_cache_key

Mirrors python/triton/compiler/compiler.py: CompiledKernel.run, CompiledKernel._init_handles

Mirrors third_party/nvidia/backend/driver.py: CudaLauncher.__call__, wrap_handle_tensordesc

Mirrors third_party/amd/backend/driver.py: HIPLauncher.__call__, wrap_handle_tensordesc
"""

from __future__ import annotations

import functools
import importlib
import operator
import sys
from collections.abc import Callable, Iterator, Sequence
from types import BuiltinFunctionType, FunctionType, MethodDescriptorType
from typing import Any

from triton.fork.launch.guards import GuardedAttributes, is_plain
from triton.fork.launch.native import is_unpatched
from triton.fork.python.interruptions import quiet
from triton.fork.python.static_look import found_in, members_of, mro_of

__all__ = ["Answer", "describe", "kind", "specify"]

#: What an argument answered: itself, its class, dtype, whether its address is aligned and its storage small, a descriptor's block.
Answer = tuple[Any, type, Any, int, int, tuple[int, ...] | None]

# Values of these types are immutable, and one that is the same object is the same value.
_CONSTANTS = (int, float, bool, str, type(None))
_SCALARS = (int, float, bool, type(None))
_MOST_PARAMETERS = 64

# Kinds of classes, as in native/src/dispatch/fingerprint.h.
_UNKNOWN, _TENSOR, _DESCRIPTOR, _TUPLE, _CONSTANT = range(5)

# What the base relies on in a subclass of tuple.
_OF_TUPLES = ("__len__", "__getitem__", "__iter__", "__eq__", "__hash__")

# Names that JITFunction.run takes or gives itself.
_RESERVED = frozenset({"self", "grid", "warmup", "debug", "instrumentation_mode"})
_REFUSED = frozenset({"self", "grid", "warmup"})

# Methods that looking them up does not run.
_METHODS = (FunctionType, BuiltinFunctionType, MethodDescriptorType)

# Package of a vendor -> its backend's class and its launcher's.
_CUDA, _HIP = "triton.backends.nvidia", "triton.backends.amd"
_CLASSES = {_CUDA: ("CUDABackend", "CudaLauncher"), _HIP: ("HIPBackend", "HIPLauncher")}

# What the base reads in every launch, and what must not be there; HIP's launcher has not all of it.
_OF_KERNEL = ("_run", "module", "function", "packed_metadata")
_NOT_OF_KERNEL = ("launch_metadata", "_init_handles", "result")
_OF_LAUNCHER = ("launch", "launch_cooperative_grid", "launch_pdl", "global_scratch_size", "profile_scratch_size")
_OF_SCRATCH = ("num_ctas", "global_scratch_align")


class _StandIn:
    """Answers the base's questions to a tensor as the tensor answered them."""

    def __init__(self, dtype: Any, aligned: int, small: int) -> None:
        self.dtype = dtype
        self._address = 0 if aligned else 8
        self._range = 0 if small else 1 << 40

    def data_ptr(self) -> int:
        return self._address

    def ptr_range(self) -> int:
        return self._range


def describe(function: Any, caches: tuple[Any, ...]) -> tuple[Any, ...] | None:
    """Describe the parameters of a JIT function.

    :param function: The function.
    :param caches: What it has for a device; the binder is the last.
    :returns: As ``native/src/dispatch/dispatcher.h`` says. ``None`` where the base alone can launch the function.
    """
    binder, backend, parameters = caches[4], caches[3], function.params
    names = tuple(parameter.name for parameter in parameters)
    if len(names) > _MOST_PARAMETERS or not _RESERVED.isdisjoint(names) or not _is_binder_of(binder, function, backend):
        return None
    letters = "".join(_question(parameter) + _default(parameter) for parameter in parameters)
    defaults = tuple(parameter.default if parameter.has_default else None for parameter in parameters)
    stored = sys.modules["torch"].Tensor if type(backend).__module__.startswith(_HIP) else None
    return binder, names, frozenset(names) | _REFUSED, letters, defaults, quiet(kind), stored


def _is_binder_of(binder: Any, function: Any, backend: Any) -> bool:
    """Tell whether a binder is the one that the base would make now: parameters may have been changed since it was made."""
    jit = importlib.import_module("triton.runtime.jit")
    made = jit.create_function_from_signature(function.signature, function.params, backend)
    impl = importlib.import_module("triton._C.libtriton").native_specialize_impl
    before, now = binder.__defaults__ or (), made.__defaults__ or ()
    return (
        binder.__code__ == made.__code__
        and not hasattr(binder, "__wrapped__")
        and binder.__globals__["specialize_impl"] is impl
        and len(before) == len(now)
        and all(map(operator.is_, before, now))
    )


def _question(parameter: Any) -> str:
    """Tell what the base asks of an argument."""
    annotated = parameter.annotation_type
    if parameter.is_constexpr:
        return "C"
    if annotated == "u1" or annotated[:2] in ("fp", "bf"):
        return "N"
    return "T" if parameter.do_not_specialize else "A"


def _default(parameter: Any) -> str:
    if not parameter.has_default:
        return "-"
    return "D" if type(parameter.default) in (_CONSTANTS if parameter.is_constexpr else _SCALARS) else "-"


def kind(class_: type) -> int:
    """Tell how the base treats an argument of a class, without an object of it and without a question that its metaclass sees.

    :returns: One of the numbers in ``native/src/dispatch/fingerprint.h``.
    """
    core, jit = importlib.import_module("triton.language.core"), importlib.import_module("triton.runtime.jit")
    descriptor = importlib.import_module("triton.tools.tensor_descriptor").TensorDescriptor
    bases = mro_of(class_)
    if class_ is core.dtype:
        return _CONSTANT
    if tuple in bases:
        return _TUPLE if _is_plain_tuple(class_) else _UNKNOWN
    if class_ is descriptor:
        return _DESCRIPTOR
    hopper = sys.modules.get("triton.experimental.gluon.nvidia.hopper")
    others = (core.constexpr, descriptor, jit.JITCallable) + ((hopper.TensorDescriptor,) if hopper else ())
    if not set(bases).isdisjoint(others) or any("__class__" in members_of(base) for base in bases[:-1]):
        return _UNKNOWN
    # The base asks for `data_ptr` before all else: that must be a question which nobody sees.
    plain = found_in(class_, "__getattribute__") is members_of(object)["__getattribute__"]
    return _TENSOR if plain and type(found_in(class_, "data_ptr")) in _METHODS else _UNKNOWN


def _is_plain_tuple(class_: type) -> bool:
    """Tell whether objects of a subclass are looked into and compared as tuples are, and nobody sees that one is made."""
    if any(found_in(class_, name) is not members_of(tuple)[name] for name in _OF_TUPLES):
        return False
    new = found_in(class_, "__new__")
    function = getattr(new, "__func__", new) if type(new) is staticmethod else new
    of_named_tuple = type(function) is FunctionType and function.__globals__.get("_tuple_new") is tuple.__new__
    return of_named_tuple or new is members_of(tuple)["__new__"]


def specify(
    function: Any,
    caches: tuple[Any, ...],
    arguments: tuple[Any, ...],
    keywords: dict[str, Any],
    answers: Sequence[Answer],
) -> dict[str, Any] | None:
    """Find the kernel that the base has for a call.

    :param function: The JIT function.
    :param caches: What it has for the device.
    :param arguments: Positional arguments of the call.
    :param keywords: Its other arguments, options of the compiler among them.
    :param answers: What tensors and descriptors among the arguments answered, in the order of the parameters.
    :returns: What an entry has, by name, as ``native/src/dispatch/entry.h`` says. ``None`` where the base has no kernel yet, or
        only it can launch.
    """
    if not _specialises_as_ever(caches[3]):
        return None
    key, kernel = _cached(function, caches, arguments, keywords, answers)
    if kernel is None:
        return None
    run = vars(kernel).get("_run")
    if _vendor(kernel, run, caches[3]) is None or kernel.module is None or run.profile_scratch_size:
        return None
    if hasattr(kernel, "result") or not vars(kernel).keys().isdisjoint(_NOT_OF_KERNEL):
        return None
    steps, expanders = _steps(run.launch, len(function.params), kernel.packed_metadata)
    if steps is None:
        return None
    warps, cluster, shared = kernel.packed_metadata
    return {
        "kernel": kernel,
        "launcher": steps,
        "key": key,
        "caches": caches,
        "function": kernel.function,
        "cooperative": bool(run.launch_cooperative_grid),
        "dependent": bool(getattr(run, "launch_pdl", False)),
        "warps": warps,
        "cluster": cluster,
        "shared": shared,
        "keepalive": _keepalive(arguments, keywords, answers),
        "guarded": _guarded(kernel, run, caches[3]),
        "expanders": expanders,
        "scratch": _scratch(run),
    }


def _cached(
    function: Any,
    caches: tuple[Any, ...],
    arguments: tuple[Any, ...],
    keywords: dict[str, Any],
    answers: Sequence[Answer],
) -> tuple[Any, Any]:
    """Look a call up in the base's caches.

    :returns: Key and kernel, both ``None`` where there is none.
    """
    jit, knobs = importlib.import_module("triton.runtime.jit"), importlib.import_module("triton.knobs")
    kernels, keys, _, _, binder = caches
    if type(kernels) is not dict or type(keys) is not dict or not _REFUSED.isdisjoint(keywords):
        return None, None
    left = iter(answers)
    names = [parameter.name for parameter in function.params]
    values = dict(zip(names, arguments, strict=False))
    values |= {name: keywords[name] for name in names[len(arguments) :] if name in keywords}
    values = {name: _stand_in(value, left) for name, value in values.items()}
    options = {name: values.get(name, value) for name, value in keywords.items()}
    options["debug"] = options.get("debug", function.debug) or knobs.runtime.debug
    options["instrumentation_mode"] = knobs.compilation.instrumentation_mode
    _, specialization, options = binder(*map(values.get, names[: len(arguments)]), **options)
    if next(left, None) is not None:
        return None, None
    key = jit.compute_cache_key(keys, specialization, options)
    return key, kernels.get(key)


def _stand_in(value: Any, answers: Iterator[Answer]) -> Any:
    """Replace what answered in a value."""
    class_ = type(value)
    if issubclass(class_, tuple):
        return tuple.__new__(class_, [_stand_in(item, answers) for item in value])
    if class_ in _CONSTANTS or kind(class_) not in (_TENSOR, _DESCRIPTOR):
        return value
    asked, _, dtype, aligned, small, block = next(answers)
    if asked is not value:
        raise LookupError("the answers are those of another call")
    made = _StandIn(dtype, aligned, small)
    if block is None:
        return made
    descriptor = object.__new__(class_)
    descriptor.base, descriptor.block_shape = made, list(block)
    return descriptor


def _vendor(kernel: Any, run: Any, backend: Any) -> str | None:
    """Return the package of the vendor's backend, ``None`` where something of it is not its own."""
    from triton.compiler import CompiledKernel

    package = type(run).__module__.rpartition(".")[0]
    if type(kernel) is not CompiledKernel or package not in _CLASSES:
        return None
    names = _CLASSES[package]
    backend_class = getattr(importlib.import_module(f"{package}.compiler"), names[0])
    launcher_class = getattr(importlib.import_module(f"{package}.driver"), names[1])
    members = (CompiledKernel.run.fget, CompiledKernel.launch_metadata, CompiledKernel._init_handles)
    own = (
        type(backend) is backend_class
        and type(run) is launcher_class
        and is_unpatched(run.__call__, launcher_class.__init__)
        and all(is_unpatched(member, CompiledKernel.__init__) for member in members)
        and is_plain(CompiledKernel, *_OF_KERNEL, "result")
        and is_plain(launcher_class, *_OF_LAUNCHER)
    )
    return package if own else None


def _specialises_as_ever(backend: Any) -> bool:
    """Tell whether a backend's tensors are specialised as the extension does it: by nobody else's function."""
    class_ = type(backend)
    if not {"supports_native_tensor_specialization", "get_tensor_specialization"}.isdisjoint(vars(backend)):
        return False
    if not class_.__module__.startswith(_HIP):
        return class_.supports_native_tensor_specialization is True
    base = importlib.import_module("triton.backends.compiler").BaseBackend
    asked = (class_.get_tensor_specialization, class_.is_within_2gb)
    return (
        "torch" in sys.modules
        and all(is_unpatched(member, class_.pack_metadata) for member in asked)
        and is_unpatched(base.get_tensor_specialization, base.__init__)
    )


def _guarded(kernel: Any, run: Any, backend: Any) -> GuardedAttributes:
    """List what the base reads of a kernel and its launcher in every launch."""
    names = vars(kernel)
    watched: list[Any] = []
    for name in _NOT_OF_KERNEL:
        watched += (names, name, ...)
    for name in _OF_KERNEL:
        watched += (names, name, names[name])
    scratch = _OF_SCRATCH if getattr(run, "global_scratch_size", 0) else ()
    for name in (*_OF_LAUNCHER, *scratch):
        if name in vars(run):
            watched += (vars(run), name, vars(run)[name])
    launch, of_driver = run.launch, type(run).__call__.__globals__
    if scratch:
        watched += (of_driver, "_allocation", of_driver["_allocation"])
    if "make_tensordesc_arg" in getattr(launch, "__globals__", ()):
        watched += (of_driver, "make_tensordesc_arg", of_driver["make_tensordesc_arg"])
    return (type(kernel), type(run), type(backend)), tuple(watched)


def _scratch(run: Any) -> tuple[Any, ...] | None:
    size = getattr(run, "global_scratch_size", 0)
    if size <= 0:
        return None
    return type(run).__call__.__globals__["_allocation"], run.num_ctas * size, run.global_scratch_align


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


def _keepalive(arguments: tuple[Any, ...], keywords: dict[str, Any], answers: Sequence[Answer]) -> tuple[Any, ...]:
    """List all that the fingerprint of a call points to, which has to live as long as it does. Tensors themselves are not held."""
    asked = {id(answer[0]) for answer in answers}
    kept: list[Any] = [*keywords, *[(class_, dtype) for _, class_, dtype, *_ in answers]]
    for value in (*arguments, *keywords.values()):
        kept += [part for part in _parts(value) if id(part) not in asked]
    return tuple(kept)


def _parts(value: Any) -> Iterator[Any]:
    """Give the items of tuples and their classes."""
    if isinstance(value, tuple):
        yield type(value)
        for item in value:
            yield from _parts(item)
    else:
        yield value
