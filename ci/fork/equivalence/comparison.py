"""Compile with both Tritons and compare."""

from __future__ import annotations

import difflib
import shutil
import tempfile
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, replace
from functools import partial
from itertools import count, groupby, product
from pathlib import Path

from fork.equivalence.normalise import number_values
from fork.equivalence.process import (
    Compiled,
    CorpusError,
    Side,
    assemble_again,
    compile_tasks,
    interpreter,
    list_corpus,
)
from fork.equivalence.report import DIFFERENT, FAILED, SAME, Outcome, Report
from fork.equivalence.selection import Selection, Task

__all__ = ["compare", "compare_compiled", "settle"]

#: The order in which artifacts come into being; the diff shows the first that differs.
_STAGES = ("source", "ttir", "ttgir", "metadata", "llir", "ptx", "amdgcn", "cubin", "hsaco")
#: Tasks of one process. Starting Triton costs about half a second; a crash costs a process.
_CHUNK = 24
_CHUNK_OF_FIRST_IR = 150
_DIFF_LINES = 200
#: How often a task is compiled again before a difference behind the frontend is believed: eight runs of the base alone gave six
#: different TTGIR of a kernel with clusters.
_REPETITIONS = 8
#: How often ptxas is run again on the same PTX: runs of the base alone gave two to four different cubins.
_RUNS = 8
_NOT_FIXED = (
    "\nThis system does not let programs run at fixed addresses, and ptxas for Blackwell is not deterministic without:"
    " allow the system call personality (in a container: --security-opt seccomp=unconfined)"
)


def compare(
    base: Path,
    fork: Path,
    corpus: Path,
    selection: Selection | None = None,
    *,
    locations: bool = False,
    first_ir: bool = False,
    errors: bool = False,
    jobs: int = 2,
    keep: Path | None = None,
    progress: Callable[[int, int], None] = lambda _done, _all: None,
) -> Report:
    """Compile a corpus with two Tritons and compare all artifacts and the metadata of the launch.

    :param base: An interpreter, or a virtual environment, with the unpatched Triton.
    :param fork: The same with the patched one.
    :param corpus: A folder of modules with tables; see :mod:`fork.equivalence.cases`.
    :param selection: Which cases and targets; all by default.
    :param locations: Compare names of values, positions in the source and line tables as well. They are set aside by default:
        they differ as soon as a patch moves the lines of a library function.
    :param first_ir: Stop at the first IR and compare it, with its locations.
    :param errors: Take a task that fails on both sides with the same message for the same.
    :param jobs: Processes at a time.
    :param keep: Where artifacts that differ are kept, under ``base`` and ``fork``; nowhere by default.
    :param progress: Told the number of tasks done, and of all tasks.
    :raises InterpreterError: An interpreter does not work.
    :raises CorpusError: The corpus cannot be loaded by either side, or has no cases.
    """
    sides = Side("base", interpreter(base)), Side("fork", interpreter(fork))
    corpus = corpus.resolve()
    rules = _Rules(locations or first_ir, first_ir, errors)
    with tempfile.TemporaryDirectory(prefix="equivalence-") as scratch:
        tables = [list_corpus(side, corpus, Path(scratch) / "table") for side in sides]
        tasks = (selection or Selection()).apply(tables[0])
        if not tasks:
            raise CorpusError("the selection matches no case and target", "see --case and --target")
        chunks = list(_chunks(tasks, _CHUNK_OF_FIRST_IR if first_ir else _CHUNK))
        found: dict[Task, Outcome] = {}
        with ThreadPoolExecutor(jobs) as pool:
            futures = [
                pool.submit(_compare_chunk, sides, corpus, chunk, Path(scratch) / str(number), keep, rules)
                for number, chunk in enumerate(chunks)
            ]
            for future in as_completed(futures):
                found.update({outcome.task: outcome for outcome in future.result()})
                progress(len(found), len(tasks))
    return Report(sides[0].python, sides[1].python, corpus, [found[task] for task in tasks])


