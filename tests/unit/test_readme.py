"""What the documents promise is there."""

from __future__ import annotations

import re
import runpy
import shlex
import subprocess

import pytest

from fork.cli import _parser
from tests.support.environments import repository

README = (repository / "README.md").read_text("utf-8")
CONTRIBUTING = (repository / "CONTRIBUTING.md").read_text("utf-8")


def test_every_switch_is_described_as_it_is() -> None:
    switches = runpy.run_path(str(repository / "overlay/common/python/triton/fork/settings.py"))["SWITCHES"]
    described = re.findall(
        r"^\| `(TRITON_FORK\w*)` \| (.+?)(?:; needs `(\w+)`)? \| (\w+) \|$", README, flags=re.MULTILINE
    )
    assert described == [(each.name, each.part, each.needs or "", each.read) for each in switches.values()]


def test_every_patch_stands_in_the_changelog() -> None:
    changelog = (repository / "CHANGELOG.md").read_text("utf-8")
    series = (repository / "patches/3.6/series").read_text("utf-8").split("\n")
    names = [line.removesuffix(".patch") for line in series if line and not line.startswith("#")]
    assert [name for name in names if f"`{name}`" not in changelog] == []


def test_corrections_stand_before_what_is_only_faster() -> None:
    """As CONTRIBUTING says: who drops the rest of the queue keeps what is right."""
    series = (repository / "patches/3.6/series").read_text("utf-8").split("\n")
    groups = [line.partition("/")[0] for line in series if line and not line.startswith("#")]
    assert groups == sorted(groups, key=["backport", "fix", "speed"].index)


@pytest.mark.parametrize("document", ["README.md", "CONTRIBUTING.md", "docs/architecture.md"])
def test_what_it_links_to_exists(document: str) -> None:
    file = repository / document
    text = file.read_text("utf-8")
    links = re.findall(r"\]\(([^)#:]+\.\w+)\)", text)
    assert [link for link in links if not (file.parent / link).exists()] == []
    folders = re.findall(r"^\| `([a-z/0-9]+/|fork\.toml)` \|", text, flags=re.MULTILINE)
    assert [folder for folder in folders if not (repository / folder).exists()] == []


def test_where_tests_go_is_there() -> None:
    table = CONTRIBUTING.partition("## Where does my test go?")[2].partition("\n## ")[0]
    places = re.findall(r"`(tests/[\w/.]+)`", table)
    assert len(places) > 12
    assert [place for place in places if not (repository / place).exists()] == []


def test_the_commands_for_contributors_are_commands() -> None:
    commands = re.findall(r"^ {4,}(?:ci/fork\.sh|\./(build)\.sh)((?: .*)?)$", CONTRIBUTING, flags=re.MULTILINE)
    assert len(commands) > 15
    for verb, rest in commands:
        words = shlex.split(rest.partition(" >> ")[0], comments=True)
        _parser().parse_args([verb, *words] if verb else words)


def test_nothing_names_a_machine_or_a_registry() -> None:
    words = ["pypi" + ".org", "python" + "hosted", "/work" + "/", "/ro" + "ot/"]
    command = ["git", "grep", "-lF", *(part for word in words for part in ("-e", word)), "--", ".", ":!*.lock"]
    done = subprocess.run(command, cwd=repository, capture_output=True, text=True, check=False)
    assert done.stdout == ""
