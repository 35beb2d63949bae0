"""The metadata of kernels is the base's, of one class for kernels with the same fields."""

from __future__ import annotations

from pathlib import Path

from tests.cache.conftest import Worker


def test_one_class_for_the_same_fields(run: Worker, base_python: Path, fork_python: Path) -> None:
    base, fork = run(base_python, "metadata"), run(fork_python, "metadata")
    assert (base["made"], base["classes"]) == (3, 3)
    assert (fork["made"], fork["classes"]) == (0, 1)
    assert fork["facts"] == base["facts"]


def test_the_switch_makes_a_class_for_each_kernel(run: Worker, fork_python: Path) -> None:
    off = run(fork_python, "metadata", TRITON_FORK_METADATA="0")
    assert (off["made"], off["classes"]) == (3, 3)
