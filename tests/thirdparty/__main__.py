"""Kernels of third-party packages: ``python -m tests.thirdparty --help``."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from rich.console import Console

from fork.equivalence.command import show
from fork.equivalence.process import interpreter
from fork.errors import ForkError
from tests.thirdparty.comparing import compare_packages
from tests.thirdparty.packages import Package, PackageError, environment, pinned, unpacked
from tests.thirdparty.searching import SIGNATURES, search
from tests.thirdparty.table import write_corpus


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tests.thirdparty",
        description="Kernels of third-party packages, pinned in packages.txt, compiled by the unpatched Triton and by the fork.",
    )
    verbs = parser.add_subparsers(dest="verb", required=True)
    one = verbs.add_parser("compare", help="compare first IR of all kernels and all artifacts of a sample")
    one.add_argument("base", type=Path, help="Python or virtual environment with the unpatched Triton")
    one.add_argument("fork", type=Path, help="Python or virtual environment with the patched Triton")
    one.add_argument(
        "--one-in", type=int, default=24, help="size of the sample; 0: none (default: one signature in 24)"
    )
    one.add_argument("--json", type=Path, metavar="FOLDER", help="write both reports for programs")
    two = verbs.add_parser("search", help="search signatures anew and store them, after a change of packages.txt")
    two.add_argument("base", type=Path, help="Python or virtual environment with the unpatched Triton")
    three = verbs.add_parser("corpus", help="write a corpus for `ci/fork.sh equivalence --corpus FOLDER`")
    three.add_argument("folder", type=Path)
    for verb in (one, two, three):
        verb.add_argument("--package", action="append", default=[], help="only this one; may be repeated")
    for verb in (one, two):
        verb.add_argument(
            "--jobs", type=int, default=os.cpu_count() or 1, help="processes at a time (default: one a CPU)"
        )
    return parser


def _chosen(names: list[str]) -> list[Package]:
    return [package for package in pinned() if not names or package.name in names]


def _compare(args: argparse.Namespace, console: Console) -> int:
    figures = compare_packages(args.base, args.fork, _chosen(args.package), one_in=args.one_in, jobs=args.jobs)
    for name, report in (("first-ir", figures.first), ("sample", figures.whole)):
        show(report, console)
        if args.json:
            args.json.mkdir(parents=True, exist_ok=True)
            (args.json / f"{name}.json").write_text(report.to_json())
    for line in figures.lines():
        console.print(line, markup=False, highlight=False, soft_wrap=True)
    return figures.first.exit_code or figures.whole.exit_code


def main() -> int:
    """Do what the command line says.

    :returns: The exit code, as of ``ci/fork.sh equivalence``.
    """
    args, console = _parser().parse_args(), Console()
    try:
        if args.verb == "compare":
            return _compare(args, console)
        if args.verb == "search":
            search(interpreter(args.base), _chosen(args.package), args.jobs, console.print)
        else:
            args.folder.mkdir(parents=True)
            folders = {package.module: folder for package, folder in unpacked(_chosen(args.package)).items()}
            write_corpus(args.folder, folders, SIGNATURES, environment())
    except (ForkError, PackageError) as error:
        console.print(f"error: {error}", markup=False)
        return error.exit_code if isinstance(error, ForkError) else 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
