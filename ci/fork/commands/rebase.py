"""``rebase``: carry the queue over to another upstream version."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from pathlib import Path

from packaging.version import InvalidVersion, Version
from rich.markup import escape
from rich.table import Table

from fork import base
from fork.commands.context import Context, Subparsers, add_download_options, add_lane_option
from fork.download import package_index
from fork.errors import UsageError
from fork.git import Git
from fork.progress import steps
from fork.queue.mirrors import MIRRORS, Change, changes, in_tree, read_mirrors
from fork.queue.rebase import (
    Outcome,
    RebaseConflictError,
    continue_rebase,
    discard_rebase,
    export_rebase,
    start_rebase,
)

__all__ = ["add_parser", "run", "upstream_wheel"]

_EPILOG = """examples:
  ci/fork.sh rebase --onto 3.7.0              see how each patch fares
  ci/fork.sh rebase --continue                go on after `git add` of a settled conflict
  ci/fork.sh rebase --export patches/3.7      write what was carried over, also midway
  ci/fork.sh rebase --discard                 throw away what is under way
"""


def add_parser(subparsers: Subparsers) -> None:
    """Describe the arguments."""
    parser = subparsers.add_parser(
        "rebase",
        help="carry the queue over to another upstream version",
        description="Says for every patch: clean, offset, 3-way, already upstream, or conflict with file and hunk. After a "
        "conflict the outcomes of the rest are predicted: each is tried without the patches that conflict. Then come the upstream "
        "functions that our own code re-does and that changed.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    action = parser.add_mutually_exclusive_group()
    action.add_argument(
        "--onto", metavar="VERSION", help="published upstream version, or the path of one of its wheels"
    )
    action.add_argument("--continue", dest="go_on", action="store_true", help="go on after a conflict was settled")
    action.add_argument("--export", metavar="DIR", type=Path, help="write the patches as they are now")
    parser.add_argument(
        "--discard", action="store_true", help="throw away a rebase that is under way; alone, or with --onto"
    )
    parser.add_argument("--json", action="store_true", help="print the outcomes as JSON")
    add_lane_option(parser)
    add_download_options(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace, context: Context) -> int:
    """Rebase and print the outcomes.

    :raises RebaseConflictError: A patch conflicts.
    :raises UsageError: The arguments contradict each other, or name no version.
    """
    lane = context.lane(arguments)
    if arguments.discard and not arguments.onto:
        if arguments.go_on or arguments.export:
            raise UsageError("--discard throws away what the other option asks for", "give one of them")
        context.print_plain(f"Thrown away: {discard_rebase(context.project, lane)}")
        return 0
    if not (arguments.onto or arguments.go_on or arguments.export):
        raise UsageError("nothing was asked for", "give --onto, --continue, --export or --discard")
    if arguments.export:
        names = export_rebase(context.project, lane, arguments.export)
        locked = (
            "a series.lock"
            if (arguments.export / "series.lock").is_file()
            else "no series.lock before the rebase is done"
        )
        context.print_plain(f"{len(names)} patches, a series and {locked} in {arguments.export}")
        return 0
    with steps(context.messages, "carrying over") as step:
        if arguments.go_on:
            outcomes = continue_rebase(context.project, lane, step=step)
        else:
            old = context.any_base(arguments, lane)
            new = upstream_wheel(arguments, context)
            outcomes = start_rebase(context.project, lane, old, new, discard=arguments.discard, step=step)
    changed = changes(
        read_mirrors(context.project.overlay(lane) / MIRRORS), in_tree(Git(context.project.rebase_tree(lane)), "base")
    )
    _report(arguments, context, outcomes, changed)
    conflict = next((each for each in outcomes if each.status == "conflict" and not each.predicted), None)
    if conflict:
        raise RebaseConflictError(
            f"'{conflict.name}' conflicts: {conflict.detail}",
            f"settle it in {context.project.rebase_tree(lane)}, `git add` the files, then `ci/fork.sh rebase --continue`",
        )
    return 0


def upstream_wheel(arguments: argparse.Namespace, context: Context) -> Path:
    """Get the wheel that ``--onto`` names by its version or its path."""
    local = Path(arguments.onto)
    if local.is_file():
        return local
    try:
        Version(arguments.onto)
    except InvalidVersion:
        raise UsageError(
            f"'{arguments.onto}' is neither a version nor the path of a wheel",
            "the queue is carried to a published version, such as 3.7.0; for a branch or commit of upstream, build its wheel "
            "(`pip wheel` in a checkout) and give the path of that",
        ) from None
    pinned = base.select_wheels(context.lane(arguments))[0]
    wheel = package_index.find_release(
        "triton", arguments.onto, pinned.tags, package_index.index_urls(arguments.index_url)
    )
    return context.fetch(arguments, [wheel])[0]


def _report(arguments: argparse.Namespace, context: Context, outcomes: list[Outcome], changed: list[Change]) -> None:
    if arguments.json:
        work = [{**asdict(change.mirror), "now": change.now} for change in changed]
        context.print_json({"patches": [asdict(outcome) for outcome in outcomes], "mirrors": work})
        return
    _print_outcomes(context, outcomes)
    if changed:
        context.print_plain("\nFunctions that our own code re-does, to be compared with what upstream has now:")
        for change in changed:
            context.print_plain(f"  {change}")


def _print_outcomes(context: Context, outcomes: list[Outcome]) -> None:
    rows = [(each.name, f"{each.status}{', predicted' * each.predicted}", each.detail) for each in outcomes]
    if not context.results.is_terminal:
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        for row in rows:
            context.print_plain("  ".join(map(str.ljust, row, widths)).rstrip())
        return
    table = Table("patch", "outcome", "detail", box=None, pad_edge=False)
    for row in rows:
        table.add_row(*map(escape, row))
    context.results.print(table)
