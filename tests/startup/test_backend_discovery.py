"""Backends are found as ``importlib.metadata`` finds them, or left to it."""

from __future__ import annotations

import json
import subprocess
import zipfile
from pathlib import Path
from typing import Any

from tests.startup.running import WORKERS, run

GROUP = "[triton.backends]\n"


def distribution(folder: Path, name: str, text: str | None) -> None:
    metadata = folder / name
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name.partition('-')[0]}\nVersion: 1\n")
    if text is not None:
        (metadata / "entry_points.txt").write_text(text)


def ask(python: Path, *questions: dict[str, Any]) -> list[dict[str, Any]]:
    lines = "".join(json.dumps(question) + "\n" for question in questions)
    answer: list[dict[str, Any]] = json.loads(
        subprocess.check_output([python, WORKERS / "discovery.py"], input=lines, text=True)
    )
    return answer


def test_folders(fork_python: Path, tmp_path: Path) -> None:
    first, second, empty = (tmp_path / name for name in ("first", "second", "empty"))
    empty.mkdir()
    distribution(
        first,
        "plain-1.dist-info",
        f"[console_scripts]\na = b:c\n\n{GROUP}# one\n one = pkg.one \n\n two=pkg.two [extra]\n[x]\n",
    )
    distribution(first, "none-1.dist-info", None)
    distribution(first, "shadowed-1.dist-info", f"{GROUP}kept = first\n")
    distribution(second, "shadowed-2.dist-info", f"{GROUP}lost = second\n")
    distribution(second, "legacy-1-py3.11.egg-info", f"{GROUP}legacy = egg.info\n")
    distribution(second, "similar-1.dist-info", "[triton.backends.other]\nno = no\n")
    (second / "file-1.egg-info").write_text("Metadata-Version: 1.0\nName: file\n")
    paths = [
        [first, second],
        [second, first],
        [empty],
        [first, tmp_path / "missing"],
        [first, first],
        [second, empty, first],
    ]
    for answer in ask(fork_python, *({"path": [str(part) for part in path]} for path in paths)):
        assert answer["found"] == answer["expected"]
    (one,) = ask(fork_python, {"path": [str(first), str(second)]})
    assert sorted(name for name, _ in one["found"]) == ["kept", "legacy", "one", "two"]


def test_left_to_importlib(fork_python: Path, tmp_path: Path) -> None:
    archive = tmp_path / "archive.zip"
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("zipped-1.dist-info/METADATA", "Name: zipped\n")
        file.writestr("zipped-1.dist-info/entry_points.txt", f"{GROUP}zipped = in.zip\n")
    egg = tmp_path / "name.egg"
    distribution(egg, "EGG-INFO", f"{GROUP}egg = in.egg\n")
    spelled = tmp_path / "spelled"
    distribution(spelled, "some_name-1.dist-info", f"{GROUP}a = b\n")
    distribution(tmp_path / "other", "Some.Name-1.dist-info", f"{GROUP}a = c\n")
    questions: list[dict[str, Any]] = [{"path": [str(path)]} for path in (archive, egg)]
    questions += [{"path": [str(spelled), str(tmp_path / "other")]}, {"path": [str(spelled)], "finder": True}]
    assert [answer["found"] for answer in ask(fork_python, *questions)] == [None] * 4


def test_backend_of_another_distribution(fork_python: Path, tmp_path: Path) -> None:
    """A backend that is found when Triton is imported, and makes its package part of the key."""
    package = tmp_path / "path" / "other_backend"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "compiler.py").write_text(
        "from triton.backends.amd.compiler import HIPBackend\nclass Other(HIPBackend):\n"
        "    @staticmethod\n    def supports_target(target):\n        return target.backend == 'other'\ndel HIPBackend\n"
    )
    (package / "driver.py").write_text(
        "from triton.backends.amd.driver import HIPDriver\nclass OtherDriver(HIPDriver):\n    pass\ndel HIPDriver\n"
    )
    distribution(tmp_path / "path", "other_backend-1.dist-info", f"{GROUP}other = other_backend\n")
    reports = [
        run(
            fork_python,
            "backends.py",
            tmp_path,
            PYTHONPATH=str(tmp_path / "path"),
            TRITON_FORK_BACKEND_DISCOVERY=switch,
        )
        for switch in ("1", "0")
    ]
    assert reports[0] == reports[1]
    assert reports[0]["backends"] == ["amd", "nvidia", "other"]
    assert reports[0]["made"] == ["CUDABackend", "HIPBackend", "Other"]
    assert reports[0]["key_folders"] == [str(package)]
