"""Everything that `check` must find, and that builds must refuse."""

from __future__ import annotations

from pathlib import Path

import pytest

from fork.queue.check import check_lane
from fork.queue.series import QueueError, read_series
from fork.queue.tree import PatchConflictError, TreeMismatchError, apply_series, lay_out, lock_of
from tests.support.small_project import SmallProject


def faults(small: SmallProject, scratch: Path) -> list[str]:
    scratch.mkdir()
    return check_lane(small.project, small.lane, small.base, scratch)


def test_a_queue_in_order_has_no_faults(small, tmp_path) -> None:
    assert faults(small, tmp_path / "scratch") == []


def test_missing_unlisted_and_repeated_patches_are_all_listed(small, tmp_path) -> None:
    (small.queue / "fix" / "first.patch").rename(small.queue / "fix" / "stray.patch")
    series = small.queue / "series"
    series.write_text(series.read_text() + "speed/second.patch\n")
    found = faults(small, tmp_path / "scratch")
    assert "'speed/second.patch' is listed 2 times" in found
    assert "'fix/first.patch' is listed in series but missing" in found
    assert "'fix/stray.patch' is not listed in series" in found


def test_a_patch_taken_out_of_the_series_gives_another_tree(small, tmp_path) -> None:
    series = small.queue / "series"
    series.write_text("fix/first.patch\n")
    (small.queue / "speed" / "second.patch").unlink()
    assert any("locked is" in fault for fault in faults(small, tmp_path / "scratch"))


def test_a_missing_series_and_lock_are_said(small, tmp_path) -> None:
    (small.queue / "series").unlink()
    (small.queue / "series.lock").unlink()
    found = faults(small, tmp_path / "scratch")
    assert any("'3.6/series' is missing" in fault for fault in found)
    assert any("series.lock' is missing" in fault for fault in found)


def test_a_damaged_lock_is_said(small, tmp_path) -> None:
    (small.queue / "series.lock").write_text("{}")
    assert any("series.lock' is damaged" in fault for fault in faults(small, tmp_path / "scratch"))


def test_a_conflict_names_patch_file_and_hunk(small, tmp_path) -> None:
    patch = small.queue / "fix" / "first.patch"
    patch.write_bytes(
        patch.read_bytes().replace(b"-    return inspect.getsource(fn)", b"-    return inspect.getsource(f)")
    )
    found = faults(small, tmp_path / "scratch")
    assert any("'fix/first.patch' does not apply: file python/triton/runtime/jit.py, hunk" in fault for fault in found)
    assert any("(hunk 1 of 1)" in fault for fault in found)


def test_a_patch_to_a_file_that_the_base_lacks_says_what_to_do(small, tmp_path) -> None:
    patch = small.queue / "fix" / "first.patch"
    patch.write_bytes(patch.read_bytes().replace(b"python/triton/runtime/jit.py", b"lib/Target.cpp"))
    git = lay_out(small.lane, small.base, tmp_path / "tree")
    lock = lock_of(git)
    with pytest.raises(PatchConflictError, match=r"file lib/Target\.cpp") as caught:
        apply_series(git, read_series(small.queue).patches, lock)
    assert "--source" in (caught.value.hint or "")


def test_a_hunk_that_git_skips_silently_is_found(small, tmp_path) -> None:
    """Git takes what follows a hunk header that it cannot read for prose, and exits with 0."""
    patch = small.queue / "speed" / "second.patch"
    extra = b"@ -1,2 +1,2 @@\n-import inspect\n+import ast\n \n"
    patch.write_bytes(patch.read_bytes() + extra)
    found = faults(small, tmp_path / "scratch")
    assert any("git skipped a part of 'speed/second.patch'" in fault for fault in found)


def test_a_hunk_for_a_folder_outside_the_work_tree_is_not_skipped(small, tmp_path) -> None:
    patch = small.queue / "speed" / "second.patch"
    patch.write_bytes(patch.read_bytes().replace(b"b/python/triton", b"b/../triton"))
    assert any("outside the tree" in fault for fault in faults(small, tmp_path / "scratch"))


def test_a_change_within_a_patch_changes_the_tree(small, tmp_path) -> None:
    patch = small.queue / "speed" / "second.patch"
    patch.write_bytes(patch.read_bytes().replace(b"+    return fn.__name__", b"+    return fn.__doc__"))
    found = faults(small, tmp_path / "scratch")
    assert any("the patched sources have the tree" in fault for fault in found)


def test_another_form_of_the_same_patch_is_named(small, tmp_path) -> None:
    patch = small.queue / "fix" / "first.patch"
    patch.write_bytes(patch.read_bytes().replace(b"Subject: Return", b"Subject: [PATCH] Return") + b"-- \n2.39.5\n\n")
    assert any("'fix/first.patch' is not in the form" in fault for fault in faults(small, tmp_path / "scratch"))


def test_an_overlay_file_that_hides_one_of_upstream_is_named(small, tmp_path) -> None:
    hiding = small.project.overlay(small.lane) / "python" / "triton" / "runtime" / "jit.py"
    hiding.parent.mkdir(parents=True)
    hiding.write_text("")
    assert any("hides an upstream file" in fault for fault in faults(small, tmp_path / "scratch"))


def test_builds_refuse_what_check_lists(small, tmp_path) -> None:
    git = lay_out(small.lane, small.base, tmp_path / "tree")
    with pytest.raises(TreeMismatchError, match=r"no series\.lock"):
        apply_series(git, [], None)
    (small.queue / "series").write_text("fix/first.patch\n")
    with pytest.raises(QueueError, match="not listed in series"):
        read_series(small.queue).sound()


@pytest.mark.parametrize(
    ("place", "said"),
    [
        ("python/triton/_C/libtriton.so", "hides an upstream file"),
        ("third_party/nvidia/backend/include/cuda.h", "hides an upstream file"),
        ("python/triton/runtime/jit/__init__.py", "is imported under the name of upstream's 'triton/runtime/jit.py'"),
        ("python/triton/runtime.py", "is imported under the name of upstream's 'triton/runtime/__init__.py'"),
        ("setup.py", "has no place in the wheel"),
    ],
)
def test_whatever_the_overlay_hides_is_named(small, tmp_path, place: str, said: str) -> None:
    file = small.project.overlay(small.lane) / place
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("")
    assert any(said in fault for fault in faults(small, tmp_path / "scratch"))
