"""Where the generator's decisions come from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TypeVar

from hypothesis import strategies as st

__all__ = ["Choices", "Drawn"]

Item = TypeVar("Item")


class Choices:
    """Decisions, each a number that may be made smaller while a program is shrunk: the first of several options is the simplest.

    :param number: Gives a number between two others, both included.
    """

    def __init__(self, number: Callable[[int, int], int]) -> None:
        self.number = number

    def together(self, make: Callable[[], Item]) -> Item:
        """Make a part of a program, whose decisions hypothesis tries to leave out together."""
        return make()

    def pick(self, options: Sequence[Item]) -> Item:
        """Take one of several."""
        return options[self.number(0, len(options) - 1)]

    def weighted(self, options: Sequence[tuple[int, Item]]) -> Item:
        """Take one of several, each as often as its weight says."""
        at = self.number(1, sum(weight for weight, _ in options))
        for weight, item in options:
            at -= weight
            if at <= 0:
                return item
        raise AssertionError("a number beyond all weights")

    def chance(self, percent: int) -> bool:
        """Say yes so often; no is simpler."""
        return self.number(1, 100) > 100 - percent

    def some(self, options: Sequence[Item], most: int) -> list[Item]:
        """Take none or several, in any order and with repetitions."""
        return [self.pick(options) for _ in range(self.number(0, most))]


class Drawn(Choices):
    """Decisions that hypothesis makes.

    :param draw: Draws from a strategy.
    """

    def __init__(self, draw: st.DrawFn) -> None:
        super().__init__(lambda low, high: low if low == high else draw(_numbers(low, high)))
        self._draw = draw

    def together(self, make: Callable[[], Item]) -> Item:
        """Make a part of a program from a strategy of its own."""
        return self._draw(_parts(make))


@st.composite
def _parts(draw: st.DrawFn, make: Callable[[], Item]) -> Item:
    draw(st.just(None))  # hypothesis asks for it; what is made draws by itself
    return make()


@lru_cache(maxsize=512)
def _numbers(low: int, high: int) -> st.SearchStrategy[int]:
    return st.integers(low, high)
