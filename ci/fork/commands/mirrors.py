"""``mirrors``: upstream functions that our own code re-does."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path

from fork.commands.context import Context, Subparsers, add_download_options, add_lane_option
from fork.commands.rebase import upstream_wheel
from fork.config import Lane
from fork.project import Project
from fork.queue.mirrors import (
    MIRRORS,
    Change,
    Mirror,
    MirrorError,
    Sources,
    changes,
    compared,
    find_mirrors,
    in_tree,
    read_mirrors,
    write_mirrors,
)
from fork.queue.series import read_series
from fork.queue.tree import apply_patches, lay_out

__all__ = ["add_parser", "run"]

_EPILOG = """examples:
  ci/fork.sh mirrors                  list them, with those that changed since they were compared
  ci/fork.sh mirrors --onto 3.8.0     what a new upstream version changed of them: the work that no conflict shows
  ci/fork.sh mirrors --accept         write the lock, after the changed ones were compared with our code

A file of ours names what it re-does in a comment or docstring: `Mirrors python/triton/runtime/jit.py: JITFunction.run`.
"""


def add_parser(subparsers: Subparsers) -> None:
    """Describe the arguments."""
    parser = subparsers.add_parser(
        "mirrors",
        help="list the upstream functions that our own code re-does",
        description="Compares the upstream functions that the overlay, the native extension and decorators of ours re-do with "
        f"{MIRRORS} of the lane.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    action = parser.add_mutually_exclusive_group()
    action.add_argument(
        "--onto", metavar="VERSION", help="compare with this upstream version, or the path of a wheel of it"
    )
    action.add_argument("--accept", action="store_true", help=f"write {MIRRORS}: somebody has compared all of them")
    parser.add_argument("--json", action="store_true", help="print the functions as JSON")
    add_lane_option(parser)
    add_download_options(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace, context: Context) -> int:
    """List the functions, or lock them.

    :raises MirrorError: One is not as it is locked.
    """
    lane = context.lane(arguments)
    wheel = context.any_base(arguments, lane)
    file = context.project.overlay(lane) / MIRRORS
    with context.project.scratch("mirrors") as scratch:
        if arguments.accept:
            earlier = [
                in_tree(lay_out(release, context.any_base(arguments, release), scratch / release.version), "base")
                for release in lane.earlier
            ]
            locked = _found(context.project, lane, wheel, scratch / "tree", earlier)
            write_mirrors(file, locked)
            changed: list[Change] = []
        else:
            locked = read_mirrors(file)
            upstream = upstream_wheel(arguments, context) if arguments.onto else wheel
            changed = changes(locked, in_tree(lay_out(lane, upstream, scratch / "upstream"), "HEAD"))
    _report(arguments, context, locked, changed)
    if changed:
        raise MirrorError(
            f"{len(changed)} of {len(locked)} functions that our code re-does have changed",
            "compare each with the files that re-do it; for the pinned version, `mirrors --accept` then locks them",
        )
    return 0


def _found(project: Project, lane: Lane, wheel: Path, folder: Path, earlier: Iterable[Sources]) -> list[Mirror]:
    git = lay_out(lane, wheel, folder)
    apply_patches(git, read_series(project.patches(lane)).sound())
    return compared(find_mirrors(project.root, project.own_code(lane), git), in_tree(git, "base"), *earlier)


def _report(arguments: argparse.Namespace, context: Context, locked: list[Mirror], changed: list[Change]) -> None:
    now = {change.mirror: change.now for change in changed}
    if arguments.json:
        rows = [{**asdict(mirror), "now": now.get(mirror, mirror.digest)} for mirror in locked]
        context.print_json({"mirrors": rows, "changed": len(changed)})
        return
    if arguments.onto:
        for change in changed:
            context.print_plain(str(change))
        return
    for mirror in locked:
        mark = "" if mirror not in now else "changed: " if now[mirror] else "gone: "
        context.print_plain(f"{mark}{mirror}: {', '.join(mirror.by)}")
