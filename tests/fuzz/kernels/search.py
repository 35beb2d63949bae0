"""Look for differences with programs made by chance, and make those that are found small."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import hypothesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.fuzz.kernels.choices import Choices
from tests.fuzz.kernels.comparison import Difference, between_programs, between_sides, is_numbered, unstable
from tests.fuzz.kernels.processes import Answer, Side
from tests.fuzz.kernels.program import Program

__all__ = ["Found", "Pair", "Search", "pairs"]

#: How many pairs one run of hypothesis makes; each has a seed of its own.
BATCH = 200
Generator = Callable[[Choices], Program]


@dataclass(frozen=True)
class Pair:
    """A program and another one that differs in one place.

    :param program: The first.
    :param hole: Which hole.
    :param text: What stands there in the second.
    """

    program: Program
    hole: int
    text: str

    @property
    def place(self) -> str:
        """What kind of place it is."""
        return self.program.holes[self.hole].place


@dataclass(frozen=True)
class Found:
    """A difference, with the smallest pair that shows it.

    :param difference: What differs.
    :param sources: The programs.
    :param place: Where they differ.
    :param seed: What makes the batch in which it was found.
    """

    difference: Difference
    sources: tuple[str, str]
    place: str
    seed: int


def pairs(generators: Sequence[Generator]) -> st.SearchStrategy[Pair]:
    """Give pairs of programs.

    :param generators: What writes them; the first one writes the simplest.
    """

    @st.composite
    def drawn(draw: st.DrawFn) -> Pair:
        choices = Choices.of(draw)
        program = choices.pick(generators)(choices)
        hole = choices.pick(program.used())
        return Pair(program, hole, choices.pick(program.holes[hole].others))

    return drawn()


class _DiffersError(AssertionError):
    """A pair of programs shows a difference."""


@dataclass
class Search:
    """A search for differences.

    :param base: The base.
    :param fork: The fork.
    :param again: The fork once more, with another hash seed.
    :param folder: Where programs are written.
    :param generators: What writes them.
    :param progress: Called after each pair.
    """

    base: Side
    fork: Side
    again: Side
    folder: Path
    generators: Sequence[Generator]
    progress: Callable[[Search], None] = lambda _: None
    #: How many programs, requests, requests that compile, differences of each kind... there were.
    counts: Counter[str] = field(default_factory=Counter)
    found: list[Found] = field(default_factory=list)
    _target: str | None = None
    _last: Found | None = None
    _files: int = 0

    def run(self, seed: int, pairs_wanted: int) -> list[Found]:
        """Search.

        :param seed: Gives the same programs again, as long as no difference is found.
        :param pairs_wanted: How many pairs of programs to make.
        :returns: What was found.
        """
        for first in range(0, pairs_wanted, BATCH):
            self._batch(seed * 1_000_003 + first // BATCH, min(BATCH, pairs_wanted - first))
        return self.found

    def close(self) -> None:
        """End the processes."""
        for side in (self.base, self.fork, self.again):
            side.close()

    def _batch(self, seed: int, count: int) -> None:
        self._target = self._last = None

        @hypothesis.seed(seed)
        @settings(
            max_examples=count,
            database=None,
            deadline=None,
            phases=(Phase.generate, Phase.shrink),
            report_multiple_bugs=False,
            print_blob=False,
            suppress_health_check=list(HealthCheck),
        )
        @given(pair=pairs(self.generators))
        def examine(pair: Pair) -> None:
            difference = self._examine(pair)
            if difference is not None and difference.kind == self._target:
                self._last = Found(
                    difference, (pair.program.text(), pair.program.text({pair.hole: pair.text})), pair.place, seed
                )
                raise _DiffersError(difference.kind)

        try:
            examine()
        except (_DiffersError, hypothesis.errors.Flaky):
            assert self._last is not None
            self.found.append(self._last)

    def _examine(self, pair: Pair) -> Difference | None:
        """Compile a pair; give the difference that is being made small, or the first one of a kind not known yet."""
        known = {found.difference.kind for found in self.found}
        for difference in self.differences(pair.program, pair.hole, pair.text):
            self.counts[f"difference: {difference.kind}"] += 1
            if self._target is None and difference.kind not in known:
                self._target = difference.kind
            if difference.kind == self._target:
                return difference
        self.progress(self)
        return None

    def differences(self, program: Program, hole: int, text: str) -> list[Difference]:
        """Compile a program and its like, and give what is not as it should be."""
        answers: list[Answer] = []
        found: list[Difference | None] = []
        for number, source in enumerate((program.text(), program.text({hole: text}))):
            path = self._write(source)
            for side in (self.base, self.fork):
                side.ask(path, program.first)
            if number == 0:
                self.again.ask(path, program.first[::-1][1:], "keys")
            base, fork = self.base.answer(), self.fork.answer()
            found.append(self._between(base, fork, path))
            if number == 0:
                found.append(unstable(fork, self.again.answer()))
            answers.append(fork)
            self._count(fork)
        found.append(between_programs(answers[0], answers[1], program.holes[hole].place))
        return [difference for difference in found if difference is not None]

    def _between(self, base: Answer, fork: Answer, path: Path) -> Difference | None:
        difference = between_sides(base, fork)
        if difference is None or not any(map(is_numbered, fork["requests"])):
            return difference
        self.base.ask(path, (), "exact")
        if between_sides(self.base.answer(), fork) is None:
            self.counts["functions that only the fork tells apart"] += 1
            return None
        return difference

    def _write(self, source: str) -> Path:
        """Write a program to a folder of its own: Triton reads sources from files."""
        self._files += 1
        path = self.folder / str(self._files % 64) / f"{self._files}" / "program.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source)
        return path

    def _count(self, fork: Answer) -> None:
        self.counts["programs"] += 1
        self.counts["faults"] += "fault" in fork
        for answer in fork.get("requests", []):
            self.counts["requests"] += 1
            self.counts["compiled"] += answer["ok"]
