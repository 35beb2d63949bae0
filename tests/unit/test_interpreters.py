from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from fork.base import NoBaseWheelError, select_wheels
from fork.config import BaseWheel, load
from fork.interpreters import find_interpreters, inspect_interpreter
from tests.support.environments import repository, this_python

LANE = load(repository / "fork.toml").lane("3.6")


def test_an_interpreter_is_asked_what_it_is() -> None:
    found = inspect_interpreter(Path(sys.executable))
    assert found
    assert (found.python, found.release) == (this_python, sys.version.split()[0])


@pytest.mark.parametrize("text", ["#!/bin/sh\nexit 1\n", "#!/bin/sh\necho nonsense\n", "not a program"])
def test_what_is_no_python_is_passed_over(tmp_path: Path, text: str) -> None:
    program = tmp_path / "python3"
    program.write_text(text)
    program.chmod(0o755)
    assert inspect_interpreter(program) is None


def test_this_python_is_found_once() -> None:
    found = [interpreter.python for interpreter in find_interpreters(["3.10", "3.11", "3.12", "3.13", "3.14"])]
    assert this_python in found
    assert len(found) == len(set(found))


def test_wheels_are_selected_by_python_and_platform() -> None:
    wheels = select_wheels(LANE, ["3.12", "3.13t"], ["aarch64"])
    assert [(wheel.python, wheel.machine) for wheel in wheels] == [("3.12", "aarch64"), ("3.13t", "aarch64")]
    assert len(select_wheels(LANE, every=True)) == len(LANE.wheels) == 14


def test_one_wheel_for_several_pythons_is_built_once() -> None:
    names = ("cp311-cp311", "cp312-abi3", "cp315-cp315t")
    wheels = tuple(BaseWheel(f"triton-3.9.0-{name}-manylinux_2_27_x86_64.whl", 1, "0" * 64) for name in names)
    lane = replace(LANE, wheels=wheels, pythons=("3.11", "3.12", "3.13", "3.14", "3.15t"))
    assert select_wheels(lane, ["3.13", "3.14"], ["x86_64"]) == (wheels[1],)
    assert select_wheels(lane, platforms=["x86_64"], every=True) == wheels
    with pytest.raises(NoBaseWheelError, match=r"3\.13t on x86_64"):
        select_wheels(lane, ["3.13t"], ["x86_64"])


def test_the_installed_pythons_are_those_that_are_found() -> None:
    found = {interpreter.python for interpreter in find_interpreters(LANE.pythons)}
    assert {wheel.python for wheel in select_wheels(LANE, ["installed"], ["x86_64"])} == found


def test_what_is_missing_is_listed_with_what_there_is() -> None:
    with pytest.raises(NoBaseWheelError, match=r"no wheel for Python 3\.8 on s390x") as caught:
        select_wheels(LANE, ["3.8"], ["s390x"])
    assert "3.10, 3.11, 3.12, 3.13, 3.13t, 3.14, 3.14t on aarch64, x86_64" in (caught.value.hint or "")
