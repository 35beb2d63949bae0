"""Launches between which parts that the base goes through are replaced, one at a time; prints what was called and launched."""
# mypy: ignore-errors

import collections
import functools
import json
import types

import triton.language as tl
from triton.backends.nvidia import driver as nvidia
from triton.compiler import CompiledKernel
from triton.runtime import jit
from triton.runtime.driver import DriverConfig
from triton.runtime.jit import JITFunction, KernelInterface

import triton
from tests.fake_driver.nvidia import install
from tests.fake_driver.tensors import tensor
from triton import knobs

DRIVER = install()
EVENTS = []


@triton.jit
def kernel(x, n):
    tl.store(x, n)


@triton.jit
def scratched(pointer, rows, columns):
    made = tl.make_tensor_descriptor(pointer, [rows, columns], [columns, 1], [16, 16])
    made.store([0, 0], made.load([0, 0]) + 1.0)


def launch():
    try:
        kernel[(1,)](tensor(0x1000), 5)
    except Exception as error:
        EVENTS.append([type(error).__name__, str(error)])
    EVENTS.append(len(DRIVER.library.launches()))


def told(name, original):
    """Make a function that tells that it was called, and goes on."""

    @functools.wraps(original)
    def called(*arguments, **options):
        EVENTS.append(name)
        return original(*arguments, **options)

    return called


def replace(holder, name, made):
    """Launch with something in a place, and again without."""
    missing = object()
    before = vars(holder).get(name, missing)
    EVENTS.append(f"== {getattr(holder, '__name__', type(holder).__name__)}.{name}")
    launch()
    setattr(holder, name, made(before))
    launch()
    launch()
    if before is missing:
        delattr(holder, name)
    else:
        setattr(holder, name, before)
    for _ in range(3):
        launch()


def property_told(name):
    return lambda before: property(told(name, before.fget))


class Told(dict):
    """A dictionary that tells what is looked up."""

    def get(self, key, default=None):
        EVENTS.append("get")
        return super().get(key, default)


class ToldByDevice(collections.defaultdict):
    """Caches of a function that tell what is looked up."""

    def __getitem__(self, device):
        EVENTS.append("device")
        return super().__getitem__(device)


class Asked:
    """Stands for another object and tells what is asked of it."""

    def __init__(self, original):
        self.original = original

    def __getattr__(self, name):
        EVENTS.append(f"asked for {name}")
        return getattr(self.original, name)


def instance_attributes(compiled):
    """Kernels and launchers themselves."""
    replace(
        compiled, "launch_metadata", lambda _: told("launch_metadata", type(compiled).launch_metadata.__get__(compiled))
    )
    replace(compiled, "_init_handles", lambda _: told("_init_handles", type(compiled)._init_handles.__get__(compiled)))
    replace(compiled, "result", lambda _: lambda: EVENTS.append("result") or compiled)
    replace(compiled, "_run", lambda before: told("_run", before))
    replace(compiled._run, "launch", lambda before: told("launch", before))
    replace(kernel, "run", lambda _: told("run", JITFunction.run.__get__(kernel)))
    replace(kernel, "debug", lambda _: False)
    replace(kernel, "pre_run_hooks", lambda _: [lambda *_, **__: EVENTS.append("before")])


def classes():
    for class_, name in [
        (CompiledKernel, "launch_metadata"), (CompiledKernel, "_init_handles"), (KernelInterface, "__getitem__"),
        (JITFunction, "run"), (nvidia.CudaLauncher, "__call__"), (knobs.HookChain, "__call__"),
    ]:  # fmt: skip
        replace(class_, name, functools.partial(told, name))
    replace(CompiledKernel, "run", property_told("run"))
    replace(
        CompiledKernel, "function", lambda _: property(lambda self: EVENTS.append("asked") or vars(self)["function"])
    )
    replace(CompiledKernel, "__getattribute__", lambda _: told("ask", object.__getattribute__))
    replace(CompiledKernel, "result", lambda _: lambda self: EVENTS.append("result") or self)
    replace(DriverConfig, "active", property_told("active"))
    replace(JITFunction, "__getitem__", lambda _: lambda self, grid: EVENTS.append("own") or (lambda *_: None))
    replace(knobs.runtime_knobs, "debug", lambda _: True)
    replace(knobs.runtime_knobs, "launch_enter_hook", lambda _: lambda _metadata: EVENTS.append("entered"))
    replace(knobs.compilation_knobs, "instrumentation_mode", lambda _: "x")


def with_a_hook(before):
    """Knobs of another module, with a hook that looks at what it gets."""
    runtime = before.runtime.copy()
    runtime.launch_enter_hook = lambda metadata: EVENTS.append(sorted(metadata.get()))
    return types.SimpleNamespace(runtime=runtime, compilation=before.compilation)


