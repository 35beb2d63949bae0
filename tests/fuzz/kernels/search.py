"""Look for differences with programs made by chance."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from tests.fuzz.kernels.choices import Choices
from tests.fuzz.kernels.comparison import Difference, between_programs, between_sides, unstable
from tests.fuzz.kernels.processes import Answer, Side
from tests.fuzz.kernels.program import Program
from tests.fuzz.kernels.shrinking import recorded, smallest, with_fewer_lines

__all__ = ["Found", "Pair", "Search"]

Generator = Callable[[Choices], Program]


@dataclass(frozen=True)
class Pair:
    """Two programs that differ in one place.

    :param sources: Their texts.
    :param place: What kind of place it is.
    :param first: Functions whose keys are asked for before anything is compiled, by name.
    """

    sources: tuple[str, str]
    place: str
    first: Sequence[str] = ()


@dataclass(frozen=True)
class Found:
    """A difference, with the smallest pair that shows it.

    :param difference: What differs.
    :param pair: The programs.
    :param number: Which pair of the seed it was.
    """

    difference: Difference
    pair: Pair
    number: int


@dataclass
class Search:
    """A search for differences.

    :param base: The base.
    :param fork: The fork.
    :param again: The fork once more, with another hash seed.
    :param folder: Where programs are written.
    :param generators: What writes them; the first one writes the simplest.
    :param progress: Called after each pair.
    :param noticed: Called with each difference of a kind that was not found before.
    """

    base: Side
    fork: Side
    again: Side
    folder: Path
    generators: Sequence[Generator]
    progress: Callable[[Search], None] = lambda _: None
    noticed: Callable[[Found], None] = lambda _: None
    #: How many programs, requests, requests that compile, differences of each kind... there were.
    counts: Counter[str] = field(default_factory=Counter)
    found: list[Found] = field(default_factory=list)
    _files: int = 0

    def run(self, seed: int, count: int, first: int = 0, most: int = 20) -> list[Found]:
        """Search.

        :param seed: Gives the same programs again.
        :param count: How many pairs of programs to make.
        :param first: The number of the first of them.
        :param most: How many kinds of difference are enough.
        :returns: What was found, once for each kind of difference.
        """
        made = recorded(f"{seed}/{first}", self._pair)
        for number in range(first, first + count):
            pair, decisions = made
            paths = self._ask(pair)
            made = recorded(f"{seed}/{number + 1}", self._pair)  # while the others compile
            self._note(self._differences(pair, paths), decisions, number)
            self.progress(self)
            if len(self.found) >= most:
                break
        return self.found

    def close(self) -> None:
        """End the processes."""
        for side in (self.base, self.fork, self.again):
            side.close()

    def _pair(self, choices: Choices) -> Pair:
        program = choices.pick(self.generators)(choices)
        hole = choices.pick(program.used())
        other = program.text({hole: choices.pick(program.holes[hole].others)})
        return Pair((program.text(), other), program.holes[hole].place, program.first)

    def _note(self, differences: list[Difference], decisions: Sequence[int], number: int) -> None:
        """Keep what is new, made small."""
        for difference in differences:
            self.counts[f"difference: {difference.kind}"] += 1
            if all(difference.kind != found.difference.kind for found in self.found):
                self.found.append(self._smallest(difference, decisions, number))
                self.noticed(self.found[-1])

    def _smallest(self, difference: Difference, decisions: Sequence[int], number: int) -> Found:
        counts, last = self.counts, difference
        self.counts = Counter()  # what is tried here is not counted

        def differs(pair: Pair) -> bool:
            nonlocal last
            same = [one for one in self._differences(pair, self._ask(pair)) if one.kind == difference.kind]
            last = same[0] if same else last
            return bool(same)

        small = smallest(decisions, self._pair, differs)
        if small is None:
            rest = iter(decisions)
            pair = self._pair(Choices(lambda low, high: low if low == high else next(rest)))
            said = f"It was seen once, after {counts['programs']} programs in the same process.\n\n{difference.detail}"
            last = Difference(difference.kind, said)
        else:
            fewer = with_fewer_lines(small.sources, lambda sources: differs(replace(small, sources=sources)))
            pair = replace(small, sources=fewer)
            differs(pair)  # for what it differs in
        self.counts = counts
        return Found(last, pair, number)

    def _ask(self, pair: Pair) -> list[Path]:
        """Send two programs to all."""
        paths = [self._write(source) for source in pair.sources]
        for path in paths:
            for side in (self.base, self.fork):
                side.ask(path, pair.first)
        self.again.ask(paths[0], pair.first[::-1][1:], "keys")
        return paths

    def _differences(self, pair: Pair, paths: Sequence[Path]) -> list[Difference]:
        """Take the answers, and give what is not as it should be."""
        bases, forks = ([side.answer() for _ in paths] for side in (self.base, self.fork))
        found = [unstable(forks[0], self.again.answer())]
        for base, fork, path in zip(bases, forks, paths, strict=True):
            found.append(self._between(base, fork, path))
            self._count(fork)
            shutil.rmtree(path.parent)
        found.append(between_programs(forks[0], forks[1], pair.place))
        return [difference for difference in found if difference is not None]

    def _between(self, base: Answer, fork: Answer, path: Path) -> Difference | None:
        difference = between_sides(base, fork)
        if difference is None:
            return None
        self.base.ask(path, (), "exact")
        if between_sides(self.base.answer(), fork) is None:
            self.counts["functions that only the fork tells apart"] += 1
            return None
        return difference

    def _write(self, source: str) -> Path:
        """Write a program to a folder of its own: Triton reads sources from files."""
        self._files += 1
        path = self.folder / str(self._files) / "program.py"
        path.parent.mkdir(parents=True)
        path.write_text(source)
        return path

    def _count(self, fork: Answer) -> None:
        self.counts["programs"] += 1
        self.counts["faults"] += "fault" in fork
        for answer in fork.get("requests", []):
            self.counts["requests"] += 1
            self.counts["compiled"] += answer["ok"]
