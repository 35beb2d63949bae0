"""What other software replaces in Triton, and how it is put back."""
# mypy: ignore-errors

import copy
import types

import triton.runtime.jit as jit
from triton.compiler import CompiledKernel
from triton.runtime import _allocation
from triton.runtime.driver import DriverConfig
from triton.runtime.driver import driver as drivers

import triton
from triton import knobs


def wrapped(watcher, name, original):
    """Make a function that tells of its calls and goes on."""

    def wrapper(*arguments, **options):
        watcher.happened(name, len(arguments), sorted(options))
        return original(*arguments, **options)

    return wrapper


def quietly_wrapped(watcher, name, original):
    """Make a function that only lets things happen when it is called, and goes on."""

    def wrapper(*arguments, **options):
        watcher.asked(name, "")
        return original(*arguments, **options)

    return wrapper


def wrapped_property(watcher, name, original):
    def read(self):
        watcher.asked(name, "")
        return original.fget(self)

    return property(read)


def refusing(watcher, name, original):
    def refused(*arguments, **options):
        watcher.happened(name)
        raise LookupError(name)

    return refused


def another_key(watcher, name, original):
    return lambda *arguments: original(*arguments) + " of other software"


def another_getitem(watcher, name, original):
    def getitem(self, grid):
        return wrapped(watcher, f"{name}: launch", original(self, grid))

    return getitem


def other_driver(fake):
    other = copy.copy(fake)
    other.streams = {0: 0xABC, 1: 0xABD}
    return other


def another_active(watcher, name, original):
    return property(lambda self: other_driver(watcher.fake))


def another_drivers(watcher, name, original):
    return types.SimpleNamespace(active=other_driver(watcher.fake))


def another_knobs(watcher, name, original):
    runtime = knobs.runtime.copy()
    runtime.launch_enter_hook = watcher.hook("enter of other knobs")
    return types.SimpleNamespace(runtime=runtime, compilation=knobs.compilation)


def another_stream(watcher, name, original):
    return lambda device: 0xDEF + device


def another_run(watcher, name, original):
    def run(self, *arguments, grid, warmup, **options):
        watcher.happened(name, len(arguments))
        return original(self, *arguments, grid=(9,), warmup=warmup, **options)

    return run


def another_compiled_run(watcher, name, original):
    def read(self):
        run = original.fget(self)
        return wrapped(watcher, name, run)

    return property(read)


def patches(launcher):
    """List what can be replaced: name -> owner, attribute, what makes the replacement of the original."""
    key, function, kernel = "compute_cache_key", jit.JITFunction, CompiledKernel
    return {
        "launch_metadata": (kernel, "launch_metadata", wrapped),
        "launch_metadata refuses": (kernel, "launch_metadata", refusing),
        "kernel's run": (kernel, "run", another_compiled_run),
        "kernel's run is watched": (kernel, "run", wrapped_property),
        "getitem": (jit.KernelInterface, "__getitem__", another_getitem),
        "getitem of functions": (function, "__getitem__", another_getitem),
        "getitem refuses": (jit.KernelInterface, "__getitem__", refusing),
        "run": (function, "run", wrapped),
        "another run": (function, "run", another_run),
        "run refuses": (function, "run", refusing),
        "key": (jit, key, wrapped),
        "another key": (jit, key, another_key),
        "key refuses": (jit, key, refusing),
        "active": (DriverConfig, "active", wrapped_property),
        "another active": (DriverConfig, "active", another_active),
        "driver": (jit, "driver", another_drivers),
        "knobs": (jit, "knobs", another_knobs),
        "launcher": (launcher, "__call__", wrapped),
        "launcher refuses": (launcher, "__call__", refusing),
        "compile": (function, "_do_compile", wrapped),
        "create_binder": (function, "create_binder", wrapped),
        "pack": (function, "_pack_args", wrapped),
        "hook chain": (knobs.HookChain, "__call__", wrapped),
        "device": (drivers.active, "get_current_device", quietly_wrapped),
        "stream": (drivers.active, "get_current_stream", quietly_wrapped),
        "another stream": (drivers.active, "get_current_stream", another_stream),
        "class's stream": (type(drivers.active), "get_current_stream", lambda *_: lambda self, device: 0xFED),
        "allocator variable": (
            _allocation,
            "_allocator",
            lambda watcher, *_: types.SimpleNamespace(get=lambda: watcher.allocator("another allocator")),
        ),
        "set_allocator": (triton, "set_allocator", wrapped),
    }


class Patches:
    """What is replaced at the moment."""

    def __init__(self, launcher):
        self.known = patches(launcher)
        self.originals = {}

    def apply(self, watcher, name):
        owner, attribute, make = self.known[name]
        original = getattr(owner, attribute) if isinstance(owner, types.ModuleType) else read(owner, attribute)
        if (id(owner), attribute) not in self.originals:
            own = attribute in vars(owner)
            self.originals[id(owner), attribute] = (owner, attribute, original, own)
        setattr(owner, attribute, make(watcher, name, original))

    def undo(self):
        for owner, attribute, original, own in self.originals.values():
            if own:
                setattr(owner, attribute, original)
            elif attribute in vars(owner):
                delattr(owner, attribute)
        self.originals.clear()


def read(owner, attribute):
    """Give an attribute; of a class as it is written there, so that a property stays one."""
    if isinstance(owner, type):
        for parent in owner.__mro__:
            if attribute in vars(parent):
                return vars(parent)[attribute]
    return getattr(owner, attribute)
