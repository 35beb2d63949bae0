"""Runs generated launches, one JSON case a line on standard input, and answers each with what happened.

Runs in the environment under test. The first argument is the backend. With a second one, the name of a plant, one thing in
the launcher is broken on purpose.
"""
# mypy: ignore-errors

import collections
import enum
import importlib.util
import json
import os
import struct
import sys
import tempfile
from pathlib import Path

import triton.language as tl
from triton.backends.nvidia import driver as nvidia
from triton.tools.tensor_descriptor import TensorDescriptor

import triton
from tests.fake_driver.amd import install as install_hip
from tests.fake_driver.nvidia import install as install_cuda
from tests.fake_driver.tensors import tensor
from tests.native.workers.extension import load_extension
from triton import knobs

# What a plant replaces in the C source of every launcher.
PLANTS = {
    "wrong byte": ("return (uint16_t)(u32 >> 16);", "return (uint16_t)(u32 >> 16) ^ 1;"),
    "missing check": ('"iiiKKppOOOOOOh', '"iiiKKppOOOOOOH'),
}

_POINTER = "tl.full([], 4096, tl.int64).to(tl.pointer_type(tl.int32), bitcast=True)"
BODIES = {
    "nothing": "pass",
    "store": "tl.store(tl.zeros([64], tl.int64).to(tl.pointer_type(tl.int32), bitcast=True), tl.zeros([64], tl.int32))",
    # A descriptor made by the kernel lies in scratch memory.
    "scratch": f"tl.make_tensor_descriptor({_POINTER}, [64, 64], [64, 1], [16, 32]).store([0, 0], tl.zeros([16, 32], tl.int32))",
}

Pair = collections.namedtuple("Pair", ["left", "right"])


class Number(enum.IntEnum):
    SEVEN = 7


class Integer(int):
    pass


class Real(float):
    pass


class Index:
    def __index__(self):
        return 5


class PointerWithoutDtype:
    def data_ptr(self):
        return 64


class PointerOfText:
    dtype = "torch.float32"

    def data_ptr(self):
        return "64"


class PointerThatRaises:
    dtype = "torch.float32"

    def data_ptr(self):
        raise LookupError("no storage")


ODD = {
    "list": [1, 2],
    "dict": {},
    "bytes": b"12",
    "text": "text",
    "complex": 1j,
    "object": object(),
    "range": range(3),
    "type": int,
    "ellipsis": ...,
    "enumeration": Number.SEVEN,
    "integer subclass": Integer(9),
    "float subclass": Real(1.5),
    "index": Index(),
    "function": len,
    "pointer without dtype": PointerWithoutDtype(),
    "pointer of text": PointerOfText(),
    "pointer that raises": PointerThatRaises(),
    "empty tuple": (),
    "dtype": tl.float16,
    "constexpr": tl.constexpr(3),
}


def value(spec):
    """Make an argument of its description; see `tests.fake_driver.cases`."""
    kind, payload = spec
    if kind == "int":
        return int(payload)
    if kind == "float":
        return struct.unpack("<d", bytes.fromhex(payload))[0]
    if kind == "tensor":
        return tensor(int(payload[0]), payload[1], tuple(payload[2]))
    if kind == "tuple":
        return tuple(value(item) for item in payload)
    if kind == "pair":
        return Pair(*(value(item) for item in payload))
    if kind == "descriptor":
        base = tensor(int(payload["address"]), payload["dtype"], tuple(payload["shape"]))
        return TensorDescriptor(base, payload["shape"], base.stride(), payload["block"], payload["padding"])
    if kind == "odd":
        return ODD[payload]
    return payload  # None, booleans, texts


