"""Every correction has a switch with the name of its patch, below one for all of them."""

from __future__ import annotations

import runpy
from typing import Any

import pytest

from tests.support.environments import repository


@pytest.fixture
def switches(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    own = runpy.run_path(str(repository / "overlay/3.6/python/triton/fork/_switches.py"))
    for name in own["SWITCHES"]:
        monkeypatch.delenv(name, raising=False)
    return own


def of_fixes(names: dict[str, str]) -> list[str]:
    return [name for name in names if name.startswith("TRITON_FORK_FIX_")]


def test_each_correction_has_the_switch_of_its_name(switches: dict[str, Any]) -> None:
    series = (repository / "patches/3.6/series").read_text("utf-8").splitlines()
    slugs = [line.removeprefix("fix/").removesuffix(".patch") for line in series if line.startswith("fix/")]
    expected = {f"TRITON_FORK_FIX_{slug.upper().replace('-', '_')}" for slug in slugs}
    assert set(of_fixes(switches["SWITCHES"])) == expected


@pytest.mark.parametrize("value", ["0", "false", "OFF", "no"])
def test_one_is_off(switches: dict[str, Any], monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    enabled, names = switches["enabled"], switches["SWITCHES"]
    assert all(map(enabled, names))
    monkeypatch.setenv("TRITON_FORK_FIX_KEY_OF_CYCLES", value)
    assert [name for name in names if not enabled(name)] == ["TRITON_FORK_FIX_KEY_OF_CYCLES"]


def test_all_corrections_are_off_and_nothing_else(switches: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITON_FORK_FIXES", "0")
    off = [name for name in switches["SWITCHES"] if not switches["enabled"](name)]
    assert off == ["TRITON_FORK_FIXES", *of_fixes(switches["SWITCHES"])]


def test_the_fork_is_off(switches: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITON_FORK", "0")
    assert not any(map(switches["enabled"], of_fixes(switches["SWITCHES"])))
