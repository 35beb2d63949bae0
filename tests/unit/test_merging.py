"""Carrying a commit over to another upstream: what is settled by itself, and what is left for a person."""

from __future__ import annotations

from pathlib import Path

import pytest

from fork.git import Git
from fork.queue.merging import commit_as, favour_queue, join_imports, merge_commit

FILE = "a.py"
TEXT = "import os\nfrom .x import one\n\n\ndef first():\n    return 1\n\n\ndef second():\n    return 1\n"


def repository(folder: Path, queue: str, upstream: str) -> tuple[Git, str]:
    """Make a repository whose work tree is the new upstream, and give the queue's commit on the old one."""
    git = Git.init(folder)

    def write(text: str) -> str:
        (folder / FILE).write_text(text)
        git.commit_all("A change")
        return git("rev-parse", "HEAD")

    write(TEXT)
    commit = write(queue)
    write(upstream)
    return git, commit


def test_a_change_elsewhere_merges_and_keeps_the_message(tmp_path) -> None:
    git, commit = repository(
        tmp_path, TEXT.replace("return 1\n\n", "return 2\n\n", 1), "# new\n" + TEXT.replace("second", "other")
    )
    merge = merge_commit(git, commit)
    assert merge.settled
    commit_as(git, commit)
    assert git("log", "-1", "--format=%s %an %aI") == git("log", "-1", "--format=%s %an %aI", commit)
    assert (tmp_path / FILE).read_text() == "# new\n" + TEXT.replace("second", "other").replace("1\n\n", "2\n\n", 1)


def test_a_place_that_looks_alike_is_not_mistaken(tmp_path) -> None:
    """Applied with a line of context, the change to the first function would land in the second where upstream changed the first."""
    queue = TEXT.replace("    return 1\n", "    return 2\n", 1)
    upstream = TEXT.replace("def first():\n    return 1\n", "def first():\n    return 3\n", 1)
    git, commit = repository(tmp_path, queue, upstream)
    merge = merge_commit(git, commit)
    assert list(merge.conflicts) == [FILE]
    assert "def second():\n    return 1\n" in (tmp_path / FILE).read_text()


def test_imports_that_both_sides_changed_are_joined(tmp_path) -> None:
    git, commit = repository(
        tmp_path,
        TEXT.replace("import one", "import one, ours"),
        TEXT.replace("import os\n", "import sys\n").replace("one", "one, theirs"),
    )
    merge = merge_commit(git, commit)
    assert merge.settled
    assert merge.joined == (FILE,)
    assert (tmp_path / FILE).read_text().startswith("import sys\nfrom .x import one, theirs, ours\n\n")


def test_imports_beside_a_real_conflict_are_joined_and_the_conflict_stays(tmp_path) -> None:
    queue = TEXT.replace("import one", "import ours").replace("return 1\n\n", "return 2\n\n", 1)
    upstream = TEXT.replace("import one", "import one, theirs").replace("return 1\n\n", "return 3\n\n", 1)
    git, commit = repository(tmp_path, queue, upstream)
    merge = merge_commit(git, commit)
    assert {file: len(lines) for file, lines in merge.conflicts.items()} == {FILE: 1}
    text = (tmp_path / FILE).read_text()
    assert "from .x import theirs, ours\n" in text
    assert text.count("<<<<<<<") == 1
    favour_queue(git, merge)
    assert "def first():\n    return 2\n" in (tmp_path / FILE).read_text()
    commit_as(git, commit)


def test_a_merge_that_cannot_be_parsed_is_not_settled(tmp_path) -> None:
    """Each side is valid, and no line is in conflict."""
    old = "x = [\n    1,\n    2,\n    3,\n    4,\n]\n"
    git = Git.init(tmp_path)
    texts = [
        old,
        old.replace("x = [", "x = (").replace("]", ")"),
        "x = [\n    1,\n    2,\n    3,\n    4,\n] + [\n    5,\n    6,\n    7\n]\n",
    ]
    for text in texts:
        (tmp_path / FILE).write_text(text)
        git.commit_all("A change")
    merge = merge_commit(git, git("rev-parse", "HEAD~1"))
    assert not merge.settled
    assert merge.broken == (FILE,) or merge.conflicts


def test_a_file_that_is_gone_needs_a_person(tmp_path) -> None:
    git, commit = repository(tmp_path, TEXT.replace("return 1", "return 2"), TEXT)
    git("rm", "--quiet", FILE)
    git.commit_all("Gone")
    merge = merge_commit(git, commit)
    assert merge.conflicts == {FILE: (0,)}
    favour_queue(git, merge)
    assert not (tmp_path / FILE).exists()
    assert git.run("diff", "--cached", "--quiet", "HEAD").returncode == 0


@pytest.mark.parametrize(
    ("upstream", "base", "queue", "joined"),
    [
        ("from a import x, y\n", "from a import x\n", "from a import x, z\n", "from a import x, y, z\n"),
        ("from a import y\n", "from a import x, y\n", "from a import x\n", ""),
        ("import os\n", "", "import sys\n", "import os\nimport sys\n"),
        ("from . import a\n", "from . import a, b\n", "from . import a, b as c\n", "from . import a, b as c\n"),
        (
            "from .a import x\nfrom .c import z\n",
            "from .a import x\n",
            "from .b import y\n",
            "from .c import z\nfrom .b import y\n",
        ),
        ("x = 1\n", "", "import sys\n", None),
        ("import os  # why\n", "", "import sys\n", None),
        ("from a import (x,\n", "", "import sys\n", None),
        ("    import os\n", "", "    import sys\n", None),
    ],
)
def test_names_are_joined(upstream: str, base: str, queue: str, joined: str | None) -> None:
    assert join_imports(upstream, base, queue) == joined
