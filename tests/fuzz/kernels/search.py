"""Look for differences with programs made by chance."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from pathlib import Path

from tests.fuzz.kernels.choices import Choices
from tests.fuzz.kernels.comparison import OUTSIDE, Difference, between_programs, between_sides, is_numbered, unstable
from tests.fuzz.kernels.processes import Answer, Side
from tests.fuzz.kernels.program import Program
from tests.fuzz.kernels.shrinking import recorded, smallest, with_fewer_lines

__all__ = ["Found", "Group", "Search", "group_of"]

#: How many programs differ from the first of a group, and how many of a group the base compiles too.
LIKE, BOTH = 4, 2

Generator = Callable[[Choices], Program]


@dataclass(frozen=True)
class Group:
    """A program, and others that differ from it in one place each.

    :param sources: Their texts.
    :param places: What kind of place that is, of each but the first.
    :param first: Functions whose keys are asked for before anything is compiled, by name.
    """

    sources: tuple[str, ...] = field(repr=False)
    places: tuple[str, ...]
    first: Sequence[str] = ()


@dataclass(frozen=True)
class Found:
    """A difference, with the smallest programs that show it.

    :param difference: What differs.
    :param group: The programs.
    :param number: Which group of the seed it was.
    """

    difference: Difference
    group: Group
    number: int


def group_of(choices: Choices, generators: Sequence[Generator]) -> Group:
    """Write a program and its like.

    :param choices: The decisions.
    :param generators: What writes programs; the first one writes the simplest.
    """
    program = choices.pick(generators)(choices)
    holes = program.used()
    outside = [hole for hole in holes if program.holes[hole].place in OUTSIDE] or holes
    sources, places = [program.text()], []
    for _ in range(LIKE):
        hole = choices.pick(outside if choices.chance(70) else holes)
        sources.append(program.text({hole: choices.pick(program.holes[hole].others)}))
        places.append(program.holes[hole].place)
    return Group(tuple(sources), tuple(places), program.first)


@dataclass
class Search:
    """A search for differences.

    :param base: The base.
    :param fork: The fork.
    :param again: The fork once more, with another hash seed.
    :param folder: Where programs are written.
    :param generators: What writes them; the first one writes the simplest.
    :param corrected: Whether the fork's corrections are on; without them it has the base's keys and names of functions.
    :param progress: Called after each group.
    :param noticed: Called with each difference of a kind that was not found before.
    """

    base: Side
    fork: Side
    again: Side
    folder: Path
    generators: Sequence[Generator]
    corrected: bool = True
    progress: Callable[[Search], None] = lambda _: None
    noticed: Callable[[Found], None] = lambda _: None
    #: How many programs, requests, requests that compile, differences of each kind... there were.
    counts: Counter[str] = field(default_factory=Counter)
    found: list[Found] = field(default_factory=list)
    _files: int = 0

    def run(self, seed: int, count: int, first: int = 0, most: int = 20) -> list[Found]:
        """Search.

        :param seed: Gives the same programs again.
        :param count: How many groups of programs to make.
        :param first: The number of the first of them.
        :param most: How many kinds of difference are enough.
        :returns: What was found, once for each kind of difference.
        """
        made = recorded(f"{seed}/{first}", self._group)
        for number in range(first, first + count):
            group, decisions = made
            paths = self._ask(group)
            made = recorded(f"{seed}/{number + 1}", self._group)  # while the others compile
            self._note(self._differences(group, paths), decisions, number)
            self.progress(self)
            if len(self.found) >= most:
                break
        return self.found

    def close(self) -> None:
        """End the processes."""
        for side in (self.base, self.fork, self.again):
            side.close()

    def _group(self, choices: Choices) -> Group:
        return group_of(choices, self.generators)

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

        def differs(group: Group) -> bool:
            nonlocal last
            same = [one for one in self._differences(group, self._ask(group)) if one.kind == difference.kind]
            last = same[0] if same else last
            return bool(same)

        small = smallest(decisions, self._group, differs)
        if small is None:
            rest = iter(decisions)
            group = self._group(Choices(lambda low, high: low if low == high else next(rest)))
            said = f"It was seen once, after {counts['programs']} programs in the same process.\n\n{difference.detail}"
            last = Difference(difference.kind, said)
        else:
            fewer = with_fewer_lines(small.sources, lambda sources: differs(replace(small, sources=sources)))
            group = replace(small, sources=fewer)
            differs(group)  # for what it differs in
        self.counts = counts
        return Found(last, group, number)

    def _ask(self, group: Group) -> list[Path]:
        """Send programs to all."""
        paths = [self._write(source) for source in group.sources]
        for path in paths[:BOTH]:
            # The fork tells functions apart that the base gives one name.
            self.base.ask(path, group.first, "exact" if self.corrected else "ir")
        for path in paths:
            self.fork.ask(path, group.first)
        self.again.ask(paths[0], group.first[::-1][1:], "keys")
        return paths

    def _differences(self, group: Group, paths: Sequence[Path]) -> list[Difference]:
        """Take the answers, and give what is not as it should be."""
        bases, forks = [self.base.answer() for _ in paths[:BOTH]], [self.fork.answer() for _ in paths]
        again = self.again.answer()
        found = [between_sides(base, fork) for base, fork in zip(bases, forks, strict=False)]
        if self.corrected:
            found.append(unstable(forks[0], again))
            found += [
                between_programs(forks[0], one, place) for one, place in zip(forks[1:], group.places, strict=True)
            ]
            found += [between_programs(one, other, "two places") for one, other in combinations(forks[1:], 2)]
        self._count(forks)
        for path in paths:
            shutil.rmtree(path.parent)
        return [difference for difference in found if difference is not None]

    def _write(self, source: str) -> Path:
        """Write a program to a folder of its own: Triton reads sources from files."""
        self._files += 1
        path = self.folder / str(self._files) / "program.py"
        path.parent.mkdir(parents=True)
        path.write_text(source)
        return path

    def _count(self, forks: Sequence[Answer]) -> None:
        """Count programs, and what became of those that nothing was changed in."""
        self.counts["programs"] += len(forks)
        self.counts["faults"] += "fault" in forks[0]
        self.counts["programs with functions told apart"] += any(map(is_numbered, forks[0].get("requests", [])))
        for answer in forks[0].get("requests", []):
            self.counts["compilations"] += 1
            self.counts["compiled"] += answer["ok"]
