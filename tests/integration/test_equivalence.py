"""The verb ``equivalence`` on real Tritons: it passes where nothing changed, and sees what was changed on purpose."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from fork.equivalence.cases import ALL
from fork.equivalence.comparison import compare
from fork.equivalence.process import CorpusError, InterpreterError, Side, list_corpus
from fork.equivalence.report import DIFFERENT, FAILED, SAME
from fork.equivalence.selection import Selection

KERNELS = Path(__file__).parents[1] / "kernels"

CORPUS = """
import triton
import triton.language as tl
from fork.equivalence.cases import Case, aligned


@triton.jit
def add(x, y, N: tl.constexpr):
    at = tl.arange(0, N)
    tl.store(y + at, tl.load(x + at) + tl.load(y + at))


@triton.jit
def divide(x, y, n, N: tl.constexpr):
    at = tl.arange(0, N)
    tl.store(y + at, tl.load(x + at) * tl.cdiv(n, 4))


CASES = [
    Case("add", add, {"x": "*fp32", "y": "*fp32"}, {"N": 128}, aligned("x", "y"), targets=("cuda:90", "hip:gfx942")),
    Case("divide", divide, {"x": "*i32", "y": "*i32", "n": "i32"}, {"N": 128}, targets=("cuda:90",)),
    Case("check", divide, {"x": "*i32", "y": "*i32", "n": "i32"}, {"N": 128}, options={"debug": True}, targets=("cuda:90",)),
]
"""


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """A folder of kernels such as a user might have."""
    folder = tmp_path / "corpus"
    folder.mkdir()
    (folder / "own.py").write_text(CORPUS)
    return folder


def changed(base_python: Path, folder: Path, file: str = "", old: str = "", new: str = "") -> Path:
    """Make an environment whose Triton is the base's, made of links, but for one file in which a text is replaced."""
    script = "import sysconfig, sys, json; print(sysconfig.get_path('purelib')); print(sys._base_executable)"
    site, base = subprocess.run([base_python, "-c", script], check=True, text=True, capture_output=True).stdout.split()
    subprocess.run([base, "-m", "venv", "--without-pip", folder], check=True)
    target = next((folder / "lib").glob("python*")) / "site-packages"
    for source in Path(site).rglob("*"):
        relative = source.relative_to(site)
        if relative.parts[0].startswith("triton") and source.is_file() and "__pycache__" not in relative.parts:
            (target / relative).parent.mkdir(parents=True, exist_ok=True)
            (target / relative).symlink_to(source)
    if file:
        text = (target / file).read_text()
        assert text.count(old) == 1
        (target / file).unlink()
        (target / file).write_text(text.replace(old, new))
    return folder


@pytest.mark.parametrize("locations", [False, True])
def test_an_unchanged_copy_in_another_folder_is_the_same(
    base_python: Path, corpus: Path, tmp_path: Path, locations: bool
) -> None:
    report = compare(
        base_python, changed(base_python, tmp_path / "copy-in-a-longer-folder"), corpus, locations=locations
    )
    assert [outcome.verdict for outcome in report.outcomes] == [SAME] * 4
    assert list(report.outcomes[0].artifacts) == ["ttir", "ttgir", "metadata", "llir", "ptx", "cubin"]
    assert list(report.outcomes[1].artifacts) == ["ttir", "ttgir", "metadata", "llir", "amdgcn", "hsaco"]
    assert report.exit_code == 0


@pytest.mark.parametrize(("locations", "verdict"), [(False, SAME), (True, DIFFERENT)])
def test_lines_of_the_library_may_move_unless_asked(
    base_python: Path, corpus: Path, tmp_path: Path, locations: bool, verdict: str
) -> None:
    first = "from __future__ import annotations\n\nfrom ..runtime.jit import jit, constexpr_function\n"
    moved = changed(base_python, tmp_path / "fork", "triton/language/standard.py", first, f"{first}\n\n\n")
    report = compare(base_python, moved, corpus, Selection(cases=["add", "divide"]), locations=locations)
    assert [outcome.verdict for outcome in report.outcomes] == [SAME, SAME, verdict]  # `divide` uses that library


