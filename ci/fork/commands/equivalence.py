"""``equivalence``: whether base and fork generate the same code; see :mod:`fork.equivalence`."""

from __future__ import annotations

import argparse

from fork.commands.context import Context, Subparsers
from fork.equivalence import command

__all__ = ["add_parser", "run"]


def add_parser(subparsers: Subparsers) -> None:
    """Describe the arguments."""
    command.add_parser(subparsers)
    subparsers.choices["equivalence"].set_defaults(run=run)


def run(arguments: argparse.Namespace, context: Context) -> int:
    """Compare, and show the result on standard output."""
    return command.run(arguments, context.results)
