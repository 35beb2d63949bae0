"""Decorate functions of every shape and report what Triton makes of them, or the error and when it comes."""

import importlib
import json
import sys
from pathlib import Path

import triton

folder = Path(sys.argv[1])
sys.path.insert(0, str(folder))
HEAD = "import triton\nimport triton.language as tl\n\n\n"
SHAPES = {
    "plain": "@triton.jit\ndef kernel(a, b: tl.constexpr, c=3):\n    tl.store(a, b)\n",
    "comment_behind": "@triton.jit\ndef kernel(a):\n    tl.store(a, 1)\n    # behind\n\n# margin\nx = 1\n",
    "comment_at_margin": "@triton.jit\ndef kernel(a):\n# margin\n    tl.store(a, 1)\n    if a:\n        pass\n    else:\n# more\n        a\n",
    "black": "@triton.jit\ndef kernel(\n    a,\n    b,\n):\n    tl.store(\n        a,\n    b\n    )\ny = 2\n",
    "string": "@triton.jit\ndef kernel(a):\n    '''\nat the margin\n    '''\n    tl.store(a, 1)\n",
    "one_line": "@triton.jit\ndef kernel(a): tl.store(a, 1)\nz = 3\n",
    "arguments": "@triton.jit(\n    do_not_specialize=['a'],\n)\ndef kernel(a, *, debug=None):\n    tl.store(a, 1)\n",
    "stacked": "@triton.heuristics({'b': lambda args: 1})\n@triton.jit\ndef kernel(a, b):\n    tl.store(a, b)\n",
    "tabs": "@triton.jit\ndef kernel(a):\n\tif a:\n\t\ttl.store(a, 1)\n\ttl.store(a, 2)\n",
    "blank_lines": "@triton.jit\ndef kernel(a):\n    b = 1\n  \n\n    tl.store(a, b)\n    \n\nw = 1\n",
    "nested": "def make():\n    @triton.jit\n    def kernel(a):\n        b = 1\n   \n        tl.store(a, b)\n    return kernel\nkernel = make()\n",
    "in_class": "class A:\n    @staticmethod\n    @triton.jit\n    def kernel(a):\n        tl.store(a, 1)\nkernel = A.kernel\n",
    "in_if": "if True:\n    @triton.jit\n    def kernel(a):\n        tl.store(a, 1)\nelse:\n    pass\n",
    "continued": "@triton.jit\ndef kernel(a, \\\n    b):\n    c = a + \\\nb\n    tl.store(a, c)\nv = 1\n",
    "async": "@triton.jit\nasync def kernel(a):\n    tl.store(a, 1)\n",
    "lambda": "kernel = triton.jit(lambda a: a)\n",
    "generator": "@triton.jit\ndef kernel(a):\n    yield a\n",
    "odd_spacing": "@triton.jit\ndef   kernel  (a):\n    tl.store(a, 1)\n",
    "line_break": "@triton.jit\ndef \\\n  kernel(a):\n    tl.store(a, 1)\n",
    "executed": "exec('import triton\\n@triton.jit\\ndef kernel(a):\\n    a\\n')\n",
    "builtin": "kernel = triton.jit(len)\n",
    "wrapped": "import functools\n@triton.jit\n@functools.wraps(print)\ndef kernel(a):\n    tl.store(a, 1)\n",
    "bad_annotation": "@triton.jit\ndef kernel(a: 'const int'):\n    tl.store(a, 1)\n",
    "end_of_file": "@triton.jit\ndef kernel(a):\n    tl.store(a, 1)",
}  # fmt: skip


def describe(name: str) -> object:
    try:
        kernel = importlib.import_module(name).kernel
    except Exception as error:
        return [type(error).__name__, str(error)]
    kernel = getattr(kernel, "fn", kernel) if not hasattr(kernel, "raw_src") else kernel
    facts = [kernel.raw_src, kernel.starting_line_number, kernel.src, str(kernel.signature), kernel.arg_names]
    return [*facts, kernel.constexprs, [parameter.name for parameter in kernel.params], kernel.__name__]


report = {}
for shape, text in SHAPES.items():
    (folder / f"shape_{shape}.py").write_text(HEAD + text)
    report[shape] = describe(f"shape_{shape}")

# A file that changes after its import, before anything asks for the source.
changing = folder / "changing.py"
changing.write_text(HEAD + SHAPES["plain"])
kernel = importlib.import_module("changing").kernel
changing.write_text("# another file\n" * 30)
report["changed later"] = [kernel.src, kernel.starting_line_number]
report["src replaced"] = kernel._unsafe_update_src("def kernel(a):\n    pass\n") or kernel.src
replaced = importlib.reload(importlib.import_module("shape_black")).kernel
replaced.fn = kernel.fn
report["fn replaced"] = [str(getattr(replaced, name)) for name in ("signature", "arg_names", "src")]
report["reloaded"] = ""
changing.write_text(HEAD + "# moved\n" + SHAPES["plain"])
import os  # noqa: E402

os.utime(changing, (1, 1))
report["reloaded"] = [importlib.reload(sys.modules["changing"]).kernel.starting_line_number]
report["unknown attribute"] = hasattr(kernel, "no_such_attribute")
# A function that waits has no attributes yet; only this way of asking leaves it waiting.
namespaces = [
    object.__getattribute__(value, "__dict__")
    for value in vars(triton.language.standard).values()
    if type(value).__name__ == "JITFunction"
]
report["deferred"] = [len(namespaces), sum(not namespace for namespace in namespaces)]
print(json.dumps(report))
