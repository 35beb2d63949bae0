"""The IR of a dozen kernels, checked by lit and the FileCheck that the wheel ships, on base and on fork."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

LIT = Path(__file__).parents[1] / "lit"


def run_lit(python: Path, scratch: Path, folder: Path = LIT) -> subprocess.CompletedProcess[str]:
    """Run lit in a process of its own; what it prints names the checks that failed."""
    command = [
        Path(sys.executable).with_name("lit"),
        "-v",
        "--param",
        f"python={python}",
        "--param",
        f"scratch={scratch}",
        folder,
    ]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("side", ["base_python", "fork_python"])
def test_ir_of_kernels(side: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    done = run_lit(request.getfixturevalue(side), tmp_path)
    assert done.returncode == 0, done.stdout
    tests = len(list(LIT.glob("*.test")))
    assert tests >= 12
    assert f"Passed: {tests} (100.00%)" in done.stdout


def test_a_check_that_does_not_hold_fails(base_python: Path, tmp_path: Path) -> None:
    (tmp_path / "lit.cfg.py").write_text(
        f"lit_config.load_config(config, {str(LIT / 'lit.cfg.py')!r})\nconfig.test_source_root = {str(tmp_path)!r}\n"
    )
    wrong = (LIT / "elementwise.test").read_text().replace("arith.addf", "arith.subf")
    (tmp_path / "wrong.test").write_text(wrong)
    done = run_lit(base_python, tmp_path / "scratch", tmp_path)
    assert done.returncode == 1
    assert "arith.subf" in done.stdout and "expected string not found" in done.stdout