def make_kernel(case, folder, number):
    """Write the kernel to a file, as Triton reads its source from there, and import it."""
    parameters = [
        name + (f": {annotation}" if annotation else "") + (f" = {default}" if default else "")
        for name, annotation, default in case["parameters"]
    ]
    source = (
        "import triton\nimport triton.language as tl\n\n"
        f"@triton.jit(do_not_specialize={case['unspecialized']}, do_not_specialize_on_alignment={case['unaligned']})\n"
        f"def kernel({', '.join(parameters)}):\n    {BODIES[case['body']]}\n"
    )
    path = folder / f"case{number}.py"
    path.write_text(source)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.kernel


class Surroundings:
    """Hooks and allocator, and what they were asked."""

    def __init__(self, hooks):
        self.seen = []
        # Others than chains, which the driver calls as they are.
        sides = {"enter": ["enter"], "exit": ["exit"], "both": ["enter", "exit"]}.get(hooks.split()[-1], [])
        self.failing = hooks.startswith("failing")
        for side in ("enter", "exit"):
            setattr(knobs.runtime, f"launch_{side}_hook", self.hook(side) if side in sides else knobs.HookChain())
        triton.set_allocator(self.allocate)

    def hook(self, side):
        def called(metadata):
            data = metadata.get() if metadata is not None else {}
            self.seen.append([side, data.get("name"), data.get("stream")])
            if self.failing:
                raise LookupError(side)

        return called

    def allocate(self, size, alignment, stream):
        self.seen.append(["allocate", size, alignment, stream])
        return tensor(1 << 20, "int8", (16,))

    def take(self):
        seen, self.seen = self.seen, []
        return seen


def outcome(library, kernel, call, surroundings):
    """Launch once: the records, or the type of the error; and what hooks and allocator were asked."""
    arguments = [value(spec) for spec in call["arguments"]]
    keywords = {name: value(spec) for name, spec in call["keywords"].items()}
    grid = value(call["grid"])
    if call["callable_grid"]:
        extents, grid = grid, lambda _: extents
    try:
        kernel[grid](*arguments, **keywords, **call["options"])
    except Exception as error:
        library.launches()
        return {"error": type(error).__name__, "message": str(error), "asked": surroundings.take()}
    records = []
    for launch in library.launches():
        record = {name: getattr(launch, name) for name in ("function", "device", "grid", "block", "shared", "stream")}
        record["attributes"] = [[number, data.hex()] for number, data in launch.attributes]
        record["parameters"] = [data.hex() for data in launch.parameters]
        records.append(record)
    return {"launches": records, "asked": surroundings.take()}


def run_case(library, case, folder, number):
    try:
        kernel = make_kernel(case, folder, number)
    except Exception as error:
        return [{"error": type(error).__name__, "message": str(error)}]
    surroundings = Surroundings(case["hooks"])
    first = [outcome(library, kernel, call, surroundings) for call in case["calls"]]
    outcomes = list(first)
    for _ in range(case["rounds"] - 1):
        for at, call in enumerate(case["calls"]):
            again = outcome(library, kernel, call, surroundings)
            # Most are as before, and said in few words.
            same = again.get("error", again) == first[at].get("error", first[at])
            outcomes.append({"again": at, **dict.fromkeys(again.keys() & {"launches"}, "as before")} if same else again)
    return outcomes


def plant(name):
    """Break the source of the generated launchers in one place."""
    make_launcher = nvidia.make_launcher
    nvidia.make_launcher = lambda *arguments: make_launcher(*arguments).replace(*PLANTS[name])


def main():
    # Whatever prints to standard output must not end up between the answers.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    if len(sys.argv) > 2:
        plant(sys.argv[2])
    if extension := os.environ.get("FORK_EXTENSION"):
        load_extension(extension)
    library = {"cuda": install_cuda, "hip": install_hip}[sys.argv[1]]().library
    with tempfile.TemporaryDirectory() as folder:
        for number, line in enumerate(sys.stdin):
            answers.write(json.dumps(run_case(library, json.loads(line), Path(folder), number)) + "\n")
            answers.flush()


if __name__ == "__main__":
    main()
