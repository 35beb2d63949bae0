"""Everything that torch takes from Triton is there and works as in the base."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.fake_driver.programs import Both
from tests.semantics.test_inspection import without_known
from tests.semantics.torch_sources import names_in_source, names_in_wheel

SOURCE = """
import triton
import triton.compiler.compiler
import triton.language as tl
from triton.runtime.jit import JITFunction as Jit
from . import triton_heuristics

def function():
    from triton import knobs
    tl.core.dtype("fp32")
    Jit.run(knobs.runtime.debug, triton.Config, config.triton.unrelated)
    return "value = tl.load(x); libdevice.exp(x); other.tl.nothing"
"""


def test_names_are_found_in_a_source() -> None:
    assert names_in_source(SOURCE) == {
        *("triton", "triton.compiler.compiler", "triton.language", "triton.runtime.jit.JITFunction", "triton.knobs"),
        *("triton.language.core", "triton.language.core.dtype", "triton.runtime.jit.JITFunction.run", "triton.Config"),
        *("triton.knobs.runtime", "triton.knobs.runtime.debug", "triton.language.load"),
    }


TORCH = "torch==2.13.0+cpu"


@pytest.fixture(scope="module")
def torch_wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel of torch: TRITON_FORK_TEST_TORCH, or what pip finds where it is set up to look.

    The variable may also name a folder in which torch is installed.
    """
    given = os.environ.get("TRITON_FORK_TEST_TORCH")
    if given:
        return Path(given)
    folder = tmp_path_factory.mktemp("torch")
    command: list[str | Path] = [
        sys.executable,
        "-m",
        "pip",
        "download",
        "--quiet",
        "--no-deps",
        "--dest",
        folder,
        TORCH,
    ]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode != 0:
        pytest.skip(f"pip finds no {TORCH}: {done.stderr.strip()}")
    return next(folder.glob("torch-*.whl"))


@pytest.mark.slow
def test_symbols_that_torch_uses(run_both: Both, torch_wheel: Path, tmp_path: Path) -> None:
    if torch_wheel.is_dir():
        pytest.skip("needs a wheel of torch")
    names = sorted(names_in_wheel(torch_wheel))
    (tmp_path / "names").write_text("\n".join(names))
    base, fork = run_both("symbols.py", str(tmp_path / "names"))
    # Torch serves many releases of Triton, so it asks for names that this one never had.
    there = {name for name in names if base[name]}
    assert {name for name in there if fork[name] != base[name]} == set()
    assert len(there) > 150
    assert {
        *("triton.runtime.jit.JITFunction", "triton.compiler.compiler.ASTSource", "triton.language.core.dtype"),
        *("triton.runtime.autotuner.Autotuner", "triton.backends.compiler.GPUTarget", "triton.language.load"),
    } <= there


@pytest.fixture(scope="module")
def torch_folder(torch_wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with torch and what it needs, for PYTHONPATH."""
    if torch_wheel.is_dir():
        return torch_wheel
    folder = tmp_path_factory.mktemp("torch-installed")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--target", folder, torch_wheel]
    done = subprocess.run(pip, check=False, capture_output=True, text=True)
    if done.returncode != 0:
        pytest.skip(f"pip cannot install torch: {done.stderr.strip()}")
    return folder


@pytest.mark.slow
def test_inductor_calls_triton_as_before(run_both: Both, torch_folder: Path) -> None:
    python_path = os.pathsep.join([str(Path(__file__).resolve().parents[2]), str(torch_folder)])
    base, fork = run_both("torch_inductor.py", PYTHONPATH=python_path)
    assert len(base["launches"]) == 2
    assert "writes=OrderedSet([StarDep(name='out'" in base["accesses"][0]
    assert fork == base


@pytest.mark.slow
def test_compiled_code_calls_what_the_host_may_call(run_both: Both, torch_folder: Path) -> None:
    python_path = os.pathsep.join([str(Path(__file__).resolve().parents[2]), str(torch_folder)])
    base, fork = run_both("dynamo.py", PYTHONPATH=python_path, PYTHONHASHSEED="0")
    # One graph for all sizes where they are dynamic, one for each where they are static.
    assert base["written: cdiv, None"] == ["int 1", "int 1", "int 3", 2]
    assert base["written: nested, True"] == ["int 4", "int 14", "int 812", 1]
    assert base["written: launch with a function, False"] == ["int 2", "int 5", "int 300", 3]
    assert sum(outcome[0] != "error" for outcome in base.values()) > 250
    assert fork.keys() == base.keys()
    assert {name: fork[name] for name in base if fork[name] != base[name]} == {}


@pytest.mark.slow
def test_inductor_pickles_kernels_in_every_state(run_both: Both, torch_folder: Path, tmp_path: Path) -> None:
    python_path = os.pathsep.join([str(Path(__file__).resolve().parents[2]), str(torch_folder)])
    cache = str(tmp_path / "cache")
    for _ in ("cold", "everything in the cache"):
        base, fork = run_both("pickled.py", "torch", PYTHONPATH=python_path, TRITON_CACHE_DIR=cache)
        assert [name for name in base if isinstance(base[name], str)] == ["launched"]
        assert len(base["launches"]) == 6
        assert without_known(fork) == base
