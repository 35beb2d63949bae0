from __future__ import annotations

import re
from dataclasses import replace

import pytest
from packaging.requirements import Requirement

from fork.assembly.version import Ingredients, file_digests, fork_version
from fork.queue.series import read_series
from fork.repository import Source
from tests.support.small_project import SmallProject


def gather(small: SmallProject) -> Ingredients:
    root = small.project.root
    return Ingredients.gather(
        lane=small.lane,
        base={wheel.filename: wheel.sha256 for wheel in small.lane.wheels},
        patches=read_series(small.queue).sound(),
        overlays=small.project.overlays(small.lane),
        native=small.project.native,
        files=[root / "ci" / "requirements" / "tool.txt"],
        source=Source("", False),
    )


def test_the_version_satisfies_the_pin_of_torch(small) -> None:
    version = fork_version(small.lane, gather(small))
    assert re.fullmatch(r"3\.6\.0\+fork\.1\.q[0-9a-f]{8}", version)
    assert version in Requirement("triton==3.6.0").specifier


def test_every_ingredient_changes_the_digest(small) -> None:
    before = gather(small)
    digests = {before.digest()}
    for part in ("base", "patches", "overlay", "native", "builder"):
        digests.add(replace(before, **{part: {**getattr(before, part), "another": "0" * 64}}).digest())
    digests.add(replace(before, patches=dict(reversed(before.patches.items()))).digest())
    digests |= {replace(before, source=source).digest() for source in (Source("0" * 40, False), Source("0" * 40, True))}
    assert len(digests) == 9


@pytest.mark.parametrize(
    "place",
    [
        "overlay/3.6/python/triton/fork/more.py",
        "overlay/common/python/triton/fork/more.py",
        "native/launch.c",
        "ci/requirements/tool.txt",
    ],
)
def test_files_are_read_into_the_digest(small, place: str) -> None:
    before = gather(small).digest()
    file = small.project.root / place
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("changed\n")
    assert gather(small).digest() != before


def test_a_file_is_named_with_the_folder_that_it_is_from(small) -> None:
    shared = small.project.root / "overlay" / "common" / "python" / "triton" / "fork" / "shared.py"
    shared.parent.mkdir(parents=True)
    shared.write_text("")
    own = {"common/python/triton/fork/shared.py", "3.6/python/triton/fork/__init__.py"}
    assert set(gather(small).overlay) == own


def test_what_python_leaves_behind_does_not_count(small) -> None:
    before = gather(small).digest()
    cache = small.project.overlay(small.lane) / "python" / "triton" / "fork" / "__pycache__"
    cache.mkdir()
    (cache / "x.pyc").write_bytes(b"")
    hidden = cache.parent / ".mypy_cache" / "3.11" / "cache.db"
    hidden.parent.mkdir(parents=True)
    hidden.write_bytes(b"")
    assert gather(small).digest() == before
    assert file_digests(small.project.root / "nowhere") == {}


def test_the_pin_is_in_the_digest(small) -> None:
    before = gather(small).digest()
    file = small.project.root / "fork.toml"
    file.write_text(file.read_text().replace('commit = "0', 'commit = "1'))
    assert gather(small).digest() != before
