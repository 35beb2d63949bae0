"""What every verb is handed."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from rich.console import Console

from fork import base
from fork.config import BaseWheel, Lane
from fork.download import base_wheels, package_index
from fork.progress import byte_progress
from fork.project import Project

__all__ = ["Context", "Subparsers", "Verb", "add_download_options", "add_lane_option"]

Subparsers = Any  # argparse names the type of add_subparsers() only privately


class Verb(Protocol):
    """A module of :mod:`fork.commands`."""

    def add_parser(self, subparsers: Subparsers) -> None:
        """Describe the verb's arguments; set ``run`` as a default of the parser."""


@dataclass(frozen=True)
class Context:
    """Where a verb works and whom it talks to.

    :param project: The checkout.
    :param messages: Console on standard error, for progress and notes.
    :param results: Console on standard output, for what was asked for.
    """

    project: Project
    messages: Console
    results: Console

    def lane(self, arguments: argparse.Namespace) -> Lane:
        """Give the lane that ``--lane`` names."""
        return self.project.pin().lane(arguments.lane)

    def fetch(self, arguments: argparse.Namespace, wheels: Sequence[BaseWheel]) -> list[Path]:
        """Bring base wheels into the cache, verified, showing progress.

        :param arguments: With the options of :func:`add_download_options`.
        """
        cache = arguments.cache or base_wheels.default_cache()
        index_urls = package_index.index_urls(arguments.index_url)
        for wheel in wheels:
            if not self.messages.is_terminal and not (cache / wheel.sha256 / wheel.filename).is_file():
                size = f"{wheel.size / 1e6:.0f} MB"
                self.messages.print(f"getting {wheel.filename}, {size}", highlight=False, soft_wrap=True)
        with byte_progress(self.messages) as progress:
            return [
                base_wheels.fetch(
                    wheel,
                    cache=cache,
                    index_urls=index_urls,
                    find_links=arguments.find_links,
                    progress=progress,
                )
                for wheel in wheels
            ]

    def any_base(self, arguments: argparse.Namespace, lane: Lane) -> Path:
        """Give one base wheel of a lane, verified; one in the cache if there is any, since the sources are the same in all."""
        cache = arguments.cache or base_wheels.default_cache()
        cached = [wheel for wheel in lane.wheels if (cache / wheel.sha256 / wheel.filename).is_file()]
        return self.fetch(arguments, cached[:1] or base.select_wheels(lane))[0]

    def print_json(self, document: Any) -> None:
        """Print a document for machines."""
        self.results.print_json(json.dumps(document))

    def print_plain(self, text: str) -> None:
        """Print text as it is, without wrapping or colours."""
        self.results.print(text, markup=False, highlight=False, soft_wrap=True)


Run = Callable[[argparse.Namespace, Context], int]


def add_lane_option(parser: argparse.ArgumentParser) -> None:
    """Add ``--lane``."""
    parser.add_argument("--lane", metavar="NAME", help="lane of fork.toml (default: its default-lane)")


def add_download_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that say where base wheels come from."""
    group = parser.add_argument_group("where base wheels come from")
    group.add_argument(
        "--index-url", metavar="URL", help="package index (default: TRITON_FORK_INDEX_URL, else pip's own)"
    )
    group.add_argument(
        "--find-links",
        metavar="DIR",
        type=Path,
        action="append",
        default=[],
        help="folder with wheels, looked at before any index",
    )
    group.add_argument(
        "--cache", metavar="DIR", type=Path, help="folder that keeps downloads (default: TRITON_FORK_CACHE)"
    )