@dataclass(frozen=True)
class _Rules:
    """What is compared; see :func:`compare`."""

    locations: bool
    first_ir: bool
    errors: bool


def _chunks(tasks: Sequence[Task], size: int) -> Iterator[list[Task]]:
    """Split tasks into processes, keeping the tasks of a module together."""
    for _module, group in groupby(tasks, key=lambda task: task.module):
        members = list(group)
        for start in range(0, len(members), size):
            yield members[start : start + size]


def _compare_chunk(
    sides: tuple[Side, Side], corpus: Path, tasks: Sequence[Task], work: Path, keep: Path | None, rules: _Rules
) -> list[Outcome]:
    home = work / "home"
    build = partial(compile_tasks, corpus=corpus, home=home, locations=rules.locations, first_ir=rules.first_ir)
    base, fork = (build(side, tasks=tasks, work=work) for side in sides)
    assembled = count()

    def repeat(task: Task, number: int) -> tuple[Compiled, Compiled]:
        place = work / f"again{tasks.index(task)}-{number}"
        one, other = (build(side, tasks=[task], work=place)[task] for side in sides)
        return one, other

    def assemble(task: Task, label: str, made: Compiled) -> int:
        place = work / f"assembled{next(assembled)}"
        return assemble_again(sides[0], corpus, task, label, made, place, home, locations=rules.locations, runs=_RUNS)

    outcomes = [
        settle(task, base[task], fork[task], repeat, assemble, locations=rules.locations, errors=rules.errors)
        for task in tasks
    ]
    if keep is not None:
        for outcome in outcomes:
            if outcome.verdict == DIFFERENT:
                _keep(keep, outcome.task, base[outcome.task], fork[outcome.task])
    shutil.rmtree(work)
    return outcomes


def settle(
    task: Task,
    base: Compiled,
    fork: Compiled,
    repeat: Callable[[Task, int], tuple[Compiled, Compiled]],
    assemble: Callable[[Task, str, Compiled], int] = lambda _task, _label, _made: 0,
    *,
    locations: bool = False,
    errors: bool = False,
) -> Outcome:
    """Compare what the two sides made of a task, and again where the compiler behind the frontend may be at fault.

    Where the first artifact that differs is a cubin, the PTX is the same, and the base's ptxas is run on it again: it is not
    deterministic for some kernels, and it writes the times of change of the source files into line tables.

    The compiler before it is not deterministic everywhere either: the placement of work on the blocks of a cluster follows
    addresses in memory. Where a first artifact is equal and a later one is not, both sides compile anew a few times; if one
    result of the base is one of the fork, the two generate the same code.

    :param task: The task.
    :param base: What the base made of it.
    :param fork: What the fork made of it.
    :param repeat: Compiles a task once more on both sides, given the number of the repetition.
    :param assemble: Runs the base's ptxas on the PTX of a variant that the fork made, and says after how many runs it wrote the
        fork's cubin; 0 where it did not.
    :param locations: Whether names of values count.
    :param errors: Whether failing with the same message is the same.
    """
    judge = partial(_judge, task, assemble=assemble, locations=locations, errors=errors)
    outcome = judge(base, fork)
    results: tuple[list[Compiled], list[Compiled]] = [base], [fork]
    for number in range(_REPETITIONS):
        if outcome.verdict != DIFFERENT or not outcome.artifacts or _is_settled(outcome):
            break
        again = repeat(task, number)
        for made, once_more in zip(results, again, strict=True):
            made.append(once_more)
        pairs = (judge(one, other) for one, other in product(*results) if one is again[0] or other is again[1])
        outcome = next((pair for pair in pairs if pair.verdict == SAME), outcome)
    return outcome


def _is_settled(outcome: Outcome) -> bool:
    """Tell whether compiling once more changes nothing: the first artifact differs, or ptxas was run on the same PTX again."""
    return outcome.stage is not None and (
        outcome.stage == outcome.artifacts[0] or outcome.stage.partition("#")[0] == "cubin"
    )


