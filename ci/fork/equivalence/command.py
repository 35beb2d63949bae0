"""The verb ``equivalence``: prove that two Tritons generate the same code."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.syntax import Syntax
from rich.table import Table

from fork.equivalence.comparison import compare
from fork.equivalence.report import DIFFERENT, FAILED, SAME, Report
from fork.equivalence.selection import Selection

__all__ = ["add_parser", "run", "show"]

_CORPUS = Path(__file__).resolve().parents[3] / "tests" / "kernels"
_DETAILS = 5


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the verb to the tool's command line.

    :param subparsers: What ``add_subparsers`` returned.
    """
    parser = subparsers.add_parser(
        "equivalence",
        help="compile a corpus of kernels with two Tritons and compare all that they generate",
        description="Exit code 0: all the same. 20: something differs. 21: something fails to compile.",
    )
    parser.add_argument(
        "base", type=Path, metavar="BASE", help="Python or virtual environment with the unpatched Triton"
    )
    parser.add_argument("fork", type=Path, metavar="FORK", help="Python or virtual environment with the patched Triton")
    parser.add_argument("--corpus", type=Path, default=_CORPUS, help="folder of kernels (default: the project's own)")
    parser.add_argument("--quick", action="store_true", help="one target a case instead of all")
    parser.add_argument("--case", action="append", default=[], metavar="PATTERN", help="only these; may be repeated")
    parser.add_argument("--target", action="append", default=[], metavar="cuda:90", help="only these; may be repeated")
    parser.add_argument("--locations", action="store_true", help="compare source positions and line tables as well")
    parser.add_argument(
        "--first-ir", action="store_true", help="stop at the first IR and compare it with its locations"
    )
    parser.add_argument("--errors", action="store_true", help="take failing with the same message for the same")
    parser.add_argument(
        "--jobs", type=int, default=os.cpu_count() or 1, help="processes at a time (default: one a CPU)"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the report for programs")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="keep the artifacts that differ")


def run(args: argparse.Namespace, console: Console) -> int:
    """Compare and show the result.

    :param args: Parsed arguments of :func:`add_parser`.
    :param console: Where the result goes.
    :returns: The exit code of :attr:`Report.exit_code`.
    """
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
    with Progress(*columns, console=console, transient=True) as bar:
        shown = bar.add_task("compile", total=None)
        report = compare(
            args.base,
            args.fork,
            args.corpus,
            Selection(args.quick, args.case, args.target),
            locations=args.locations,
            first_ir=args.first_ir,
            errors=args.errors,
            jobs=args.jobs,
            keep=args.keep,
            progress=lambda done, total: bar.update(shown, completed=done, total=total),
        )
    if args.json:
        args.json.write_text(report.to_json())
    show(report, console)
    return report.exit_code


def show(report: Report, console: Console) -> None:
    """Print a table with a row for each module, then the first differences and failures.

    :param report: What a comparison found.
    :param console: Where to.
    """
    table = Table(title="the same code from base and fork?")
    table.add_column("module")
    for heading in ("cases", "compiled", "artifacts", SAME, DIFFERENT, FAILED):
        table.add_column(heading, justify="right")
    for module in dict.fromkeys(outcome.task.module for outcome in report.outcomes):
        table.add_row(module, *_row(report, module))
    table.add_section()
    table.add_row("all", *_row(report, None))
    console.print(table)
    tasks, runs = report.assembled
    if tasks:
        console.print(
            f"ptxas was run again on the same PTX before the cubins agreed: {tasks} compilations, {runs} runs"
        )
    alike = sum(list(outcome.artifacts) == ["error"] and outcome.verdict == SAME for outcome in report.outcomes)
    if alike:
        console.print(f"failing with the same message on both sides: {alike}")
    troubles = [outcome for outcome in report.outcomes if outcome.verdict != SAME]
    for outcome in troubles[:_DETAILS]:
        where = f", first in {outcome.stage}" if outcome.stage else ""
        console.print(f"{outcome.task}: {outcome.verdict}{where}", style="bold red", markup=False, emoji=False)
        console.print(
            Syntax(outcome.detail, "diff", word_wrap=True) if outcome.stage else outcome.detail,
            markup=False,
            emoji=False,
        )
    if len(troubles) > _DETAILS:
        console.print(f"... and {len(troubles) - _DETAILS} more; --json FILE has them all")


def _row(report: Report, module: str | None) -> list[str]:
    outcomes = [outcome for outcome in report.outcomes if module in (None, outcome.task.module)]
    cases = {(outcome.task.module, outcome.task.case) for outcome in outcomes}
    verdicts = [sum(outcome.verdict == verdict for outcome in outcomes) for verdict in (SAME, DIFFERENT, FAILED)]
    return [str(n) for n in (len(cases), len(outcomes), sum(len(o.artifacts) for o in outcomes), *verdicts)]
