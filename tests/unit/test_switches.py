"""Every correction has a switch with the name of its patch, below one for all of them."""

from __future__ import annotations

import re
import runpy
from typing import Any

import pytest

from tests.support.environments import repository


@pytest.fixture
def switches(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    own = runpy.run_path(str(repository / "overlay/common/python/triton/fork/settings.py"))
    for name in own["SWITCHES"]:
        monkeypatch.delenv(name, raising=False)
    return own


def of_fixes(names: dict[str, Any]) -> list[str]:
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
    off = ["TRITON_FORK_FIX_KEY_OF_CYCLES", "TRITON_FORK_FIX_REBOUND_CELLS"]
    assert [name for name in names if not enabled(name)] == off, "one that needs it is off too"


def test_all_corrections_are_off_and_nothing_else(switches: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITON_FORK_FIXES", "0")
    off = [name for name in switches["SWITCHES"] if not switches["enabled"](name)]
    assert set(off) == {"TRITON_FORK_FIXES", *of_fixes(switches["SWITCHES"]), "TRITON_FORK_SOURCE_KEYS"}


def test_the_fork_is_off(switches: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITON_FORK", "0")
    assert not any(map(switches["enabled"], of_fixes(switches["SWITCHES"])))


def test_what_one_needs_is_a_switch(switches: dict[str, Any]) -> None:
    known = switches["SWITCHES"]
    needed = {name: switch.needs for name, switch in known.items() if switch.needs}
    assert set(needed.values()) <= set(known)
    assert needed["TRITON_FORK_VALUES"] == "TRITON_FORK_LAZY_TYPES"


def test_what_is_in_force_is_what_was_read(switches: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    at_import, in_force = switches["at_import"], switches["in_force"]
    assert at_import("TRITON_FORK_LAZY_TYPES")
    monkeypatch.setenv("TRITON_FORK_LAZY_TYPES", "0")
    assert not switches["enabled"]("TRITON_FORK_LAZY_TYPES")
    assert at_import("TRITON_FORK_LAZY_TYPES")
    assert in_force("TRITON_FORK_LAZY_TYPES")
    assert in_force("TRITON_FORK_VALUES"), "what it needs was on when it was read"
    monkeypatch.setenv("TRITON_FORK_LOOPS", "off")
    assert not in_force("TRITON_FORK_LOOPS"), "it is read anew each time"


def test_each_module_reads_its_switch_when_the_switch_says(switches: dict[str, Any]) -> None:
    read: dict[str, set[str]] = {"import": set(), "use": set()}
    for file in repository.glob("overlay/*/python/triton/fork/**/*.py"):
        text = file.read_text("utf-8")
        names = dict(re.findall(r'^(\w*SWITCH) = "(\w+)"', text, flags=re.MULTILINE))
        for reader, kind in (("at_import", "import"), ("enabled", "use")):
            for argument in re.findall(rf"(?<![\w.]){reader}\(([\w\"]+)\)", text):
                read[kind].add(names.get(argument, argument.strip('"')))
    switched = {name: switch.read for name, switch in switches["SWITCHES"].items()}
    above = {"TRITON_FORK", "TRITON_FORK_FIXES"}
    assert {name for name in read["import"] & set(switched) if switched[name] != "import"} == set()
    assert {name for name in read["use"] & set(switched) if switched[name] != "use"} == set()
    assert {name for name, kind in switched.items() if kind == "import"} <= read["import"]
    assert set(switched) - above - read["import"] - read["use"] <= {"TRITON_FORK_INSTALLATION_KEY"}, "nothing reads it"
