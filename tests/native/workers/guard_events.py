"""Does one event after another to kernels, as told on standard input in JSON, and answers each with what was launched.

Arguments: `cuda` or `hip`; `count` where the fork's fast path is to be counted; `patched` and a class whose method is replaced
before the first launch. Events are the methods of `World`.
"""
# mypy: ignore-errors

import collections
import copy
import gc
import importlib.util
import json
import os
import re
import sys
import weakref
from pathlib import Path

import triton.language as tl
from triton.runtime.driver import driver as drivers
from triton.runtime.jit import JITFunction

from tests.fake_driver.tensors import DtypeLike, TensorLike
from tests.native.workers.counting import watch_launches
from triton import knobs

BARE = ("plain", "mixed", "uses_global", "uses_helper", "described")
KERNELS = Path(__file__).parent / "guarded_kernels.py"
DTYPES = {name: DtypeLike(name) for name in ("float32", "float16")}
slow = collections.Counter()

if "hip" in sys.argv:
    from triton.backends.amd.driver import HIPLauncher as Launcher

    from tests.fake_driver.amd import install

    LOAD, LAUNCH = "hipModuleLoadDataEx", "hipModuleLaunchKernel"
else:
    from triton.backends.nvidia.driver import CudaLauncher as Launcher

    from tests.fake_driver.nvidia import install

    LOAD, LAUNCH = "cuModuleLoadData", "cuLaunchKernelEx"
PATCHED = {"JITFunction": JITFunction, "Launcher": Launcher}


class OtherTensor(TensorLike):
    """A tensor of another class."""


class Extents:
    """A grid that is a sequence of a class of its own."""

    def __init__(self, extents):
        self.extents = extents

    def __len__(self):
        return len(self.extents)

    def __getitem__(self, dimension):
        return self.extents[dimension]


GRIDS = {
    "tuple": tuple,
    "list": list,
    "dictionary": lambda extents: dict(enumerate(extents)),
    "sequence": Extents,
    "nothing": lambda _: None,
    "number": lambda extents: extents[0],
}


def value(spec):
    kind, payload = spec
    if kind == "tensor":
        return TensorLike(payload[0], DTYPES[payload[1]])
    if kind == "other tensor":
        return OtherTensor(payload[0], DTYPES[payload[1]])
    return tuple(payload) if kind == "tuple" else payload


