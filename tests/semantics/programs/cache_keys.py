"""Prints, for variants of one kernel, which of them share a key.

Each variant is a module written to a file of its own; `groups` numbers the keys in order of appearance, so that the output
does not depend on the keys themselves. `keys` are the keys of a few variants, to compare processes of one environment.
"""
# mypy: ignore-errors

import importlib.util
import json
import os
import sys
import tempfile
from pathlib import Path

from tests.fake_driver.nvidia import install
from tests.fake_driver.tensors import tensor

HEAD = "import triton\nimport triton.language as tl\n"
PLAIN = """
@triton.jit
def kernel(p, n, SIZE: tl.constexpr):
    tl.store(p, n + SIZE)
"""
GLOBAL = """
K = tl.constexpr({value})
UNUSED = tl.constexpr({unused})

@triton.jit
def kernel(p, n, SIZE: tl.constexpr):
    tl.store(p, n + SIZE + K)
"""
CLOSURE = """
def make(value, unused):
    @triton.jit
    def kernel(p, n, SIZE: tl.constexpr):
        tl.store(p, n + SIZE + value)
    return kernel

kernel = make(tl.constexpr({value}), {unused})
"""
CALLEES = """
@triton.jit{inner_options}
def inner(x):
    return x {operator} 2

@triton.jit
def middle(x):
    return inner(x) + 1

@triton.jit
def other(x):
    return x {other} 3

@triton.jit
def kernel(p, n, SIZE: tl.constexpr):
    tl.store(p, middle(n) + SIZE)
"""
CLOSED_CALLEE = """
@triton.jit
def plus(x):
    return x + 2

@triton.jit
def minus(x):
    return x - 2

def make(function):
    @triton.jit
    def kernel(p, n, SIZE: tl.constexpr):
        tl.store(p, function(n) + SIZE)
    return kernel

kernel = make({function})
"""
CONSTEXPR_FUNCTION = """
@triton.constexpr_function
def compute(x):
    return x * {factor}

@triton.jit
def kernel(p, n, SIZE: tl.constexpr):
    tl.store(p, n + compute(SIZE))
"""
SHADOWED = """
value = tl.constexpr(7)

def make(value):
    @triton.jit
    def kernel(p, n, SIZE: tl.constexpr):
        tl.store(p, n + SIZE + value)
    return kernel

kernel = make(tl.constexpr({value}))
"""


def fill(template, **values):
    for name, value in values.items():
        template = template.replace("{" + name + "}", str(value))
    return HEAD + template


SOURCES = {
    "plain": HEAD + PLAIN,
    "plain again": HEAD + PLAIN,
    "other body": HEAD + PLAIN.replace("n + SIZE", "n - SIZE"),
    "comment": HEAD + PLAIN.replace("n + SIZE)", "n + SIZE)  # text"),
    "code after it": HEAD + PLAIN + "\nlater = 1\n",
    "other line": HEAD + "\n" + PLAIN,
    "global 1": fill(GLOBAL, value=1, unused=1),
    "global 2": fill(GLOBAL, value=2, unused=1),
    "global 1, unused 2": fill(GLOBAL, value=1, unused=2),
    "closure 1": fill(CLOSURE, value=1, unused=1),
    "closure 2": fill(CLOSURE, value=2, unused=1),
    "closure 1, unused 2": fill(CLOSURE, value=1, unused=2),
    "callee": fill(CALLEES, inner_options="", operator="+", other="+"),
    "callee changed": fill(CALLEES, inner_options="", operator="*", other="+"),
    "callee noinline": fill(CALLEES, inner_options="(noinline=True)", operator="+", other="+"),
    "uncalled changed": fill(CALLEES, inner_options="", operator="+", other="*"),
    "closed callee plus": fill(CLOSED_CALLEE, function="plus"),
    "closed callee minus": fill(CLOSED_CALLEE, function="minus"),
    "constexpr function 2": fill(CONSTEXPR_FUNCTION, factor=2),
    "constexpr function 3": fill(CONSTEXPR_FUNCTION, factor=3),
    "shadowed 1": fill(SHADOWED, value=1),
    "shadowed 2": fill(SHADOWED, value=2),
}

# What is passed to the plain kernel; the arguments are a pointer, n and SIZE.
CALLS = {
    "call": ((4096, 3, 4), {}),
    "other address": ((8192, 3, 4), {}),
    "other n": ((4096, 5, 4), {}),
    "unaligned address": ((4097, 3, 4), {}),
    "divisible n": ((4096, 32, 4), {}),
    "n is one": ((4096, 1, 4), {}),
    "wide n": ((4096, 2**40 + 1, 4), {}),
    "float n": ((4096, 2.5, 4), {}),
    "other constexpr": ((4096, 3, 5), {}),
    "boolean constexpr": ((4096, 3, True), {}),
    "num_warps 4": ((4096, 3, 4), {"num_warps": 4}),
    "num_warps 8": ((4096, 3, 4), {"num_warps": 8}),
    "num_stages 2": ((4096, 3, 4), {"num_stages": 2}),
    "maxnreg 64": ((4096, 3, 4), {"maxnreg": 64}),
    "no fusion": ((4096, 3, 4), {"enable_fp_fusion": False}),
    "debug": ((4096, 3, 4), {"debug": True}),
    "pdl": ((4096, 3, 4), {"launch_pdl": True}),
}

# Environment variables of which some must change the key of a compilation and some must not.
VARIABLES = ["DISABLE_LLVM_OPT", "TRITON_DISABLE_LINE_INFO", "DISABLE_PTXAS_OPT", "NOBODY_READS_THIS"]


def load(source, folder, number):
    path = folder / f"variant{number}.py"
    path.write_text(source)
    spec = importlib.util.spec_from_file_location("variant", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.kernel


def compiled_hash(kernel, arguments, options):
    address, *others = arguments
    return kernel.warmup(tensor(address, "int32"), *others, grid=(1,), **options).hash


def with_variables(source, folder):
    """Compile afresh under each variable; the kernel object is new each time, as it keeps what it compiled."""
    hashes = {"no variable": compiled_hash(load(source, folder, 100), (4096, 3, 4), {})}
    for number, name in enumerate(VARIABLES):
        os.environ[name] = "1"
        hashes[name] = compiled_hash(load(source, folder, 101 + number), (4096, 3, 4), {})
        del os.environ[name]
    os.environ["FAKE_CUDA_CAPABILITY"] = "80"
    hashes["capability 80"] = compiled_hash(load(source, folder, 200), (4096, 3, 4), {})
    del os.environ["FAKE_CUDA_CAPABILITY"]
    return hashes


def groups(keys):
    order = list(dict.fromkeys(keys.values()))
    return {name: order.index(key) for name, key in keys.items()}


def main():
    install()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        kernels = {name: load(source, folder, number) for number, (name, source) in enumerate(SOURCES.items())}
        sources = {name: kernel.cache_key for name, kernel in kernels.items()}
        compilations = {name: compiled_hash(kernel, (4096, 3, 4), {}) for name, kernel in kernels.items()}
        calls = {name: compiled_hash(kernels["plain"], *call) for name, call in CALLS.items()}
        variables = with_variables(SOURCES["plain"], folder)
    json.dump(
        {
            "sources": groups(sources),
            "compilations": groups(compilations),
            "calls": groups(calls),
            "variables": groups(variables),
            "keys": [*sources.values(), *compilations.values(), *calls.values()],
        },
        sys.stdout,
    )


if __name__ == "__main__":
    main()
