"""Compilation of a Gluon attention kernel of several hundred lines for Blackwell, from source to binary."""

from __future__ import annotations

import importlib
import json
import time
from typing import Any

from benchmarks.support.corpus import FOLDER, Driver, Generation
from benchmarks.support.stages import Stages
from benchmarks.support.steps import cpu_seconds
from fork.equivalence.corpus import load_module
from fork.equivalence.variants import gpu_target, variants

triton: Any = importlib.import_module("triton")

HEADLINE = "whole compilation"
TARGET = "cuda:100"


def main() -> None:
    """Measure and print the quantities."""
    driver = Driver()
    triton.runtime.driver.set_active(driver)
    cases = load_module(FOLDER, "gluon_attention")
    driver.target = gpu_target(TARGET)
    case = next(case for case in cases if case.name == "attention")
    stages = Stages()
    triton.runtime.cache.triton_key()  # belongs to the start of the process
    (variant,) = variants(case)
    start, cpu = time.perf_counter(), cpu_seconds()
    variant.source.hash()  # compilation does it first, within what the listener takes for the first stage
    key = time.perf_counter() - start
    triton.compile(variant.source, target=driver.target, options=variant.options)
    elapsed, cpu = time.perf_counter() - start, cpu_seconds() - cpu
    results: dict[str, list[object]] = {
        "whole compilation": [elapsed * 1e3, "ms"],
        "whole compilation, processor time": [cpu * 1e3, "ms"],
    }
    results["key of the source"] = [key * 1e3, "ms"]
    named = key * 1e3
    for stage in stages.names[:-1]:
        results[stage] = [stages.milliseconds(stage), "ms"]
        named += stages.milliseconds(stage)
    results["other"] = [elapsed * 1e3 - named, "ms"]
    generation = Generation(TARGET, case, driver)
    again = min(generation.seconds() for _ in range(5))
    results["AST to TTIR, once more (best of 5)"] = [again[0] * 1e3, "ms"]
    print(json.dumps(results))


if __name__ == "__main__":
    main()
