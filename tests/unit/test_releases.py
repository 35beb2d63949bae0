"""A lane that serves several upstream releases with one queue."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from fork.base import pythons_of_releases
from fork.cli import main
from fork.errors import ConfigError
from fork.index.records import read_records
from fork.queue.mirrors import MIRRORS, read_mirrors
from tests.support.small_project import BASE_NAME, JIT, SmallProject, make_base_wheel

EARLIER = "3.5.1"
LOCK = f"series-{EARLIER}.lock"
CHANGED = JIT.replace("return 1", "return 0")


def add_release(small: SmallProject, jit: str) -> Path:
    """Pin an earlier release.

    :param jit: Its ``jit.py``.
    """
    name = BASE_NAME.replace("3.6.0", EARLIER)
    wheel = make_base_wheel(small.base.parent, name, {"triton/runtime/jit.py": jit.encode()}, EARLIER)
    content = wheel.read_bytes()
    row = f'file = "{name}"\nsize = {len(content)}\nsha256 = "{hashlib.sha256(content).hexdigest()}"\n'
    pin = small.project.root / "fork.toml"
    releases = f'\n[lane."3.6".earlier]\n"{EARLIER}" = "{"9876543210" * 4}"\n'
    pin.write_text(f'{pin.read_text()}\n[[lane."3.6".wheel]]\n{row}{releases}')
    return wheel


@pytest.fixture
def run(small: SmallProject, monkeypatch, tmp_path):
    """Run a verb on the small project, without any index."""
    monkeypatch.setenv("TRITON_FORK_ROOT", str(small.project.root))
    monkeypatch.setenv("TRITON_FORK_CACHE", str(tmp_path / "cache"))
    return lambda *arguments: main([*arguments, "--find-links", str(small.base.parent)])


@pytest.fixture
def two(small: SmallProject, run) -> SmallProject:
    """A project whose lane serves two releases that differ in a function that no patch touches, locked on both."""
    add_release(small, CHANGED)
    assert run("refresh") == 0
    return small


def test_the_wheels_say_which_release_they_are_of(two, run, capsys) -> None:
    assert run("build", "--python", "3.11", "--platform", "x86_64", "--json") == 0
    built = json.loads(capsys.readouterr().out)["wheels"]
    versions = [wheel["file"].split("-")[1] for wheel in built]
    assert [version.partition(".q")[0] for version in versions] == ["3.6.0+fork.1", f"{EARLIER}+fork.1"]
    assert not any(wheel["yanked"] for wheel in built)  # each release has a build that installers take
    files = [two.project.wheelhouse / wheel["file"] for wheel in built]
    assert run("verify", *map(str, files)) == 0
    assert {version for _, version in read_records(two.project.wheelhouse).promoted} == set(versions)


def test_provenance_names_the_commit_of_the_release(two) -> None:
    commits = [(release.version, release.commit[:4]) for release in two.lane.releases]
    assert commits == [("3.6.0", "0123"), (EARLIER, "9876")]
    assert [wheel.filename.split("-")[1] for release in two.lane.releases for wheel in release.wheels] == [
        "3.6.0",
        EARLIER,
    ]


def test_each_release_has_a_lock_of_its_own(two, run, capsys) -> None:
    assert run("check") == 0
    (two.queue / LOCK).write_text((two.queue / "series.lock").read_text())
    assert run("check") == 11
    assert f"on {EARLIER}: the base has the tree" in capsys.readouterr().err
    (two.queue / LOCK).unlink()
    assert run("check") == 11
    assert f"on {EARLIER}: '3.6/{LOCK}' is missing" in capsys.readouterr().err
    assert run("build", "--python", "3.11", "--platform", "x86_64") == 13
    assert not list(two.project.wheelhouse.glob("*.whl"))  # nor of the release that is in order


def test_a_patch_that_fits_one_release_alone_is_said(small, run, capsys) -> None:
    add_release(small, JIT.replace("inspect.signature(fn)", "str(fn)"))
    before = (small.queue / "series.lock").read_bytes()
    assert run("refresh") == 12
    assert f"on {EARLIER}: 'speed/second.patch' does not apply" in capsys.readouterr().err
    assert (small.queue / "series.lock").read_bytes() == before


def test_a_function_that_we_re_do_is_compared_in_every_release(two, run, capsys) -> None:
    module = two.project.overlay(two.lane) / "python" / "triton" / "fork" / "again.py"
    module.write_text('"""Mirrors python/triton/runtime/jit.py: between, first."""\n')
    assert run("mirrors", "--accept") == 0
    locked = {mirror.name: len(mirror.earlier) for mirror in read_mirrors(two.project.overlay(two.lane) / MIRRORS)}
    assert locked == {"between": 1, "first": 0}
    assert run("check") == 0
    lock = two.project.overlay(two.lane) / MIRRORS
    lock.write_text(lock.read_text().replace("earlier", "later"))
    assert run("check") == 11
    assert f"on {EARLIER}: upstream's between (python/triton/runtime/jit.py) has changed" in capsys.readouterr().err


def test_a_release_need_not_serve_every_python(two, run, capsys) -> None:
    """As 3.7.0 has wheels for 3.13t, and 3.7.1 has none."""
    pin = two.project.root / "fork.toml"
    name = BASE_NAME.replace("3.6.0", EARLIER)
    other = name.replace("cp311-cp311", "cp312-cp312")
    make_base_wheel(two.base.parent, other, {"triton/runtime/jit.py": CHANGED.encode()}, EARLIER)
    content = (two.base.parent / other).read_bytes()
    row = f'file = "{other}"\nsize = {len(content)}\nsha256 = "{hashlib.sha256(content).hexdigest()}"\n'
    text = pin.read_text().replace('["3.11"]', '["3.11", "3.12"]')
    pin.write_text(text + f'\n[[lane."3.6".wheel]]\n{row}')
    assert [release.pythons for release in two.lane.releases] == [("3.11",), ("3.11", "3.12")]
    chosen = [(release.version, wanted) for release, wanted in pythons_of_releases(two.lane, ["3.12", "3.11", "3.9"])]
    assert chosen == [("3.6.0", ["3.11", "3.9"]), (EARLIER, ["3.12", "3.11"])]
    assert [release.version for release, _ in pythons_of_releases(two.lane, ["3.12"])] == [EARLIER]
    assert [release.version for release, _ in pythons_of_releases(two.lane, [])] == ["3.6.0", EARLIER]
    pin.write_text(pin.read_text().replace('"3.12"]', '"3.12", "3.13"]'))
    with pytest.raises(ConfigError, match=r"there is no wheel of any release for 3\.13"):
        two.project.pin()


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (f'"{EARLIER}" = "9', f'"{EARLIER}" = "x', 'lane."3.6".earlier: '),
        (f'"{EARLIER}" = "9', '"3.5.0" = "9', f"triton-{EARLIER}-cp311"),
        (f"triton-{EARLIER}-cp311-cp311", "triton-3.6.0-cp311-cp311", f"there is none of version {EARLIER}"),
    ],
)
def test_a_release_needs_a_commit_and_wheels(two, old: str, new: str, said: str) -> None:
    file = two.project.root / "fork.toml"
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))
    with pytest.raises(ConfigError) as caught:
        two.project.pin()
    assert said in caught.value.message
