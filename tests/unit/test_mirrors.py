"""The mirror lock: an upstream function that our code re-does cannot change unseen."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fork.cli import main
from fork.git import Git
from fork.queue.check import check_lane
from fork.queue.edit import open_tree, refresh
from fork.queue.mirrors import MIRRORS, Mirror, MirrorError, read_mirrors, write_mirrors
from tests.support.small_project import JIT, SmallProject, commit, make_base_wheel

JIT_FILE = "python/triton/runtime/jit.py"
DRIVER_FILE = "third_party/nvidia/backend/driver.c"
OVERLAY = "overlay/3.6/python/triton/fork/launches.py"


@pytest.fixture
def run(small: SmallProject, monkeypatch, tmp_path):
    """Run a verb on the small project, without any index."""
    monkeypatch.setenv("TRITON_FORK_ROOT", str(small.project.root))
    monkeypatch.setenv("TRITON_FORK_CACHE", str(tmp_path / "cache"))
    return lambda *arguments: main([*arguments, "--find-links", str(small.base.parent)])


@pytest.fixture
def mirrored(small: SmallProject, run) -> SmallProject:
    """A project that re-does two upstream functions, locked."""
    (small.project.root / OVERLAY).write_text(f'"""Mirrors {JIT_FILE}: between, second."""\nanswer = str\n')
    launch = small.project.native / "src" / "launch.c"
    launch.parent.mkdir(parents=True)
    launch.write_text(f"/* Mirrors {DRIVER_FILE}: driver */\n")
    assert run("mirrors", "--accept") == 0
    return small


def faults(small: SmallProject, scratch: Path, base: Path | None = None) -> list[str]:
    scratch.mkdir()
    return check_lane(small.project, small.lane, base or small.base, scratch)


def lock(small: SmallProject) -> Path:
    return small.project.overlay(small.lane) / MIRRORS


def test_a_lock_in_order_has_no_faults(mirrored, tmp_path) -> None:
    assert [(mirror.file, mirror.name) for mirror in read_mirrors(lock(mirrored))] == [
        (JIT_FILE, "between"),
        (JIT_FILE, "second"),
        (DRIVER_FILE, "driver"),
    ]
    assert faults(mirrored, tmp_path / "scratch") == []


def test_a_changed_function_is_found_though_every_patch_applies(mirrored, run, capsys, tmp_path) -> None:
    changed = JIT.replace("return 1", "return 2")
    new = make_base_wheel(
        tmp_path, "triton-3.7.0-cp311-cp311-linux_x86_64.whl", {"triton/runtime/jit.py": changed.encode()}
    )
    capsys.readouterr()
    assert run("rebase", "--onto", str(new)) == 0
    told = capsys.readouterr().out
    assert told.count("clean") == 2
    assert f"between ({JIT_FILE}) has changed; re-done by {OVERLAY}" in told
    assert "driver" not in told
    assert run("rebase", "--onto", str(new), "--discard", "--json") == 0
    document = json.loads(capsys.readouterr().out)
    assert [(row["name"], row["by"]) for row in document["mirrors"]] == [("between", [OVERLAY])]
    assert run("mirrors", "--onto", str(new)) == MirrorError.exit_code


def test_check_finds_a_change_in_the_pinned_version(mirrored, tmp_path) -> None:
    changes = {"triton/backends/nvidia/driver.c": b"int driver(void) { return 1; }\n"}
    (tmp_path / "other").mkdir()
    base = make_base_wheel(tmp_path / "other", changes=changes)
    found = [fault for fault in faults(mirrored, tmp_path / "scratch", base) if "re-done" in fault]
    assert found == [
        f"upstream's driver ({DRIVER_FILE}) has changed; re-done by native/src/launch.c; compare them, then `mirrors --accept`"
    ]


def test_a_function_that_is_gone_is_said(mirrored, run, capsys, tmp_path) -> None:
    new = make_base_wheel(
        tmp_path,
        "triton-3.7.0-cp311-cp311-linux_x86_64.whl",
        {"triton/runtime/jit.py": JIT.replace("between", "amid").encode()},
    )
    assert run("mirrors", "--onto", str(new)) == MirrorError.exit_code
    assert f"between ({JIT_FILE}) is gone" in capsys.readouterr().out


def test_an_entry_that_was_removed_is_missed(mirrored, tmp_path) -> None:
    write_mirrors(lock(mirrored), [mirror for mirror in read_mirrors(lock(mirrored)) if mirror.name != "second"])
    assert faults(mirrored, tmp_path / "scratch") == [
        f"{OVERLAY} re-does upstream's second ({JIT_FILE}), which {MIRRORS} does not name"
    ]


def test_an_entry_that_nothing_re_does_is_said(mirrored, tmp_path) -> None:
    (mirrored.project.root / OVERLAY).write_text(f'"""Mirrors {JIT_FILE}: between."""\n')
    assert faults(mirrored, tmp_path / "scratch") == [
        f"{MIRRORS} names second ({JIT_FILE}), which nothing of ours re-does"
    ]


def test_a_function_that_moved_to_another_file_of_ours_is_said(mirrored, tmp_path) -> None:
    (mirrored.project.root / OVERLAY).rename((mirrored.project.root / OVERLAY).with_name("moved.py"))
    found = faults(mirrored, tmp_path / "scratch")
    assert len(found) == 2
    assert all("it is overlay/3.6/python/triton/fork/moved.py" in fault for fault in found)


def test_a_decorator_of_ours_counts(mirrored, tmp_path) -> None:
    git = Git(open_tree(mirrored.project, mirrored.lane, mirrored.base, discard=True))
    edits = {JIT_FILE: ("def between", "from ..fork import launches\n\n\n@launches.answer\ndef between")}
    commit(git, "speed/third.patch", "Answer quickly", edits)
    refresh(mirrored.project, mirrored.lane, mirrored.base, tmp_path / "refresh")
    found = faults(mirrored, tmp_path / "scratch")
    assert found == [f"{MIRRORS} says that {OVERLAY} re-does between ({JIT_FILE}); it is {OVERLAY}, patches"]


def test_a_name_that_upstream_lacks_is_refused(mirrored, run, capsys) -> None:
    (mirrored.project.root / OVERLAY).write_text(f'"""Mirrors {JIT_FILE}: betwixt."""\n')
    assert run("mirrors", "--accept") == MirrorError.exit_code
    assert f"upstream has no betwixt ({JIT_FILE}), named in {OVERLAY}" in capsys.readouterr().err
    assert len(read_mirrors(lock(mirrored))) == 3


@pytest.mark.parametrize(
    "content", ["not toml", '["a.py"]\n"f" = { by = [] }\n', '["a.py"]\n"f" = { by = [], digest = "?" }\n']
)
def test_a_damaged_lock_is_said(mirrored, tmp_path, content: str) -> None:
    lock(mirrored).write_text(content)
    assert any(MIRRORS in fault for fault in faults(mirrored, tmp_path / "scratch"))


def test_the_lock_is_read_as_it_was_written(tmp_path) -> None:
    mirrors = [Mirror("a/b.py", "A.run", ("x.py", "y.c"), "0" * 16), Mirror("a/c.c", "launch", ("y.c",), "1" * 16)]
    write_mirrors(tmp_path / MIRRORS, reversed(mirrors))
    assert read_mirrors(tmp_path / MIRRORS) == mirrors
    assert read_mirrors(tmp_path / "missing.toml") == []


def test_the_lock_is_no_part_of_the_wheel(mirrored, run, capsys) -> None:
    capsys.readouterr()
    build = ("build", "--python", "3.11", "--platform", "x86_64", "--json")
    lock(mirrored).unlink()
    assert run(*build) == 0
    without = json.loads(capsys.readouterr().out)["wheels"][0]["file"]
    assert run("mirrors", "--accept") == 0
    capsys.readouterr()
    assert run(*build) == 0
    assert json.loads(capsys.readouterr().out)["wheels"][0]["file"] == without
