"""Describe values by type and content, in steps that can be counted.

What a value consists of is described by generators that give each part and are sent its text: a chain of any length takes no
stack, what is met again in one description is described once, and a description that goes on for too long is given up.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Generator
from typing import Any

__all__ = ["MOST_VALUES", "Description", "Parts", "TooMuchError"]

#: How many values one description may consist of; numbers and words in containers do not count.
MOST_VALUES = 10_000
_LONGEST = 200

#: Gives the parts of a value, is sent the text of each, and returns the text of the whole. ``FORGET`` among the parts is none.
Parts = Generator[Any, str, str]

#: Makes what follows independent of what came before: the text of what has a cycle inside depends on where that was entered.
FORGET = object()


class TooMuchError(Exception):
    """A value consists of more than anybody would call a constant."""


class _Frame:
    """A value that is being described."""

    __slots__ = ("cyclic", "depth", "lowest", "parts", "value")

    def __init__(self, value: Any, parts: Parts, depth: int) -> None:
        self.value, self.parts, self.depth = value, parts, depth
        self.lowest = depth  # of those around it, the outermost that is met again inside
        self.cyclic = False  # whether there is a cycle inside


class Description:
    """One description, with what is known from it so far.

    :param short: Gives the text of a value that has no parts, otherwise ``None``.
    :param parts: Begins with a value that has.
    """

    def __init__(self, short: Callable[[Any], str | None], parts: Callable[[Any], Parts]) -> None:
        self._short, self._parts = short, parts
        self._left = MOST_VALUES
        # id -> the value, held so that no other gets its id, and its text
        self._known: dict[int, tuple[Any, str]] = {}
        # The same for what has a cycle inside, with the frame in which that was entered.
        self._cyclic: dict[int, tuple[Any, str, _Frame]] = {}
        self._open: dict[int, _Frame] = {}
        self._stack: list[_Frame] = []

    def text(self, value: Any) -> str:
        """Describe a value.

        :raises TooMuchError: It consists of more than :data:`MOST_VALUES` values.
        """
        answer = self._answer(value)
        while self._stack:
            frame = self._stack[-1]
            try:
                part = next(frame.parts) if answer is None else frame.parts.send(answer)
                answer = self._answer(part)
            except StopIteration as end:
                answer = self._close(frame, end.value)
        return answer or ""

    def _answer(self, value: Any) -> str | None:
        """Give the text of a value; begin with it where it is not known."""
        if value is FORGET:
            self._cyclic.clear()
            return ""
        text = self._short(value)
        if text is not None:
            return text
        known = self._known.get(id(value))
        if known is not None:
            return known[1]
        around = self._open.get(id(value))
        if around is not None:
            self._reach(around)
            return f"(again, {len(self._stack) - around.depth} up)"
        part_of_cycle = self._cyclic.get(id(value))
        if part_of_cycle is not None:
            self._reach(part_of_cycle[2])
            return part_of_cycle[1]
        self._left -= 1
        if self._left < 0:
            raise TooMuchError
        frame = _Frame(value, self._parts(value), len(self._stack))
        self._open[id(value)] = frame
        self._stack.append(frame)
        return None

    def _reach(self, frame: _Frame) -> None:
        self._stack[-1].cyclic = True
        if self._open.get(id(frame.value)) is frame:
            self._stack[-1].lowest = min(self._stack[-1].lowest, frame.depth)

    def _close(self, frame: _Frame, text: str) -> str:
        self._stack.pop()
        del self._open[id(frame.value)]
        if len(text) > _LONGEST:
            text = f"{text[:40]} {hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()}"
        if not frame.cyclic:
            self._known[id(frame.value)] = frame.value, text
            return text
        outer = frame
        if self._stack:
            self._stack[-1].cyclic = True
            if frame.lowest < frame.depth:
                outer = self._stack[frame.lowest]
                self._stack[-1].lowest = min(self._stack[-1].lowest, frame.lowest)
        self._cyclic[id(frame.value)] = frame.value, text, outer
        return text
