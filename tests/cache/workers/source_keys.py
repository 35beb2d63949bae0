"""Print what the key of a function is, what it watches, and what that took, on the path that the environment chooses.

Each source is that of ``kernel`` in a module of its own, with the names below around it.
"""

import ast
import collections
import importlib.util
import os
import re
import tempfile
from pathlib import Path

import common
from triton.compiler import ASTSource

import triton

HEAD = """
import math, types
import triton
import triton.language as tl
from triton.language.extra import libdevice
from triton.experimental.gluon import language as gl
A, B, C = tl.constexpr(1), tl.constexpr("b"), 3
L = [1, 2]
T = (tl.float16, 2)
settings = types.SimpleNamespace(N=tl.constexpr(4), M=5, inner=types.SimpleNamespace(X=6))
x = tl.constexpr(7)
@triton.jit
def called(p, n=C):
    return p + A
@triton.constexpr_function
def power(n):
    return 2 ** n
@tl.core._aggregate
class Pair:
    a: tl.tensor
    b: tl.tensor
    @triton.constexpr_function
    def __init__(self, a, b):
        self.a = a
        self.b = b
    @triton.jit
    def sum(self):
        return self.a + self.b + A
def plain():
    pass
"""

SOURCES = {
    "nothing": "def kernel(p):\n    pass",
    "library": "def kernel(p):\n    tl.store(p, tl.sum(tl.load(p + tl.arange(0, 8))))\n    tl.store(p, libdevice.exp(math.pi))",
    "gluon": "def kernel(p):\n    gl.store(p, gl.arange(0, 8, gl.AutoLayout()))",
    "globals": "def kernel(p):\n    tl.store(p, A + C + L[0] + T[1] + A)\n    return B",
    "attributes": "def kernel(p):\n    tl.store(p, settings.N + settings.M + settings.inner.X + settings.N)",
    "calls": "def kernel(p):\n    called(p)\n    called(p + power(3))\n    called(p)",
    "aggregate": "def kernel(p):\n    pair = Pair(p, p)\n    pair.sum()",
    "unsupported": "def kernel(p):\n    plain()",
    "missing_attribute": "def kernel(p):\n    settings.NOPE",
    "names_of_builtins": "def kernel(p):\n    for i in range(3):\n        max(i, len(L), A)",
    "assigned_later": "def kernel(p):\n    y = x\n    x = 3\n    y = x + x.dtype",
    "assigned_to_itself": "def kernel(p):\n    x = x + 1",
    "tuple": "def kernel(p):\n    A, (B) = C, A\n    return A, B, C",
    "starred": "def kernel(p):\n    A, *B = T\n    return A, B",
    "list_target": "def kernel(p):\n    [A, B] = C, x\n    return A, B",
    "nested_tuple": "def kernel(p):\n    A, (B, C) = T\n    return A, B, C",
    "two_targets": "def kernel(p):\n    A = B = C",
    "subscript_target": "def kernel(p):\n    L[A] = called(p)\n    L[x], settings.M = 1, 2",
    "attribute_of_local": "def kernel(p):\n    p.field = A\n    y = p\n    y.field.more = B\n    return y.field",
    "attribute_of_global": "def kernel(p):\n    settings.M = A",
    "attribute_of_tuple": "def kernel(p):\n    return (A, B).count",
    "attribute_of_call": "def kernel(p):\n    called(p).to(tl.float32).x.y(A)",
    "annotated": "def kernel(p: tl.int32, n: tl.constexpr = C) -> B:\n    x: tl.constexpr = x\n    y: A\n    return y + x",
    "augmented": "def kernel(p):\n    A += x\n    A -= A",
    "walrus": "def kernel(p):\n    if (y := A) > x:\n        y",
    "loops": "def kernel(p):\n    for A in tl.static_range(C):\n        A\n    else:\n        B\n    for B, x in L:\n        B + x",
    "while": "def kernel(p):\n    while x < A:\n        break\n    else:\n        C",
    "comprehension": "def kernel(p):\n    return [x + A for x in T if x], {A: B for A in L}, (C for _ in L)",
    "lambda": "def kernel(p):\n    return lambda x, y=A: x + y + B",
    "lambda_in_default": "def kernel(p, f=lambda x: A):\n    return f",
    "inner_function": "def kernel(p):\n    def x(A, B=C):\n        return A + B + p\n    return x(A)",
    "inner_class": "def kernel(p):\n    class Q:\n        x = A\n    return Q",
    "with": "def kernel(p):\n    with called(p) as x, called(A):\n        x",
    "assert": "def kernel(p):\n    assert A, f'{B} {x!r:>{C}}'\n    tl.static_assert(A == 1, 'no')",
    "slices": "def kernel(p):\n    return L[A:x:C], L[None, :], L[..., -A]",
    "booleans": "def kernel(p):\n    return A and B or not C, A < x <= C, A if B else C",
    "chain": "def kernel(p):\n    if A:\n        x\n    elif B:\n        y = 1\n    elif C:\n        y\n    else:\n        called",
    "parameters": "def kernel(p, /, A, *B, C=settings.N, x=T, **L):\n    return A + C + x + L + B",
    "defaults": "def kernel(p, n=A, *, m=x, k: tl.constexpr = C, q=called, r=settings.M, s=None):\n    return n + m + k",
    "global_statement": "def kernel(p):\n    global A\n    A = 3",
    "delete": "def kernel(p):\n    y = A\n    del y, x",
    "try": "def kernel(p):\n    try:\n        A\n    except x as y:\n        y\n    finally:\n        B",
    "strings": "def kernel(p):\n    '''A'''\n    return 'B', b'x', 1j",
    "await": "def kernel(p):\n    print(A, sep=B, *L, **settings.inner)",
    "match": "def kernel(p):\n    match p:\n        case settings.M | 1:\n            A\n        case [x, *_]:\n            x\n        case {'k': B, **C}:\n            A\n        case _ if C:\n            B",
}  # fmt: skip


def load(text):
    folder = tempfile.mkdtemp(dir=os.path.dirname(os.environ["TRITON_CACHE_DIR"]))
    path = Path(folder) / "kernels.py"
    path.write_text(HEAD + "\n\n@triton.jit\n" + text + "\n")
    spec = importlib.util.spec_from_file_location("kernels", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.kernel


def facts(kernel):
    """Give the key and what is watched for changes, or the error."""
    key = kernel.cache_key
    return [key, [[name, repr(value)] for (name, _), (value, _) in kernel.used_global_vals.items()]]


def counted(counter, name, function):
    def call(*args, **kwargs):
        counter[name] += 1
        return function(*args, **kwargs)

    return call


def without_addresses(fact):
    return re.sub(" at 0x[0-9a-f]+", "", fact) if isinstance(fact, str) else fact


result = {name: without_addresses(common.outcome(lambda t=text: facts(load(t)))) for name, text in SOURCES.items()}

counter = collections.Counter()
kernel = load("def kernel(p):\n    called(p)\n    called(p + power(3))\n    tl.store(p, tl.sum(tl.arange(0, 8)))")
ast.parse = counted(counter, "parses", ast.parse)
ast.NodeVisitor.generic_visit = counted(counter, "visits", ast.NodeVisitor.generic_visit)
kernel.cache_key
visits = counter["visits"]
triton.compile(ASTSource(kernel, {"p": "*i32"}), target=common.TARGET)
common.report({"facts": result, "visits": visits, "parses": counter["parses"]})
