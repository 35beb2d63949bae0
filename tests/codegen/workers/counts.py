"""Count what code generation does: nodes visited, sources parsed, signatures inspected, names of types made."""

import ast
import collections
import functools
import inspect
import json
import sys
import warnings

import triton.compiler.code_generator as code_generator
from compiling import generate, load
from triton.language import core

DEPTHS = range(1, 9)
KERNEL = """
@triton.jit
def twice(x, times: tl.constexpr = 2):
    return x * times


@triton.jit
def kernel(p, n, SIZE: tl.constexpr):
    at = tl.arange(0, SIZE)
    total = tl.zeros((SIZE,), tl.float32)
    for index in range(n):
        x, y = (tl.load(p + at), index)
        total += twice(x) + twice(y, 3)
    tl.store(p + at, total + tl.sum(total, 0) + tl.max(total, 0))
"""


def nested(depth, keyword, start):
    """Give a kernel of nested loops around one statement."""
    lines = ["@triton.jit", f"def nested{depth}(p, n):", "    x = tl.load(p)", f"    i = {start}"]
    head = {"for": "for k{} in range(n):", "while": "while i < {}:"}[keyword]
    lines += ["    " * (level + 1) + head.format(level) for level in range(depth)]
    inner = "    " * (depth + 1)
    return "\n".join([*lines, f"{inner}x += 1.0", f"{inner}i += 1", "    tl.store(p, x + i)", "", ""])


def counted(counter, name, function):
    """Wrap a function so that its calls are counted."""

    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        counter[name] += 1
        return function(*args, **kwargs)

    return wrapper


def visits(keyword, start):
    """Give how often the innermost statement and any body are visited, by depth."""
    answer = {}
    for depth in DEPTHS:
        counter = collections.Counter()
        module = load(f"{keyword}_{start}_{depth}", nested(depth, keyword, start))
        generator = code_generator.CodeGenerator
        kept = generator.visit_AugAssign, generator.visit_compound_statement
        generator.visit_AugAssign = counted(counter, "innermost", kept[0])
        generator.visit_compound_statement = counted(counter, "bodies", kept[1])
        generate(getattr(module, f"nested{depth}"), {"p": "*fp32", "n": "i32"}, {})
        generator.visit_AugAssign, generator.visit_compound_statement = kept
        answer[depth] = [counter["innermost"] // 2, counter["bodies"]]
    return answer


def calls():
    """Give the calls that compiling one kernel for two sizes takes, after a first one."""
    module = load("calls", KERNEL)
    counter = collections.Counter()
    made = []
    ast.parse = counted(counter, "parses", ast.parse)
    compile_for(module, 16)
    inspect.signature = counted(counter, "signatures", inspect.signature)
    inspect.getcallargs = counted(counter, "bindings", inspect.getcallargs)
    warnings.catch_warnings.__enter__ = counted(counter, "filters", warnings.catch_warnings.__enter__)
    code_generator.CodeGenerator.__init__ = counted(counter, "functions", code_generator.CodeGenerator.__init__)
    make_type = core.tuple_type.__init__

    def remember(self, *args, **kwargs):
        make_type(self, *args, **kwargs)
        made.append(self)

    core.tuple_type.__init__ = remember
    compile_for(module, 32)
    compile_for(module, 64)
    names = sum("name" in vars(made_type) for made_type in made)
    return {**counter, "types": len(made), "names": names}


def compile_for(module, size):
    generate(module.kernel, {"p": "*fp32", "n": "i32"}, {"SIZE": size})


if __name__ == "__main__":
    answer = visits(*sys.argv[2:]) if sys.argv[1] == "visits" else calls()
    sys.stdout.write(json.dumps(answer))
