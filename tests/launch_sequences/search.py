"""Looks for programs for which base and fork differ, and makes those that it finds short."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, Phase, find, settings
from hypothesis.errors import Flaky, NoSuchExample

from tests.fake_driver.differential import Side

from .comparison import PARTS, Difference, Outcome, differences
from .features import Features, features, is_explained
from .programs import Program, programs
from .shortening import shorten

WORKER = ("-m", "tests.launch_sequences.worker")
DEVICES = {"FAKE_CUDA_DEVICES": "2", "FAKE_HIP_DEVICES": "2"}
_QUIET = settings(deadline=None, database=None, suppress_health_check=list(HealthCheck))


@dataclass(frozen=True)
class Finding:
    """A program for which the sides differ.

    :param program: the program, made short
    :param found: the differences
    :param reproduced: whether it differed each time that it was run
    """

    program: Program
    found: list[Difference]
    reproduced: bool = True

    def __str__(self) -> str:
        steps = "\n".join(f"  {number}. {json.dumps(step)}" for number, step in enumerate(self.program))
        note = "" if self.reproduced else "\n(differed once, and not again when it was to be made short)"
        return f"{steps}\n" + "\n".join(map(str, self.found)) + note


class Pair:
    """A base and a fork that do the same programs.

    :ivar seen: counts of programs, launches, errors and of steps whose launches were recorded
    """

    def __init__(self, base: Side, fork: Side, *, questions: bool = False, parts: Collection[str] = PARTS) -> None:
        self.base, self.fork, self.questions, self.parts = base, fork, questions, parts
        self.seen: Counter[str] = Counter()

    def run(self, program: Program) -> list[Difference]:
        """Do a program on both sides.

        :param program: the program
        :returns: where the sides differ
        """
        self.base.send(program)
        self.fork.send(program)
        ours, theirs = self.base.receive(), self.fork.receive()
        self._count(ours)
        return differences(ours, theirs, questions=self.questions, parts=self.parts)

    def _count(self, outcomes: list[Outcome]) -> None:
        self.seen["programs"] += 1
        self.seen["crashes of the base"] += "crash" in outcomes[0]
        for outcome in outcomes[:-1]:
            self.seen["launches"] += len(outcome["launches"])
            self.seen["errors"] += outcome["answer"][:1] == ["raised"] if isinstance(outcome["answer"], list) else 0


def side(
    python: Path, folder: Path, cache: Path, backend: str = "cuda", *, plant: str | None = None, **extra: str
) -> Side:
    """Describe a process that does programs.

    :param python: interpreter of the environment
    :param folder: where the fake libraries are
    :param cache: Triton's cache, of this side alone
    :param backend: ``cuda`` or ``hip``
    :param plant: what to break on purpose, one of the worker's names
    :param extra: more environment variables
    """
    return Side(python, folder, cache, backend=backend, plant=plant, extra={**DEVICES, **extra}, worker=WORKER)


@dataclass
class Search:
    """Runs programs until the sides differ.

    :param pair: the sides
    :param strategy: where programs come from
    :param known: features of programs that are passed over
    """

    pair: Pair
    strategy: Any = field(default_factory=programs)
    known: Collection[Features] = ()

    def find(self, count: int, seed: int) -> Finding | None:
        """Run programs until one differs, and make that one short.

        :param count: most programs to run
        :param seed: where the random choices start
        :returns: the finding, or None
        """
        last: list[Finding] = []

        def differs(program: Program) -> bool:
            found = [] if is_explained(program, self.known) else self.pair.run(program)
            if found:
                last.append(Finding(program, found, reproduced=False))
            return bool(found)

        chosen = settings(_QUIET, max_examples=count, phases=[Phase.generate])
        try:
            program = find(self.strategy, differs, settings=chosen, random=random.Random(seed))
        except NoSuchExample:
            return None
        except Flaky:  # hypothesis runs what it has found once more
            return last[-1]
        if not self.pair.run(program):
            return last[-1]
        program = shorten(program, lambda shorter: bool(self.pair.run(shorter)))
        return Finding(program, self.pair.run(program))

    def find_all(self, count: int, seed: int, report: Callable[[str], None] = lambda text: None) -> Iterator[Finding]:
        """Go on after each finding, passing over what is of its kind.

        :param count: programs to run in all
        :param seed: where the random choices start
        :param report: told how far the search is
        """
        start = self.pair.seen["programs"]
        known = list(self.known)
        part = 0
        while (left := count - (self.pair.seen["programs"] - start)) > 0:
            search = Search(self.pair, self.strategy, known)
            found = search.find(min(left, 500), seed * 1_000_003 + part)
            part += 1
            report(f"{dict(self.pair.seen)}")
            if found:
                known.append(features(found.program))
                yield found
