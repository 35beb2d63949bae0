"""Looks for programs of launches for which two environments differ: ``python -m tests.launch_sequences BASE FORK``."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tests.fake_driver.programs import prepare

from .comparison import PARTS
from .features import features
from .programs import programs
from .search import Finding, Pair, Search, side

EXAMPLES = """examples:
  python -m tests.launch_sequences base/bin/python fork/bin/python
  python -m tests.launch_sequences base/bin/python fork/bin/python --programs 5000 --seed 7 --backend hip
  python -m tests.launch_sequences base/bin/python fork/bin/python --replay found.json
"""


def parser() -> argparse.ArgumentParser:
    """Describe the command line."""
    made = argparse.ArgumentParser(
        prog="python -m tests.launch_sequences",
        description="Do random programs of launches in two environments; print what differs, made short. "
        "Exit code: 0 where nothing differs, 1 where something does.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    made.add_argument("base", type=Path, help="interpreter of an environment with the unpatched Triton")
    made.add_argument("fork", type=Path, help="interpreter of an environment with the fork")
    made.add_argument("--programs", type=int, default=500, metavar="N", help="programs to run (default 500)")
    made.add_argument("--seed", type=int, default=1, metavar="N", help="where random choices start (default 1)")
    made.add_argument("--length", type=int, default=10, metavar="N", help="most steps of a program (default 10)")
    made.add_argument("--backend", choices=["cuda", "hip"], default="cuda", help="the driver (default cuda)")
    made.add_argument("--early", action="store_true", help="let the first question to an argument change something")
    made.add_argument("--questions", action="store_true", help="foreign objects must be asked exactly as often")
    made.add_argument(
        "--only", choices=PARTS, nargs="*", default=PARTS, help="what is compared of a step (default: all)"
    )
    made.add_argument(
        "--save", type=Path, metavar="DIR", help="write what is found there, as files for --replay and --known"
    )
    made.add_argument("--known", type=Path, nargs="*", default=[], metavar="FILE", help="pass over programs like these")
    made.add_argument(
        "--folder", type=Path, metavar="DIR", help="where caches and fake drivers are kept (default: none kept)"
    )
    made.add_argument("--replay", type=Path, metavar="FILE", help="run one program, in JSON, instead of random ones")
    made.add_argument(
        "--env", action="append", default=[], metavar="NAME=VALUE", help="environment variable of the fork's side"
    )
    return made


def search(options: argparse.Namespace, folder: Path) -> int:
    """Do what the command line says.

    :param options: the parsed command line
    :param folder: where caches and fake drivers are
    :returns: how many differences were found
    """
    prepare(options.base, folder)
    extra = dict(setting.split("=", 1) for setting in options.env)
    found = 0
    with (
        side(options.base, folder, folder / f"{options.backend}_base", options.backend) as base,
        side(options.fork, folder, folder / f"{options.backend}_fork", options.backend, **extra) as fork,
    ):
        pair = Pair(base, fork, questions=options.questions, parts=options.only)
        if options.replay:
            program = json.loads(options.replay.read_text())
            differing = pair.run(program)
            print(Finding(program, differing))
            return len(differing)
        strategy = programs(options.backend, options.length, early=options.early)
        known = [features(json.loads(path.read_text())) for path in options.known]
        looking = Search(pair, strategy, known)
        for each in looking.find_all(options.programs, options.seed, lambda text: print(text, file=sys.stderr)):
            found += 1
            print(f"difference {found} after {pair.seen['programs']} programs:\n{each}\n", flush=True)
            if options.save:
                options.save.mkdir(parents=True, exist_ok=True)
                (options.save / f"{options.backend}-{options.seed}-{found}.json").write_text(json.dumps(each.program))
        print(f"{found} differences; {dict(pair.seen)}")
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line.

    :param arguments: the command line; this process's by default
    :returns: the exit code
    """
    options = parser().parse_args(arguments)
    if options.folder:
        options.folder.mkdir(parents=True, exist_ok=True)
        return min(1, search(options, options.folder.resolve()))
    with tempfile.TemporaryDirectory() as folder:
        return min(1, search(options, Path(folder)))


if __name__ == "__main__":
    sys.exit(main())
