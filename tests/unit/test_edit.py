from __future__ import annotations

import pytest

from fork.edit import EditError, open_tree, refresh
from fork.git import Git
from fork.series import QueueError
from tests.support.small_project import SmallProject, commit


def queue_bytes(small: SmallProject) -> dict[str, bytes]:
    return {
        path.relative_to(small.queue).as_posix(): path.read_bytes() for path in small.queue.rglob("*") if path.is_file()
    }


def edit(small: SmallProject, discard: bool = False) -> Git:
    return Git(open_tree(small.project, small.lane, small.base, discard=discard))


def test_the_round_trip_is_byte_stable(small, tmp_path) -> None:
    before = queue_bytes(small)
    edit(small)
    done = refresh(small.project, small.lane, small.base, tmp_path)
    assert (done.written, done.removed, done.kept) == ((), (), 2)
    assert queue_bytes(small) == before


def test_each_patch_is_a_commit(small) -> None:
    git = edit(small)
    assert git("log", "--format=%s", "base..HEAD").splitlines() == ["Return the name", "Return the file"]


def test_a_new_commit_becomes_a_patch_and_a_dropped_one_goes(small, tmp_path) -> None:
    git = edit(small)
    git("reset", "--hard", "--quiet", "HEAD~1")
    commit(git, "backport/third.patch", "Add a module", {"python/triton/new.py": ("", "VALUE = 1\n")})
    done = refresh(small.project, small.lane, small.base, tmp_path)
    assert done.written == ("backport/third.patch",)
    assert done.removed == ("speed/second.patch",)
    assert (small.queue / "series").read_text() == "fix/first.patch\nbackport/third.patch\n"


def test_without_an_open_tree_the_files_are_locked(small, tmp_path) -> None:
    (small.queue / "series.lock").unlink()
    refresh(small.project, small.lane, small.base, tmp_path)
    assert (small.queue / "series.lock").is_file()


def test_uncommitted_changes_are_not_left_out_silently(small, tmp_path) -> None:
    git = edit(small)
    (git.folder / "python" / "triton" / "__init__.py").write_text("changed")
    with pytest.raises(EditError, match="uncommitted"):
        refresh(small.project, small.lane, small.base, tmp_path)


def test_work_in_an_open_tree_is_not_lost(small) -> None:
    git = edit(small)
    commit(git, "fix/third.patch", "More", {"python/triton/new.py": ("", "VALUE = 1\n")})
    with pytest.raises(EditError, match="a tree with work in it"):
        edit(small)
    assert edit(small, discard=True)("log", "--format=%s", "-1") == "Return the name"


def test_an_open_tree_without_work_is_opened_anew(small) -> None:
    edit(small)
    edit(small)


def test_a_commit_without_a_name_is_refused(small, tmp_path) -> None:
    git = edit(small)
    (git.folder / "python" / "triton" / "new.py").write_text("")
    git("add", "--all")
    git("commit", "--quiet", "--message=No trailers")
    with pytest.raises(QueueError, match="'No trailers' has no 'Patch-Name:"):
        refresh(small.project, small.lane, small.base, tmp_path)


def test_two_commits_of_one_name_are_refused(small, tmp_path) -> None:
    git = edit(small)
    commit(git, "fix/first.patch", "Again", {"python/triton/new.py": ("", "VALUE = 1\n")})
    with pytest.raises(QueueError, match="2 commits name 'fix/first.patch'"):
        refresh(small.project, small.lane, small.base, tmp_path)


def test_the_users_git_configuration_does_not_reach_the_export(small, tmp_path, monkeypatch) -> None:
    hostile = tmp_path / "gitconfig"
    hostile.write_text(
        "[diff]\n\tnoprefix = true\n\talgorithm = patience\n\tcontext = 9\n[format]\n\tsignature = me\n\tsignoff = true\n"
        "[core]\n\tautocrlf = true\n\thooksPath = /nowhere\n[commit]\n\tgpgSign = true\n"
    )
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(hostile))
    monkeypatch.setenv("GIT_DIR", "/nowhere")
    before = queue_bytes(small)
    edit(small)
    refresh(small.project, small.lane, small.base, tmp_path / "scratch")
    assert queue_bytes(small) == before
