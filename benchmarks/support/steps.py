"""Time since the runner started this process, split into steps.

Imports next to nothing: what it imports is part of what is measured.
"""

from __future__ import annotations

import os
import resource
import time

__all__ = ["Steps", "cpu_seconds", "note_entry"]

_entry = 0


def note_entry() -> None:
    """Note that the interpreter has begun to run the program."""
    global _entry
    _entry = time.monotonic_ns()


def cpu_seconds() -> float:
    """Give the processor time of this process and of the finished processes that it started, in seconds."""
    own, children = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


class Steps:
    """Collects the steps of a start.

    :ivar results: quantity -> ``[value, unit]``, as the program prints it.
    """

    def __init__(self) -> None:
        self._start = int(os.environ["BENCH_STARTED"])
        self._last = self._start
        self.results: dict[str, list[object]] = {}
        self.done("interpreter", _entry or None)

    def done(self, name: str, now: int | None = None) -> float:
        """End a step.

        :param name: Its name in the results.
        :param now: When it ended, in nanoseconds of the monotonic clock; now by default.
        :returns: What it took, in milliseconds.
        """
        now = now or time.monotonic_ns()
        spent = (now - self._last) / 1e6
        self._last = now
        self.results[name] = [spent, "ms"]
        return spent

    def total(self, name: str) -> float:
        """Note what has passed since the start of the process, elapsed and as processor time.

        :returns: Milliseconds since the start.
        """
        now, cpu = time.monotonic_ns(), cpu_seconds()
        spent = (now - self._start) / 1e6
        self.results[name] = [spent, "ms"]
        self.results[f"{name}, processor time"] = [cpu * 1e3, "ms"]
        self._last = time.monotonic_ns()
        return spent

    def print(self) -> None:
        """Print the results, for the runner to read."""
        import json

        print(json.dumps(self.results))
