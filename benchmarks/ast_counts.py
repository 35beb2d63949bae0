"""What generating IR over the corpus does: nodes visited, sources parsed, signatures inspected, warning filters set."""

from __future__ import annotations

import ast
import importlib
import inspect
import json
import sys
import warnings
from collections import Counter
from types import CodeType, FrameType
from typing import Any

from benchmarks.support.corpus import Driver, Generation, cases

triton: Any = importlib.import_module("triton")

HEADLINE = "nodes visited"
MOST_PAIRS = 1
NAMES = ("nodes visited", "sources parsed", "signatures inspected", "calls bound to signatures", "warning filters set")


def main() -> None:
    """Count and print the quantities."""
    if not triton.__version__.startswith("3.6.0"):
        print("{}")  # a peer cannot do all kernels, and counts of others say nothing
        return
    driver = Driver()
    triton.runtime.driver.set_active(driver)
    counter = Counter(dict.fromkeys(NAMES, 0))
    counted = _counted()

    def watch(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and (name := counted.get(frame.f_code)):
            counter[name] += 1

    for _, target, case in cases():
        generation = Generation(target, case, driver)
        generation.key_seconds()
        sys.setprofile(watch)
        generation.seconds()
        sys.setprofile(None)
    print(json.dumps({name: [counter[name], "calls"] for name in NAMES}))


def _counted() -> dict[CodeType, str]:
    """Give what is counted: code of a function -> what a call of it is."""
    generator = importlib.import_module("triton.compiler.code_generator").CodeGenerator
    visits = [method for name, method in vars(generator).items() if name.startswith("visit_")]
    return {
        **{inspect.unwrap(visit).__code__: "nodes visited" for visit in visits},
        ast.parse.__code__: "sources parsed",
        inspect.signature.__code__: "signatures inspected",
        inspect.getcallargs.__code__: "calls bound to signatures",
        warnings.catch_warnings.__enter__.__code__: "warning filters set",
    }


if __name__ == "__main__":
    main()
