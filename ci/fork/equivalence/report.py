"""What a comparison found."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from fork.equivalence.selection import Task

__all__ = ["DIFFERENT", "FAILED", "SAME", "Outcome", "Report"]

SAME, DIFFERENT, FAILED = "same", "different", "failed"


@dataclass(frozen=True)
class Outcome:
    """What became of one task.

    :param verdict: :data:`SAME`, :data:`DIFFERENT` or :data:`FAILED` (on either side, or on both).
    :param artifacts: Names of the artifacts that were compared.
    :param stage: The first artifact that differs.
    :param detail: A diff of it, or the errors.
    :param assembled: How often ptxas had to be run again before its cubins agreed.
    """

    task: Task
    verdict: str
    artifacts: Sequence[str] = ()
    stage: str | None = None
    detail: str = ""
    assembled: int = 0


@dataclass(frozen=True)
class Report:
    """What a comparison found, with all that is needed to repeat it.

    :param base: The interpreter of the base.
    :param fork: The interpreter of the fork.
    :param corpus: The folder of kernels.
    :param outcomes: One for each task, in the order of the tasks.
    """

    base: Path
    fork: Path
    corpus: Path
    outcomes: Sequence[Outcome]

    @property
    def counts(self) -> Counter[str]:
        """How many tasks have each verdict."""
        return Counter(outcome.verdict for outcome in self.outcomes)

    @property
    def assembled(self) -> tuple[int, int]:
        """For how many tasks ptxas had to be run again, and how often in all."""
        runs = [outcome.assembled for outcome in self.outcomes if outcome.assembled]
        return len(runs), sum(runs)

    @property
    def exit_code(self) -> int:
        """0 where all is the same, 20 where something differs, else 21 where something fails to compile."""
        if self.counts[DIFFERENT]:
            return 20
        return 21 if self.counts[FAILED] else 0

    def to_json(self) -> str:
        """Write the report for other programs.

        :returns: An object with ``base``, ``fork``, ``corpus``, ``counts``, ``assembled``, ``exit_code`` and ``outcomes``.
        """
        document = {
            "base": str(self.base),
            "fork": str(self.fork),
            "corpus": str(self.corpus),
            "counts": {verdict: self.counts[verdict] for verdict in (SAME, DIFFERENT, FAILED)},
            "assembled": dict(zip(("tasks", "runs"), self.assembled, strict=True)),
            "exit_code": self.exit_code,
            "outcomes": [
                {**asdict(o.task), **{k: v for k, v in asdict(o).items() if k != "task"}} for o in self.outcomes
            ],
        }
        return json.dumps(document, indent=1) + "\n"
