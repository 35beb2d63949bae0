from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys

import pytest

from fork.errors import AccessError, BusyError
from fork.git import Git
from fork.queue import edit as edit_module
from fork.queue.edit import EditError, open_tree, refresh, working_on
from fork.queue.series import QueueError, read_series
from fork.queue.tree import PatchConflictError
from tests.support.environments import repository
from tests.support.small_project import JIT, SmallProject, commit

JIT_FILE = "python/triton/runtime/jit.py"
KILLED_EDIT = """
import os, signal, sys
from fork.queue import edit
from fork.project import Project

apply_patches = edit.apply_patches

def killed(git, patches, *rest):
    apply_patches(git, patches[:1], *rest)
    os.kill(os.getpid(), signal.SIGKILL)

edit.apply_patches = killed
project = Project.here()
edit.open_tree(project, project.pin().lane(), sys.argv[1], discard=False)
"""


@pytest.fixture(autouse=True)
def no_identity(monkeypatch) -> None:
    """Make the person at this machine one without a git configuration."""
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")


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
    done = refresh(small.project, small.lane, small.base, tmp_path, drop=["speed/second.patch"])
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


@pytest.mark.parametrize("name", ["__init__.py", "new.py", "codegen/new.py"])
def test_a_patch_does_not_make_an_overlay_file(small, tmp_path, name: str) -> None:
    before = queue_bytes(small)
    git = edit(small)
    place = f"python/triton/fork/{name}"
    commit(git, "fix/third.patch", "A module of ours", {place: ("", "VALUE = 1\n")})
    with pytest.raises(
        QueueError,
        match=rf"'fix/third\.patch' makes or changes '{place}', .* put it into overlay/common/ or overlay/3\.6/",
    ):
        refresh(small.project, small.lane, small.base, tmp_path)
    assert queue_bytes(small) == before


def test_a_tree_of_another_user_is_said(small, tmp_path, monkeypatch) -> None:
    edit(small)
    environment = Git.environment

    def foreign(git: Git) -> dict[str, str]:
        return environment(git) | ({"GIT_TEST_ASSUME_DIFFERENT_OWNER": "1"} if git.folder.name == "3.6" else {})

    monkeypatch.setattr(Git, "environment", foreign)
    with pytest.raises(AccessError, match="belongs to another user"):
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


