"""Compare what base and fork make of the kernels of the packages."""

from __future__ import annotations

import json
import tempfile
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from fork.equivalence.comparison import compare
from fork.equivalence.report import DIFFERENT, FAILED, SAME, Report
from fork.equivalence.selection import Selection
from tests.thirdparty.packages import Package, environment, unpacked
from tests.thirdparty.searching import SIGNATURES
from tests.thirdparty.stand_ins import TARGET
from tests.thirdparty.table import TARGETS, cases, write_corpus

__all__ = ["Figures", "compare_packages"]


@dataclass(frozen=True)
class Figures:
    """What a comparison found.

    :param packages: How many packages.
    :param kernels: Kernels found in them.
    :param solved: Kernels of which a signature is known.
    :param first: The comparison of first IR with locations, all signatures.
    :param whole: The comparison of all artifacts, a sample for every target.
    """

    packages: int
    kernels: int
    solved: int
    first: Report
    whole: Report

    def lines(self) -> list[str]:
        """Say it, a line a fact."""
        artifacts = sum(len(outcome.artifacts) for outcome in self.whole.outcomes)
        tasks, runs = self.whole.assembled
        alike = sum(list(outcome.artifacts) == ["error"] for outcome in self.whole.outcomes if outcome.verdict == SAME)
        sampled = {(outcome.task.module, outcome.task.case) for outcome in self.whole.outcomes}
        return [
            f"packages {self.packages}, kernels found {self.kernels}, with a signature {self.solved}",
            f"first IR with locations: {len(self.first.outcomes)} signatures, {_verdicts(self.first)}",
            f"sample: {len(sampled)} signatures, {len(self.whole.outcomes)} compilations for {', '.join(TARGETS)}, "
            f"{artifacts} artifacts, {_verdicts(self.whole)}, failing alike {alike}",
            f"ptxas run again: {runs} times for {tasks} compilations",
        ]


def _verdicts(report: Report) -> str:
    return ", ".join(f"{verdict} {report.counts[verdict]}" for verdict in (SAME, DIFFERENT, FAILED))


def compare_packages(
    base: Path,
    fork: Path,
    packages: Sequence[Package],
    *,
    one_in: int,
    jobs: int,
    progress: Callable[[int, int], None] = lambda _done, _all: None,
) -> Figures:
    """Compare first IR of all stored signatures, then all artifacts of a sample.

    :param base: An interpreter with the unpatched Triton.
    :param fork: One with the patched one.
    :param packages: Some of the pinned packages.
    :param one_in: The sample is one in so many signatures, always the same ones; 0 for none.
    :param jobs: Processes at a time.
    :param progress: Told the number of compilations done, and of all, of each of the two comparisons.
    """
    folders, site = unpacked(packages), environment()
    tables = [json.loads((SIGNATURES / f"{package.module}.json").read_text()) for package in packages]
    with tempfile.TemporaryDirectory(prefix="third-party-") as scratch:
        corpus = Path(scratch)
        write_corpus(corpus, {package.module: folder for package, folder in folders.items()}, SIGNATURES, site)
        first = compare(
            base,
            fork,
            corpus,
            Selection(targets=[f"{TARGET[0]}:{TARGET[1]}"]),
            first_ir=True,
            errors=True,
            jobs=jobs,
            progress=progress,
        )
        sample = [
            f"{package.module}/{case.name}"
            for package in packages
            for case in cases("", str(SIGNATURES / f"{package.module}.json"))
            if one_in and zlib.crc32(case.name.encode()) % one_in == 0
        ]
        whole = Report(first.base, first.fork, corpus, [])
        if sample:
            selection = Selection(cases=sample, targets=TARGETS)
            whole = compare(base, fork, corpus, selection, errors=True, jobs=jobs, progress=progress)
    kernels = sum(len(table["kernels"]) + len(table["without"]) for table in tables)
    return Figures(len(packages), kernels, sum(len(table["kernels"]) for table in tables), first, whole)
