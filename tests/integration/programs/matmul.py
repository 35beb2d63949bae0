"""Compiles a matmul for three CUDA devices and prints size and SHA-256 of each cubin."""

import hashlib
import json
import os

os.environ["TRITON_DISABLE_LINE_INFO"] = "1"  # line tables hold the path of this file alone, which both sides share

import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

import triton


@triton.jit
def matmul(a, b, c, m, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    rows = tl.program_id(0) * M + tl.arange(0, M)
    columns = tl.program_id(1) * N + tl.arange(0, N)
    inner = tl.arange(0, K)
    total = tl.zeros((M, N), dtype=tl.float32)
    for start in range(0, k, K):
        left = tl.load(a + rows[:, None] * k + (start + inner)[None, :], mask=rows[:, None] < m, other=0.0)
        right = tl.load(b + (start + inner)[:, None] * n + columns[None, :], mask=columns[None, :] < n, other=0.0)
        total = tl.dot(left, right, total)
    mask = (rows[:, None] < m) & (columns[None, :] < n)
    tl.store(c + rows[:, None] * n + columns[None, :], total.to(tl.float16), mask=mask)


def compile_for(capability: int) -> bytes:
    pointers = dict.fromkeys(("a", "b", "c"), "*fp16")
    sizes = dict.fromkeys(("m", "n", "k"), "i32")
    tiles = dict.fromkeys(("M", "N", "K"), "constexpr")
    divisible = {(index,): [["tt.divisibility", 16]] for index in range(6)}
    source = ASTSource(matmul, pointers | sizes | tiles, {(6,): 64, (7,): 64, (8,): 32}, divisible)
    return triton.compile(source, target=GPUTarget("cuda", capability, 32)).asm["cubin"]


results = {}
for capability in (80, 90, 100):
    cubin = compile_for(capability)
    results[capability] = {"size": len(cubin), "sha256": hashlib.sha256(cubin).hexdigest()}
print(json.dumps(results))
