"""One element in, one element out: arithmetic, casts, comparisons, mathematics, masks."""

import triton.language as tl
from fork.equivalence.cases import Case, aligned

import triton


@triton.jit
def add_vectors(x_ptr, y_ptr, out_ptr, count, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < count
    tl.store(out_ptr + at, tl.load(x_ptr + at, mask=inside) + tl.load(y_ptr + at, mask=inside), mask=inside)


CASES = [
    Case(
        "add_vectors",
        add_vectors,
        {"x_ptr": "*fp32", "y_ptr": "*fp32", "out_ptr": "*fp32", "count": "i32"},
        {"BLOCK": 1024},
        aligned("x_ptr", "y_ptr", "out_ptr", "count"),
    ),
]
