"""``bench``: the fork against the base."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

from fork.base import select_wheels
from fork.bench.peers import make_peer, parse_peer
from fork.bench.program import Program, find_programs
from fork.bench.quantity import BASE, FORK
from fork.bench.report import document, table
from fork.bench.runner import BenchmarkError, Measured, measure
from fork.bench.stand_in import build_stand_in
from fork.builder import build_wheels, prepare
from fork.commands.context import Context, Subparsers, add_download_options, add_lane_option
from fork.environments import make_environment
from fork.interpreters import find_interpreters, inspect_interpreter
from fork.progress import steps
from fork.publishing import output_folder

__all__ = ["add_parser", "run"]

TABLE_WIDTH = 160
"""Columns that a table gets where the output is no terminal."""

_EPILOG = """examples:
  ci/fork.sh bench capture-scope                      this Python, base and fork in environments made for it
  ci/fork.sh bench capture-scope --python installed   each Python found on this machine
  ci/fork.sh bench all --store                        keep JSON and plots in benchmarks/results/
  ci/fork.sh bench launch --base A/bin/python --fork B/bin/python
  ci/fork.sh bench all --peer triton==3.9.0 --peer fbtriton==3.7.4
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
    parser.add_argument("--peer", metavar="NAME==VERSION", action="append", default=[], help="measure this one as well")
    parser.add_argument("--pairs", metavar="N", type=int, default=5, help="runs of each side (default: 5)")
    parser.add_argument("--json", action="store_true", help="print the results as JSON")
    parser.add_argument("--store", action="store_true", help="write JSON, PNG and SVG to benchmarks/results/")
    add_lane_option(parser)
    add_download_options(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace, context: Context) -> int:
    """Measure and report.

    :raises BenchmarkError: There is no such program, or it failed with base or fork.
    """
    known = find_programs(context.project.root / "benchmarks")
    names = list(known) if arguments.name == "all" else [arguments.name]
    if not set(names) <= set(known):
        raise BenchmarkError(f"there is no benchmark '{arguments.name}'", f"there are: all, {', '.join(known)}")
    for peer in arguments.peer:
        parse_peer(peer)
    settings = list(_settings(arguments, context))
    with context.project.scratch("bench") as folder:
        variables = build_stand_in(context.project.root, folder, settings[0][1][BASE])
        for name in names:
            results: dict[str, Measured] = {}
            with steps(context.messages, "measuring") as step:
                for release, sides in settings:
                    results[release] = measure(
                        known[name], sides, pairs=arguments.pairs, environment=variables, step=step
                    )
            _report(arguments, context, known[name], results)
    if arguments.store:
        _draw(context)
    return 0


def _settings(arguments: argparse.Namespace, context: Context) -> Iterator[tuple[str, dict[str, Path]]]:
    """Give the release of each Python and its sides: ``base``, ``fork`` and the peers -> interpreter."""
    for release, python, base, fork in _pairs(arguments, context):
        peers = {
            peer.replace("==", " "): make_peer(context.project, peer, python, context.messages.print)
            for peer in arguments.peer
        }
        yield release, {BASE: base, FORK: fork, **peers}


def _pairs(arguments: argparse.Namespace, context: Context) -> Iterator[tuple[str, Path, Path, Path]]:
    """Give release, interpreter, base's and fork's interpreter for each Python; environments are made where none are named."""
    if arguments.base and arguments.fork:
        # Programs run in folders of their own; links stay, since they tell an environment from its interpreter.
        base, fork = arguments.base.absolute(), arguments.fork.absolute()
        found = inspect_interpreter(base)
        yield (found.release if found else "?"), base, base, fork
        return
    if arguments.base or arguments.fork:
        raise BenchmarkError("--base and --fork go together", "name both interpreters, or none")
    lane = context.lane(arguments)
    wheels = select_wheels(lane, arguments.python)
    files = context.fetch(arguments, wheels)
    with (
        context.project.scratch("build") as scratch,
        output_folder(context.project.wheelhouse),
        steps(context.messages, "building") as step,
    ):
        prepared = prepare(context.project, lane, files[0], scratch, step, [wheel.machine for wheel in wheels])
        bases = list(zip(wheels, files, strict=True))
        built = build_wheels(prepared, bases, context.project.wheelhouse, scratch, step)
    for wheel, file, made in zip(wheels, files, built, strict=True):
        for interpreter in find_interpreters([wheel.python]):
            base, fork = (
                make_environment(context.project, f"bench-{side}-{wheel.python}", source, interpreter.path)
                for side, source in (("base", file), ("fork", made.path))
            )
            yield interpreter.release, interpreter.path, base, fork


def _report(arguments: argparse.Namespace, context: Context, program: Program, results: dict[str, Measured]) -> None:
    content = document(program, results)
    if arguments.json:
        context.print_json(content)
    else:
        if not context.results.is_terminal:
            context.results.width = TABLE_WIDTH
        context.results.print(table(results))
    for release, measured in results.items():
        for side, fault in measured.faults.items():
            context.messages.print(f"{program.name}, {side}, CPython {release}: {fault}", markup=False, highlight=False)
    if arguments.store:
        target = context.project.root / "benchmarks" / "results"
        target.mkdir(exist_ok=True)
        (target / f"{program.name}.json").write_text(json.dumps(content, separators=(",", ":")) + "\n", "utf-8")


def _draw(context: Context) -> None:
    """Draw the plots of all results that are stored.

    :raises BenchmarkError: The environment of the tests, which has matplotlib, cannot be made.
    """
    root = context.project.root
    try:
        found = subprocess.run(
            [str(root / "ci" / "environment.sh"), "test"], check=True, stdout=subprocess.PIPE, text=True
        )
        done = subprocess.run(
            [found.stdout.strip(), "-m", "fork.bench", str(root / "benchmarks" / "results")],
            env={**os.environ, "PYTHONPATH": str(root / "ci")},
            check=True,
            stdout=subprocess.PIPE,
            text=True,
        )
    except subprocess.CalledProcessError as error:
        raise BenchmarkError(f"the plots cannot be drawn: {error}", "see above; the JSON files are written") from None
    context.messages.print(f"written {', '.join(done.stdout.split())}", highlight=False, soft_wrap=True)
