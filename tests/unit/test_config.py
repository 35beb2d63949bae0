from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from fork.assembly.version import Ingredients
from fork.config import BaseWheel, load
from fork.errors import ConfigError
from fork.repository import Source
from tests.support.environments import repository


def test_the_pin_lists_every_published_wheel() -> None:
    lane = load(repository / "fork.toml").lane("3.6")
    pythons = ["3.10", "3.11", "3.12", "3.13", "3.13t", "3.14", "3.14t"]
    assert {(w.python, w.machine) for w in lane.wheels} == {(p, m) for p in pythons for m in ("x86_64", "aarch64")}
    assert lane.commit == "9844da955a9db14ec69c9aac828ee9803085e288"


def test_an_unknown_lane_is_named_with_those_that_exist(small) -> None:
    with pytest.raises(ConfigError, match=r"no lane '9\.9'") as caught:
        small.project.pin().lane("9.9")
    assert caught.value.hint == "the lanes are: 3.6"


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"fork\.toml is missing"):
        load(tmp_path / "fork.toml")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('version = "3.6.0"', 'version = ', "not valid TOML"),
        ("revision = 1", "revision = 0", "revision: must be 1 or more"),
        ("revision = 1", "revision = true", "revision: is not of type int"),
        ("revision = 1", "", "revision: is missing"),
        ('label = "fork"', 'label = "my fork"', "label: 'my fork' does not match"),
        ('commit = "0', 'commit = "x', "commit: "),
        ('default-lane = "3.6"', 'default-lane = "4"', "default-lane: '4' is not one of 3.6"),
        ("cp311-cp311-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl", "what.zip", "is not a wheel file name"),
        ('"triton/" = "python/triton/"', '"triton" = "python/triton/"', "must both end with '/'"),
        ('version = "3.6.0"', 'version = "3.7.0"', "is not of version 3.7.0"),
        ('state = "active"', 'state = "asleep"', "state: 'asleep' does not match active|fixes|retired"),
        ('supports = ["torch 2.10"]', 'supports = ["torch"]', "supports: 'torch' does not match"),
        ('pythons = ["3.11"]', 'pythons = ["3.11", "py3"]', "pythons: 'py3' does not match"),
        ('pythons = ["3.11"]', 'pythons = ["3.11", "3.12"]', "pythons: there is no wheel of 3.6.0 for 3.12 on x86_64"),
        ('pythons = ["3.11"]', 'pythons = []', "is for none of the Pythons"),
    ],
)  # fmt: skip
def test_each_fault_is_said(small, old: str, new: str, said: str) -> None:
    file = small.project.root / "fork.toml"
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new, 1))
    with pytest.raises(ConfigError) as caught:
        small.project.pin()
    assert said in caught.value.message


def test_what_says_nothing_of_the_bytes_leaves_the_version_alone(small) -> None:
    lane = small.lane
    others = replace(lane, state="fixes", supports=("torch 2.11",), pythons=(*lane.pythons, "3.12"))
    assert _digest(small, others) == _digest(small, lane) != _digest(small, replace(lane, label="other"))


def _digest(small, lane) -> str:
    folders = small.project.overlays(lane), small.project.native
    return Ingredients.gather(lane, {}, [], *folders, [], Source("0" * 40, False)).digest()


def _wheel(tags: str) -> BaseWheel:
    return BaseWheel(f"triton-3.9.0-{tags}-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl", 1, "0" * 64)


def test_a_wheel_of_the_stable_abi_serves_later_pythons_with_the_gil() -> None:
    stable, exact, free = _wheel("cp312-abi3"), _wheel("cp311-cp311"), _wheel("cp315-cp315t")
    pythons = ["3.10", "3.11", "3.12", "3.13", "3.13t", "3.20", "3.15t"]
    assert [python for python in pythons if stable.serves(python)] == ["3.12", "3.13", "3.20"]
    assert [python for python in pythons if exact.serves(python)] == ["3.11"]
    assert [python for python in pythons if free.serves(python)] == ["3.15t"]


def test_a_wheel_for_the_very_python_goes_first(small) -> None:
    lane = replace(small.lane, wheels=(_wheel("cp312-abi3"), _wheel("cp313-cp313"), _wheel("cp315-cp315t")))
    assert lane.wheel("3.13", "x86_64") == lane.wheels[1]
    assert lane.wheel("3.14", "x86_64") == lane.wheels[0]
    assert lane.wheel("3.15t", "x86_64") == lane.wheels[2]
    assert lane.wheel("3.11", "x86_64") is None


def test_a_file_without_lanes_is_refused(tmp_path: Path) -> None:
    (tmp_path / "fork.toml").write_text('default-lane = "3.6"\n')
    with pytest.raises(ConfigError, match="has no \\[lane"):
        load(tmp_path / "fork.toml")


def test_all_faults_are_said_at_once(small) -> None:
    file = small.project.root / "fork.toml"
    file.write_text(file.read_text().replace("revision = 1", "revision = 0").replace('label = "fork"', 'label = "-"'))
    with pytest.raises(ConfigError) as caught:
        small.project.pin()
    assert "revision" in caught.value.message
    assert "label" in caught.value.message