def _judge(
    task: Task,
    base: Compiled,
    fork: Compiled,
    *,
    assemble: Callable[[Task, str, Compiled], int],
    locations: bool,
    errors: bool,
) -> Outcome:
    """Compare what the two sides made of a task, with what ptxas writes when it is run again."""
    settled: set[str] = set()
    runs = 0
    while True:
        outcome = compare_compiled(task, base, fork, locations=locations, errors=errors, settled=settled)
        stage, _, variant = (outcome.stage or "").partition("#")
        needed = assemble(task, f"#{variant}" if variant else "", fork) if stage == "cubin" else 0
        if not needed or outcome.stage is None:
            return replace(outcome, assembled=runs)
        runs += needed
        settled.add(outcome.stage)


def _keep(keep: Path, task: Task, base: Compiled, fork: Compiled) -> None:
    for name, compiled in (("base", base), ("fork", fork)):
        folder = keep / f"{task.module}-{task.case}-{task.target.replace(':', '-')}" / name
        folder.mkdir(parents=True, exist_ok=True)
        for artifact, path in compiled.artifacts.items():
            shutil.copyfile(path, folder / artifact)


def compare_compiled(
    task: Task,
    base: Compiled,
    fork: Compiled,
    *,
    locations: bool = False,
    errors: bool = False,
    settled: Collection[str] = (),
) -> Outcome:
    """Compare what the two sides made of a task.

    :param task: The task.
    :param base: What the base made of it.
    :param fork: What the fork made of it.
    :param locations: Whether names of values count.
    :param errors: Whether failing with the same message is the same.
    :param settled: Artifacts that are known to be the same though their bytes differ.
    """
    if errors and base.kind and fork.kind:
        same = base.said == fork.said
        detail = "" if same else _diff("error", base.said.encode(), fork.said.encode())
        return Outcome(task, SAME if same else DIFFERENT, ["error"], None if same else "error", detail)
    if base.kind or fork.kind:
        parts = [f"{name}: {c.error.strip() or 'compiles'}" for name, c in (("base", base), ("fork", fork))]
        return Outcome(task, FAILED, detail="\n".join(parts))
    names = sorted(base.artifacts.keys() | fork.artifacts.keys(), key=_order)
    for name in names:
        one, other = base.artifacts.get(name), fork.artifacts.get(name)
        if one is None or other is None:
            return Outcome(task, DIFFERENT, names, name, f"only the {'fork' if one is None else 'base'} makes {name}")
        if name not in settled and not _equal(name, one.read_bytes(), other.read_bytes(), locations=locations):
            note = "" if (base.fixed and fork.fixed) or not name.startswith("cubin") else _NOT_FIXED
            return Outcome(task, DIFFERENT, names, name, _diff(name, one.read_bytes(), other.read_bytes()) + note)
    return Outcome(task, SAME, names)


def _equal(name: str, base: bytes, fork: bytes, *, locations: bool) -> bool:
    if base == fork:
        return True
    named = name.partition("#")[0] in ("ttir", "ttgir")
    return named and not locations and number_values(base.decode()) == number_values(fork.decode())


def _order(name: str) -> tuple[str, int]:
    """Sort artifacts by variant, then by stage."""
    stage, _, variant = name.partition("#")
    return variant, _STAGES.index(stage) if stage in _STAGES else len(_STAGES)


def _diff(name: str, base: bytes, fork: bytes) -> str:
    try:
        one, other = (data.decode().splitlines() for data in (base, fork))
    except UnicodeDecodeError:
        at = next((i for i, (a, b) in enumerate(zip(base, fork, strict=False)) if a != b), min(len(base), len(fork)))
        return f"{name}: {len(base)} and {len(fork)} bytes, the first difference at byte {at}"
    lines = list(difflib.unified_diff(one, other, f"base/{name}", f"fork/{name}", lineterm=""))
    more = [f"... and {len(lines) - _DIFF_LINES} more lines"] if len(lines) > _DIFF_LINES else []
    return "\n".join(lines[:_DIFF_LINES] + more)
