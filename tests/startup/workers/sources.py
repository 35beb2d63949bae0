"""Compare what ``function_source`` gives with what the base makes of ``inspect.getblock``, for every function of the modules named."""

import ast
import importlib
import inspect
import json
import linecache
import re
import sys
import textwrap
import types

from triton.fork.source.function_lines import function_source


def codes(code: types.CodeType) -> list[types.CodeType]:
    found = []
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            found += [constant, *codes(constant)]
    return found


asked = []
getblock = inspect.getblock
inspect.getblock = lambda lines: asked.append(lines) or getblock(lines)

different, checked, by_indentation, parsed = [], 0, 0, 0
for name in sys.argv[1:]:
    path = name if name.endswith(".py") else str(importlib.import_module(name).__file__)
    lines = linecache.getlines(path)
    for code in codes(compile("".join(lines), path, "exec")):
        first = code.co_firstlineno - 1
        if code.co_name.startswith("<") or not lines[first].lstrip().startswith(("@", "def ")):
            continue
        checked += 1
        block = getblock(lines[first:])
        source = textwrap.dedent("".join(block))
        start = re.search(r"^def\s+\w+\s*\(", source, re.MULTILINE)
        expected = (block, source[start.start() :]) if start else None
        asked.clear()
        try:
            *found, tree = function_source(lines, first)
        except ValueError:
            found, tree = [None], None
        different += [] if tuple(found) == (expected or (None,)) else [f"{path}:{first + 1}"]
        by_indentation += not asked
        if tree is not None:
            parsed += 1
            if ast.dump(tree, include_attributes=True) != ast.dump(ast.parse(found[1]), include_attributes=True):
                different.append(f"tree of {path}:{first + 1}")
print(json.dumps({"different": different, "checked": checked, "by_indentation": by_indentation, "parsed": parsed}))