@pytest.mark.parametrize(
    ("file", "old", "new", "stage", "cases"),
    [
        pytest.param(
            "triton/language/semantic.py",
            "return self.tensor(self.builder.create_fadd(input.handle, other.handle), input.type)",
            "return self.tensor(self.builder.create_fsub(input.handle, other.handle), input.type)",
            "ttir",
            {"add"},
            id="operator",
        ),
        pytest.param(
            "triton/backends/nvidia/compiler.py",
            'metadata["shared"] = src.get_int_attr("ttg.shared")',
            'metadata["shared"] = src.get_int_attr("ttg.shared") + 16',
            "metadata",
            {"add", "divide", "check"},
            id="launch",
        ),
        pytest.param(
            "triton/backends/nvidia/compiler.py",
            "'-v', *disable_opt",
            "'-v', '--opt-level', '0', *disable_opt",
            "cubin",
            {"add", "divide", "check"},
            id="assembler",
        ),
    ],
)
def test_a_planted_change_is_caught(
    base_python: Path, corpus: Path, tmp_path: Path, file: str, old: str, new: str, stage: str, cases: set[str]
) -> None:
    planted = changed(base_python, tmp_path / "fork", file, old, new)
    report = compare(base_python, planted, corpus, Selection(targets=["cuda:90"]), keep=tmp_path / "kept")
    found = {outcome.task.case: outcome for outcome in report.outcomes if outcome.verdict == DIFFERENT}
    assert found.keys() == cases
    assert {outcome.stage for outcome in found.values()} == {stage}
    assert report.exit_code == 20
    if stage == "ttir":
        assert "arith.addf" in found["add"].detail and "arith.subf" in found["add"].detail
    kept = tmp_path / "kept" / "own-add-cuda-90"
    assert (kept / "base" / stage).read_bytes() != (kept / "fork" / stage).read_bytes()


def test_another_time_of_change_of_a_library_file_is_no_difference(
    base_python: Path, corpus: Path, tmp_path: Path
) -> None:
    """With line tables, ptxas writes the time of change of each source file into the cubin."""
    other = changed(base_python, tmp_path / "fork", "triton/language/standard.py", "def cdiv(", "def cdiv(")
    library = next(other.glob("lib/*/site-packages/triton/language/standard.py"))
    os.utime(library, (1_500_000_000, 1_500_000_000))
    (found,) = compare(base_python, other, corpus, Selection(cases=["divide"]), locations=True).outcomes
    assert (found.verdict, found.assembled) == (SAME, 1)


def test_first_ir_alone_with_its_locations(base_python: Path, corpus: Path, tmp_path: Path) -> None:
    first = "from __future__ import annotations\n\nfrom ..runtime.jit import jit, constexpr_function\n"
    moved = changed(base_python, tmp_path / "fork", "triton/language/standard.py", first, f"{first}\n")
    report = compare(base_python, moved, corpus, Selection(targets=["cuda:90"]), first_ir=True)
    assert [(list(o.artifacts), o.verdict) for o in report.outcomes] == [
        (["source"], SAME),
        (["source"], DIFFERENT),
        (["source"], DIFFERENT),
    ]


@pytest.mark.parametrize(("word", "verdict"), [("planted", SAME), ("grown", DIFFERENT)])
def test_kernels_that_fail_on_both_sides(
    base_python: Path, corpus: Path, tmp_path: Path, word: str, verdict: str
) -> None:
    old = "return self.tensor(self.builder.create_fadd(input.handle, other.handle), input.type)"
    one = changed(base_python, tmp_path / "one", "triton/language/semantic.py", old, "raise RuntimeError('planted')")
    two = changed(base_python, tmp_path / "two", "triton/language/semantic.py", old, f"raise RuntimeError('{word}')")
    report = compare(one, two, corpus, Selection(cases=["add"], targets=["cuda:90"]), errors=True)
    assert [(list(o.artifacts), o.verdict) for o in report.outcomes] == [(["error"], verdict)]


