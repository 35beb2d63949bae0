"""What is a difference between base and fork, and between the keys of two programs."""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass
from typing import Any

from tests.fuzz.kernels.processes import Answer

__all__ = ["OUTSIDE", "Difference", "between_programs", "between_sides", "is_numbered", "unstable"]

#: What the answers to a request hold that base and fork must agree on.
_COMPARED = ("ok", "text", "printed", "warned")
_LOCATIONS = re.compile(r"(?m)^#loc.*\n| loc\(.*")
_MOST_LINES = 60
_NUMBERED = re.compile(r'tt\.func private .*\.\d+"?\((%|\))')
#: Places that the source of no function holds.
OUTSIDE = frozenset(
    {
        "attribute of a constant",
        "constant in a module",
        "constant in a name",
        "constant in a named tuple",
        "constant in a tuple",
        "constant of a launch",
        "enumeration",
        "item of a list in a module",
        "member of an enumeration",
        "order of fields",
        "unused",
        "value of a closure",
        "value of a default",
    }
)


@dataclass(frozen=True)
class Difference:
    """Something that is not as it should be.

    :param kind: What it is, in words that are the same for each instance of one fault, as far as can be told.
    :param detail: The two sides of it.
    """

    kind: str
    detail: str


def between_sides(base: Answer, fork: Answer) -> Difference | None:
    """Compare what base and fork make of one program."""
    if "fault" in base or "fault" in fork:
        one, other = (_last(answer.get("fault", "")) for answer in (base, fork))
        if one == other:
            return None
        return Difference(f"faults: {one} | {other}", f"{base.get('fault')}\n\n{fork.get('fault')}")
    for one, other in zip(base["requests"], fork["requests"], strict=True):
        difference = _of_request(one, other)
        if difference is not None:
            return difference
        if _has_no_key(one):
            return None  # the base leaves half a key behind, by which the next one is told
    return None


def _of_request(base: dict[str, Any], fork: dict[str, Any]) -> Difference | None:
    if base["ok"] != fork["ok"]:
        one, other = ("compiles" if answer["ok"] else _last(answer["text"]) for answer in (base, fork))
        return Difference(f"only one fails: {one} | {other}", f"{_short(base)}\n\n{_short(fork)}")
    if base["text"] != fork["text"]:
        if not base["ok"]:
            kind = f"messages: {_last(base['text'])} | {_last(fork['text'])}"
        else:
            bare = [_LOCATIONS.sub("", answer["text"]) for answer in (base, fork)]
            kind = "locations" if bare[0] == bare[1] else "code"
        return Difference(kind, _diff(base["text"], fork["text"]))
    for what in ("printed", "warned"):
        if base[what] != fork[what]:
            return Difference(what, _diff("\n".join(base[what]), "\n".join(fork[what])))
    return None


def is_numbered(answer: dict[str, Any]) -> bool:
    """Tell whether there are functions that the base gives one name."""
    return bool(answer["ok"]) and _NUMBERED.search(answer["text"]) is not None


def unstable(fork: Answer, again: Answer) -> Difference | None:
    """Compare the keys of a program in two processes, and before and after it was compiled.

    :param fork: Of the process that compiled it.
    :param again: Of one with another hash seed, in which other functions were asked for their keys first.
    """
    if "fault" in fork or "fault" in again:
        return None
    for one, other in zip(fork["requests"], again["requests"], strict=True):
        if one["key"] != one["again"]:
            return Difference("the key changes while compiling", f"{one['key']}\n{one['again']}")
        if _has_no_key(one) and _has_no_key(other):
            return None
        if one["key"] != other["key"]:
            return Difference("the key is another one in another process", f"{one['key']}\n{other['key']}")
    return None


def between_programs(one: Answer, other: Answer, place: str) -> Difference | None:
    """Compare the keys of two programs that differ in one place: what gives other code must have another key.

    :param one: What the fork made of the first.
    :param other: What it made of the second.
    :param place: What kind of place it is; nothing reads what is ``unused``.
    """
    if "fault" in one or "fault" in other:
        return None
    for first, second in zip(one["requests"], other["requests"], strict=False):
        if _has_no_key(first) or _has_no_key(second):
            return None
        equal = all(first[what] == second[what] for what in _COMPARED[:2])
        if first["key"] == second["key"] and not equal:
            return Difference(f"one key for two codes, {place}", _diff(first["text"], second["text"]))
        if first["key"] != second["key"] and place == "unused":
            return Difference("what nothing reads is in the key", f"{first['key']}\n{second['key']}")
    return None


def _has_no_key(answer: dict[str, Any]) -> bool:
    return str(answer["key"]).startswith("raised")


def _last(text: str) -> str:
    """Give the last line of a message without its numbers and the names in it."""
    lines = text.strip().splitlines() or [""]
    return re.sub(r"\d+", "#", lines[-1])[:160]


def _short(answer: dict[str, Any]) -> str:
    return "compiles" if answer["ok"] else answer["text"]


def _diff(one: str, other: str) -> str:
    lines = list(difflib.unified_diff(one.splitlines(), other.splitlines(), "one", "other", lineterm="", n=1))
    more = [f"... and {len(lines) - _MOST_LINES} more lines"] if len(lines) > _MOST_LINES else []
    return "\n".join(lines[:_MOST_LINES] + more)
