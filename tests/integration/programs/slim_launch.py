"""Launches kernels of three signatures with Triton's CUDA driver, which finds the driver's library by itself, and reports how.

``tests.fake_driver`` would load the library first; here it is the installed Triton that has to find it.
"""
# mypy: ignore-errors

import json

import triton.language as tl
from triton.runtime.driver import driver

import triton
from tests.fake_driver.nvidia import FakeCudaDriver
from tests.fake_driver.tensors import tensor


@triton.jit
def one(pointer):
    tl.store(pointer, 1)


@triton.jit
def scaled(pointer, scale, offset: tl.float64):
    tl.store(pointer, (tl.load(pointer) * scale + offset).to(tl.float32))


@triton.jit
def both(pointer, count: tl.int16, constant: tl.constexpr):
    tl.store(pointer, count + constant)


driver.set_active(FakeCudaDriver())
one[(2,)](tensor(0x1000))
scaled[(3, 4)](tensor(0x2000), 0.5, 2.0)
both[(1,)](tensor(0x3000, "int32"), 5, constant=7)
print(json.dumps({"version": triton.__version__}))
