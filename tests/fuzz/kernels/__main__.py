"""Compare base and fork over kernels made by chance.

    python -m tests.fuzz.kernels --base BASE --fork FORK                              2,500 programs, some minutes
    python -m tests.fuzz.kernels --base BASE --fork FORK --seed 7 --count 10000       50,000 programs
    python -m tests.fuzz.kernels --base BASE --fork FORK --language gluon             only Gluon
    python -m tests.fuzz.kernels --base BASE --fork FORK --set TRITON_FORK_LOOPS=0    with a part of the fork turned off
    python -m tests.fuzz.kernels --base BASE --fork FORK --set TRITON_FORK=0          with nothing of it: no keys are compared
    python -m tests.fuzz.kernels --base BASE --fork FORK --program failures/1/0.py  one program that was written

BASE and FORK are Python interpreters of environments with the unpatched Triton and the fork. Each group is a program and four
that differ from it in one place. Compared are, between base and fork, over two of each group: the first IR with locations, errors,
what is printed and warned of; on the fork: that other code has another key, that what nothing reads is in no key, and that keys are
the same in a process with another hash seed. Exit code 0: no difference. 1: differences, the smallest programs with them in the folder given by --failures. 2: wrong usage.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

from tests.fuzz.kernels.comparison import between_sides
from tests.fuzz.kernels.kernels import GENERATORS
from tests.fuzz.kernels.processes import Side
from tests.fuzz.kernels.search import Found, Search

_EVERY = 10.0


def main(arguments: list[str] | None = None) -> int:
    """Run the command.

    :param arguments: The command line.
    :returns: The exit code.
    """
    options = _parser().parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="fuzz-kernels-") as folder:
        search = _search(options, Path(folder))
        try:
            if options.program:
                return _one(search, options.program)
            found = search.run(options.seed, options.count, options.first, options.most)
        finally:
            search.close()
    _show(search, end="\n")
    return 1 if found else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tests.fuzz.kernels", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--base", type=Path, required=True, help="interpreter with the unpatched Triton")
    parser.add_argument("--fork", type=Path, required=True, help="interpreter with the fork")
    parser.add_argument("--seed", type=int, default=0, help="gives the same programs again (default: 0)")
    parser.add_argument("--count", type=int, default=500, help="how many groups of five programs (default: 500)")
    parser.add_argument("--first", type=int, default=0, help="the number of the first group (default: 0)")
    parser.add_argument(
        "--language", choices=[*GENERATORS, "all"], default="all", help="of which programs (default: all)"
    )
    parser.add_argument("--most", type=int, default=20, help="stop after so many kinds of difference (default: 20)")
    parser.add_argument(
        "--set", action="append", default=[], metavar="NAME=VALUE", help="a variable of the fork's process"
    )
    parser.add_argument("--failures", type=Path, default=Path("failures"), help="where programs that differ are kept")
    parser.add_argument("--program", type=Path, metavar="FILE", help="compare this program instead")
    parser.add_argument("--progress", action="store_true", help="say how far it is, every ten seconds")
    return parser


def _search(options: argparse.Namespace, folder: Path) -> Search:
    chosen = list(GENERATORS.values()) if options.language == "all" else [GENERATORS[options.language]]
    variables = dict(one.split("=", 1) for one in options.set)
    started = last = time.monotonic()

    def progress(search: Search) -> None:
        nonlocal last
        now = time.monotonic()
        if options.progress and now - last >= _EVERY:
            last = now
            _show(search, f"{now - started:.0f} s: ")

    return Search(
        Side("base", options.base, folder / "base", {"PYTHONHASHSEED": "1"}),
        Side("fork", options.fork, folder / "fork", {"PYTHONHASHSEED": "2", **variables}),
        Side("again", options.fork, folder / "again", {"PYTHONHASHSEED": "3", **variables}),
        folder / "programs",
        chosen,
        not {"TRITON_FORK=0", "TRITON_FORK_FIXES=0"} & set(options.set),
        progress,
        lambda found: _keep(found, options.failures / str(found.number)),
    )


def _one(search: Search, program: Path) -> int:
    """Compare one program that was written before."""
    for side in (search.base, search.fork):
        side.ask(program.absolute(), wanted="exact" if side is search.base and search.corrected else "ir")
    difference = between_sides(search.base.answer(), search.fork.answer())
    print(f"{difference.kind}\n{difference.detail}" if difference else "no difference")
    return 1 if difference else 0


def _keep(found: Found, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, source in enumerate(found.group.sources):
        (folder / f"{name}.py").write_text(source)
    said = f"{found.difference.kind}\nThe programs differ in: {', '.join(found.group.places)}. Number {found.number} of the seed.\n\n"
    (folder / "report.txt").write_text(said + found.difference.detail + "\n")
    print(f"{found.difference.kind}\n    kept in {folder}", flush=True)


def _show(search: Search, begin: str = "", end: str = "") -> None:
    counts = search.counts
    share = 100 * counts["compiled"] / max(1, counts["compilations"])
    print(f"{begin}{counts['programs']} programs; of those as they were written, {share:.1f} % compile", flush=True)
    for what, count in sorted(counts.items()):
        if what not in ("programs", "compilations", "compiled"):
            print(f"    {count} {what}", flush=True)
    print(end=end)


if __name__ == "__main__":
    sys.exit(main())
