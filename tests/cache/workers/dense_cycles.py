"""Asks for the keys of functions that all call each other, in an order given on the command line.

Prints as JSON how many functions were visited and the key of each function. Arguments: how many functions, then the order.
"""

import importlib.util
import json
import sys
import tempfile
from pathlib import Path

from triton.runtime import jit

count, order = int(sys.argv[1]), [int(part) for part in sys.argv[2:]]
names = [f"function_{number}" for number in range(count)]
source = "import triton\n"
for number, name in enumerate(names):
    calls = "".join(f"    {other}(x)\n" for other in names)
    outer = "    outside(x)\n" if number == count - 1 else ""
    source += f"@triton.jit\ndef {name}(x):\n    x + {number}\n{calls}{outer}\n"
source += "@triton.jit\ndef outside(x):\n    x + 1\n\n"
source += f"@triton.jit\ndef caller(x):\n    {names[1]}(x)\n    {names[0]}(x)\n"

visited = 0
original = jit.DependenciesFinder.__init__


def counting(self, *arguments, **named):
    global visited
    visited += 1
    original(self, *arguments, **named)


jit.DependenciesFinder.__init__ = counting
with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "dense.py"
    path.write_text(source)
    spec = importlib.util.spec_from_file_location("dense", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    functions = [getattr(module, name) for name in [*names, "outside", "caller"]]
    for number in order:
        functions[number].cache_key
    keys = [function.cache_key for function in functions]
print(json.dumps({"visited": visited, "keys": keys}))
