"""What a process reads, imports and starts until its first launch, everything being in the cache."""

from __future__ import annotations

import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.startup.running import run

LIBRARY_BYTES = 400_000_000


def warm(python: Path, folder: Path, **variables: str) -> dict[str, Any]:
    run(python, "launch.py", folder, **variables)
    report: dict[str, Any] = run(python, "launch.py", folder, **variables)
    assert report["launches"] == 1
    return report


@pytest.fixture(scope="module")
def of_base(base_python: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return warm(base_python, tmp_path_factory.mktemp("base"))


@pytest.fixture(scope="module")
def of_fork(fork_python: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    time.sleep(2.1)  # an environment made a moment ago is not remembered yet
    return warm(fork_python, tmp_path_factory.mktemp("fork"))


def test_nothing_is_compiled(of_fork: dict[str, Any]) -> None:
    assert not of_fork["compiled"]
    assert "triton.language.semantic" not in of_fork["modules"]


def test_bytes_read(of_base: dict[str, Any], of_fork: dict[str, Any]) -> None:
    assert of_base["bytes_read"] > LIBRARY_BYTES
    assert of_fork["bytes_read"] < 8_000_000


def test_files_opened(of_base: dict[str, Any], of_fork: dict[str, Any]) -> None:
    # Sources are opened for their lines only, once for each module with kernels.
    sources = Counter(Path(path).name for path in of_fork["opened"] if path.endswith(".py"))
    assert sources.pop("launch.py") == 1
    assert set(sources.values()) == {1}
    assert set(sources) == {"__init__.py", "core.py", "random.py", "standard.py", "target_info.py"}
    assert len(of_fork["opened"]) < 0.65 * len(of_base["opened"])


def test_no_process_is_started(of_base: dict[str, Any], of_fork: dict[str, Any]) -> None:
    assert len(of_base["processes"]) == 2
    assert of_fork["processes"] == []


def test_gluon_is_not_imported(of_base: dict[str, Any], of_fork: dict[str, Any]) -> None:
    def gluon(report: dict[str, Any]) -> list[str]:
        return [name for name in report["modules"] if name.startswith("triton.experimental.gluon")]

    assert "triton.experimental.gluon.language._core" in gluon(of_base)
    assert not [name for name in gluon(of_fork) if ".language" in name]
    assert len(gluon(of_fork)) == 6


@pytest.mark.parametrize(
    "module",
    [
        "concurrent.futures",
        "email",
        "importlib.metadata",
        "shutil",
        "statistics",
        "subprocess",
        "tempfile",
        "uuid",
        "zipfile",
        "triton.backends.amd.compiler",
        "triton.language.extra.hip",
        "triton.testing",
    ],
)
def test_what_is_imported(of_base: dict[str, Any], of_fork: dict[str, Any], module: str) -> None:
    assert module in of_base["modules"]
    assert module not in of_fork["modules"]


def test_everything_off_is_the_base(of_base: dict[str, Any], fork_python: Path, tmp_path: Path) -> None:
    off = warm(fork_python, tmp_path, TRITON_FORK="0")
    ours = {name for name in off["modules"] if name.startswith("triton.fork")}
    assert set(of_base["modules"]) - set(off["modules"]) == set()
    assert ours
    assert off["bytes_read"] > LIBRARY_BYTES
    assert len(off["processes"]) == 2


@pytest.mark.parametrize(
    ("switch", "module", "processes", "reads_library"),
    [
        ("TRITON_FORK_INSTALLATION_KEY", "", 0, True),
        ("TRITON_FORK_LAZY_IMPORTS", "triton.experimental.gluon.language._core", 0, False),
        ("TRITON_FORK_BACKEND_DISCOVERY", "importlib.metadata", 0, False),
        ("TRITON_FORK_TOOL_ANSWERS", "subprocess", 2, False),
        ("TRITON_FORK_DEFERRED_SOURCE", "textwrap", 0, False),
    ],
)
def test_switch(
    fork_python: Path, tmp_path: Path, switch: str, module: str, processes: int, reads_library: bool
) -> None:
    report = warm(fork_python, tmp_path, **{switch: "0"})
    assert len(report["processes"]) == processes
    assert (report["bytes_read"] > LIBRARY_BYTES) == reads_library
    assert not module or module in report["modules"]


def test_same_generated_code_key_with_every_switch(fork_python: Path, tmp_path: Path) -> None:
    reports = [
        run(fork_python, "launch.py", tmp_path / name, **{name: "0"}) for name in ("TRITON_FORK_LAZY_IMPORTS", "A")
    ]
    assert reports[0]["hash"] == reports[1]["hash"]
