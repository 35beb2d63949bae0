"""``bench``: the fork against the base."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from fork.base import select_wheels
from fork.bench.report import document, plot, table
from fork.bench.runner import BenchmarkError, Quantity, measure
from fork.builder import build_wheels, output_folder, prepare
from fork.commands.context import Context, Subparsers, add_download_options, add_lane_option
from fork.environments import make_environment
from fork.interpreters import find_interpreters, inspect_interpreter
from fork.progress import steps

__all__ = ["add_parser", "run"]

_EPILOG = """examples:
  ci/fork.sh bench capture-scope                      this Python, base and fork in environments made for it
  ci/fork.sh bench capture-scope --python installed   each Python found on this machine
  ci/fork.sh bench all --store                        keep JSON and plots in benchmarks/results/
  ci/fork.sh bench launch --base A/bin/python --fork B/bin/python
"""


def add_parser(subparsers: Subparsers) -> None:
    """Describe the arguments."""
    parser = subparsers.add_parser(
        "bench",
        help="time the fork against the base",
        description="Runs a program of benchmarks/ in fresh processes with base and fork in turn; prints medians, the median "
        "of the pairs' ratios and their quartiles.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("name", help="a program of benchmarks/, without .py and with '-' for '_', or 'all'")
    parser.add_argument("--python", metavar="VERSION", action="append", default=[], help="as for build")
    parser.add_argument("--base", metavar="PYTHON", type=Path, help="interpreter with the unpatched Triton")
    parser.add_argument("--fork", metavar="PYTHON", type=Path, help="interpreter with the fork")
    parser.add_argument("--pairs", metavar="N", type=int, default=5, help="runs of each side (default: 5)")
    parser.add_argument("--json", action="store_true", help="print the results as JSON")
    parser.add_argument("--store", action="store_true", help="write JSON, PNG and SVG to benchmarks/results/")
    add_lane_option(parser)
    add_download_options(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace, context: Context) -> int:
    """Measure and report.

    :raises BenchmarkError: There is no such program, or it failed.
    """
    folder = context.project.root / "benchmarks"
    known = {path.stem.replace("_", "-"): path for path in sorted(folder.glob("[a-z]*.py"))}
    names = list(known) if arguments.name == "all" else [arguments.name]
    if not set(names) <= set(known):
        raise BenchmarkError(f"there is no benchmark '{arguments.name}'", f"there are: all, {', '.join(known)}")
    sides = list(_sides(arguments, context))
    for name in names:
        results: dict[str, Sequence[Quantity]] = {}
        with steps(context.messages, "measuring") as step:
            for label, base, fork in sides:
                results[label] = measure(known[name], base, fork, pairs=arguments.pairs, step=step)
        _report(arguments, context, name, results)
    return 0


def _sides(arguments: argparse.Namespace, context: Context) -> Iterator[tuple[str, Path, Path]]:
    """Give a label, the base's and the fork's interpreter for each Python; environments are made where none are named."""
    if arguments.base and arguments.fork:
        found = inspect_interpreter(arguments.base)
        yield (found.release if found else "?"), arguments.base, arguments.fork
        return
    if arguments.base or arguments.fork:
        raise BenchmarkError("--base and --fork go together", "name both interpreters, or none")
    lane = context.lane(arguments)
    wheels = select_wheels(lane, arguments.python)
    files = context.fetch(arguments, wheels)
    with (
        context.project.scratch("build") as scratch,
        output_folder(context.project.wheelhouse) as staging,
        steps(context.messages, "building") as step,
    ):
        prepared = prepare(context.project, lane, files[0], scratch, step)
        bases = list(zip(wheels, files, strict=True))
        built = build_wheels(prepared, bases, context.project.wheelhouse, staging, step)
    for wheel, file, made in zip(wheels, files, built, strict=True):
        for interpreter in find_interpreters([wheel.python]):
            base, fork = (
                make_environment(context.project, f"bench-{side}-{wheel.python}", source, interpreter.path)
                for side, source in (("base", file), ("fork", made.path))
            )
            yield interpreter.release, base, fork


def _report(arguments: argparse.Namespace, context: Context, name: str, results: dict[str, Sequence[Quantity]]) -> None:
    content = document(name, results)
    if arguments.json:
        context.print_json(content)
    else:
        context.results.print(table(results), soft_wrap=True)
    if arguments.store:
        target = context.project.root / "benchmarks" / "results"
        target.mkdir(exist_ok=True)
        (target / f"{name}.json").write_text(json.dumps(content, indent=1) + "\n", "utf-8")
        for setting, quantities in results.items():
            suffix = "" if len(results) == 1 else f"-{setting}"
            files = plot(f"{name}, CPython {setting}", quantities, target / f"{name}{suffix}")
            context.messages.print(f"written {', '.join(file.name for file in files)}", highlight=False)
