"""Whatever a kernel can read is in its key: two programs that differ only there get their own code."""

from __future__ import annotations

from pathlib import Path

from tests.cache.conftest import Worker

#: The base looks at functions that are read as attributes and at constants by their text.
RIGHT_IN_THE_BASE = {"module_function", "function_of_object", "global_constant_list"}


def test_everything_that_can_be_read(run: Worker, base_python: Path, fork_python: Path) -> None:
    base, fork = run(base_python, "reachable_values"), run(fork_python, "reachable_values")
    for name, outcome in base.items():
        first, second = outcome["alone"]
        assert isinstance(first, list), (name, first)
        assert first != second, f"{name} is no case: both values give the same code"
        assert fork[name] == {"alone": [first, second], "shared": [first, second]}, name
    assert {name for name, outcome in base.items() if outcome["shared"] == outcome["alone"]} == RIGHT_IN_THE_BASE


def test_without_the_fast_pass(run: Worker, fork_python: Path) -> None:
    off = run(fork_python, "reachable_values", TRITON_FORK_SOURCE_KEYS="0")
    assert {name for name, outcome in off.items() if outcome["shared"] != outcome["alone"]} == set()
