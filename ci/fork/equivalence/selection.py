"""Which cases are compiled for which targets."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch

__all__ = ["Selection", "Task"]


@dataclass(frozen=True, order=True)
class Task:
    """One case for one target.

    :param module: The module of the corpus.
    :param case: The name of the case.
    :param target: As in ``Case.targets``.
    """

    module: str
    case: str
    target: str

    def __str__(self) -> str:
        return f"{self.module}/{self.case} for {self.target}"


@dataclass(frozen=True)
class Selection:
    """Picks tasks out of a corpus.

    :param quick: One target a case rather than all of them. Which one follows from the case's name, so that it stays when other
        cases come and go, and so that a corpus of some size meets every target.
    :param cases: Patterns of names of cases (``attention_*``) or of modules (``gluon_hopper/*``); none selects all.
    :param targets: Targets; none selects all.
    """

    quick: bool = False
    cases: Sequence[str] = ()
    targets: Sequence[str] = ()

    def apply(self, rows: Iterable[tuple[str, str, Sequence[str]]]) -> list[Task]:
        """Pick tasks.

        :param rows: Module, name and targets of each case.
        """
        tasks = []
        for module, case, all_targets in rows:
            if self.cases and not any(fnmatch(case, p) or fnmatch(f"{module}/{case}", p) for p in self.cases):
                continue
            targets = [target for target in all_targets if not self.targets or target in self.targets]
            if self.quick and targets:
                targets = [targets[zlib.crc32(case.encode()) % len(targets)]]
            tasks += [Task(module, case, target) for target in targets]
        return tasks
