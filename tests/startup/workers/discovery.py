"""Compare the entry points of backends with those of ``importlib.metadata`` on the paths given, one search path a line."""

import importlib.metadata
import json
import sys

from triton.fork.startup.backend_discovery import backend_entry_points

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
    answer = {"found": None, "expected": None}
    if found is not None:
        expected = importlib.metadata.entry_points().select(group="triton.backends")
        answer["found"] = [[point.name, point.value] for point in found]
        answer["expected"] = [[point.name, point.value] for point in expected]
    answers.append(answer)
    if question.get("finder"):
        sys.meta_path.pop()
print(json.dumps(answers))
