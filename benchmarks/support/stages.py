"""Time in the stages of compilation, as Triton's own listener tells it, and in the C compiler."""

from __future__ import annotations

import importlib
import time
from typing import Any

from triton.runtime import build

__all__ = ["Stages"]

triton: Any = importlib.import_module("triton")

_GROUPS = {"ttir": "passes", "ttgir": "passes", "llir": "LLVM", "ptx": "LLVM", "cubin": "ptxas"}


class Stages:
    """Adds up what the stages of all kernels of this process take.

    :ivar names: The stages.
    """

    names = ("AST to TTIR", "passes", "LLVM", "ptxas", "C compiler")

    def __init__(self) -> None:
        self._seconds = dict.fromkeys(self.names, 0.0)
        triton.knobs.compilation.listener = self._listen
        self._compile_c = build._build  # noqa: SLF001 (what every C compilation goes through)
        build._build = self._timed_build  # noqa: SLF001

    def milliseconds(self, name: str) -> float:
        """Give what a stage has taken so far."""
        return self._seconds[name] * 1e3

    def _listen(self, *, times: Any, cache_hit: bool, **_: Any) -> None:
        if cache_hit:
            return
        self._seconds["AST to TTIR"] += times.ir_initialization / 1e6
        for stage, microseconds in times.lowering_stages:
            if stage in _GROUPS:
                self._seconds[_GROUPS[stage]] += microseconds / 1e6

    def _timed_build(self, *arguments: Any, **named: Any) -> Any:
        start = time.perf_counter()
        try:
            return self._compile_c(*arguments, **named)
        finally:
            self._seconds["C compiler"] += time.perf_counter() - start
