from __future__ import annotations

import argparse
import io
import os
import signal
import subprocess
import sys

import pytest
from rich.console import Console

from fork.cli import main
from fork.commands import rebase as command
from fork.commands.context import Context
from fork.errors import BusyError
from fork.git import Git
from fork.queue.check import check_lane
from fork.queue.edit import open_tree, refresh, working_on
from fork.queue.rebase import Outcome, RebaseError, continue_rebase, export_rebase, start_rebase
from fork.queue.series import read_lock, read_series
from tests.support.environments import repository
from tests.support.small_project import JIT, SmallProject, commit, make_base_wheel

CONFLICTING = JIT.replace("inspect.getsource(fn)", "inspect.getsourcelines(fn)[0]")
KILLED_REBASE = """
import os, signal, sys
from pathlib import Path
from fork.queue import rebase
from fork.project import Project

old, new = map(Path, sys.argv[1:])
lay_out = rebase.lay_out

def killed(lane, wheel, folder):
    if wheel == new:
        os.kill(os.getpid(), signal.SIGKILL)
    return lay_out(lane, wheel, folder)

rebase.lay_out = killed
project = Project.here()
rebase.start_rebase(project, project.pin().lane(), old, new, discard=False, step=print)
"""


def new_wheel(tmp_path, text: str):
    name = "triton-3.7.0-cp311-cp311-linux_x86_64.whl"
    return make_base_wheel(tmp_path, name, {"triton/runtime/jit.py": text.encode()})


def start(small: SmallProject, tmp_path, text: str, discard: bool = False):
    new = new_wheel(tmp_path, text)
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
    assert statuses(outcomes) == ["conflict", "clean"]
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


def add_patches(
    small: SmallProject, tmp_path, edits: dict[str, dict[str, tuple[str, str]]], upstream: str = "no"
) -> None:
    """Append patches to the queue; all of the queue says of upstream what is asked for."""
    git = Git(open_tree(small.project, small.lane, small.base, discard=True))
    for name, edit in edits.items():
        commit(git, name, name, edit)
    refresh(small.project, small.lane, small.base, tmp_path / "scratch")
    for patch in read_series(small.queue).patches:
        said = patch.data.replace(b"Applied-Upstream: no", f"Applied-Upstream: {upstream}".encode())
        (small.queue / patch.name).write_bytes(said)


def test_after_a_conflict_every_patch_has_an_outcome(small, tmp_path) -> None:
    jit = "python/triton/runtime/jit.py"
    add_patches(
        small,
        tmp_path,
        {
            "fix/third.patch": {jit: ("return 1", "return 2")},
            "fix/fourth.patch": {"python/triton/new.py": ("", "V = 1\n")},
        },
    )
    text = CONFLICTING.replace("return 1", "return 3").replace("def second", "# moved\ndef second")
    new = new_wheel(tmp_path, text)
    outcomes = start_rebase(small.project, small.lane, small.base, new, discard=False, step=lambda _: None)
    fared = [(outcome.name, outcome.status, outcome.predicted) for outcome in outcomes]
    assert fared[0] == ("fix/first.patch", "conflict", False)
    assert fared[2:] == [("fix/third.patch", "conflict", True), ("fix/fourth.patch", "clean", True)]
    assert fared[1][0] == "speed/second.patch"
    assert fared[1][2]
    assert "hunk at line" in outcomes[2].detail
    tree = small.project.rebase_tree(small.lane)
    assert [path.name for path in tree.parent.iterdir()] == [tree.name]
    assert Git(tree)("diff", "--name-only", "--diff-filter=U") == jit


def test_a_conflict_is_not_held_against_the_patches_after_it(small, tmp_path) -> None:
    """The third patch changes the line that the first one wrote, which conflicts; it does not conflict itself."""
    jit = "python/triton/runtime/jit.py"
    add_patches(small, tmp_path, {"fix/third.patch": {jit: ("inspect.getfile(fn)", "inspect.getmodule(fn)")}})
    outcomes = start(small, tmp_path, CONFLICTING)
    assert statuses(outcomes) == ["conflict", "clean", "clean"]


