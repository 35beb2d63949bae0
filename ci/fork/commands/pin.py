"""``pin``: the rows of fork.toml for the wheels of an upstream release."""

from __future__ import annotations

import argparse

from packaging.version import InvalidVersion, Version

from fork.commands.context import Context, Subparsers
from fork.download import package_index
from fork.errors import UsageError

__all__ = ["add_parser", "run"]

_EPILOG = """examples:
  ci/fork.sh pin 3.8.0 --lane 3.8 >> fork.toml     the wheels of a new lane
  ci/fork.sh pin 3.7.0 --lane 3.7 >> fork.toml     those of an earlier release that the lane serves too

Compare the hashes with another source before you trust them: whatever is pinned here is what all builds are made of.
"""


def add_parser(subparsers: Subparsers) -> None:
    """Describe the arguments."""
    parser = subparsers.add_parser(
        "pin",
        help="print the wheels of an upstream release for fork.toml",
        description="Asks the package index for the wheels of a release, and prints name, size and SHA-256 of each.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("version", metavar="VERSION", help="published upstream version")
    parser.add_argument("--lane", metavar="NAME", required=True, help="lane whose table they are for; may be a new one")
    parser.add_argument(
        "--index-url", metavar="URL", help="package index (default: TRITON_FORK_INDEX_URL, else pip's own)"
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace, context: Context) -> int:
    """Print the rows.

    :raises UsageError: What is asked for is no version.
    :raises IndexLacksFileError: No index has a wheel of it.
    """
    try:
        Version(arguments.version)
    except InvalidVersion:
        raise UsageError(f"'{arguments.version}' is not a version", "name a published one, such as 3.8.0") from None
    urls = package_index.index_urls(arguments.index_url)
    for wheel in package_index.list_release("triton", arguments.version, urls):
        context.print_plain(
            f'\n[[lane."{arguments.lane}".wheel]]\nfile = "{wheel.filename}"\nsize = {wheel.size}\nsha256 = "{wheel.sha256}"'
        )
    return 0
