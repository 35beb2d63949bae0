"""Runs a benchmark program with every side in turn, each time in a fresh process."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from fork.bench.pages import drop_pages
from fork.bench.program import Program
from fork.bench.quantity import BASE, FORK, Quantity
from fork.errors import ForkError

__all__ = ["BenchmarkError", "Measured", "measure"]

SETTLING_SECONDS = 2.1
"""How long files must have been left alone before the fork remembers what they hold."""

Values = dict[str, tuple[float, str, bool]]


class BenchmarkError(ForkError):
    """A benchmark program failed."""

    exit_code = 27


@dataclass
class Measured:
    """What a program measured.

    :param quantities: In the order in which the base printed them.
    :param faults: Peer -> why it has no values. Base and fork never have a fault: theirs is raised.
    """

    quantities: list[Quantity] = field(default_factory=list)
    faults: dict[str, str] = field(default_factory=dict)


def measure(
    program: Program,
    sides: Mapping[str, Path],
    *,
    pairs: int,
    environment: Mapping[str, str] | None = None,
    step: Callable[[str], None] = lambda _: None,
) -> Measured:
    """Run a program with all interpreters in turn; the order is reversed from round to round.

    Each run has a folder of its own with its Triton cache and everything that the fork remembers, unless the program keeps its
    cache: then a side has one folder for all of its runs, which a first run fills and which nothing is read from.

    :param program: The program.
    :param sides: ``base``, ``fork`` and any peers -> interpreter.
    :param pairs: How many runs of each side.
    :param environment: Variables to add for all sides.
    :raises BenchmarkError: A run of base or fork failed, or two runs of a side measured different quantities.
    """
    rounds = min(pairs, program.most_pairs or pairs)
    runs: dict[str, list[Values]] = {side: [] for side in sides}
    result = Measured()
    with tempfile.TemporaryDirectory(prefix="triton-bench-") as session:
        runner = _Runner(program, Path(session), environment or {})
        for number in range(-1 if program.keeps_cache else 0, rounds):
            present = [side for side in sides if side not in result.faults]
            for side in present if number % 2 == 0 else reversed(present):
                what = "filling the cache" if number < 0 else f"run {number + 1} of {rounds}"
                step(f"{program.name}, {what}, {side}")
                try:
                    values = runner.run(side, sides[side])
                except BenchmarkError as error:
                    if side in (BASE, FORK):
                        raise
                    result.faults[side] = _without_paths(str(error))
                    continue
                if number >= 0:
                    runs[side].append(values)
    result.quantities = _collect(program, {side: runs[side] for side in sides if side not in result.faults})
    return result


class _Runner:
    """Runs one program, each side in its folder."""

    def __init__(self, program: Program, session: Path, environment: Mapping[str, str]) -> None:
        self._program, self._session, self._environment = program, session, environment

    def run(self, side: str, python: Path) -> Values:
        """Run it once.

        :raises BenchmarkError: It failed, or printed something else than quantities.
        """
        folder = self._session / side
        if not self._program.keeps_cache:
            shutil.rmtree(folder, ignore_errors=True)
        elif not folder.exists():
            time.sleep(SETTLING_SECONDS)
        folder.mkdir(exist_ok=True)
        variables = {
            "TRITON_CACHE_DIR": str(folder / "cache"),
            "TRITON_HOME": str(folder),
            "TRITON_FORK_STATE_DIR": str(folder / "state"),
            "BENCH_FOLDER": str(folder),
            **self._environment,
        }
        if self._program.drops_pages:
            drop_pages([python.parents[1], folder])
        done = _start([str(python), str(self._program.path.resolve())], {**_clean(), **variables}, folder)
        if done.returncode != 0:
            raise BenchmarkError(f"{self._program.path.name} failed with {python}: {done.stderr.strip()[-2000:]}")
        return _parse(self._program, done.stdout)


def _start(command: Sequence[str], variables: dict[str, str], folder: Path) -> subprocess.CompletedProcess[str]:
    variables["BENCH_STARTED"] = str(time.monotonic_ns())  # the last thing before the start
    return subprocess.run(
        command, env=variables, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )


def _clean() -> dict[str, str]:
    """Give this process's variables without those that would change what is measured."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("TRITON", "PYTHON", "LLVM"))}


def _parse(program: Program, output: str) -> Values:
    try:
        printed = json.loads(output.strip().splitlines()[-1])
        return {name: (float(value), str(unit), bool(detail)) for name, (value, unit, *detail) in printed.items()}
    except (IndexError, ValueError, AttributeError, TypeError) as error:
        raise BenchmarkError(f"{program.path.name} printed no quantities: {error}: {output[-500:]}") from None


def _collect(program: Program, runs: Mapping[str, Sequence[Values]]) -> list[Quantity]:
    """Turn runs around, from side and round to quantity."""
    for side, rounds in runs.items():
        uneven = sorted({name for values in rounds for name in set(values) ^ set(rounds[0])})
        if uneven:
            raise BenchmarkError(f"{program.path.name} measured {', '.join(uneven)} in some runs of {side} only")
    base, fork = (set(runs[side][0]) for side in (BASE, FORK))
    if base != fork:
        raise BenchmarkError(f"{program.path.name} measured {', '.join(sorted(base ^ fork))} on one side only")
    return [
        Quantity(
            name,
            unit,
            {side: tuple(values[name][0] for values in rounds) for side, rounds in runs.items() if name in rounds[0]},
            detail,
        )
        for name, (_, unit, detail) in runs[BASE][0].items()
    ]


def _without_paths(message: str) -> str:
    """Keep the last line of a message, and of each path in it the last part: results are stored for other machines."""
    return re.sub(r"/[^\s()'\"]*/", "", message.strip().rpartition("\n")[2])
