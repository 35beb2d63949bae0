"""What two sides saw of a program, compared."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

Outcome = dict[str, Any]

# Unlike the base, the fork lets these pass as they are where a tensor's data_ptr() raises them; native/README.md says so.
_UNCHANGED_BY_THE_FORK = ("KeyboardInterrupt", "GeneratorExit", "MemoryError")
# After a launch that failed, the base calls HIP's exit hook with the exception set.
_WITH_AN_EXCEPTION_SET = "returned a result with an exception set"


@dataclass(frozen=True)
class Difference:
    """One step of which the sides saw different things.

    :param step: number of the step; after the last one comes what is left in the end, when each function must be launched natively again
    :param part: ``answer``, ``launches``, ``loaded`` (how many kernels the driver was given), ``seen`` or ``crash``
    :param base: what the base saw
    :param fork: what the fork saw
    """

    step: int
    part: str
    base: Any
    fork: Any

    def __str__(self) -> str:
        return f"step {self.step}, {self.part}:\n  base: {self.base}\n  fork: {self.fork}"


PARTS = ("answer", "launches", "loaded", "seen")


def differences(
    base: Sequence[Outcome], fork: Sequence[Outcome], *, questions: bool = False, parts: Collection[str] = PARTS
) -> list[Difference]:
    """Compare what two sides saw.

    :param base: outcomes of the side that is right by definition
    :param fork: outcomes of the side under test
    :param questions: whether foreign objects must be asked exactly as often; without it they must be asked what the base asks
        between the same events, and may be asked more
    :param parts: what is compared of a step; a crash always is
    :returns: the differences in order; none where the base itself dies
    """
    if "crash" in base[0]:
        return []
    if "crash" in fork[0]:
        return [Difference(0, "crash", "alive", fork[0]["crash"])]
    found: list[Difference] = []
    for number, (ours, theirs) in enumerate(zip(base, fork, strict=True)):
        found += [each for each in _of_step(number, ours, theirs, questions) if each.part in parts]
    return found


def _of_step(number: int, base: Outcome, fork: Outcome, questions: bool) -> Iterator[Difference]:
    if base["answer"] != fork["answer"] and not _is_documented(base["answer"], fork["answer"]):
        yield Difference(number, "answer", base["answer"], fork["answer"])
    for part in ("launches", "loaded"):
        if base[part] != fork[part]:
            yield Difference(number, part, base[part], fork[part])
    ours, theirs = base["seen"], fork["seen"]
    if (ours != theirs) if questions else not _covers(_phases(theirs), _phases(ours)):
        yield Difference(number, "seen", ours, theirs)


def _is_documented(base: Any, fork: Any) -> bool:
    both = all(isinstance(answer, list) and answer[:1] == ["raised"] for answer in (base, fork))
    return both and (fork[1] in _UNCHANGED_BY_THE_FORK or base[2].endswith(_WITH_AN_EXCEPTION_SET))


Phases = list[tuple[Any, set[str]]]


def _phases(seen: list[Any]) -> Phases:
    """Give each event with the questions that come before it; the last ones come before nothing."""
    phases: Phases = []
    asked: set[str] = set()
    for entry in seen:
        if str(entry[0]).startswith("?"):
            asked.add(f"{entry[0]} {entry[1]}")
        else:
            phases.append((entry, asked))
            asked = set()
    return [*phases, (None, asked)]


def _covers(fork: Phases, base: Phases) -> bool:
    same_events = [event for event, _ in fork] == [event for event, _ in base]
    return same_events and all(ours <= theirs for (_, ours), (_, theirs) in zip(base, fork, strict=True))
