"""A program as text with holes: places whose content may be exchanged for another of the same kind."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

__all__ = ["Hole", "Holes", "Program"]

_OPEN, _CLOSE = "\ue000", "\ue001"
_MARK = re.compile(f"{_OPEN}(\\d+){_CLOSE}")


@dataclass(frozen=True)
class Hole:
    """A place in a program.

    :param text: What stands there.
    :param others: What may stand there instead.
    :param place: What kind of place it is, for reports.
    """

    text: str
    others: Sequence[str]
    place: str


class Holes:
    """The holes of a program that is being written."""

    def __init__(self) -> None:
        self.found: list[Hole] = []

    def add(self, text: str, others: Sequence[str], place: str) -> str:
        """Note a place, and give what marks it in the text."""
        others = [other for other in others if other != text]
        if not others:
            return text
        self.found.append(Hole(text, others, place))
        return f"{_OPEN}{len(self.found) - 1}{_CLOSE}"


@dataclass(frozen=True)
class Program:
    """A module with kernels and a list ``REQUESTS`` of how to compile them.

    :param template: Its source with marks of holes.
    :param holes: The holes by number.
    :param first: Functions whose keys are asked for before anything is compiled, by name.
    """

    template: str
    holes: Sequence[Hole]
    first: Sequence[str] = field(default=())

    def text(self, changes: Mapping[int, str] | None = None) -> str:
        """Write the source.

        :param changes: What stands in some holes instead of what stood there.
        """
        changed = changes or {}

        def content(match: re.Match[str]) -> str:
            number = int(match[1])
            return _MARK.sub(content, changed.get(number, self.holes[number].text))

        return _MARK.sub(content, self.template)

    def used(self) -> list[int]:
        """Give the holes that the text really has: a part that was thrown away took its own along."""
        found: list[int] = []
        rest = [self.template]
        while rest:
            for match in _MARK.finditer(rest.pop()):
                number = int(match[1])
                found.append(number)
                rest.append(self.holes[number].text)
        return sorted(set(found))
