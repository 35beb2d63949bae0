"""Compare the lines that ``function_lines`` gives with ``inspect.getblock``, for every function of the modules named."""

import importlib
import inspect
import json
import linecache
import sys
import types

from triton.fork._function_lines import _end_by_indentation, _is_one_function, function_lines


def codes(code: types.CodeType) -> list[types.CodeType]:
    found = []
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            found += [constant, *codes(constant)]
    return found


different, checked, by_indentation = [], 0, 0
for name in sys.argv[1:]:
    path = name if name.endswith(".py") else str(importlib.import_module(name).__file__)
    lines = linecache.getlines(path)
    for code in codes(compile("".join(lines), path, "exec")):
        first = code.co_firstlineno - 1
        if code.co_name.startswith("<") or not lines[first].lstrip().startswith(("@", "def ")):
            continue
        checked += 1
        expected = inspect.getblock(lines[first:])
        if function_lines(lines, first) != expected:
            different.append(f"{path}:{first + 1}")
        end = _end_by_indentation(lines, first)
        by_indentation += bool(end and _is_one_function(lines[first:end]))
print(json.dumps({"different": different, "checked": checked, "by_indentation": by_indentation}))
