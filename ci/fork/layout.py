"""Between the paths of a wheel and those of a checkout."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePosixPath

from fork.config import Lane

__all__ = ["Layout"]

_SOURCE_SUFFIXES = frozenset({".py", ".pyi", ".c", ".cc", ".cpp", ".h"})


@dataclass(frozen=True)
class Layout:
    """Maps paths both ways by the prefixes that ``fork.toml`` gives for a lane.

    :param prefixes: Pairs of prefixes in a wheel and in a checkout; the first that fits counts.
    """

    prefixes: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, lane: Lane) -> Layout:
        """Take the layout of a lane."""
        return cls(lane.layout)

    def to_tree(self, path: str) -> str | None:
        """Map a path in the wheel to the checkout; ``None`` where no prefix fits."""
        return next((tree + path.removeprefix(wheel) for wheel, tree in self.prefixes if path.startswith(wheel)), None)

    def to_wheel(self, path: str) -> str | None:
        """Map a path in the checkout to the wheel; ``None`` for a file that is not shipped."""
        return next((wheel + path.removeprefix(tree) for wheel, tree in self.prefixes if path.startswith(tree)), None)

    def is_source(self, path: str) -> bool:
        """Tell whether a member of the wheel is source that a patch may change.

        The headers that upstream bundles from CUDA and ROCm lie in ``include/`` and are not.
        """
        parts = PurePosixPath(path)
        return parts.suffix in _SOURCE_SUFFIXES and "include" not in parts.parts and self.to_tree(path) is not None
