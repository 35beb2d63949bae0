"""Compiles kernels that call others, with and without closures, and prints how often inspect.getclosurevars was called."""

import inspect

import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

import triton

calls = 0
original = inspect.getclosurevars


def counting(function):
    global calls
    calls += 1
    return original(function)


inspect.getclosurevars = counting


@triton.jit
def double(x):
    return x + x


def make(factor):
    @triton.jit
    def kernel(pointer):
        tl.store(pointer, double(tl.load(pointer)) * factor)

    return kernel


for function in (make(tl.constexpr(2)), make(tl.constexpr(3))):
    triton.compile(ASTSource(function, {"pointer": "*fp32"}), target=GPUTarget("cuda", 90, 32))
print(calls)
