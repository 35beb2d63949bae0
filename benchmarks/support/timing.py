"""Timing a call that is far shorter than the clock can see."""

from __future__ import annotations

import time
from collections.abc import Callable

__all__ = ["seconds_a_call"]

SECONDS = 0.05


def seconds_a_call(call: Callable[[], object], repeats: int, count: int) -> float:
    """Time a call: the best of a few repeats, each about 50 ms long.

    :param repeats: How many repeats.
    :param count: How many calls to begin with; doubled until a repeat is long enough.
    """
    best = float("inf")
    for _ in range(repeats):
        while True:
            start = time.perf_counter()
            for _ in range(count):
                call()
            spent = time.perf_counter() - start
            if spent >= SECONDS:
                break
            count *= 2
        best = min(best, spent / count)
    return best