def test_changes_that_are_not_staged_are_not_lost(small, tmp_path) -> None:
    start(small, tmp_path, CONFLICTING)
    git = Git(small.project.rebase_tree(small.lane))
    git("checkout", "--force", "HEAD", "--", ".")
    (git.folder / "python/triton/runtime/jit.py").write_text(CONFLICTING.replace("return 1", "return 2"))
    with pytest.raises(RebaseError, match="not staged"):
        continue_rebase(small.project, small.lane, step=lambda _: None)


def test_a_person_may_commit_what_was_settled(small, tmp_path) -> None:
    start(small, tmp_path, CONFLICTING)
    git = Git(small.project.rebase_tree(small.lane))
    git("checkout", "--force", "HEAD", "--", ".")
    commit(git, "fix/first.patch", "Return", {"python/triton/runtime/jit.py": ("getsourcelines(fn)[0]", "getfile(fn)")})
    done = continue_rebase(small.project, small.lane, step=lambda _: None)
    assert [outcome.status for outcome in done] == ["settled", "clean"]
    assert export_rebase(small.project, small.lane, tmp_path / "exported") == ["fix/first.patch", "speed/second.patch"]


def test_what_is_predicted_is_not_taken_for_done(small, tmp_path) -> None:
    start(small, tmp_path, CONFLICTING)
    git = Git(small.project.rebase_tree(small.lane))
    assert git("log", "--format=%s", "base..HEAD") == ""
    git("checkout", "--force", "HEAD", "--", ".")
    done = continue_rebase(small.project, small.lane, step=lambda _: None)
    assert [(outcome.status, outcome.predicted) for outcome in done] == [("dropped", False), ("clean", False)]


@pytest.mark.parametrize(
    ("said", "detail"),
    [
        ("3.7.0 (one hunk)", "already upstream in part: 3.7.0 (one hunk)"),
        ("3.10.0 (a), 3.7.0 (b)", "already upstream in part: 3.10.0 (a), 3.7.0 (b)"),
        ("3.10.0 (a), 3.11.0 (b 3.1.0)", ""),
        ("3.10.0", ""),
        ("no", ""),
    ],
)
def test_what_a_patch_says_of_upstream_is_compared_with_the_version(small, tmp_path, said, detail) -> None:
    add_patches(small, tmp_path, {}, said)
    outcomes = start(small, tmp_path, CONFLICTING)
    assert statuses(outcomes) == ["conflict", "clean"]
    assert [text.partition("; ")[2] if status == "conflict" else text for status, text in outcomes] == [detail, detail]


