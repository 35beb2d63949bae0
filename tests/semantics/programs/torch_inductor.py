"""Calls Triton through torch's own code, as inductor does, and prints what came out; see test_torch.py.

Torch is a build without CUDA: what needs a CUDA tensor is called one level below.
"""
# mypy: ignore-errors

import json
import pickle
import sys
from types import SimpleNamespace

import torch
import triton.language as tl
from torch._higher_order_ops.triton_kernel_wrap import identify_accessed_tensors
from torch._inductor.runtime.static_triton_launcher import StaticallyLaunchedCudaKernel
from torch._inductor.runtime.triton_heuristics import CachingAutotuner, TritonCompileResult

import triton
from tests.fake_driver.nvidia import install


@triton.jit
def combine(x, y):
    return x * y + 1


@triton.jit
def add(a, b, out, xnumel, XBLOCK: tl.constexpr):
    i = tl.program_id(0) * XBLOCK + tl.arange(0, XBLOCK)
    mask = i < xnumel
    tl.store(out + i, combine(tl.load(a + i, mask=mask), tl.load(b + i, mask=mask)), mask=mask)


@triton.autotune([triton.Config({"BLOCK": 64}), triton.Config({"BLOCK": 128})], key=["n"])
@triton.jit
def total(a, out, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.atomic_add(out, tl.sum(tl.load(a + i, mask=i < n, other=0.0)))


def accesses():
    """What torch.compile learns of kernels that a user wrote, from their TTIR."""
    a, b, out = torch.zeros(3, 1024)
    of_add = identify_accessed_tensors(add, {"a": a, "b": b, "out": out, "xnumel": 1024, "XBLOCK": 128}, {})
    of_total = identify_accessed_tensors(total, {"a": a, "out": out, "n": 1024}, {})
    return [str(of_add), str(of_total)]


def compile_add():
    signature = {"a": "*fp32", "b": "*fp32", "out": "*fp32", "xnumel": "i32", "XBLOCK": "constexpr"}
    source = triton.compiler.ASTSource(add, signature, {(4,): 128}, {(0,): [["tt.divisibility", 16]]})
    return triton.compile(source)


def compile_meta():
    return {
        "signature": {"a": "*fp32", "b": "*fp32", "out": "*fp32", "xnumel": "i32", "XBLOCK": "constexpr"},
        "constants": {"XBLOCK": 128},
        "device": 0,
        "device_type": "cuda",
        "num_warps": 4,
        "num_stages": 3,
        "debug": False,
        "cc": 90,
    }


def through_pickle(result):
    """Send a compiled kernel through pickle as inductor's compile workers do."""
    autotuner = SimpleNamespace(fn=add, launchers=[], benchmark_failure_reasons={})
    old = CachingAutotuner.prepare_for_pickle(autotuner)
    try:
        fn, result = pickle.loads(pickle.dumps((add, result)))
    finally:
        CachingAutotuner.restore_after_unpickle(autotuner, old)
    CachingAutotuner.restore_after_unpickle(SimpleNamespace(fn=fn, launchers=[]), None)
    return result


def launch(result):
    """Launch through the function that inductor writes for a kernel."""
    launcher = result.make_launcher()
    tensors = [torch.zeros(1024) for _ in range(3)]
    launcher(*tensors, 1024, stream=7)
    names = ("n_regs", "n_spills", "shared", "cache_hash", "store_cubin")
    return {name: getattr(launcher, name) for name in names}


def static_launcher(kernel):
    """What torch's own launcher in C++ reads off a compiled kernel."""
    kernel._cubin_path = "kernel.cubin"  # set by the caller in torch
    static = StaticallyLaunchedCudaKernel(kernel)
    names = ("name", "arg_tys", "arg_names", "declared_constexprs", "full_constexprs", "shared", "num_warps")
    return {name: str(getattr(static, name, None)) for name in names}


def main():
    fake = install()
    kernel = compile_add()
    result = TritonCompileResult(kernel, triton.Config({"XBLOCK": 128}), compile_meta(), {"grid_type": "Grid1D"})
    answer = {"accesses": accesses(), "static": static_launcher(kernel), "launcher": launch(result)}
    answer["unpickled"] = launch(through_pickle(result))
    records = fake.library.launches()
    answer["launches"] = [[list(r.grid), list(r.block), r.shared, r.stream] for r in records]
    answer["keys"] = [len(add.cache_key), len(total.fn.cache_key)]
    for part in ("launcher", "unpickled"):  # keys of the installation are in these
        answer[part]["cache_hash"] = len(answer[part]["cache_hash"])
    json.dump(answer, sys.stdout)


if __name__ == "__main__":
    main()
