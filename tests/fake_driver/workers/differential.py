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

from tests.fake_driver.amd import install as install_hip
from tests.fake_driver.nvidia import install as install_cuda
from tests.fake_driver.tensors import tensor

# What a plant replaces in the C source of every launcher.
PLANTS = {
    "wrong byte": ("return (uint16_t)(u32 >> 16);", "return (uint16_t)(u32 >> 16) ^ 1;"),
    "missing check": ('"iiiKKppOOOOOOh', '"iiiKKppOOOOOOH'),
}

STORE = "tl.store(tl.zeros([64], tl.int64).to(tl.pointer_type(tl.int32), bitcast=True), tl.zeros([64], tl.int32))"

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
        f"def kernel({', '.join(parameters)}):\n    {STORE if case['has_store'] else 'pass'}\n"
    )
    path = folder / f"case{number}.py"
    path.write_text(source)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.kernel


def outcome(library, kernel, call):
    """Launch once: the records, or the type of the error."""
    arguments = [value(spec) for spec in call["arguments"]]
    keywords = {name: value(spec) for name, spec in call["keywords"].items()}
    grid = value(call["grid"])
    if call["callable_grid"]:
        extents, grid = grid, lambda _: extents
    try:
        kernel[grid](*arguments, **keywords, **call["options"])
    except Exception as error:
        library.launches()
        return {"error": type(error).__name__, "message": str(error)}
    records = []
    for launch in library.launches():
        record = {name: getattr(launch, name) for name in ("function", "device", "grid", "block", "shared", "stream")}
        record["attributes"] = [[number, data.hex()] for number, data in launch.attributes]
        record["parameters"] = [data.hex() for data in launch.parameters]
        records.append(record)
    return {"launches": records}


def run_case(library, case, folder, number):
    try:
        kernel = make_kernel(case, folder, number)
    except Exception as error:
        return [{"error": type(error).__name__, "message": str(error)}]
    return [outcome(library, kernel, call) for call in case["calls"]]


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
    library = {"cuda": install_cuda, "hip": install_hip}[sys.argv[1]]().library
    with tempfile.TemporaryDirectory() as folder:
        for number, line in enumerate(sys.stdin):
            answers.write(json.dumps(run_case(library, json.loads(line), Path(folder), number)) + "\n")
            answers.flush()


if __name__ == "__main__":
    main()
