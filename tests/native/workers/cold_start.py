"""Launches kernels of several signatures and reports what ran meanwhile, how, and what the driver got.

Arguments: cuda or hip, and perhaps "foreign type".
"""
# mypy: ignore-errors

import json
import os
import sys
from pathlib import Path

processes = []
STARTS = ("subprocess.Popen", "os.posix_spawn", "os.system", "os.exec", "os.fork", "os.forkpty")


def watch(event, arguments):
    if event in STARTS:
        processes.append(Path(os.fsdecode(arguments[0])).name if arguments else event)


import triton.language as tl  # noqa: E402

import triton  # noqa: E402
from tests.fake_driver.amd import install as install_hip  # noqa: E402
from tests.fake_driver.nvidia import install as install_cuda  # noqa: E402
from tests.fake_driver.tensors import tensor  # noqa: E402

sys.addaudithook(watch)


@triton.jit
def one(pointer):
    tl.store(pointer, 1)


@triton.jit
def scaled(pointer, scale, offset: tl.float64):
    tl.store(pointer, (tl.load(pointer) * scale + offset).to(tl.float32))


@triton.jit
def pair(values, flag, constant: tl.constexpr):
    tl.store(values[0], values[1] + flag + constant)


fake = {"cuda": install_cuda, "hip": install_hip}[sys.argv[1]]()
if sys.argv[2:] == ["foreign type"]:
    # A type that the extension does not know: made known to the base alone.
    from triton.fork.launch import native, native_hip

    del native.LETTERS["fp32"], native_hip._LETTERS["fp32"]
kernels = [
    one[(2,)](tensor(0x1000)),
    scaled[(3, 4)](tensor(0x2000), 0.5, 2.0),
    pair[(1,)]((tensor(0x3000, "int32"), 5), True, 7),
]
records = [
    [launch.function, list(launch.grid), [value.hex() for value in launch.parameters]]
    for launch in fake.library.launches()
]
print(
    json.dumps(
        {
            "processes": processes,
            "utilities": fake.utils.load_binary.__self__.__name__,
            "launchers": [getattr(kernel.run.launch.__self__, "__name__", "program") for kernel in kernels],
            "records": records,
        }
    )
)
