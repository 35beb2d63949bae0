"""A variable of a function around a kernel is bound anew: the next launch runs the code of what it holds now.

The base runs the code of what it held at first, and stores code of the new value under the key of the old one.
"""

from pathlib import Path

import pytest

from tests.fake_driver.programs import Both, run_program
from tests.semantics.conftest import PROGRAMS

PROGRAM = "rebound_cells.py"
WAYS = ["own", "called", "constexpr_function", "function", "module", "recursive", "argument", "nothing", "builtin_name"]
FORK_ONLY = {"TRITON_FORK_NATIVE": "0"}


@pytest.mark.parametrize("variables", [{}, FORK_ONLY], ids=["fast path", "without"])
def test_launches_follow_what_is_bound(run_both: Both, variables: dict[str, str]) -> None:
    base, fork = run_both(PROGRAM, **variables)
    assert [base[way] for way in WAYS] == [[[11] * 3] * 3] * len(WAYS)
    assert [fork[way] for way in WAYS] == [[[11] * 3, [12] * 3, [11] * 3]] * len(WAYS)
    # Bound while a kernel was compiled: that kernel has the new value, and is no kernel of the old one later.
    assert base["by a hook"] == [11, 12, *[11, 12] * 3]
    assert fork["by a hook"] == [11, 12, 11, 11, 12, 12, 11, 11]
    assert (base["of one source"], fork["of one source"]) == ([11, 11, 11], [11, 12, 11])
    # What names the kernel is asked before the key is made, since the name is in it: key and code have the value that it binds.
    assert (base["while generated"], fork["while generated"]) == ([12, 12], [12, 12])
    # No job fails that ran before.
    assert fork["without meaning"] == base["without meaning"] == [11] * 10
    compiled, long = fork["rebound counts"]
    assert compiled == 2, "the kernel of the first value is compiled again"
    assert long == 8 if variables else 2 <= long < 8
    compiled, long = fork["meaningless counts"]
    assert compiled == 1
    # Twice while the variable is deleted, and once after each other change.
    assert long == 9 if variables else long == 5


@pytest.mark.parametrize("variables", [{}, {"TRITON_FORK_FIX_REBOUND_CELLS": "0"}], ids=["on", "off"])
def test_another_process_gets_the_code_of_its_own_value(
    base_python: Path, fork_python: Path, driver_folder: Path, tmp_path: Path, variables: dict[str, str]
) -> None:
    answers = {}
    for python in (base_python, fork_python):
        cache = tmp_path / python.parents[1].name / "cache"
        cache.parent.mkdir()
        arguments = (python, PROGRAMS / PROGRAM, driver_folder, cache)
        answers[python] = [run_program(*arguments, ["disk", number], variables) for number in ("12", "11")]
    wrong = [[11, 12], [11, 12]]
    assert answers[base_python] == wrong
    assert answers[fork_python] == (wrong if variables else [[11, 12], [11, 11]])


def test_with_the_switch_launches_run_what_the_base_runs(run_both: Both) -> None:
    base, fork = run_both(PROGRAM, TRITON_FORK_FIX_REBOUND_CELLS="0")
    assert {name: fork[name] for name in base if "counts" not in name} == {
        name: base[name] for name in base if "counts" not in name
    }
