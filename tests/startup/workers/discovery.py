"""Compare the entry points of backends with those of ``importlib.metadata`` on the paths given, one search path a line."""

import importlib.metadata
import json
import sys

from triton.fork._backend_discovery import backend_entry_points

original = list(sys.path)
answers = []
for line in sys.stdin:
    question = json.loads(line)
    sys.path[:] = question["path"]
    if question.get("finder"):
        sys.meta_path.append(
            type("Finder", (), {"find_distributions": lambda self, context: [], "__module__": "other"})()
        )
    found = backend_entry_points()
    expected = importlib.metadata.entry_points().select(group="triton.backends")
    answers.append(
        {
            "found": None if found is None else [[point.name, point.value] for point in found],
            "expected": [[point.name, point.value] for point in expected],
        }
    )
    if question.get("finder"):
        sys.meta_path.pop()
print(json.dumps(answers))