class World:
    """One sequence of events, from a state that is always the same."""

    def __init__(self, fake, classes):
        self.fake, self.library, self.classes = fake, fake.library, classes
        self.log, self.kernels, self.bound, self.tensors = [], [], {}, {}
        for name, members in classes.items():
            for member, original in members.items():
                setattr(PATCHED[name], member, original)
        knobs.runtime, knobs.compilation = knobs.runtime_knobs(), knobs.compilation_knobs()
        knobs.runtime.launch_enter_hook, knobs.runtime.launch_exit_hook = (
            knobs.HookChain(),
            knobs.HookChain(reversed=True),
        )
        os.environ.pop("TRITON_DEBUG", None)
        drivers.set_active(fake)
        fake.device, fake.streams = 0, {}
        self.library.clear_failures()
        self.library.launches()
        # Always the same name: it is part of the kernels' cache keys.
        spec = importlib.util.spec_from_file_location("guarded_kernels", KERNELS)
        self.module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(self.module)

    def note(self, name):
        """Make a function that writes down that it was called."""
        return lambda *arguments, **options: self.log.append([name, len(arguments), sorted(options)])

    def hook(self, name):
        """Make a launch hook; it asks for the metadata as a profiler does."""

        def called(metadata):
            data = metadata.get()
            self.log.append([name, sorted(data), data.get("name"), data.get("stream"), data.get("extent")])

        return called

    def wrapped(self, original, name):
        """Make a function that writes down that it was called, and goes on."""

        def wrapper(*arguments, **options):
            self.log.append([name, len(arguments), sorted(options)])
            return original(*arguments, **options)

        return wrapper

    def known(self, answer):
        """Number an answer by identity, in order of appearance."""
        if answer is not None and not any(answer is kernel for kernel in self.kernels):
            self.kernels.append(answer)
        return answer if answer is None else [answer is kernel for kernel in self.kernels].index(True)

    def run(self, event):
        """Do one event; return what could be seen of it."""
        loaded = self.library.call_count(LOAD)
        self.log = []
        try:
            answer = getattr(self, event["do"])(**{name: each for name, each in event.items() if name != "do"})
        except Exception as error:
            answer = ["raised", type(error).__name__, re.sub("0x[0-9a-f]+", "0x", str(error))]
        records = [
            [*(getattr(launch, name) for name in ("function", "device", "grid", "block", "shared", "stream")),
             [[number, data.hex()] for number, data in launch.attributes], [data.hex() for data in launch.parameters]]
            for launch in self.library.launches()
        ]  # fmt: skip
        return [answer, records, self.log, self.library.call_count(LOAD) - loaded]

    def grid(self, kind, extents, effect):
        if effect is None:
            return GRIDS[kind](extents)

        def computed(bound):
            self.log.append(["grid", sorted(bound)])
            self.effect(effect, bound)
            return GRIDS[kind](extents)

        return computed

    def effect(self, effect, bound):
        """What a grid does besides computing extents."""
        if effect == "change a value":
            bound["count"] = 77
        elif effect == "take a value away":
            del bound["count"]
        elif effect == "launch":
            self.module.plain[(1,)](TensorLike(64, DTYPES["float32"]), 99)
        elif effect == "raise":
            raise LookupError("no grid")
        elif effect:
            self.run_quietly(effect)

    def run_quietly(self, effect):
        getattr(self, effect["do"])(**{name: each for name, each in effect.items() if name != "do"})

    # Launches.

    def launch(self, kernel, grid, values, options, times=1):
        function = self.module.__dict__[kernel]
        return [self.known(function[self.grid(*grid)](*map(value, values), **options)) for _ in range(times)]

    def probe(self):
        """Launch each kernel as it is launched most often."""
        answers = []
        target = TensorLike(4096, DTYPES["float32"])
        for name in BARE:
            arguments = (target, target, 5, 1.5, True) if name == "mixed" else (target, 5)
            try:
                answers.append(self.known(self.module.__dict__[name][(2, 3)](*arguments)))
            except Exception as error:
                answers.append([type(error).__name__, re.sub("0x[0-9a-f]+", "0x", str(error))])
        return answers

    def keep_bound(self, kernel, grid):
        self.bound[kernel] = self.module.__dict__[kernel][self.grid(*grid)]

    def launch_bound(self, kernel, values):
        return self.known(self.bound[kernel](*map(value, values))) if kernel in self.bound else None

    def keep_tensor(self, address, dtype):
        self.tensors[0] = TensorLike(address, DTYPES[dtype])

    def launch_kept(self, kernel, change):
        tensor = self.tensors.setdefault(0, TensorLike(4096, DTYPES["float32"]))
        if change == "dtype":
            tensor.dtype = DTYPES["float16" if tensor.dtype is DTYPES["float32"] else "float32"]
        elif change == "address":
            tensor.address ^= 8
        elif change == "method":
            tensor.data_ptr = lambda: 48
        return self.known(self.module.__dict__[kernel][(1,)](tensor, 5))

    def warmup(self, kernel, values):
        function = self.module.__dict__[kernel]
        return self.known(function.warmup(*map(value, values), grid=(1,)))

    def run_method(self, kernel, values):
        function = self.module.__dict__[kernel]
        return self.known(function.run(*map(value, values), grid=(2,), warmup=False))

    def launch_compiled(self, number):
        if number < len(self.kernels):
            compiled = self.kernels[number]
            compiled[(1, 2, 3)](*[TensorLike(4096, DTYPES["float32"]), 5][: len(compiled.src.signature)])
        return len(self.kernels)

    # What is looked at in a launch.

    def set_global(self, name, number):
        if number is None:
            self.module.__dict__.pop(name, None)
        else:
            setattr(self.module, name, tl.constexpr(number))

    def knob(self, name, setting):
        setattr(knobs.runtime, name, setting)

    def environment_debug(self, setting):
        if setting is None:
            os.environ.pop("TRITON_DEBUG", None)
        else:
            os.environ["TRITON_DEBUG"] = setting

    def instrumentation(self, setting):
        knobs.compilation.instrumentation_mode = setting

    def replace_knobs(self, hooked):
        knobs.runtime = knobs.runtime.copy()
        if hooked:
            knobs.runtime.launch_enter_hook = self.hook("enter of a copy")

    def add_hook(self, side):
        chain = getattr(knobs.runtime, f"launch_{side}_hook")
        if isinstance(chain, knobs.HookChain):
            chain.add(self.hook(f"{side} of a chain"))
        else:
            self.set_hook(side, True)

    def clear_hooks(self, side):
        setattr(knobs.runtime, f"launch_{side}_hook", knobs.HookChain())

    def set_hook(self, side, function):
        setattr(knobs.runtime, f"launch_{side}_hook", self.hook(f"{side} alone") if function else None)

    def compile_hook(self, on):
        knobs.runtime.jit_cache_hook = self.note("compile") if on else None

    def device(self, number):
        self.fake.device = number

    def stream(self, device, handle):
        self.fake.streams[device] = handle

    def other_driver(self):
        other = copy.copy(self.fake)
        other.streams = {0: 0xABC}
        drivers.set_active(other)

    def fail(self):
        self.library.fail([LAUNCH], 1, times=1)

    # The function.

    def pre_run_hook(self, kernel, on):
        hooks = self.module.__dict__[kernel].pre_run_hooks
        hooks.append(self.note("before")) if on else hooks.clear()

    def function_debug(self, kernel, setting):
        self.module.__dict__[kernel].debug = setting

    def replace_run(self, kernel):
        function = self.module.__dict__[kernel]
        function.run = self.wrapped(function.run, "own run")

    def restore_run(self, kernel):
        self.module.__dict__[kernel].__dict__.pop("run", None)

    def clear_caches(self, kernel, what):
        function = self.module.__dict__[kernel]
        if what == "all":
            function.device_caches.clear()
        elif what == "new":
            function.device_caches = collections.defaultdict(function.create_binder)
        elif 0 in function.device_caches:
            function.device_caches[0][0 if what == "kernels" else 1].clear()

    def forget_key(self, kernel):
        self.module.__dict__[kernel].hash = None

    def forget_globals(self, kernel):
        self.module.__dict__[kernel].used_global_vals = {}

    def update_source(self, kernel):
        function = self.module.__dict__[kernel]
        function._unsafe_update_src(function.src.replace("count", "count + 1", 3).replace("count + 1", "count", 1))

    def monkey_patch(self, kernel, other):
        function = self.module.__dict__[kernel]
        assert function.params and function.src  # the base has read both when the function was made
        function.fn = self.module.__dict__[other].fn

    def duplicate(self, kernel):
        setattr(self.module, kernel, copy.copy(self.module.__dict__[kernel]))

    def weak(self, kernel):
        function = self.module.__dict__[kernel]
        return weakref.ref(function)() is function

    def forget_function(self, kernel):
        """Drop a function; answer whether it is gone."""
        gone = weakref.ref(self.module.__dict__.pop(kernel))
        self.bound.pop(kernel, None)
        spec = importlib.util.spec_from_file_location("guarded_kernels", KERNELS)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        setattr(self.module, kernel, module.__dict__[kernel])
        gc.collect()
        return gone() is None

    # What the base goes through on the way.

    def patch_class(self, name, member):
        setattr(PATCHED[name], member, self.wrapped(self.classes[name][member], f"{name}.{member}"))

    def unpatch_class(self, name, member):
        setattr(PATCHED[name], member, self.classes[name][member])

    def tamper(self, number, what):
        """Change something in a compiled kernel."""
        if number >= len(self.kernels):
            return
        compiled = self.kernels[number]
        if what == "run":
            compiled._run = self.wrapped(compiled.run, "kernel's run")
        elif what == "launch" and type(compiled.run) is Launcher:
            compiled.run.launch = self.wrapped(compiled.run.launch, "launcher's launch")
        elif what == "metadata":
            warps, *rest = compiled.packed_metadata
            compiled.packed_metadata = (warps, *rest)
        elif what == "shared":
            *rest, shared = compiled.packed_metadata
            compiled.packed_metadata = (*rest, shared + 16)
        elif what == "cooperative" and type(compiled.run) is Launcher:
            compiled.run.launch_cooperative_grid = True


def count_slow_calls():
    watch_launches(lambda _function, left: slow.update(["slow"] if left else []))


def main():
    # Whatever prints to standard output must not end up between the answers.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    if "count" in sys.argv:
        count_slow_calls()
    fake = install()
    members = {"JITFunction": ["run"], "Launcher": ["__call__"]}
    classes = {name: {member: getattr(PATCHED[name], member) for member in each} for name, each in members.items()}
    world = World(fake, classes)
    if "patched" in sys.argv:
        for name in set(sys.argv) & set(members):
            world.patch_class(name, members[name][0])
    for line in sys.stdin:
        event = json.loads(line)
        if event["do"] == "reset":
            world = World(fake, classes)
            answer = []
        elif event["do"] == "count":
            answer = [slow["slow"]]
        else:
            answer = world.run(event)
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
