"""Run the worker in an interpreter under comparison."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fork.equivalence.selection import Task
from fork.errors import ForkError

__all__ = [
    "CompileError",
    "Compiled",
    "CorpusError",
    "InterpreterError",
    "Side",
    "assemble_again",
    "compile_tasks",
    "interpreter",
    "list_corpus",
]

_WORKER = Path(__file__).with_name("worker.py")
#: Variables with these beginnings change what Triton and LLVM do, so that the caller's do not reach the worker...
_WITHHELD = ("TRITON_", "MLIR_", "LLVM_", "AMDGCN_", "NVPTX_", "PYTHON", "DISABLE_", "ENABLE_")
#: ...except the switches of the fork, whose effect a user may want to compare.
_PASSED = "TRITON_FORK"


class CompileError(ForkError):
    """A kernel fails to compile while code is compared."""

    exit_code = 21


class InterpreterError(CompileError):
    """An interpreter to compare does not run or has no Triton."""

    exit_code = 47


class CorpusError(CompileError):
    """A corpus cannot be loaded."""

    exit_code = 49


@dataclass(frozen=True)
class Side:
    """One of the two Tritons.

    :param name: ``base`` or ``fork``.
    :param python: The interpreter that has it.
    """

    name: str
    python: Path


@dataclass(frozen=True)
class Compiled:
    """What became of a task on one side.

    :param artifacts: Name of the artifact (``ttir``, ``cubin``, ``metadata``...) -> its file.
    :param kind: Type of the error, or ``None`` where the case compiled.
    :param error: The error with its traceback.
    :param fixed: Whether the assembler ran at fixed addresses, without which it is not deterministic.
    :param said: The error without what differs between two runs.
    :param package: The folder of the Triton that compiled it.
    """

    artifacts: dict[str, Path]
    kind: str | None = None
    error: str = ""
    fixed: bool = True
    said: str = ""
    package: str = ""


def interpreter(place: Path) -> Path:
    """Find the interpreter that a user means.

    :param place: A Python interpreter or the folder of a virtual environment.
    :raises InterpreterError: There is none.
    """
    python = place / "bin" / "python" if place.is_dir() else place
    if not os.access(python, os.X_OK):
        raise InterpreterError(
            f"'{place}' is neither a Python interpreter nor a virtual environment",
            "name the environment's folder or its bin/python",
        )
    return python.absolute()


def list_corpus(side: Side, corpus: Path, work: Path) -> list[tuple[str, str, list[str]]]:
    """Read the tables of a corpus.

    :param side: Whose Triton the modules import.
    :param corpus: A folder of modules with ``CASES``.
    :param work: A scratch folder.
    :returns: Module, case and targets of each row.
    :raises CorpusError: A module cannot be imported, or there is none.
    """
    output = work / "table.json"
    finished = _run(side, work, {"do": "list", "corpus": str(corpus), "output": str(output)}, "table", work / "home")
    if finished.returncode != 0:
        raise InterpreterError(f"'{side.python}' cannot run the worker: {finished.stderr.strip()[-2000:]}")
    table = json.loads(output.read_text())
    if table["faults"]:
        errors = "\n".join(fault["error"] for fault in table["faults"])
        raise CorpusError(f"modules of '{corpus}' cannot be loaded with the {side.name}:\n{errors}")
    if not table["rows"]:
        raise CorpusError(
            f"'{corpus}' has no cases", "a module there needs a list CASES; see fork/equivalence/cases.py"
        )
    return [(row["module"], row["case"], row["targets"]) for row in table["rows"]]


def compile_tasks(
    side: Side,
    corpus: Path,
    tasks: Sequence[Task],
    work: Path,
    home: Path,
    *,
    locations: bool = False,
    first_ir: bool = False,
) -> dict[Task, Compiled]:
    """Compile tasks in fresh processes with a fresh cache: one process, and one more after each crash.

    :param side: With which Triton.
    :param corpus: Where the cases are.
    :param tasks: What to compile.
    :param work: A scratch folder of these tasks alone.
    :param home: Where Triton appears to be installed; both sides, one after the other, get the same one.
    :param locations: Keep names of values and positions in the source.
    :param first_ir: Stop at the first IR.
    """
    output = work / side.name / "out"
    pending = list(enumerate(tasks))
    results: dict[Task, Compiled] = {}
    while pending:
        listed = [{"index": i, "module": t.module, "case": t.case, "target": t.target} for i, t in pending]
        request = {
            "do": "compile",
            "corpus": str(corpus),
            "output": str(output),
            "tasks": listed,
            "locations": locations,
            "first_ir": first_ir,
        }
        finished = _run(side, work, request, f"tasks{pending[0][0]}", home)
        done = [(i, task) for i, task in pending if (output / str(i) / "status.json").exists()]
        results.update({task: _read(output / str(i)) for i, task in done})
        if len(done) < len(pending):
            index, task = pending[len(done)]
            end = f"the process ended with {finished.returncode}"
            results[task] = Compiled({}, "Crash", f"{end}\n{finished.stderr[-4000:]}", said=end)
            done.append((index, task))
        pending = pending[len(done) :]
    return results


def _read(folder: Path) -> Compiled:
    status = json.loads((folder / "status.json").read_text())
    if not status["ok"]:
        return Compiled({}, status["kind"], status["error"], said=status["said"])
    artifacts = {path.name: path for path in sorted(folder.iterdir()) if path.name != "status.json"}
    return Compiled(artifacts, fixed=status["fixed"], package=status["package"])


def assemble_again(
    side: Side,
    corpus: Path,
    task: Task,
    label: str,
    made: Compiled,
    work: Path,
    home: Path,
    *,
    locations: bool,
    runs: int,
) -> int:
    """Run a side's ptxas on the PTX of a task until it writes the cubin that the other side has.

    :param side: Whose ptxas.
    :param corpus: Where the cases are.
    :param task: The task.
    :param label: The variant of it.
    :param made: What the other side made of it.
    :param work: A scratch folder of this run alone.
    :param home: Where Triton appears to be installed.
    :param locations: Whether the PTX has line tables.
    :param runs: How often to try.
    :returns: How many runs it took; 0 where none wrote that cubin.
    """
    output = work / "assembled.json"
    request = {
        "do": "assemble",
        "corpus": str(corpus),
        "task": {"module": task.module, "case": task.case, "target": task.target},
        "label": label,
        "ptx": str(made.artifacts[f"ptx{label}"]),
        "wanted": str(made.artifacts[f"cubin{label}"]),
        "files": made.package,
        "output": str(output),
        "locations": locations,
        "runs": runs,
    }
    _run(side, work, request, "assemble", home)
    answer = json.loads(output.read_text()) if output.exists() else {"found": False}
    return int(answer["runs"]) if answer["found"] else 0


def _run(side: Side, work: Path, request: dict[str, Any], name: str, home: Path) -> subprocess.CompletedProcess[str]:
    own = work / side.name
    own.mkdir(parents=True, exist_ok=True)
    file = own / f"{name}.json"
    file.write_text(json.dumps({**request, "home": str(home)}))
    environment = {k: v for k, v in os.environ.items() if k.startswith(_PASSED) or not k.startswith(_WITHHELD)}
    environment |= {"TRITON_CACHE_DIR": str(own / f"cache-{name}"), "HOME": str(own)}
    environment["TRITON_DISABLE_LINE_INFO"] = "0" if request.get("locations") else "1"
    return subprocess.run(
        [side.python, "-I", "-B", _WORKER, file],
        env=environment,
        cwd=own,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
