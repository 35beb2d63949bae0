"""Names that are imported on first access are the base's names."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.startup.running import run


@pytest.fixture(scope="module")
def of_base(base_python: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    report: dict[str, Any] = run(base_python, "names.py", tmp_path_factory.mktemp("base"))
    return report


@pytest.fixture(scope="module")
def of_fork(fork_python: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    report: dict[str, Any] = run(fork_python, "names.py", tmp_path_factory.mktemp("fork"))
    return report


# Variables of a loop.
EXCEPT = {f"triton.language.extra.{name}" for name in ("is_pkg", "module", "module_finder", "module_name", "spec")}


def test_every_name_is_there_and_is_the_same_thing(of_base: dict[str, Any], of_fork: dict[str, Any]) -> None:
    missing = {
        f"{module}.{name}": kind
        for module, names in of_base["names"].items()
        for name, kind in names.items()
        if of_fork["names"][module].get(name) != kind and f"{module}.{name}" not in EXCEPT
    }
    assert missing == {}


@pytest.mark.parametrize("question", ["all", "fields", "hint", "pickled", "source", "docs", "member_docs"])
def test_same_answer(of_base: dict[str, Any], of_fork: dict[str, Any], question: str) -> None:
    assert of_fork[question] == of_base[question]


def test_star_imports(of_base: dict[str, Any], of_fork: dict[str, Any]) -> None:
    without_all = {module for module, names in of_base["all"].items() if not names}
    for module, names in of_base["starred"].items():
        assert set(names) <= set(of_fork["starred"][module]) or module in without_all


def test_import_is_less(of_base: dict[str, Any], of_fork: dict[str, Any]) -> None:
    ours = [name for name in of_fork["imported"] if not name.startswith("triton.fork")]
    assert set(ours) < set(of_base["imported"])
    assert len(ours) + 10 <= len(of_base["imported"])


def test_gluon_class_after_the_first_launch(base_python: Path, fork_python: Path, tmp_path: Path) -> None:
    base = run(base_python, "first_specialisation.py", tmp_path)
    fork = run(fork_python, "first_specialisation.py", tmp_path)
    assert "triton.experimental.gluon.language" in base.pop("before")
    assert fork.pop("before") == [
        "triton.experimental.gluon",
        "triton.experimental.gluon.amd",
        "triton.experimental.gluon.amd.gfx1250",
        "triton.experimental.gluon.nvidia",
        "triton.experimental.gluon.nvidia.blackwell",
        "triton.experimental.gluon.nvidia.hopper",
    ]
    assert fork == base


def test_deferred_sources_are_the_same(of_base: dict[str, Any], of_fork: dict[str, Any]) -> None:
    assert of_base["kernels"].keys() == of_fork["kernels"].keys()
    for name, kernel in of_base["kernels"].items():
        ours = of_fork["kernels"][name]
        for part in ("raw", "src", "signature", "parameters", "constexprs"):
            assert ours[part] == kernel[part], (name, part)
