"""Does the steps of a program, from a state that is always the same, and tells what could be seen of each."""
# mypy: ignore-errors

import importlib.util
import os
import re
import struct
import sys
import threading
from pathlib import Path

from triton.runtime import _allocation
from triton.runtime.driver import driver as drivers
from triton.tools.tensor_descriptor import TensorDescriptor

import triton
from tests.fake_driver.tensors import tensor
from triton import knobs

from . import foreign
from .launches import Launches
from .moments import Moments
from .steps import Steps

KERNELS = Path(__file__).parent / "kernels.py"
OBJECTS = [
    ["t0", ["watched", 4096, "float32"]],
    ["t1", ["silent", 4096, "float32"]],
    ["t2", ["fresh", 4096, "float32"]],
    ["t3", ["fresh", 4096, "float16"]],
]


def described_error(error):
    """Say what was raised, without addresses, and without where a recursion ended."""
    text = "" if isinstance(error, (RecursionError, KeyboardInterrupt)) else re.sub("0x[0-9a-f]+", "0x", str(error))
    return ["raised", type(error).__name__, text]


class World(Moments, Launches, Steps):
    """One program's world.

    :param fake: the active driver
    :param patches: what is replaced at the moment; nothing, in the end
    """

    def __init__(self, fake, patches):
        super().__init__(fake.library)
        self.load_function = "hipModuleLoadDataEx" if fake.get_current_target().backend == "hip" else "cuModuleLoadData"
        self.fake, self.patches = fake, patches
        self.kernels, self.bound, self.objects, self.threads, self.used = [], {}, {}, [], {}
        self.settle_down()
        self.library.clear_failures()
        self.library.launches()
        sys.modules.pop("sequence_kernels", None)
        self.module = self.load()
        for name, spec in OBJECTS:
            self.make_tensor(name, spec)
        foreign.Constant.watcher = self
        self.make_constant("c0", 16)
        self.make_constant("c1", 32)
        self.objects["n0"] = foreign.watched_number(self, "n0", 5)
        base = foreign.make_tensor(self, "base", "silent", 4096, "float16")
        self.objects["d0"] = TensorDescriptor(base, [64, 64], [64, 1], [16, 32])

    def load(self):
        # Always the same name: it is part of the kernels' keys.
        spec = importlib.util.spec_from_file_location("sequence_kernels", KERNELS)
        module = importlib.util.module_from_spec(spec)
        sys.modules.setdefault(spec.name, module)
        spec.loader.exec_module(module)
        return module

    def settle_down(self):
        """Make everything usual that is not a function's own."""
        self.patches.undo()
        knobs.runtime, knobs.compilation = knobs.runtime_knobs(), knobs.compilation_knobs()
        knobs.runtime.launch_enter_hook = knobs.HookChain()
        knobs.runtime.launch_exit_hook = knobs.HookChain(reversed=True)
        os.environ.pop("TRITON_DEBUG", None)
        drivers.set_active(self.fake)
        self.fake.device, self.fake.streams = 0, {}
        _allocation._allocator.set(self.allocator("allocator"))
        sys.setswitchinterval(0.005)

    def allocator(self, name):
        """Make an allocator; what it gives lies elsewhere each time and is asked for its address."""

        def allocate(size, alignment, stream):
            self.happened(name, size, alignment, stream)
            return tensor(1 << 20, "int8", (16,))

        return allocate

    def hook(self, name):
        """Make a launch hook; it asks for the metadata as a profiler does."""

        def called(metadata):
            data = metadata.get() if metadata is not None else {}
            self.happened(name, sorted(data), data.get("name"), data.get("stream"), data.get("extent"))

        return called

    def value(self, spec):
        """Make an argument of its description, or take one that is kept."""
        kind, payload = spec
        if kind == "stored":
            return self.objects[payload]
        if kind == "int":
            return int(payload)
        if kind == "float":
            return struct.unpack("<d", bytes.fromhex(payload))[0]
        if kind == "tuple":
            return tuple(map(self.value, payload))
        if kind == "pair":
            return foreign.Pair(*map(self.value, payload))
        if kind == "subclass":
            value = self.value(payload[1])
            return foreign.SUBCLASSES[payload[0]](value)
        if kind == "numpy":
            return foreign.numpy_number(*payload)
        if kind == "level":
            return foreign.Level.SEVEN
        if kind == "tensor":
            return foreign.make_tensor(self, "new", *payload)
        if kind == "dtype":
            return getattr(triton.language, payload)
        return payload  # None, booleans, texts

    def known(self, kernel):
        """Describe a kernel that was returned: its number in order of appearance, and what it was generated for."""
        if kernel is None:
            return None
        if not any(kernel is known for known in self.kernels):
            self.kernels.append(kernel)
        number = [kernel is known for known in self.kernels].index(True)
        source = kernel.src
        constants = sorted((str(path), type(value).__name__, repr(value)) for path, value in source.constants.items())
        attributes = sorted((str(path), str(value)) for path, value in source.attrs.items())
        return [number, kernel.name, str(source.signature), attributes, constants, list(kernel.packed_metadata)]

    def records(self):
        return [
            [*(getattr(launch, name) for name in ("function", "device", "grid", "block", "shared", "stream")),
             [[number, data.hex()] for number, data in launch.attributes], [data.hex() for data in launch.parameters]]
            for launch in self.library.launches()
        ]  # fmt: skip

    def outcome(self, step):
        """Do a step; return what could be seen of it."""
        self.log = []
        loaded = self.library.call_count(self.load_function)
        answer = self.guarded(lambda: self.do(step))
        loaded = self.library.call_count(self.load_function) - loaded
        return {"answer": answer, "launches": self.records(), "seen": self.log, "loaded": loaded}

    def guarded(self, action):
        try:
            return action()
        except BaseException as error:
            return described_error(error)

    def do(self, step):
        details = {name: value for name, value in step.items() if name != "do"}
        return getattr(self, f"do_{step['do']}")(**details)

    def end(self):
        """End what is under way, make everything usual, and tell which functions are launched natively then."""
        self.log = []
        answers = [self.guarded(thread.resume) for thread in self.threads if not thread.ended]
        launches, seen = self.records(), self.log
        self.muted += 1
        self.settle_down()
        self.library.clear_failures()
        self.module.SCALE, self.module.FACTOR = triton.language.constexpr(2), triton.language.constexpr(3)
        settled = {name: self.guarded(lambda name=name: self.settled(name)) for name in sorted(self.used)}
        self.library.launches()
        return {"answer": [answers, settled], "launches": launches, "seen": seen, "loaded": 0}

    def in_thread(self, action):
        """Do something in another thread, and wait for it."""
        answers = []
        thread = threading.Thread(target=lambda: answers.append(self.guarded(action)), daemon=True)
        thread.start()
        thread.join(20)
        return answers[0] if answers else "still running"
