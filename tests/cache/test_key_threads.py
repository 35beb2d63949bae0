"""Threads that ask for keys never wait for each other, and come to the keys that one thread alone comes to."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cache.conftest import Worker


@pytest.mark.parametrize("same", [[], ["same"]], ids=["another function", "the same function"])
def test_a_key_is_asked_for_in_a_module_that_another_key_imports(
    run: Worker, base_python: Path, fork_python: Path, same: list[str]
) -> None:
    base, fork = (run(python, "key_threads", "import", *same) for python in (base_python, fork_python))
    # The base has a lock for each function: there only the same one cannot be had.
    assert base["ended"] is not bool(same)
    assert fork == {"ended": True, "keys": [64, 0 if same else 64]}


def test_threads_enter_a_cycle_at_different_places(run: Worker, fork_python: Path) -> None:
    assert run(fork_python, "key_threads", "cycle") == {"ended": True, "different": 0, "distinct": 6}


def test_with_the_switch_each_function_has_its_lock_again(run: Worker, fork_python: Path) -> None:
    assert not run(fork_python, "key_threads", "import", "same", TRITON_FORK_FIX_KEY_OF_CYCLES="0")["ended"]
