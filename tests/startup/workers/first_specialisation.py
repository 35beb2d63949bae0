"""Specialise an argument as the first launch does, then use Gluon's descriptor class as a user would."""

# ruff: noqa: I001
# Runs in the environment under test: the order of imports matters, and pathlib is one of those that are watched.

import json
import sys

import triton
from triton._C.libtriton import native_specialize_impl
from triton.backends.nvidia.compiler import CUDABackend


class Base:
    dtype = "float16"

    def data_ptr(self) -> int:
        return 4096


native_specialize_impl(CUDABackend, 3, False, True, True)
before = sorted(name for name in sys.modules if name.startswith("triton.experimental.gluon"))

from triton.experimental import gluon  # noqa: E402
from triton.experimental.gluon import language as gl  # noqa: E402
from triton.experimental.gluon.nvidia.hopper import TensorDescriptor  # noqa: E402

layout = gl.NVMMASharedLayout(swizzle_byte_width=64, element_bitwidth=16, rank=2)
descriptor = TensorDescriptor(Base(), [64, 64], [64, 1], [32, 32], layout)
answer = native_specialize_impl(CUDABackend, descriptor, False, True, True)
try:
    TensorDescriptor(Base(), [64, 64], [64, 1], [32, 32], "not a layout")
    refused = ""
except AssertionError as error:
    refused = str(error)
print(
    json.dumps(
        {
            "before": before,
            "answer": [str(part) for part in answer],
            "same": gluon.nvidia.hopper.TensorDescriptor is gluon.nvidia.blackwell.TensorDescriptor is TensorDescriptor,
            "layout": gluon.nvidia.hopper.NVMMASharedLayout is type(layout),
            "refused": refused,
            "callables": [gluon.jit.__module__, gluon.constexpr_function.__module__, gluon.must_use_result.__module__],
            "amd": gluon.amd.gfx1250.PaddedSharedLayout.__name__,
            "version": triton.__version__.partition("+")[0],
        }
    )
)
