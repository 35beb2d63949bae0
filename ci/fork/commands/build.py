"""``build``: wheels and their index."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from pathlib import Path
from time import monotonic
from urllib.parse import urlsplit

from fork import base
from fork.builder import build_wheels, prepare
from fork.commands.context import Context, Subparsers, add_download_options, add_lane_option
from fork.config import BaseWheel, Lane
from fork.errors import UsageError
from fork.progress import steps
from fork.publishing import Built, output_folder
from fork.source_builder import build_from_source

__all__ = ["add_parser", "run"]

_Bases = list[tuple[BaseWheel, Path]]

_EXAMPLES = """examples:
  ./build.sh                                    a wheel for the python3 on PATH
  ./build.sh --python installed                 one for each Python found on this machine
  ./build.sh --python 3.12 --platform aarch64   one for another machine
  ./build.sh --all                              every Python and platform that upstream published for
  ./build.sh --source                           from the sources in triton/, C++ and all
  ./build.sh --json                             what was built, for machines
"""


def add_parser(subparsers: Subparsers) -> None:
    """Describe the arguments."""
    parser = subparsers.add_parser(
        "build",
        help="build wheels and the index",
        description="Applies the queue to the pinned Triton, assembles wheels, verifies them and writes the index.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--python",
        metavar="VERSION",
        action="append",
        default=[],
        help="Python to build for, 3.12 or 3.13t, or 'installed'; repeatable",
    )
    parser.add_argument(
        "--platform",
        metavar="MACHINE",
        action="append",
        default=[],
        help="x86_64 or aarch64; repeatable (default: this machine's)",
    )
    parser.add_argument("--all", action="store_true", help="every wheel that upstream published")
    parser.add_argument(
        "--source", action="store_true", help="build the triton/ submodule instead of patching the published wheel"
    )
    parser.add_argument("--out", metavar="DIR", type=Path, help="where wheels and simple/ go (default: wheelhouse/)")
    parser.add_argument("--json", action="store_true", help="print what was built as JSON")
    add_lane_option(parser)
    add_download_options(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace, context: Context) -> int:
    """Build, and print a table of what was built or, with ``--json``, a document."""
    started = monotonic()
    os.umask(0o022)  # so that the files of the index can be served, whatever the user's mask
    lane = context.lane(arguments)
    out = (arguments.out or context.project.wheelhouse).resolve()
    with context.project.scratch("build") as scratch, output_folder(out):
        if arguments.source:
            _refuse_choices(arguments)
            with steps(context.messages, f"lane {lane.name}") as step:
                built = build_from_source(context.project, lane, scratch, out, step)
            downloaded = 0.0
        else:
            bases = [
                (release, _bases(arguments, context, release, pythons))
                for release, pythons in base.pythons_of_releases(lane, arguments.python)
            ]
            downloaded = monotonic() - started
            built = _build(context, bases, scratch, out)
    _report(arguments, context, out, built, downloaded, monotonic() - started)
    return 0


def _refuse_choices(arguments: argparse.Namespace) -> None:
    if arguments.python or arguments.platform or arguments.all:
        raise UsageError(
            "--source builds for the Python of the tool and for this machine only",
            "leave --python, --platform and --all out; TRITON_FORK_PYTHON names another Python",
        )


def _bases(arguments: argparse.Namespace, context: Context, release: Lane, pythons: Sequence[str]) -> _Bases:
    wheels = base.select_wheels(release, pythons, arguments.platform, arguments.all)
    return list(zip(wheels, context.fetch(arguments, wheels), strict=True))


def _build(context: Context, releases: list[tuple[Lane, _Bases]], scratch: Path, out: Path) -> list[Built]:
    """Build the wheels of each release; nothing is published unless the queue is in order on all of them."""
    prepared, built = [], []
    for release, bases in releases:
        folder = scratch / release.version
        folder.mkdir()
        with steps(context.messages, f"Triton {release.version}") as step:
            machines = [wheel.machine for wheel, _ in bases]
            prepared.append((prepare(context.project, release, bases[0][1], folder, step, machines), bases, folder))
    for plan, bases, folder in prepared:
        with steps(context.messages, f"Triton {plan.lane.version}") as step:
            built += build_wheels(plan, bases, out, folder, step)
    return built


def _report(
    arguments: argparse.Namespace, context: Context, out: Path, built: list[Built], downloaded: float, total: float
) -> None:
    if arguments.json:
        context.print_json(
            {
                "wheelhouse": str(out),
                "seconds": {"download": round(downloaded, 2), "total": round(total, 2)},
                "wheels": [
                    {
                        "file": wheel.path.name,
                        "sha256": wheel.sha256,
                        "size": wheel.size,
                        "changed": wheel.changed,
                        "imported_by": wheel.imported_by,
                        "yanked": wheel.yanked or None,
                    }
                    for wheel in built
                ],
            }
        )
        return
    for wheel in built:
        note = "new" if wheel.changed else "unchanged"
        note += f", imported by CPython {wheel.imported_by}" if wheel.imported_by else ", no Python here to import it"
        context.print_plain(f"{wheel.path.name}  {wheel.size / 1e6:.0f} MB, {wheel.seconds:.1f} s, {note}")
    context.print_plain(f"{total:.1f} s in all, {downloaded:.1f} s of it to get and check the base wheels.")
    identity = context.lane(arguments).identity
    if (urlsplit(identity.repository).hostname or "").endswith(".example"):
        context.print_plain(
            f"The wheels name {identity.repository} as the fork's: before you publish, name yours in fork.toml."
        )
    for reason in dict.fromkeys(wheel.yanked for wheel in built if wheel.yanked):
        context.print_plain(
            f"Installers take it only where they name its version: {reason}. `ci/fork.sh index --promote` changes that."
        )
    context.print_plain(f"Serve {out} with any web server; pip's --index-url is its address followed by /simple/.")
