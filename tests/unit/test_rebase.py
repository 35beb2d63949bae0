from __future__ import annotations

import pytest

from fork.edit import open_tree, refresh
from fork.git import Git
from fork.rebase import RebaseError, continue_rebase, export_rebase, start_rebase
from tests.support.small_project import JIT, SmallProject, commit, make_base_wheel


def start(small: SmallProject, tmp_path, text: str, discard: bool = False):
    new = make_base_wheel(
        tmp_path, "triton-3.7.0-cp311-cp311-linux_x86_64.whl", {"triton/runtime/jit.py": text.encode()}
    )
    outcomes = start_rebase(small.project, small.lane, small.base, new, discard=discard, step=lambda _: None)
    return [(outcome.status, outcome.detail) for outcome in outcomes]


def statuses(outcomes) -> list[str]:
    return [status for status, _ in outcomes]


def test_unchanged_sources_are_clean(small, tmp_path) -> None:
    assert statuses(start(small, tmp_path, JIT)) == ["clean", "clean"]


def test_moved_lines_are_an_offset(small, tmp_path) -> None:
    outcomes = start(small, tmp_path, "# one\n# two\n" + JIT)
    assert outcomes == [("offset", "by 2 lines"), ("offset", "by 2 lines")]


def test_what_upstream_has_is_said(small, tmp_path) -> None:
    assert statuses(start(small, tmp_path, JIT.replace("getsource", "getfile"))) == ["already upstream", "clean"]


def test_a_hunk_that_upstream_has_takes_a_three_way_merge(small, tmp_path) -> None:
    jit = "python/triton/runtime/jit.py"
    git = Git(open_tree(small.project, small.lane, small.base, discard=True))
    edits = {jit: ("import inspect\n", "import os\nimport inspect\n")}
    (git.folder / jit).write_text((git.folder / jit).read_text().replace("return 1", "return 2"))
    commit(git, "fix/third.patch", "Two places", edits)
    refresh(small.project, small.lane, small.base, tmp_path / "scratch")
    assert statuses(start(small, tmp_path, JIT.replace("return 1", "return 2"))) == ["clean", "clean", "3-way"]


def test_a_conflict_names_the_file_and_the_hunk_and_can_be_settled(small, tmp_path) -> None:
    outcomes = start(small, tmp_path, JIT.replace("inspect.getsource(fn)", "inspect.getsourcelines(fn)[0]"))
    assert statuses(outcomes) == ["conflict", "waiting"]
    assert "python/triton/runtime/jit.py, hunk at line" in outcomes[0][1]
    git = Git(small.project.rebase_tree(small.lane))
    with pytest.raises(RebaseError, match="unmerged files"):
        continue_rebase(small.project, small.lane, step=lambda _: None)
    file = git.folder / "python" / "triton" / "runtime" / "jit.py"
    file.write_text(JIT.replace("inspect.getsource(fn)", "inspect.getfile(fn)[0]"))
    git("add", "--all")
    done = continue_rebase(small.project, small.lane, step=lambda _: None)
    assert [outcome.status for outcome in done] == ["settled", "clean"]
    names = export_rebase(small.project, small.lane, tmp_path / "exported")
    assert names == ["fix/first.patch", "speed/second.patch"]
    assert b"+    return inspect.getfile(fn)[0]" in (tmp_path / "exported" / "fix" / "first.patch").read_bytes()


def test_a_patch_can_be_dropped(small, tmp_path) -> None:
    start(small, tmp_path, JIT.replace("inspect.getsource(fn)", "inspect.getsourcelines(fn)[0]"))
    git = Git(small.project.rebase_tree(small.lane))
    git("checkout", "--force", "HEAD", "--", ".")
    done = continue_rebase(small.project, small.lane, step=lambda _: None)
    assert [outcome.status for outcome in done] == ["dropped", "clean"]


def test_midway_the_rest_is_exported_as_it_was(small, tmp_path) -> None:
    start(small, tmp_path, JIT.replace("inspect.signature(fn)", "inspect.signature(fn, eval_str=True)"))
    names = export_rebase(small.project, small.lane, tmp_path / "exported")
    assert names == ["fix/first.patch", "speed/second.patch"]
    original = (small.queue / "speed" / "second.patch").read_bytes()
    assert (tmp_path / "exported" / "speed" / "second.patch").read_bytes() == original
    assert (tmp_path / "exported" / "series").read_text() == "fix/first.patch\nspeed/second.patch\n"


def test_a_rebase_under_way_is_not_lost(small, tmp_path) -> None:
    start(small, tmp_path, JIT)
    with pytest.raises(RebaseError, match="under way"):
        start(small, tmp_path, JIT)
    assert statuses(start(small, tmp_path, JIT, discard=True)) == ["clean", "clean"]


def test_there_must_be_a_rebase_to_go_on_with(small) -> None:
    with pytest.raises(RebaseError, match="no rebase of lane 3.6"):
        continue_rebase(small.project, small.lane, step=lambda _: None)
