"""What users see of code generation: warnings, errors, patched sources, classes of their own, depth of nesting."""

import json
import sys
import warnings

import triton.compiler.code_generator as code_generator
from compiling import generate, load, text_of

import triton

SIGNATURE = {"p": "*fp32", "n": "i32"}
HEAD = "@triton.jit\ndef kernel(p, n):\n    x = tl.load(p)\n"
WARNING = """@triton.constexpr_function
def warn(deprecated):
    import warnings

    for _ in range(2):
        warnings.warn("said", DeprecationWarning if deprecated else UserWarning)
    return 1


@triton.jit
def kernel(p, n):
    x = tl.load(p) + warn(False) + warn(False) + warn(True)
    tl.store(p, x)
"""
ERRORS = {
    "name": "    x += missing\n",
    "shape": "    x = x + tl.arange(0, 4) + tl.arange(0, 8)\n",
    "keyword": "    x = tl.load(p, nothing=3)\n",
    "statement": "    try:\n        x = x\n    except Exception:\n        x = x\n",
}


def chain(kind, length):
    if kind == "elif":
        return "    if n == 0:\n        x += 0.5\n" + "".join(
            f"    elif n == {i}:\n        x *= 2.0\n" for i in range(length)
        )
    return "    x = " + "-" * length + "x\n"


def deepest(kind):
    """Give the longest chain that compiles."""
    low, high = 1, 700
    while low < high:
        middle = (low + high + 1) // 2
        text = text_of(load(f"{kind}{middle}", HEAD + chain(kind, middle)).kernel, SIGNATURE, {})
        low, high = (middle, high) if "tt.func" in text else (low, middle - 1)
    return low


def shown_warnings():
    with warnings.catch_warnings(record=True) as shown:
        warnings.simplefilter("default")
        generate(load("warning", WARNING).kernel, SIGNATURE, {})
    return [[str(warning.message), warning.category.__name__] for warning in shown]


def own_class():
    seen = []

    class Generator(code_generator.CodeGenerator):
        def visit_Name(self, node):
            seen.append(node.id)
            return super().visit_Name(node)

        def visit(self, node):
            seen.append(type(node).__name__)
            return super().visit(node)

    kept, code_generator.CodeGenerator = code_generator.CodeGenerator, Generator
    generate(load("own", HEAD + "    tl.store(p, x + n)\n").kernel, SIGNATURE, {})
    code_generator.CodeGenerator = kept
    return seen


def patched_source():
    kernel = load("patched", HEAD + "    tl.store(p, x)\n").kernel
    texts = [text_of(kernel, SIGNATURE, {})]
    kernel._unsafe_update_src(kernel.src.replace("store(p, x)", "store(p + 1, x * 3.0)"))
    texts.append(text_of(kernel, SIGNATURE, {}))
    return texts


def raw_error():
    triton.knobs.compilation.front_end_debugging = True
    try:
        return text_of(load("raw", HEAD + ERRORS["name"]).kernel, SIGNATURE, {})
    finally:
        triton.knobs.compilation.front_end_debugging = False


if __name__ == "__main__":
    answer = {
        "depths": {kind: deepest(kind) for kind in ("elif", "expression")},
        "warnings": shown_warnings(),
        "errors": {
            name: text_of(load(f"error_{name}", HEAD + body).kernel, SIGNATURE, {}) for name, body in ERRORS.items()
        },
        "own_class": own_class(),
        "patched": patched_source(),
        "raw": raw_error(),
    }
    sys.stdout.write(json.dumps(answer))
