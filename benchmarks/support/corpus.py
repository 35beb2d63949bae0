"""The corpus of kernels as something to generate IR from, without a device."""

from __future__ import annotations

import importlib
import time
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from triton._C.libtriton import ir
from triton.compiler.compiler import make_backend

from fork.equivalence.corpus import load_module, module_names
from fork.equivalence.variants import Variant, gpu_target, variants

__all__ = ["FOLDER", "Driver", "Generation", "cases"]

triton: Any = importlib.import_module("triton")

FOLDER = Path(__file__).resolve().parents[2] / "tests" / "kernels"


class Driver:
    """Tells library functions which target is compiled for."""

    target: Any = None

    def get_current_target(self) -> Any:
        """Answer ``triton.language.target_info``."""
        return self.target


def cases() -> Iterator[tuple[str, Any, Any]]:
    """Give name, target and case of every kernel of the corpus, one target each, as the quick set of ``equivalence`` does.

    Modules that this Triton cannot import are left out: a peer may lack what they use.
    """
    for module in module_names(FOLDER):
        try:
            table = load_module(FOLDER, module)
        except Exception:
            if triton.__version__.startswith("3.6.0"):
                raise
            continue
        for case in table:
            yield f"{module}/{case.name}", case.targets[zlib.crc32(case.name.encode()) % len(case.targets)], case


class Generation:
    """The first stage of compilation, from the syntax tree to the first IR, of one case.

    :param target: ``cuda:<capability>`` or ``hip:<architecture>``.
    :param case: A row of the corpus.
    :param driver: The active driver.
    """

    def __init__(self, target: str, case: Any, driver: Driver) -> None:
        self._driver, self._case, self._target = driver, case, gpu_target(target)
        self._backend = make_backend(self._target)

    def key_seconds(self) -> float:
        """Work out the key of the source of every variant, which compilation does before it generates anything.

        :returns: Elapsed time in seconds.
        """
        self._driver.target = self._target
        sources = [variant.source for variant in variants(self._case)]
        start = time.perf_counter()
        for source in sources:
            source.hash()
        return time.perf_counter() - start

    def seconds(self) -> tuple[float, float]:
        """Generate the IR of every variant.

        :returns: Elapsed time and processor time in seconds, without that of preparing context and dialects.
        """
        self._driver.target = self._target
        elapsed = cpu = 0.0
        for variant in variants(self._case):
            more, more_cpu = self._generate(variant)
            elapsed, cpu = elapsed + more, cpu + more_cpu
        return elapsed, cpu

    def _generate(self, variant: Variant) -> tuple[float, float]:
        backend = self._backend
        options = backend.parse_options({**variant.options, **variant.source.parse_options()})
        context = ir.context()
        ir.load_dialects(context)
        backend.load_dialects(context)
        functions, modules = backend.get_codegen_implementation(options), backend.get_module_map()
        start, cpu = time.perf_counter(), time.process_time()
        variant.source.make_ir(self._target, options, functions, modules, context)
        return time.perf_counter() - start, time.process_time() - cpu