def own_git(git: Git, *arguments: str, config: str = os.devnull, stdin: str = "") -> subprocess.CompletedProcess[str]:
    """Run git as a person would, with a configuration of the person's own."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    environment |= {"GIT_CONFIG_GLOBAL": config, "GIT_CONFIG_NOSYSTEM": "1", "GIT_EDITOR": "true", "EMAIL": ""}
    return subprocess.run(
        ["git", *arguments], cwd=git.folder, env=environment, input=stdin, capture_output=True, text=True, check=False
    )


def write_back(small: SmallProject, tmp_path, *drop: str):
    scratch = tmp_path / "scratch"
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir()
    return refresh(small.project, small.lane, small.base, scratch, drop=drop)


def add_patch_of_a_colleague(small: SmallProject, tmp_path) -> None:
    """Bring a third patch into the queue as a ``git pull`` would."""
    first = (small.queue / "fix" / "first.patch").read_bytes()
    later = first.replace(b"fix/first", b"fix/later").replace(b"runtime/jit.py", b"runtime/other.py")
    (small.queue / "fix" / "later.patch").write_bytes(later)
    with (small.queue / "series").open("a") as series:
        series.write("fix/later.patch\n")


def break_first_patch(small: SmallProject) -> None:
    """Make the context of the first patch one that the base does not have, as after an edit by hand."""
    file = small.queue / "fix" / "first.patch"
    file.write_bytes(file.read_bytes().replace(b" def first(fn):", b" def another(fn):"))


def test_a_killed_edit_costs_no_patch(small, tmp_path) -> None:
    before = queue_bytes(small)
    environment = os.environ | {"PYTHONPATH": str(repository / "ci"), "TRITON_FORK_ROOT": str(small.project.root)}
    command = [sys.executable, "-c", KILLED_EDIT, str(small.base)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr
    write_back(small, tmp_path)
    assert queue_bytes(small) == before
    edit(small)
    write_back(small, tmp_path)
    assert queue_bytes(small) == before


def test_an_interrupted_edit_leaves_nothing(small, monkeypatch) -> None:
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(edit_module, "apply_patches", interrupted)
    with pytest.raises(KeyboardInterrupt):
        edit(small)
    assert list(small.project.edit_tree(small.lane).parent.iterdir()) == []


def test_a_failed_edit_keeps_the_tree_that_was_open(small, monkeypatch) -> None:
    folder = edit(small).folder
    monkeypatch.setattr(edit_module, "apply_patches", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        edit(small, discard=True)
    assert Git(folder)("log", "--format=%s", "-1") == "Return the name"


@pytest.mark.parametrize(
    "arguments",
    [
        ("rebase", "--exec", "false", "base"),
        ("checkout", "--quiet", "--detach", "HEAD~1"),
        ("checkout", "-qb", "mine", "base"),
    ],
    ids=["rebase", "detached", "branch"],
)
def test_a_tree_in_the_midst_of_something_is_not_written_back(small, tmp_path, arguments) -> None:
    before = queue_bytes(small)
    git = edit(small)
    git.run(*arguments)
    with pytest.raises(EditError, match="not finished"):
        write_back(small, tmp_path, "speed/second.patch")
    with pytest.raises(EditError, match="a tree with work in it"):
        edit(small)
    assert queue_bytes(small) == before


def test_a_patch_that_a_colleague_brought_is_not_deleted(small, tmp_path) -> None:
    edit(small)
    add_patch_of_a_colleague(small, tmp_path)
    before = queue_bytes(small)
    with pytest.raises(EditError, match=r"the queue changed since .*: fix/later\.patch") as caught:
        write_back(small, tmp_path)
    assert "format-patch" in (caught.value.hint or "")
    assert queue_bytes(small) == before


@pytest.mark.parametrize("change", ["edited", "deleted", "reordered"])
def test_a_queue_that_changed_is_not_written_over(small, tmp_path, change) -> None:
    edit(small)
    first = small.queue / "fix" / "first.patch"
    if change == "edited":
        first.write_bytes(first.read_bytes().replace(b"Because", b"Just because"))
    elif change == "deleted":
        first.unlink()
    else:
        (small.queue / "series").write_text("speed/second.patch\nfix/first.patch\n")
    before = queue_bytes(small)
    with pytest.raises(EditError, match="the queue changed"):
        write_back(small, tmp_path)
    assert queue_bytes(small) == before


def test_another_base_than_the_opened_one_is_refused(small, tmp_path) -> None:
    edit(small)
    small_toml = small.project.root / "fork.toml"
    small_toml.write_text(small_toml.read_text().replace("third_party/nvidia/backend/", "third_party/nvidia/moved/"))
    with pytest.raises(EditError, match="pinned base"):
        write_back(small, tmp_path)


def test_a_tree_of_unknown_origin_is_not_written_back(small, tmp_path) -> None:
    git = edit(small)
    (git.folder / ".git" / "fork-edit.json").unlink()
    with pytest.raises(EditError, match="nothing says which queue"):
        write_back(small, tmp_path)
    with pytest.raises(EditError, match="a tree with work in it"):
        edit(small)


def test_a_dropped_commit_must_be_named(small, tmp_path) -> None:
    git = edit(small)
    git("reset", "--hard", "--quiet", "HEAD~1")
    before = queue_bytes(small)
    with pytest.raises(EditError, match=r"no commit is left of speed/second\.patch"):
        write_back(small, tmp_path)
    with pytest.raises(EditError, match=r"no dropped commit has the name fix/first\.patch"):
        write_back(small, tmp_path, "speed/second.patch", "fix/first.patch")
    assert queue_bytes(small) == before
    assert write_back(small, tmp_path, "speed/second.patch").removed == ("speed/second.patch",)


def test_a_tree_that_was_written_back_has_no_work(small, tmp_path) -> None:
    git = edit(small)
    commit(git, "fix/third.patch", "More", {"python/triton/new.py": ("", "VALUE = 1\n")})
    write_back(small, tmp_path)
    (small.queue / "series.lock").unlink()  # what is locked says nothing on what the tree holds
    assert edit(small)("log", "--format=%s", "-1") == "More"


def test_a_new_message_is_work(small) -> None:
    git = edit(small)
    message = git("show", "--no-patch", "--format=%B", "HEAD")
    git("commit", "--quiet", "--amend", f"--message={message.replace('Because', 'Just because')}")
    with pytest.raises(EditError, match="a tree with work in it"):
        edit(small)


def test_a_refresh_that_was_cut_short_can_be_repeated(small, tmp_path, monkeypatch) -> None:
    git = edit(small)
    git("reset", "--hard", "--quiet", "HEAD~1")
    commit(git, "fix/third.patch", "More", {"python/triton/new.py": ("", "VALUE = 1\n")})
    with monkeypatch.context() as patched:
        patched.setattr(edit_module, "write_lock", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            write_back(small, tmp_path, "speed/second.patch")
    write_back(small, tmp_path, "speed/second.patch")
    assert [patch.name for patch in read_series(small.queue).sound()] == ["fix/first.patch", "fix/third.patch"]


def test_one_process_at_a_time_works_on_a_queue(small, tmp_path) -> None:
    with working_on(small.project, small.lane):
        with pytest.raises(BusyError):
            edit(small)
        with pytest.raises(BusyError):
            write_back(small, tmp_path)


def test_a_patch_that_does_not_apply_is_settled_in_the_tree(small, tmp_path) -> None:
    break_first_patch(small)
    with pytest.raises(PatchConflictError, match=r"'fix/first\.patch' does not apply") as caught:
        edit(small)
    assert "git am --keep --3way .git/fork-remaining/*.patch" in (caught.value.hint or "")
    git = Git(small.project.edit_tree(small.lane))
    with pytest.raises(EditError, match="`git am` waits"):
        write_back(small, tmp_path)
    with pytest.raises(EditError, match="a tree with work in it"):
        edit(small)
    (git.folder / JIT_FILE).write_text(JIT.replace("inspect.getsource(fn)", "inspect.getfile(fn)"))
    for step in ("add --all", "am --continue"):
        done = own_git(git, *step.split())
        assert done.returncode == 0, done.stderr
    with pytest.raises(EditError, match=r"no commit is left of speed/second\.patch"):
        write_back(small, tmp_path)
    done = own_git(git, "am", "--keep", "--3way", ".git/fork-remaining/0001-second.patch")
    assert done.returncode == 0, done.stderr
    assert write_back(small, tmp_path).written == ("fix/first.patch",)
    assert not (git.folder / ".git" / "fork-remaining").exists()
    assert edit(small)("log", "--format=%s", "base..HEAD").splitlines() == ["Return the name", "Return the file"]


def test_a_patch_whose_change_is_there_already_is_shown_and_can_be_dropped(small, tmp_path) -> None:
    first = (small.queue / "fix" / "first.patch").read_bytes()
    (small.queue / "fix" / "again.patch").write_bytes(first.replace(b"fix/first", b"fix/again"))
    (small.queue / "series").write_text("fix/first.patch\nspeed/second.patch\nfix/again.patch\n")
    with pytest.raises(PatchConflictError, match=r"'fix/again\.patch' does not apply") as caught:
        edit(small)
    assert "a 3-way merge settles it" in (caught.value.hint or "")
    git = Git(small.project.edit_tree(small.lane))
    done = own_git(git, "am", "--keep", "--3way", ".git/fork-remaining/0001-again.patch")
    assert done.returncode == 0, done.stderr
    assert git("log", "--format=%s", "base..HEAD").splitlines() == ["Return the name", "Return the file"]
    assert write_back(small, tmp_path, "fix/again.patch").removed == ("fix/again.patch",)


def test_a_refresh_of_files_that_do_not_apply_points_to_edit(small, tmp_path) -> None:
    break_first_patch(small)
    with pytest.raises(PatchConflictError) as caught:
        write_back(small, tmp_path)
    assert "ci/fork.sh edit" in (caught.value.hint or "")


def test_a_newcomer_without_an_identity_can_commit(small) -> None:
    git = edit(small)
    done = own_git(git, "-c", "user.useConfigOnly=true", "commit", "--allow-empty", "--message=Mine")
    assert done.returncode == 0, done.stderr
    stored = own_git(git, "config", "--local", "--list").stdout.splitlines()
    assert {"core.autocrlf=false", "commit.gpgsign=false", f"core.hookspath={os.devnull}"} <= set(stored)


def test_an_identity_of_the_persons_own_wins(small, tmp_path, monkeypatch) -> None:
    config = tmp_path / "gitconfig"
    config.write_text("[user]\n\tname = Ada\n\temail = ada@example.invalid\n[commit]\n\tgpgSign = true\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(config))
    git = edit(small)
    done = own_git(git, "commit", "--allow-empty", "--message=Mine", config=str(config))
    assert done.returncode == 0, done.stderr
    assert git("log", "-1", "--format=%an <%ae>") == "Ada <ada@example.invalid>"
