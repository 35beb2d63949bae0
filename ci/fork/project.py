"""Where things lie in a checkout of the fork."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from fork.config import COMMON, Lane, Pin, load
from fork.locks import locked

__all__ = ["Project"]


@dataclass(frozen=True)
class Project:
    """A checkout of the fork.

    :param root: The folder that holds ``fork.toml``.
    """

    root: Path

    @classmethod
    def here(cls) -> Project:
        """Find the checkout that this copy of the tool belongs to, or that ``TRITON_FORK_ROOT`` names."""
        return cls(Path(os.environ.get("TRITON_FORK_ROOT") or Path(__file__).parents[2]).resolve())

    def pin(self) -> Pin:
        """Read ``fork.toml``.

        :raises ConfigError: It is malformed.
        """
        return load(self.root / "fork.toml")

    @property
    def wheelhouse(self) -> Path:
        """Where wheels and the index go unless a command is told otherwise."""
        return self.root / "wheelhouse"

    @property
    def state(self) -> Path:
        """Scratch folder of the tool; can be removed at any time except for an open edit."""
        return self.root / ".fork"

    def patches(self, lane: Lane) -> Path:
        """Folder of the patch queue of a lane."""
        return self.root / "patches" / lane.name

    def overlay(self, lane: Lane) -> Path:
        """Folder of our own modules that one lane alone has, laid out as in a checkout, and of its mirror lock."""
        return self.root / "overlay" / lane.name

    def overlays(self, lane: Lane) -> tuple[Path, ...]:
        """Folders whose union is the overlay of a lane: what all lanes share, and what it has alone; each may be missing."""
        return self.root / "overlay" / COMMON, self.overlay(lane)

    @property
    def native(self) -> Path:
        """Folder of the sources of our native extension."""
        return self.root / "native"

    def own_code(self, lane: Lane) -> tuple[Path, ...]:
        """Folders of all code of ours that goes into the wheels of a lane."""
        return *self.overlays(lane), self.native

    def edit_tree(self, lane: Lane) -> Path:
        """Where ``edit`` opens the tree of a lane."""
        return self.state / "edit" / lane.name

    def rebase_tree(self, lane: Lane) -> Path:
        """Where ``rebase`` works on a lane."""
        return self.state / "rebase" / lane.name

    @contextmanager
    def scratch(self, purpose: str) -> Iterator[Path]:
        """Give an empty folder that is removed at the end, and that only one process has at a time.

        What a killed process left there is removed first.

        :param purpose: Name of the folder below ``.fork/``; processes of the same purpose exclude each other.
        :raises BusyError: Another process has it.
        """
        self.state.mkdir(exist_ok=True)
        folder = self.state / purpose
        with locked(
            self.state / f"{purpose}.lock",
            f"another process runs '{purpose}' in this checkout",
            "wait for it to end, or work in a clone of your own",
        ):
            try:
                shutil.rmtree(folder, ignore_errors=True)
                folder.mkdir()
                yield folder
            finally:
                shutil.rmtree(folder, ignore_errors=True)
