"""The verdict on one case, and the report that is made of the verdicts."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from fork.equivalence.command import show
from fork.equivalence.comparison import compare_compiled, settle
from fork.equivalence.process import Compiled, InterpreterError, interpreter
from fork.equivalence.report import DIFFERENT, FAILED, SAME, Outcome, Report
from fork.equivalence.selection import Task

TASK = Task("matmul", "plain", "cuda:90")
STAGES = {"ttir": b"a\nb\nc\n", "ttgir": b"d\n", "ptx": b"e\n", "cubin": b"\xff\1\2", "metadata": b"{}"}


def compiled(folder: Path, artifacts: dict[str, bytes], *, fixed: bool = True) -> Compiled:
    folder.mkdir()
    for name, data in artifacts.items():
        (folder / name).write_bytes(data)
    return Compiled({name: folder / name for name in artifacts}, fixed=fixed)


def compare(tmp_path: Path, fork: dict[str, bytes], *, fixed: bool = True) -> Outcome:
    return compare_compiled(TASK, compiled(tmp_path / "base", STAGES), compiled(tmp_path / "fork", fork, fixed=fixed))


def test_equal_artifacts(tmp_path: Path) -> None:
    outcome = compare(tmp_path, STAGES)
    assert outcome.verdict == SAME
    assert list(outcome.artifacts) == ["ttir", "ttgir", "metadata", "ptx", "cubin"]


def test_the_first_stage_that_differs_is_shown(tmp_path: Path) -> None:
    outcome = compare(tmp_path, STAGES | {"cubin": b"\xff\1\3", "ttgir": b"D\n", "ttir": b"a\nB\nc\n"})
    assert (outcome.verdict, outcome.stage) == (DIFFERENT, "ttir")
    assert outcome.detail.splitlines() == ["--- base/ttir", "+++ fork/ttir", "@@ -1,3 +1,3 @@", " a", "-b", "+B", " c"]


@pytest.mark.parametrize(("locations", "verdict"), [(False, SAME), (True, DIFFERENT)])
def test_names_of_values_are_set_aside_unless_asked(tmp_path: Path, locations: bool, verdict: str) -> None:
    base = compiled(tmp_path / "base", {"ttir": b"%x = one\n%y = two %x", "llir": b"%x = one"})
    fork = compiled(tmp_path / "fork", {"ttir": b"%0 = one\n%1 = two %0", "llir": b"%x = one"})
    assert compare_compiled(TASK, base, fork, locations=locations).verdict == verdict


def test_names_of_values_count_after_the_frontend(tmp_path: Path) -> None:
    base, fork = (compiled(tmp_path / name, {"llir": b"%" + name.encode()}) for name in ("base", "fork"))
    assert compare_compiled(TASK, base, fork).verdict == DIFFERENT


def test_a_difference_in_the_binary_alone(tmp_path: Path) -> None:
    outcome = compare(tmp_path, STAGES | {"cubin": b"\xff\1\3"})
    assert (outcome.verdict, outcome.stage) == (DIFFERENT, "cubin")
    assert outcome.detail == "cubin: 3 and 3 bytes, the first difference at byte 2"


def test_a_binary_from_an_assembler_at_random_addresses_says_so(tmp_path: Path) -> None:
    assert "seccomp" in compare(tmp_path, STAGES | {"cubin": b"\xff\1\3"}, fixed=False).detail


def test_a_binary_that_is_the_beginning_of_the_other(tmp_path: Path) -> None:
    assert "at byte 2" in compare(tmp_path, STAGES | {"cubin": b"\xff\1"}).detail


def test_an_artifact_of_one_side_only(tmp_path: Path) -> None:
    outcome = compare(tmp_path, {name: data for name, data in STAGES.items() if name != "ptx"})
    assert (outcome.verdict, outcome.stage, outcome.detail) == (DIFFERENT, "ptx", "only the base makes ptx")


def test_long_diffs_are_cut(tmp_path: Path) -> None:
    outcome = compare(tmp_path, STAGES | {"ttir": b"x\n" * 1000})
    assert outcome.detail.splitlines()[-1] == "... and 806 more lines"


def test_a_compiler_that_is_not_deterministic_is_asked_again(tmp_path: Path) -> None:
    base = compiled(tmp_path / "base", STAGES)
    swapped = compiled(tmp_path / "swapped", STAGES | {"ptx": b"f\n"})
    asked = []

    def repeat(_task: Task, number: int) -> tuple[Compiled, Compiled]:
        asked.append(number)
        return (swapped if number == 2 else base), swapped

    assert settle(TASK, base, swapped, repeat).verdict == SAME
    assert asked == [0, 1, 2]


def test_a_difference_that_stays_is_believed_and_one_of_the_frontend_at_once(tmp_path: Path) -> None:
    base = compiled(tmp_path / "base", STAGES)
    asked = []

    def again(other: Compiled) -> Outcome:
        def repeat(_task: Task, number: int) -> tuple[Compiled, Compiled]:
            asked.append(number)
            return base, other

        return settle(TASK, base, other, repeat)

    assert again(compiled(tmp_path / "late", STAGES | {"ptx": b"f\n"})).stage == "ptx"
    assert asked == list(range(8))
    # On the same PTX ptxas was run again already.
    assert again(compiled(tmp_path / "last", STAGES | {"cubin": b"\xff\2\1"})).stage == "cubin"
    assert asked == list(range(8))
    assert again(compiled(tmp_path / "early", STAGES | {"ttir": b"x"})).stage == "ttir"
    assert asked == list(range(8))


def test_a_cubin_of_the_same_ptx_is_assembled_again_before_it_counts(tmp_path: Path) -> None:
    base = compiled(tmp_path / "base", STAGES | {"ptx#1": b"p", "cubin#1": b"1", "ptx#2": b"q", "cubin#2": b"2"})
    fork = compiled(tmp_path / "fork", STAGES | {"ptx#1": b"p", "cubin#1": b"one", "ptx#2": b"q", "cubin#2": b"two"})
    asked = []

    def assemble(_task: Task, label: str, made: Compiled) -> int:
        assert made is fork
        asked.append(label)
        return {"#1": 3, "#2": 1}[label]

    outcome = settle(TASK, base, fork, lambda _task, _number: pytest.fail("compiled again"), assemble)
    assert (outcome.verdict, outcome.assembled, asked) == (SAME, 4, ["#1", "#2"])
    assert list(outcome.artifacts)[-2:] == ["ptx#2", "cubin#2"]


def test_ptxas_is_not_asked_where_something_before_the_cubin_differs(tmp_path: Path) -> None:
    base = compiled(tmp_path / "base", STAGES)
    fork = compiled(tmp_path / "fork", STAGES | {"ptx": b"E", "cubin": b"1"})
    outcome = settle(TASK, base, fork, lambda *_: (base, fork), lambda *_: pytest.fail("assembled"))
    assert (outcome.verdict, outcome.stage, outcome.assembled) == (DIFFERENT, "ptx", 0)


def test_a_cubin_that_ptxas_never_writes_again_differs(tmp_path: Path) -> None:
    base = compiled(tmp_path / "base", STAGES)
    fork = compiled(tmp_path / "fork", STAGES | {"cubin": b"1"})
    outcome = settle(TASK, base, fork, lambda *_: (base, fork), lambda *_: 0)
    assert (outcome.verdict, outcome.stage, outcome.assembled) == (DIFFERENT, "cubin", 0)


@pytest.mark.parametrize(("said", "verdict"), [("TypeError: no", SAME), ("TypeError: never", DIFFERENT)])
def test_failing_with_the_same_message_is_the_same_where_errors_count(tmp_path: Path, said: str, verdict: str) -> None:
    base = Compiled({}, "TypeError", "traceback of the base", said="TypeError: no")
    fork = Compiled({}, "TypeError", "traceback of the fork", said=said)
    outcome = compare_compiled(TASK, base, fork, errors=True)
    assert (outcome.verdict, list(outcome.artifacts)) == (verdict, ["error"])
    assert compare_compiled(TASK, base, fork).verdict == FAILED
    assert compare_compiled(TASK, base, compiled(tmp_path / "fork", STAGES), errors=True).verdict == FAILED


def test_failure_on_one_side_and_on_both(tmp_path: Path) -> None:
    good, bad = compiled(tmp_path / "base", STAGES), Compiled({}, "CompilationError", "at 3:4")
    outcome = compare_compiled(TASK, good, bad)
    assert (outcome.verdict, outcome.detail) == (FAILED, "base: compiles\nfork: at 3:4")
    assert compare_compiled(TASK, bad, bad).verdict == FAILED


def report(*verdicts: str) -> Report:
    outcomes = [
        Outcome(
            Task("matmul", f"case{i}", "cuda:100"), verdict, ["ttir"], "ttir" if verdict == DIFFERENT else None, "+x"
        )
        for i, verdict in enumerate(verdicts)
    ]
    return Report(Path("base"), Path("fork"), Path("corpus"), outcomes)


@pytest.mark.parametrize(
    ("verdicts", "code"),
    [([SAME], 0), ([SAME, FAILED], 21), ([SAME, DIFFERENT], 20), ([FAILED, DIFFERENT], 20)],
)
def test_exit_codes(verdicts: list[str], code: int) -> None:
    assert report(*verdicts).exit_code == code


def test_json_holds_every_outcome() -> None:
    document = json.loads(report(SAME, DIFFERENT).to_json())
    assert document["counts"] == {"same": 1, "different": 1, "failed": 0}
    assert document["assembled"] == {"tasks": 0, "runs": 0}
    assert [outcome["case"] for outcome in document["outcomes"]] == ["case0", "case1"]
    assert document["outcomes"][1]["detail"] == "+x"


def test_the_table_counts_and_the_first_troubles_are_shown() -> None:
    console = Console(file=StringIO(), width=120, color_system=None)
    show(report(SAME, *[DIFFERENT] * 6, FAILED), console)
    text = console.file.getvalue()  # type: ignore[attr-defined]
    assert "matmul/case1 for cuda:100: different, first in ttir" in text
    assert "... and 2 more" in text
    row = next(line for line in text.splitlines() if "matmul " in line)
    assert [cell.strip() for cell in row.split("│")[1:-1]] == ["matmul", "8", "8", "8", "1", "6", "1"]


def test_runs_of_ptxas_that_were_needed_and_equal_failures_are_said() -> None:
    console = Console(file=StringIO(), width=120, color_system=None)
    outcomes = [Outcome(TASK, SAME, ["ptx", "cubin"], assembled=n) for n in (0, 2, 3)] + [
        Outcome(TASK, SAME, ["error"])
    ]
    made = Report(Path("base"), Path("fork"), Path("corpus"), outcomes)
    show(made, console)
    text = console.file.getvalue()  # type: ignore[attr-defined]
    assert "ptxas was run again on the same PTX before the cubins agreed: 2 compilations, 5 runs" in text
    assert "failing with the same message on both sides: 1" in text
    assert json.loads(made.to_json())["assembled"] == {"tasks": 2, "runs": 5}


def test_an_interpreter_or_the_folder_of_an_environment(tmp_path: Path) -> None:
    python = tmp_path / "bin" / "python"
    python.parent.mkdir()
    python.write_text("#!/bin/sh\n")
    python.chmod(0o755)
    assert interpreter(tmp_path) == interpreter(python) == python
    with pytest.raises(InterpreterError, match="neither a Python interpreter"):
        interpreter(tmp_path / "bin")
