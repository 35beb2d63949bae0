"""Make a program that shows a difference small, with hypothesis.

Programs are made from a plain generator of random numbers: hypothesis would make a third of them twice. The numbers that made one
are handed to hypothesis as a failure that it knows from before.
"""

from __future__ import annotations

import contextlib
import random
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from hypothesis.database import ExampleDatabase, choices_to_bytes
from hypothesis.errors import Flaky

from tests.fuzz.kernels.choices import Choices, Drawn

__all__ = ["recorded", "smallest", "with_fewer_lines"]

Made = TypeVar("Made")


class _DiffersError(AssertionError):
    """What was made shows the difference."""


class _Known(ExampleDatabase):
    """A database that knows one failure, of any test.

    :param numbers: The decisions that lead to it.
    """

    def __init__(self, numbers: Sequence[int]) -> None:
        super().__init__()
        self._failure = choices_to_bytes(tuple(numbers))

    def fetch(self, key: bytes) -> Iterable[bytes]:
        """Give the failure."""
        return [] if key.endswith((b".secondary", b".pareto")) else [self._failure]

    def save(self, key: bytes, value: bytes) -> None:
        """Keep nothing."""

    def delete(self, key: bytes, value: bytes) -> None:
        """Keep nothing."""


def recorded(seed: str, make: Callable[[Choices], Made]) -> tuple[Made, list[int]]:
    """Make something by chance.

    :param seed: Gives the same again.
    :param make: Makes it.
    :returns: What was made, and the decisions.
    """
    source, numbers = random.Random(seed), list[int]()

    def number(low: int, high: int) -> int:
        if low == high:
            return low
        numbers.append(source.randint(low, high))
        return numbers[-1]

    return make(Choices(number)), numbers


def smallest(
    numbers: Sequence[int], make: Callable[[Choices], Made], differs: Callable[[Made], bool], most: int = 400
) -> Made | None:
    """Find something smaller that shows a difference.

    :param numbers: The decisions that led to one that does.
    :param make: Makes it.
    :param differs: Tells whether something shows the difference.
    :param most: How many may be tried.
    :returns: The smallest one found; ``None`` where not even the first one shows the difference any more.
    """
    last: list[Made] = []
    tried = 0

    @st.composite
    def drawn(draw: st.DrawFn) -> Made:
        return make(Drawn(draw))

    @settings(
        database=_Known(numbers),
        deadline=None,
        phases=(Phase.reuse, Phase.shrink),
        report_multiple_bugs=False,
        print_blob=False,
        suppress_health_check=list(HealthCheck),
    )
    @given(made=drawn())
    def examine(made: Made) -> None:
        nonlocal tried
        tried += 1
        if (tried > most and made not in last[-1:]) or not differs(made):
            return
        last.append(made)
        raise _DiffersError

    with contextlib.suppress(_DiffersError, Flaky):
        examine()
    return last[-1] if last else None


def with_fewer_lines(
    sources: tuple[str, ...], differs: Callable[[tuple[str, ...]], bool], most: int = 300
) -> tuple[str, ...]:
    """Take lines out of programs, the same ones out of all, as long as the difference is there.

    :param sources: Programs of the same number of lines.
    :param differs: Tells whether programs show the difference.
    :param most: How many may be tried.
    """
    lines = [source.splitlines(keepends=True) for source in sources]
    length, tried = max(1, len(lines[0]) // 2), 0
    while length and tried < most:
        at = 0
        while at < len(lines[0]) and tried < most:
            tried += 1
            fewer = [some[:at] + some[at + length :] for some in lines]
            if differs(tuple("".join(some) for some in fewer)):
                lines = fewer
            else:
                at += length
        length //= 2
    return tuple("".join(some) for some in lines)
