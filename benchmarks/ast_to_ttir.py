"""From the syntax tree to the first IR over the corpus of kernels: first time in a process, and once more."""

from __future__ import annotations

import importlib
import json
import sys
import traceback
from collections import defaultdict
from typing import Any

from benchmarks.support.corpus import Driver, Generation, cases

triton: Any = importlib.import_module("triton")

HEADLINE = "total, first time"


def main() -> None:
    """Measure and print the quantities."""
    driver = Driver()
    triton.runtime.driver.set_active(driver)
    first: dict[str, float] = {}
    again: dict[str, float] = {}
    keys = 0.0
    cpu = {"first time": 0.0, "once more": 0.0}
    warmed = False
    incomplete: set[str] = set()
    for name, target, case in cases():
        generation = Generation(target, case, driver)
        try:
            if not warmed:
                generation.seconds()  # what is imported when it is first used is not the generation's
                warmed = True
            key = generation.key_seconds()
            first[name], spent = generation.seconds()
            again[name], spent_again = generation.seconds()
        except Exception:
            if triton.__version__.startswith("3.6.0"):
                raise
            traceback.print_exc(limit=1, file=sys.stderr)
            incomplete.add(name.partition("/")[0])
            continue
        keys += key
        cpu["first time"] += spent
        cpu["once more"] += spent_again
    print(json.dumps(_results(first, again, cpu, keys, incomplete)))


def _results(
    first: dict[str, float], again: dict[str, float], cpu: dict[str, float], keys: float, incomplete: set[str]
) -> dict[str, list[object]]:
    """Give totals, totals of modules, and kernels as details; a peer has totals of what it can do completely."""
    results: dict[str, list[object]] = {}
    modules: dict[str, float] = defaultdict(float)
    for name, seconds in first.items():
        modules[name.partition("/")[0]] += seconds
    if not incomplete:
        results["total, first time"] = [sum(first.values()) * 1e3, "ms"]
        results["total, once more"] = [sum(again.values()) * 1e3, "ms"]
        for name, seconds in cpu.items():
            results[f"total, {name}, processor time"] = [seconds * 1e3, "ms"]
        results["keys of sources, before the first time"] = [keys * 1e3, "ms"]
        results["keys and first IR"] = [(keys + sum(first.values())) * 1e3, "ms"]
    results.update({module: [seconds * 1e3, "ms"] for module, seconds in modules.items() if module not in incomplete})
    results.update({name: [seconds * 1e3, "ms", "detail"] for name, seconds in first.items()})
    return results


if __name__ == "__main__":
    main()