def test_a_killed_start_is_no_rebase_under_way(small, tmp_path) -> None:
    new = new_wheel(tmp_path, JIT)
    environment = os.environ | {"PYTHONPATH": str(repository / "ci"), "TRITON_FORK_ROOT": str(small.project.root)}
    arguments = [sys.executable, "-c", KILLED_REBASE, str(small.base), str(new)]
    done = subprocess.run(arguments, env=environment, capture_output=True, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr
    with pytest.raises(RebaseError, match="no rebase of lane 3.6"):
        continue_rebase(small.project, small.lane, step=lambda _: None)
    assert statuses(start(small, tmp_path, JIT)) == ["clean", "clean"]
    tree = small.project.rebase_tree(small.lane)
    assert [path.name for path in tree.parent.iterdir()] == [tree.name]


def test_a_queue_that_changed_ends_the_rebase(small, tmp_path) -> None:
    start(small, tmp_path, JIT)
    (small.queue / "series").write_text("speed/second.patch\nfix/first.patch\n")
    with pytest.raises(RebaseError, match="the queue changed"):
        continue_rebase(small.project, small.lane, step=lambda _: None)


def test_one_process_at_a_time_rebases(small, tmp_path) -> None:
    with working_on(small.project, small.lane):
        with pytest.raises(BusyError):
            start(small, tmp_path, JIT)
        with pytest.raises(BusyError):
            continue_rebase(small.project, small.lane, step=lambda _: None)
        with pytest.raises(BusyError):
            export_rebase(small.project, small.lane, tmp_path / "exported")


def test_an_export_is_a_queue_in_order(small, tmp_path) -> None:
    start(small, tmp_path, "# moved\n" + JIT)
    export_rebase(small.project, small.lane, small.queue)
    new = new_wheel(tmp_path, "# moved\n" + JIT)
    assert check_lane(small.project, small.lane, new, tmp_path / "check") == []


def test_an_export_removes_what_an_older_one_left(small, tmp_path) -> None:
    exported = tmp_path / "exported"
    start(small, tmp_path, JIT)
    export_rebase(small.project, small.lane, exported)
    assert read_lock(exported) is not None
    start(small, tmp_path, JIT.replace("getsource", "getfile"), discard=True)
    assert export_rebase(small.project, small.lane, exported) == ["speed/second.patch"]
    assert [path.name for path in exported.rglob("*.patch")] == ["second.patch"]
    start(small, tmp_path, CONFLICTING, discard=True)
    export_rebase(small.project, small.lane, exported)
    assert read_lock(exported) is None  # nobody knows the tree yet


@pytest.mark.parametrize("content", ["notes.txt", "fix/own.patch"])
def test_an_export_does_not_touch_another_folder(small, tmp_path, content) -> None:
    start(small, tmp_path, JIT)
    file = tmp_path / "exported" / content
    file.parent.mkdir(parents=True)
    file.write_text("Mine.")
    with pytest.raises(RebaseError, match="is not a patch queue"):
        export_rebase(small.project, small.lane, tmp_path / "exported")
    if content.endswith(".patch"):
        (tmp_path / "exported" / "series").write_text("")
        with pytest.raises(RebaseError, match=r"'fix/own\.patch' is not listed"):
            export_rebase(small.project, small.lane, tmp_path / "exported")
    assert file.read_text() == "Mine."


def command_line(small: SmallProject, monkeypatch, *arguments: str) -> int:
    monkeypatch.setenv("TRITON_FORK_ROOT", str(small.project.root))
    monkeypatch.setenv("TRITON_FORK_INDEX_URL", "http://127.0.0.1:9/simple/")
    links = ["--find-links", str(small.base.parent), "--cache", str(small.project.root / "cache")]
    return main(["rebase", *arguments, *links])


def test_a_branch_is_no_version(small, monkeypatch, capsys) -> None:
    assert command_line(small, monkeypatch, "--onto", "main") == 2
    said = capsys.readouterr().err
    assert "'main' is neither a version nor the path of a wheel" in said
    assert "pip wheel" in said
    assert not small.project.rebase_tree(small.lane).exists()


def test_discard_alone_throws_away_what_is_under_way(small, tmp_path, monkeypatch, capsys) -> None:
    start(small, tmp_path, CONFLICTING)
    assert command_line(small, monkeypatch, "--continue", "--discard") == 2
    assert small.project.rebase_tree(small.lane).exists()
    assert command_line(small, monkeypatch, "--discard") == 0
    assert "Thrown away" in capsys.readouterr().out
    assert not small.project.rebase_tree(small.lane).exists()
    assert command_line(small, monkeypatch, "--discard") == 25
    assert command_line(small, monkeypatch, "--continue") == 25
    assert command_line(small, monkeypatch) == 2


def test_in_a_pipe_no_line_is_cut(small) -> None:
    detail = "python/triton/experimental/gluon/language/semantic.py, hunk at line 1234; already upstream in part: 3.7.0"
    outcomes = [Outcome("fix/first.patch", "conflict", detail), Outcome("speed/second.patch", "clean", "", True)]
    results = Console(file=io.StringIO(), width=80)
    context = Context(small.project, Console(file=io.StringIO()), results)
    command._report(argparse.Namespace(json=False), context, outcomes, [])
    assert results.file.getvalue().splitlines() == [
        f"fix/first.patch     conflict          {detail}",
        "speed/second.patch  clean, predicted",
    ]