def modules():
    replace(jit, "compute_cache_key", functools.partial(told, "compute_cache_key"))
    replace(jit, "driver", Asked)
    replace(jit, "knobs", Asked)
    replace(jit, "knobs", with_a_hook)
    replace(knobs, "runtime", lambda before: before.copy())
    replace(knobs, "compilation", lambda before: before.copy())
    replace(knobs.runtime, "debug", lambda _: True)
    replace(knobs.runtime, "launch_exit_hook", lambda _: None)
    replace(jit.driver, "_active", lambda before: types.SimpleNamespace(
        get_current_device=told("device", before.get_current_device),
        get_current_stream=told("stream", before.get_current_stream),
    ))  # fmt: skip


def same_number():
    """A hook, or an attribute of a kernel, that comes where another name goes."""
    compiled = kernel[(1,)](tensor(0x1000), 5)
    compiled.of_others = knobs.runtime.kernel_load_start_hook = None
    for _ in range(80):
        launch()
    EVENTS.append("== swapped.hook")
    del knobs.runtime.kernel_load_start_hook
    knobs.runtime.launch_enter_hook = lambda _: EVENTS.append("entered")
    launch()
    launch()
    del knobs.runtime.launch_enter_hook
    for _ in range(80):
        launch()
    EVENTS.append("== swapped.launch_metadata")
    del compiled.of_others
    compiled.launch_metadata = told("launch_metadata", type(compiled).launch_metadata.__get__(compiled))
    launch()
    launch()
    del compiled.launch_metadata
    launch()


def backends():
    """A backend that specialises tensors in a way of its own, for addresses that differ to it alone."""
    backend = type(kernel.device_caches[0][3])

    def attributes():
        addresses = (0x1000, 0x1010, 0x1000, 0x1010)
        EVENTS.extend(str(kernel[(1,)](tensor(address), 5).src.attrs) for address in addresses)

    attributes()
    EVENTS.append("== backend.get_tensor_specialization")
    backend.get_tensor_specialization = staticmethod(lambda value, **_: "D" if value.data_ptr() % 128 == 0 else "")
    backend.supports_native_tensor_specialization = False
    attributes()
    del backend.get_tensor_specialization, backend.supports_native_tensor_specialization
    attributes()


class Lazy:
    """What it is comes out when it is asked for its address."""

    real = "float32"

    @property
    def data_ptr(self):
        self.real = "float16"
        return lambda: 0x1000

    @property
    def dtype(self):
        return self.real


def values():
    EVENTS.append("== values.lazy")
    given = [tensor(0x1000), Lazy(), tensor(0x1000), Lazy(), tensor(0x1000), Lazy()]
    EVENTS.extend(str(kernel[(1,)](value, 5).src.signature) for value in given)
    EVENTS.append("== values.hash")
    before = kernel.hash
    for key in (type("Text", (str,), {})("abc"), ("abc",), 5):
        kernel.hash = key
        launch()
    kernel.hash = before


def caches():
    def with_binder(before):
        made = collections.defaultdict(before.default_factory)
        for device, (*rest, binder) in before.items():
            made[device] = (*rest, told("binder", binder))
        return made

    def with_dictionaries(before):
        made = collections.defaultdict(before.default_factory)
        for device, (kernels, keys, *rest) in before.items():
            made[device] = (Told(kernels), Told(keys), *rest)
        return made

    replace(kernel, "device_caches", with_binder)
    replace(kernel, "device_caches", with_dictionaries)
    replace(kernel, "device_caches", lambda before: ToldByDevice(before.default_factory, before))
    other = kernel.warmup(tensor(0x1000), 16, grid=(1,))
    kernels = kernel.device_caches[0][0]
    key = next(iter(kernels))
    compiled, kernels[key] = kernels[key], other
    launch()
    EVENTS.append(kernel[(1,)](tensor(0x1000), 5) is other)
    kernels[key] = compiled
    launch()


def allocations():
    triton.set_allocator(lambda *_: tensor(0x100000))

    class Allocation:
        _allocator = types.SimpleNamespace(get=lambda: EVENTS.append("asked") or (lambda *_: tensor(0x200000)))
        _profile_allocator = None

    before = nvidia._allocation
    for module in (before, before, Allocation, Allocation, before):
        nvidia._allocation = module
        scratched[(1,)](tensor(0x1000), 32, 48)
        EVENTS.append([data.hex() for data in DRIVER.library.launches()[-1].parameters])


for _ in range(3):
    launch()
same_number()
instance_attributes(kernel[(1,)](tensor(0x1000), 5))
for part in (classes, modules, backends, values, caches, allocations):
    part()
print(json.dumps(EVENTS))
