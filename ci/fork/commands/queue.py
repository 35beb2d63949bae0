"""``check``, ``edit`` and ``refresh``: the patch queue."""

from __future__ import annotations

import argparse

from fork.commands.context import Context, Subparsers, add_download_options, add_lane_option
from fork.progress import steps
from fork.queue.check import check_lane
from fork.queue.edit import open_tree, refresh
from fork.queue.series import QueueError

__all__ = ["add_parser", "run_check", "run_edit", "run_refresh"]

_EDIT_EPILOG = """example:
  ci/fork.sh edit
  cd .fork/edit/3.6 && $EDITOR python/triton/runtime/jit.py && git commit -a
  ci/fork.sh refresh

A commit becomes the patch file that its 'Patch-Name:' trailer names. To change an existing patch, use
`git commit --fixup` and `git rebase -i --autosquash base`. Where a patch does not apply, the tree is opened at that patch, with
`git am` under way. To remove one, remove its commit and name it: `ci/fork.sh refresh --drop speed/name.patch`.
"""


def add_parser(subparsers: Subparsers) -> None:
    """Describe the arguments of the three verbs."""
    check = subparsers.add_parser(
        "check",
        help="list everything that is wrong with the queue",
        description="Applies the queue, compares the trees with the lock, exports every patch again, looks at the overlay.",
    )
    check.add_argument("--json", action="store_true", help="print the faults as JSON")
    check.set_defaults(run=run_check)
    edit = subparsers.add_parser(
        "edit",
        help="open the patched tree, each patch a commit",
        description="Opens the patched tree as a git repository in .fork/edit/<lane>.",
        epilog=_EDIT_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    edit.add_argument("--discard", action="store_true", help="throw away an open tree with work in it")
    edit.set_defaults(run=run_edit)
    fresh = subparsers.add_parser(
        "refresh",
        help="write the commits back as patch files and lock the tree",
        description="Writes the commits of the open tree back as patch files, and locks the hash of the tree that they give. "
        "With no tree open, locks what the patch files give.",
    )
    fresh.add_argument(
        "--drop",
        metavar="PATCH",
        action="append",
        default=[],
        help="remove this patch, whose commit was removed on purpose",
    )
    fresh.set_defaults(run=run_refresh)
    for parser in (check, edit, fresh):
        add_lane_option(parser)
        add_download_options(parser)


def run_check(arguments: argparse.Namespace, context: Context) -> int:
    """List the faults of the queue.

    :raises QueueError: There are any.
    """
    lane = context.lane(arguments)
    faults: list[str] = []
    for release in lane.releases:
        base = context.any_base(arguments, release)
        with context.project.scratch("check") as scratch:
            found = check_lane(context.project, release, base, scratch)
        new = [fault for fault in found if fault not in faults]  # what the files say is the same for all releases
        faults += new if release.version == lane.version else [f"on {release.version}: {fault}" for fault in new]
    if arguments.json:
        context.print_json({"lane": lane.name, "faults": faults})
        return QueueError.exit_code if faults else 0
    if faults:
        raise QueueError(faults)
    context.print_plain(f"Lane {lane.name}: the queue is in order.")
    return 0


def run_edit(arguments: argparse.Namespace, context: Context) -> int:
    """Open the tree and print where it is."""
    lane = context.lane(arguments)
    base = context.any_base(arguments, lane)
    with steps(context.messages, "applying") as step:
        folder = open_tree(context.project, lane, base, discard=arguments.discard, progress=step)
    context.messages.print("Commit your changes there, then run: ci/fork.sh refresh", highlight=False)
    context.print_plain(str(folder))
    return 0


def run_refresh(arguments: argparse.Namespace, context: Context) -> int:
    """Write the patch files and print what changed."""
    lane = context.lane(arguments)
    base = context.any_base(arguments, lane)
    with context.project.scratch("refresh") as scratch:
        earlier = [(release, context.any_base(arguments, release)) for release in lane.earlier]
        done = refresh(context.project, lane, base, scratch, drop=arguments.drop, earlier=earlier)
    for name in done.written:
        context.print_plain(f"written  {name}")
    for name in done.removed:
        context.print_plain(f"removed  {name}")
    context.print_plain(f"{done.kept} patches unchanged")
    return 0
