"""The lane under test, and where its base differs from what the tests say of the base: ``tests/lanes/<lane>.toml``.

A test that shows a fault of the base says so with the fixture ``base_fault``; what the fork does is asserted on every lane::

    [gone]
    "closure_hides_global" = "3.9.0 looks names up in the closure first"

    [differs]
    "tests/codegen/test_counts.py::test_calls" = "3.8.0 binds arguments in another way"

``gone`` names faults that the lane's base no longer has: they are reported, and it is an error if the base has one after all.
``differs`` names tests, or the beginning of their names, that cannot pass on the lane: they must fail, and are reported.

``python -m tests.support.lanes`` prints the names of the lanes that are active.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from fork.config import Pin
from fork.project import Project

__all__ = ["BaseFault", "Expectations", "active_lanes", "chosen_lane", "read_expectations"]

#: The fixture ``base_fault``: name of a fault, and whether the base shows it.
BaseFault = Callable[[str, bool], None]


@dataclass
class Expectations:
    """What is expected of the base of a lane.

    :param lane: Name of the lane.
    :param is_default: Whether the tests were written for its base, so that a fault that is not seen means a broken test.
    :param gone: Fault -> why the base no longer has it.
    :param differs: Beginning of the names of tests -> why they fail.
    """

    lane: str
    is_default: bool
    gone: Mapping[str, str]
    differs: Mapping[str, str]
    _changes: dict[str, None] = field(default_factory=dict)

    def base_fault(self, fault: str, seen: bool) -> None:
        """Take note of whether the base shows a fault.

        :param fault: Its name in ``gone``.
        :param seen: Whether the base shows it.
        """
        if seen and fault in self.gone:
            pytest.fail(f"tests/lanes/{self.lane}.toml says that the base no longer has the fault '{fault}': it has")
        if not seen and self.is_default:
            pytest.fail(f"the base does not show the fault '{fault}', for which this test was written")
        if not seen:
            reason = self.gone.get(fault, f"not in [gone] of tests/lanes/{self.lane}.toml; say there since when")
            self._changes[f"the base no longer has '{fault}': {reason}"] = None

    def mark(self, items: Iterable[pytest.Item]) -> None:
        """Expect the tests to fail that cannot pass on this lane."""
        for item in items:
            for name, reason in self.differs.items():
                if item.nodeid.startswith(name):
                    item.add_marker(pytest.mark.xfail(reason=reason, strict=True))

    @property
    def changes(self) -> list[str]:
        """What was found to have changed in the base, each a sentence."""
        return list(self._changes)


def chosen_lane() -> str | None:
    """Name the lane that ``ci/test --lane`` chose; ``None`` for the default one."""
    return os.environ.get("TRITON_FORK_TEST_LANE") or None


def active_lanes(pin: Pin) -> list[str]:
    """Name the lanes that a run of all tests covers."""
    return [lane.name for lane in pin.lanes.values() if lane.state == "active"]


def read_expectations(folder: Path, lane: str, default: str) -> Expectations:
    """Read the expectations of a lane; there are none where it has no file.

    :param folder: ``tests/lanes``.
    :param default: Name of the lane that the tests were written for.
    """
    file = folder / f"{lane}.toml"
    content = tomllib.loads(file.read_text("utf-8")) if file.is_file() else {}
    if unknown := sorted(content.keys() - {"gone", "differs"}):
        raise pytest.UsageError(f"tests/lanes/{file.name} has a table '{unknown[0]}'; it may have 'gone' and 'differs'")
    return Expectations(lane, lane == default, content.get("gone", {}), content.get("differs", {}))


if __name__ == "__main__":
    print(*active_lanes(Project.here().pin()))
