"""What the README promises is there."""

from __future__ import annotations

import re
import runpy
import subprocess

from tests.support.environments import repository

README = (repository / "README.md").read_text("utf-8")


def test_every_switch_is_described_as_it_is() -> None:
    switches = runpy.run_path(str(repository / "overlay/3.6/python/triton/fork/_switches.py"))["SWITCHES"]
    described = dict(re.findall(r"^\| `(TRITON_FORK\w*)` \| (.+) \|$", README, flags=re.MULTILINE))
    assert described == switches


def test_every_patch_stands_in_the_changelog() -> None:
    changelog = (repository / "CHANGELOG.md").read_text("utf-8")
    series = (repository / "patches/3.6/series").read_text("utf-8").split("\n")
    names = [line.removesuffix(".patch") for line in series if line and not line.startswith("#")]
    assert [name for name in names if f"`{name}`" not in changelog] == []


def test_what_it_links_to_exists() -> None:
    links = re.findall(r"\]\(([^)#:]+\.\w+)\)", README) + re.findall(
        r"^\| `([a-z/0-9]+/|fork\.toml)` \|", README, flags=re.MULTILINE
    )
    assert [link for link in links if not (repository / link).exists()] == []


def test_nothing_names_a_machine_or_a_registry() -> None:
    words = ["pypi" + ".org", "python" + "hosted", "/work" + "/", "/ro" + "ot/"]
    command = ["git", "grep", "-lF", *(part for word in words for part in ("-e", word)), "--", ".", ":!*.lock"]
    done = subprocess.run(command, cwd=repository, capture_output=True, text=True, check=False)
    assert done.stdout == ""
