"""The overlay of a lane: the union of what all lanes share and of what it has alone."""

from __future__ import annotations

import json
import re
import shutil
import zipfile
from pathlib import Path

import pytest

from fork.assembly.provenance import PROVENANCE
from fork.builder import build_wheels, prepare
from fork.cli import main
from fork.errors import ConfigError
from fork.git import Git
from fork.publishing import output_folder
from fork.queue.check import check_lane
from fork.queue.edit import open_tree, refresh
from fork.queue.overlay import OverlayError
from fork.queue.series import QueueError
from fork.verify import wheel_faults
from tests.support.small_project import SmallProject, commit


def write(small: SmallProject, place: str, text: str = "") -> Path:
    """Write a file below ``overlay/``."""
    file = small.project.root / "overlay" / place
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


def faults(small: SmallProject, scratch: Path) -> list[str]:
    scratch.mkdir()
    return check_lane(small.project, small.lane, small.base, scratch)


def build(small: SmallProject) -> Path:
    wheelhouse = small.project.wheelhouse
    with small.project.scratch("build") as scratch, output_folder(wheelhouse):
        prepared = prepare(small.project, small.lane, small.base, scratch, lambda _: None)
        bases = [(small.lane.wheels[0], small.base)]
        return build_wheels(prepared, bases, wheelhouse, scratch, lambda _: None)[0].path


def test_the_wheel_has_the_modules_of_both_folders(small, tmp_path) -> None:
    write(small, "common/python/triton/fork/shared.py", "from triton.fork.own import NAME\n")
    write(small, "3.6/python/triton/fork/own.py", "NAME = 'own'\n")
    assert faults(small, tmp_path / "scratch") == []
    wheel = build(small)
    assert wheel_faults(wheel, small.base) == []
    with zipfile.ZipFile(wheel) as archive:
        document = json.loads(archive.read(PROVENANCE))
    for name in ("shared", "own"):
        assert document["files"][f"triton/fork/{name}.py"]["by"] == "overlay"
    assert "common/python/triton/fork/shared.py" in document["overlay"]


def test_a_lane_may_have_all_its_modules_in_common(small) -> None:
    shutil.move(small.project.overlay(small.lane), small.project.root / "overlay" / "common")
    assert wheel_faults(build(small), small.base) == []


def test_a_lane_without_a_folder_of_its_own_is_locked(small, monkeypatch, tmp_path) -> None:
    shutil.move(small.project.overlay(small.lane), small.project.root / "overlay" / "common")
    write(small, "common/python/triton/fork/again.py", '"""Mirrors python/triton/runtime/jit.py: first."""\n')
    monkeypatch.setenv("TRITON_FORK_ROOT", str(small.project.root))
    monkeypatch.setenv("TRITON_FORK_CACHE", str(tmp_path / "cache"))
    assert main(["mirrors", "--accept", "--find-links", str(small.base.parent)]) == 0
    assert (small.project.overlay(small.lane) / "mirrors.toml").is_file()
    assert faults(small, tmp_path / "scratch") == []


@pytest.mark.parametrize(
    ("place", "said"),
    [
        ("common/python/triton/fork/__init__.py", "is in both common and 3.6"),
        ("common/python/triton/fork.py", "is imported under the name of 'triton/fork/__init__.py' in the overlay"),
        ("common/python/triton/runtime/jit.py", "hides an upstream file"),
        ("common/setup.py", "has no place in the wheel"),
    ],
)
def test_no_file_hides_another(small, tmp_path, place: str, said: str) -> None:
    write(small, place)
    assert any(said in fault for fault in faults(small, tmp_path / "scratch"))
    with pytest.raises(OverlayError, match=re.escape(said)) as caught:
        build(small)
    assert caught.value.exit_code == 14


def test_a_patch_does_not_make_a_file_of_the_shared_overlay(small, tmp_path) -> None:
    write(small, "common/python/triton/shared/__init__.py")
    tree = open_tree(small.project, small.lane, small.base, discard=False)
    place = "python/triton/shared/more.py"
    commit(Git(tree), "fix/third.patch", "Add a module", {place: ("", "x = 1\n")})
    (tmp_path / "scratch").mkdir()
    with pytest.raises(QueueError, match=rf"'{place}', .* put it into overlay/common/ or overlay/3\.6/"):
        refresh(small.project, small.lane, small.base, tmp_path / "scratch")


def test_what_shared_code_re_does_must_be_locked(small, tmp_path) -> None:
    write(small, "common/python/triton/fork/again.py", '"""Mirrors python/triton/runtime/jit.py: first."""\n')
    found = faults(small, tmp_path / "scratch")
    assert any("overlay/common/python/triton/fork/again.py re-does upstream's first" in fault for fault in found)


def test_no_lane_is_named_as_the_shared_folder(small) -> None:
    file = small.project.root / "fork.toml"
    file.write_text(file.read_text().replace('"3.6"', '"common"'))
    with pytest.raises(ConfigError, match="lane 'common'"):
        small.project.pin()
