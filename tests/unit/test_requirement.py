"""``python -m triton.fork --require`` and what else its command line does."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.environments import repository

FORK = repository / "overlay/common/python/triton/fork"


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """A folder with a ``triton`` that has our command line and a made-up provenance."""
    triton = tmp_path / "triton"
    triton.mkdir()
    (triton / "fork").mkdir()
    for module in FORK.glob("*.py"):
        (triton / "fork" / module.name).write_bytes(module.read_bytes())
    set_version(tmp_path, "3.6.0+fork.2.q3fa94c21")
    return tmp_path


def set_version(folder: Path, recorded: str, imported: str | None = None) -> None:
    patch = {"name": "fix/a.patch", "subject": "A" * 50, "reason": "B" * 500, "trailers": {}}
    document = {
        "version": recorded,
        "fork": {"repository": "https://example.invalid/fork", "commit": "c" * 40, "modified": True},
        "upstream": {"version": "3.6.0", "commit": "0" * 40},
        "base": {"kind": "wheel", "name": "triton.whl", "sha256": "1" * 64},
        "digest": "2" * 64,
        "builder": {"name": "fork", "sources": {}},
        "patches": [patch] * 2000,
    }
    (folder / "triton" / "fork" / "provenance.json").write_text(json.dumps(document))
    (folder / "triton" / "__init__.py").write_text(f"__version__ = {imported or recorded!r}\n")


def ask(folder: Path, *arguments: str, **options) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "triton.fork", *arguments]
    environment = os.environ | {"PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False, **options)


@pytest.mark.parametrize(
    ("required", "code", "said"),
    [
        ("3.6.0+fork.1", 0, "met: triton is 3.6.0+fork.2.q3fa94c21"),
        ("3.6.0+fork.2", 0, "met"),
        ("3.6.0+fork.3", 1, "required is 3.6.0+fork.3 or a later revision"),
        ("3.6.0+fork.10", 1, "or a later revision"),
        ("3.6.0+fork.2.q3fa94c21", 0, "met"),
        ("3.6.0+fork.2.q3fa94c22", 1, "required is exactly 3.6.0+fork.2.q3fa94c22"),
        ("3.6.0+fork.1.q3fa94c21", 1, "required is exactly"),
        ("3.6.1+fork.1", 1, "or a later revision"),
        ("3.6+fork.1", 1, "or a later revision"),
        ("3.6.0+other.1", 1, "or a later revision"),
        ("3.6.0", 2, "is not a version of the fork"),
        ("3.6.0+fork", 2, "is not a version of the fork"),
        ("", 2, "is not a version of the fork"),
    ],
)
def test_require(installed: Path, required: str, code: int, said: str) -> None:
    done = ask(installed, "--require", required)
    assert done.returncode == code
    assert said in done.stdout + done.stderr


def test_the_help_says_what_is_required_and_the_exit_codes(installed: Path) -> None:
    text = " ".join(ask(installed, "--help").stdout.split())
    for part in (
        "revision 2 or a later one",
        "exactly this build",
        "Exit code: 0 where the requirement is met; 1 where it is not",
    ):
        assert part in text


def test_files_of_another_wheel_over_the_forks_do_not_pass(installed: Path) -> None:
    set_version(installed, "3.6.0+fork.2.q3fa94c21", "3.6.0")
    done = ask(installed, "--require", "3.6.0+fork.2")
    assert (done.returncode, "triton is 3.6.0, but" in done.stderr) == (1, True)


def test_the_public_triton_and_no_triton_do_not_pass(installed: Path, tmp_path: Path) -> None:
    (installed / "triton" / "fork" / "provenance.json").unlink()
    assert ask(installed, "--require", "3.6.0+fork.2").returncode == 1
    for name in ("public/triton", "nothing"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "public/triton/__init__.py").write_text("")
    assert ask(tmp_path / "public", "--require", "3.6.0+fork.2").returncode == 1
    assert ask(tmp_path / "nothing", "--require", "3.6.0+fork.2").returncode == 1


def test_the_commit_of_the_fork_is_said(installed: Path) -> None:
    text = ask(installed).stdout
    assert re.search(
        rf"^  fork      https://example\.invalid/fork, commit {'c' * 40}, modified$", text, flags=re.MULTILINE
    )


@pytest.mark.parametrize("arguments", [[], ["--json"]])
def test_a_reader_who_stops_reading(installed: Path, arguments: list[str]) -> None:
    shell = f"{sys.executable} -m triton.fork {' '.join(arguments)} | head -n 1"
    environment = os.environ | {"PYTHONPATH": str(installed)}
    done = subprocess.run(
        ["bash", "-c", shell], cwd=installed, env=environment, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert len(done.stdout.splitlines()) == 1
