"""Libraries built at run time and timings of the autotuner: damaged ones are made again."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.cache.conftest import Worker

needs_compiler = pytest.mark.skipif(not (shutil.which("gcc") or shutil.which("clang")), reason="needs a C compiler")


@needs_compiler
@pytest.mark.parametrize(
    ("kind", "damage", "rebuilt"),
    [
        ("library", "whole", 0),
        ("library", "empty", 1),
        ("library", "cut", 1),
        ("library", "flip", 1),
        ("library", "directory", 1),
        ("unrecorded-library", "whole", 0),
        ("unrecorded-library", "cut", 1),
    ],
)
def test_a_library_is_built_again(kind: str, damage: str, rebuilt: int, run: Worker, fork_python: Path) -> None:
    result = run(fork_python, "others", kind, damage)
    assert result == {"first": ["tiny", 1], "again": ["tiny", rebuilt], "said": rebuilt, "third": ["tiny", 0]}


@needs_compiler
def test_a_library_is_loaded_though_it_cannot_be_kept(run: Worker, fork_python: Path, tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file")
    (tmp_path / "temporary").mkdir()
    result = run(fork_python, "library_unkept", cache=tmp_path / "cache", TMPDIR=str(tmp_path / "temporary"))
    assert result == {"loaded": ["tiny", "tiny"], "said": 1, "left": []}


@pytest.mark.parametrize(
    ("damage", "runs"), [("whole", 1), ("empty", 2), ("cut", 2), ("other_json", 2), ("directory", 2)]
)
def test_timings_are_measured_again(damage: str, runs: int, run: Worker, fork_python: Path) -> None:
    result = run(fork_python, "others", "timings", damage)
    assert result == {"best": [1, 1, 1], "runs": runs, "said": runs - 1}


@pytest.mark.parametrize("damage", ["empty", "cut", "other_json", "directory"])
def test_the_base_fails_on_such_timings(damage: str, run: Worker, base_python: Path) -> None:
    with pytest.raises(AssertionError, match="ended with"):
        run(base_python, "others", "timings", damage)
