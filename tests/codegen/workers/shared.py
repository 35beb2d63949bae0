"""Generate IR where values that are shared or remembered get changed, and ask classes what they have."""

import inspect
import json
import sys
import warnings

import triton.compiler.code_generator as code_generator
import triton.language as tl
from compiling import generate, load, text_of
from triton.experimental.gluon.language import BlockedLayout, SwizzledSharedLayout

SIGNATURE = {"p": "*fp32", "n": "i32"}
HEAD = """
from triton.language.core import _aggregate as aggregate


@aggregate
class Plan:
    scale: tl.constexpr
    sizes: tl.constexpr
    kind: tl.constexpr

    @triton.constexpr_function
    def __init__(self, scale):
        self.scale = tl.constexpr(scale)
        self.sizes = tl.constexpr([1, (2, None)])
        self.kind = tl.constexpr(tl.float32)


@triton.constexpr_function
def grow(plan):
    plan.scale = tl.constexpr(plan.scale.value + 1)
    return 1


@triton.constexpr_function
def shrink_and_grow(plan):
    plan.scale = 3
    return 1


@triton.constexpr_function
def grow_silently(plan):
    try:
        grow(plan)
    except BaseException:
        pass
    return 1


@triton.jit
def scaled(x, plan):
    return x * plan.scale


@triton.jit
def grown(x, plan):
    x += grow(plan)
    return x * plan.scale


@triton.jit
def listed(x, sizes: tl.constexpr, kind: tl.constexpr):
    return (x + sizes[0]).to(kind)


@triton.jit
def kernel(p, n):
    plan = Plan(3)
    x = tl.load(p)
"""
BODIES = {
    "unchanged": "x = scaled(x, plan)",
    "changed before": "x += grow(plan)\n    x = scaled(x, plan)",
    "changed after": "x = scaled(x, plan)\n    x += grow(plan)\n    x = scaled(x, plan)",
    "changed in a branch": "if n > 2:\n        x += grow(plan)\n        x = scaled(x, plan)\n    x = scaled(x, plan)",
    "changed in a loop": "for k in range(n):\n        x += grow(plan)\n        x = scaled(x, plan)\n    x = scaled(x, plan)",
    "changed by the called": "x = grown(x, plan)\n    x = scaled(x, plan)",
    "changed behind a handler": "x = scaled(x, plan)\n    x += grow_silently(plan)\n    x = scaled(x, plan)",
    "wrong value": "x = scaled(x, plan)\n    x += shrink_and_grow(plan)",
    "constants of other kinds": "x = listed(x, [2, 3], plan.kind) + listed(x, (2, 3), tl.float16)",
}


def kernel_with(number):
    """Make the kernel around a body."""
    return load(f"shared{number}", HEAD + f"    {list(BODIES.values())[number]}\n    tl.store(p, x)\n").kernel


def tries(kernel):
    """Count how often the kernel itself is generated."""
    count = 0
    make = code_generator.CodeGenerator.__init__

    def counting(self, *args, **kwargs):
        nonlocal count
        count += bool(kwargs.get("is_kernel"))
        make(self, *args, **kwargs)

    code_generator.CodeGenerator.__init__ = counting
    text_of(kernel, SIGNATURE, {})
    code_generator.CodeGenerator.__init__ = make
    return count


def mangled_before_and_after():
    """Give the texts of a layout whose list is changed after the first."""
    layouts = [SwizzledSharedLayout(1, 1, 1, [0]), BlockedLayout([1], [32], [4], [0])]
    constants = [tl.constexpr(layout) for layout in layouts]
    texts = []
    for _ in range(2):
        texts += [layout.mangle() for layout in layouts] + [constant.type.mangle() for constant in constants]
        layouts[0].order.append(1)
        layouts[1].order[0] = 7
    return texts


def patched_visit(kernel):
    """Generate with a function of the user's in the place of ``CodeGenerator.visit``."""
    kept = code_generator.CodeGenerator.visit
    seen = []

    def visit(self, node):
        seen.append(type(node).__name__)
        return kept(self, node)

    code_generator.CodeGenerator.visit = visit
    text = text_of(kernel, SIGNATURE, {})
    code_generator.CodeGenerator.visit = kept
    return [text, seen]


def members(kind):
    """Give what a class says it has but has not."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        inspect.getmembers(kind)
        inspect.classify_class_attrs(kind)
    return [name for name in dir(kind) if not hasattr(kind, name)]


def main():
    kernels = {name: kernel_with(number) for number, name in enumerate(BODIES)}
    generate(kernels["unchanged"], SIGNATURE, {})
    classes = (tl.tensor, tl.constexpr, tl.tuple, tl.block_type, tl.tuple_type)
    answer = {
        "texts": {name: text_of(kernel, SIGNATURE, {}) for name, kernel in kernels.items()},
        "tries": {name: tries(kernel) for name, kernel in kernels.items()},
        "mangled": mangled_before_and_after(),
        "patched": patched_visit(kernels["unchanged"]),
        "missing": {kind.__name__: members(kind) for kind in classes if isinstance(kind, type)},
    }
    sys.stdout.write(json.dumps(answer))


if __name__ == "__main__":
    main()