@pytest.mark.parametrize(
    "failure", ["raise RuntimeError('planted')", "__import__('os')._exit(7)"], ids=["error", "crash"]
)
def test_a_case_that_fails_does_not_take_others_with_it(
    base_python: Path, corpus: Path, tmp_path: Path, failure: str
) -> None:
    old = "return self.tensor(self.builder.create_fadd(input.handle, other.handle), input.type)"
    planted = changed(base_python, tmp_path / "fork", "triton/language/semantic.py", old, failure)
    report = compare(base_python, planted, corpus, Selection(targets=["cuda:90"]))
    assert [outcome.verdict for outcome in report.outcomes] == [FAILED, SAME, SAME]
    assert "planted" in report.outcomes[0].detail or "ended with 7" in report.outcomes[0].detail
    assert report.outcomes[0].detail.startswith("base: compiles")
    assert report.exit_code == 21


def test_an_interpreter_without_triton(base_python: Path, corpus: Path, tmp_path: Path) -> None:
    with pytest.raises(InterpreterError, match="no Triton is installed"):
        bare = changed(base_python, tmp_path / "bare")
        for package in bare.glob("lib/*/site-packages/triton"):
            package.rename(package.with_name("gone"))
        compare(base_python, bare, corpus)


def test_a_corpus_that_cannot_be_loaded(base_python: Path, tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match="no cases"):
        compare(base_python, base_python, tmp_path)
    (tmp_path / "broken.py").write_text("import nothing_of_that_name")
    with pytest.raises(CorpusError, match="No module named 'nothing_of_that_name'"):
        compare(base_python, base_python, tmp_path)


def test_of_the_callers_variables_only_the_forks_switches_arrive(
    base_python: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    monkeypatch.setenv("PYTHONPATH", "/nowhere")
    monkeypatch.setenv("TRITON_FORK", "0")
    (tmp_path / "own.py").write_text(
        "import os\nfrom fork.equivalence.cases import Case\n"
        "found = [name for name in ('TRITON_INTERPRET', 'PYTHONPATH', 'TRITON_FORK') if name in os.environ]\n"
        "CASES = [Case(name, None, {}) for name in found]\n"
    )
    rows = list_corpus(Side("base", base_python), tmp_path, tmp_path / "work")
    assert [case for _module, case, _targets in rows] == ["TRITON_FORK"]


def test_a_selection_of_nothing_is_an_error(base_python: Path, corpus: Path) -> None:
    with pytest.raises(CorpusError, match="matches no case"):
        compare(base_python, base_python, corpus, Selection(cases=["misspelt"]))


def test_the_corpus_is_large_and_meets_every_target(base_python: Path, tmp_path: Path) -> None:
    rows = list_corpus(Side("base", base_python), KERNELS, tmp_path)
    assert len(rows) >= 200
    cases_of = {target: sum(target in targets for _module, _case, targets in rows) for target in ALL}
    assert min(cases_of.values()) > 150
    assert {target for _module, _case, targets in rows for target in targets} == set(ALL)
    assert {task.target for task in Selection(quick=True).apply(rows)} == set(ALL)


def test_the_fork_generates_the_same_code_for_the_quick_set(base_python: Path, fork_python: Path) -> None:
    report = compare(base_python, fork_python, KERNELS, Selection(quick=True))
    assert [outcome for outcome in report.outcomes if outcome.verdict != SAME] == []


@pytest.mark.slow
def test_the_fork_generates_the_same_code_for_the_full_set(base_python: Path, fork_python: Path) -> None:
    report = compare(base_python, fork_python, KERNELS)
    assert [outcome for outcome in report.outcomes if outcome.verdict != SAME] == []
