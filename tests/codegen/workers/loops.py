"""Generate loops that are not plain: shared handles, returns in loops, wrong types, methods of the user's own."""

import contextlib
import io
import json
import sys

import triton.compiler.code_generator as code_generator
from compiling import load, text_of

SIGNATURE = {"p": "*fp32", "n": "i32"}
BODIES = {
    "shared": "x = a\n    for k in range(n):\n        x = a\n        a = x + 1.0",
    "shared_and_branch": "x = a\n    for k in range(n):\n        if k > 2:\n            x = a\n    a = x",
    "shared_in_a_tuple": "t = (a, a)\n    for k in range(n):\n        a = t[0] + a",
    "unchanged": "x = a + 1.0\n    for k in range(n):\n        x = x\n    a = x",
    "constant_branch": "x = a + 1.0\n    for k in range(n):\n        if ON:\n            x += 1.0\n    a = x",
    "swapped": "x = a + 1.0\n    for k in range(n):\n        x, a = a, x",
    "own_variable": "for k in range(n):\n        k += 1\n        a += k",
    "negative_step": "for k in range(n, 0, -2):\n        a += k",
    "listed": "for k in range(n):\n        y = [a + z for z in (1.0, 2.0)]\n        a = y[0] + y[1]",
    "listed_in_the_test": "while [a > z for z in (1.0, 2.0)][0]:\n        a -= 1.0",
    "returned": "for k in range(n):\n        return",
    "returned_in_a_branch": "for k in range(n):\n        if k > 2:\n            return",
    "other_type": "for k in range(n):\n        a = k",
    "other_shape": "for k in range(n):\n        a = tl.zeros((4,), tl.float32)",
    "constant_changed": "c: tl.constexpr = 3\n    for k in range(n):\n        c = a",
    "unknown_name": "for k in range(n):\n        a += unknown",
    "nested_error": "for k in range(n):\n        for j in range(k):\n            a = a + tl.arange(0, 3)",
    "static": "for s in tl.static_range(3):\n        for k in range(n):\n            if s == 1:\n                a += k",
    "constant_of_a_constant": "t: tl.constexpr = tl.constexpr(T[0])\n    for k in range(n):\n        a += t[0]",
    "named_in_vain": "i = n + 1\n    for k in range(n):\n        a = a\n        if k > 2:\n            pass\n        else:\n            i = k\n    a += i",
    "named_in_vain_inside": "i = n + 1\n    for j in range(n):\n        for k in range(n):\n            a = a\n            if k > 2:\n                i = j\n            else:\n                i = n\n    a += i",
    "print": "for k in range(n):\n        for j in range(k):\n            tl.static_print('once')\n            a += j",
}
RETURNING = "T = tl.constexpr(((1.0, True), 2))\n\n\n@triton.jit\ndef last(a, n):\n    for k in range(n):\n        a += k\n    return a\n\n\n"


def kernel_with(name):
    """Make the kernel around a body."""
    head = "@triton.jit\ndef kernel(p, n, ON: tl.constexpr):\n    a = tl.load(p)\n    "
    return load(name, RETURNING + head + BODIES[name] + "\n    tl.store(p, last(a, n))\n").kernel


def overridden(kernel):
    """Compile with a ``visit_For`` that does everything by itself."""
    base_visit = code_generator.CodeGenerator.visit_For
    visits = []

    class Generator(code_generator.CodeGenerator):
        def visit_For(self, node):
            kept = self.visit_compound_statement

            def counting(statements):
                visits.append(statements is node.body)
                return kept(statements)

            self.visit_compound_statement = counting
            with enter(self) as (liveins, _):
                names, _, _ = self._find_carries(node, liveins, ignore={node.target.id})
            self.visit_compound_statement = kept
            visits.append(sorted(names) == sorted(set(names)))
            return None

    enter = code_generator.enter_sub_region
    code_generator.CodeGenerator = Generator
    try:
        text = text_of(kernel, SIGNATURE, {"ON": False})
    finally:
        code_generator.CodeGenerator = Generator.__mro__[1]
    assert code_generator.CodeGenerator.visit_For is base_visit
    return text, sum(visits[:2])


def main():
    texts, printed = {}, 0
    for name in BODIES:
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            texts[name] = text_of(kernel_with(name), SIGNATURE, {"ON": False})
        printed += output.getvalue().count("once")
    text, visits = overridden(kernel_with("own_variable"))
    answer = {"texts": texts, "printed": printed, "overridden": text, "overridden_visits": visits}
    sys.stdout.write("\n" + json.dumps(answer))


if __name__ == "__main__":
    main()
