"""The real base wheel and the real fork's wheel, for tests that need them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from fork.base import select_wheels
from fork.config import BaseWheel, Lane
from fork.download import base_wheels, package_index

__all__ = ["base_wheel", "build", "repository", "this_python"]

#: The checkout under test.
repository = Path(__file__).parents[2]

this_python = f"{sys.version_info.major}.{sys.version_info.minor}"


def base_wheel(lane: Lane, python: str = this_python, machine: str | None = None) -> Path:
    """Give the base wheel for a Python and a machine, this one by default, verified."""
    pinned: BaseWheel = select_wheels(lane, [python], [machine] if machine else [])[0]
    return base_wheels.fetch(
        pinned,
        cache=base_wheels.default_cache(),
        index_urls=package_index.index_urls(None),
        find_links=[],
        progress=None,
    )


def build(*arguments: str, wheelhouse: Path) -> list[Path]:
    """Run ``build.sh`` into a folder and return the wheels that it built or found unchanged."""
    command = [str(repository / "build.sh"), *arguments, "--json", "--out", str(wheelhouse)]
    done = subprocess.run(command, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    return [wheelhouse / wheel["file"] for wheel in json.loads(done.stdout)["wheels"]]
