"""``build``: wheels and their index."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from time import monotonic
from urllib.parse import urlsplit

from fork import base
from fork.builder import build_wheels, prepare
from fork.commands.context import Context, Subparsers, add_download_options, add_lane_option
from fork.commands.source import build_from_source
from fork.progress import steps
from fork.publishing import Built, output_folder

__all__ = ["add_parser", "run"]

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
            built = build_from_source(arguments, context, lane, scratch, out)
            downloaded = 0.0
        else:
            wheels = base.select_wheels(lane, arguments.python, arguments.platform, arguments.all)
            files = context.fetch(arguments, wheels)
            downloaded = monotonic() - started
            with steps(context.messages, f"lane {lane.name}") as step:
                prepared = prepare(context.project, lane, files[0], scratch, step, [wheel.machine for wheel in wheels])
                built = build_wheels(prepared, list(zip(wheels, files, strict=True)), out, scratch, step)
    _report(arguments, context, out, built, downloaded, monotonic() - started)
    return 0


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
    if built[0].yanked:
        context.print_plain(
            f"Installers take it only where they name its version: {built[0].yanked}. `ci/fork.sh index --promote` changes that."
        )
    context.print_plain(f"Serve {out} with any web server; pip's --index-url is its address followed by /simple/.")
