"""Runs a benchmark program with both sides in turn and condenses the pairs to ratios with their spread."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from fork.errors import ForkError

__all__ = ["BenchmarkError", "Quantity", "measure"]


class BenchmarkError(ForkError):
    """A benchmark program failed."""

    exit_code = 27


@dataclass(frozen=True)
class Quantity:
    """One measured quantity.

    :param name: What was measured.
    :param unit: Its unit, such as ``ns`` or ``calls``.
    :param base: The base's values, one a pair.
    :param fork: The fork's values, in the same order.
    """

    name: str
    unit: str
    base: tuple[float, ...]
    fork: tuple[float, ...]

    @property
    def ratios(self) -> list[float]:
        """The fork's value by the base's, for each pair, in ascending order."""
        return sorted(fork / base for base, fork in zip(self.base, self.fork, strict=True) if base)

    @property
    def ratio(self) -> float | None:
        """Median of the ratios; ``None`` where the base's value is 0."""
        return statistics.median(self.ratios) if self.ratios else None

    @property
    def spread(self) -> tuple[float, float] | None:
        """First and third quartile of the ratios; the extremes where there are fewer than four pairs."""
        ratios = self.ratios
        if not ratios:
            return None
        if len(ratios) < 4:
            return ratios[0], ratios[-1]
        quartiles = statistics.quantiles(ratios, n=4, method="inclusive")
        return quartiles[0], quartiles[2]


def measure(
    program: Path,
    base: Path,
    fork: Path,
    *,
    pairs: int,
    arguments: Sequence[str] = (),
    environment: Mapping[str, str] | None = None,
    step: Callable[[str], None] = lambda _: None,
) -> list[Quantity]:
    """Run a program with both interpreters in turn, the order swapped from pair to pair.

    Each run has a folder of its own as its Triton cache and working directory.

    :param program: Prints a JSON object, quantity -> ``[value, unit]``.
    :param base: Interpreter with the unpatched Triton.
    :param fork: Interpreter with the fork.
    :param pairs: How many runs of each side.
    :param environment: Variables to add for both sides.
    :raises BenchmarkError: A run failed, or two runs measured different quantities.
    """
    values: dict[str, dict[Path, list[float]]] = {}
    units: dict[str, str] = {}
    for number in range(pairs):
        for side in (base, fork) if number % 2 == 0 else (fork, base):
            step(f"{program.stem}, pair {number + 1} of {pairs}, {'base' if side == base else 'fork'}")
            for name, (value, unit) in _run(program, side, arguments, environment or {}).items():
                units[name] = unit
                values.setdefault(name, {base: [], fork: []})[side].append(value)
    uneven = [name for name, sides in values.items() if {len(side) for side in sides.values()} != {pairs}]
    if uneven:
        raise BenchmarkError(f"{program.name} measured {', '.join(uneven)} in some runs only")
    return [Quantity(name, units[name], tuple(sides[base]), tuple(sides[fork])) for name, sides in values.items()]


def _run(
    program: Path, python: Path, arguments: Sequence[str], environment: Mapping[str, str]
) -> dict[str, tuple[float, str]]:
    with tempfile.TemporaryDirectory(prefix="triton-bench-") as folder:
        done = subprocess.run(
            [str(python), str(program.resolve()), *arguments],
            env={**os.environ, "TRITON_CACHE_DIR": f"{folder}/cache", **environment},
            cwd=folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
    if done.returncode != 0:
        raise BenchmarkError(f"{program.name} failed with {python}: {done.stderr.strip()[-2000:]}")
    result: dict[str, tuple[float, str]] = json.loads(done.stdout)
    return result
