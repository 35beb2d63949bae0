"""The version of the fork: upstream's version and a digest of everything that decides the bytes of a wheel."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from packaging.version import Version

from fork.config import Lane
from fork.queue.overlay import source_files
from fork.queue.patch import Patch
from fork.repository import Source

__all__ = ["DECIDING", "Ingredients", "file_digests", "fork_version"]

#: Packages and modules of the tool that decide what goes into a wheel, and where.
DECIDING = (
    "archive",
    "assembly",
    "builder.py",
    "layout.py",
    "native.py",
    "queue/overlay.py",
    "queue/patch.py",
    "queue/tree.py",
    "repository.py",
)


@dataclass(frozen=True)
class Ingredients:
    """What a wheel is made from; each value is a SHA-256.

    :param base: The base: its wheels by file name, or ``source`` -> the pinned commit; and ``pin`` -> the lane's other values.
    :param patches: The patches by name, in the order of the series.
    :param overlay: Our own modules, by path below ``overlay/``, which begins with ``common`` or the name of the lane.
    :param native: The sources of the native extension, by path.
    :param builder: The modules of the tool that decide what goes into a wheel, its pinned requirements and license files, by path.
    :param source: The state of the fork's repository; it stands in the wheel, hence two states give two versions.
    """

    base: Mapping[str, str]
    patches: Mapping[str, str]
    overlay: Mapping[str, str]
    native: Mapping[str, str]
    builder: Mapping[str, str]
    source: Source

    def digest(self) -> str:
        """Condense the ingredients to 64 hexadecimal digits."""
        content = [
            sorted(self.base.items()),
            list(self.patches.items()),
            *(sorted(part.items()) for part in (self.overlay, self.native, self.builder)),
            [self.source.commit, self.source.modified],
        ]
        return hashlib.sha256(json.dumps(content).encode()).hexdigest()

    @classmethod
    def gather(
        cls,
        lane: Lane,
        base: Mapping[str, str],
        patches: Iterable[Patch],
        overlays: Iterable[Path],
        native: Path,
        files: Iterable[Path],
        source: Source,
    ) -> Ingredients:
        """Read the ingredients from the folders of a checkout.

        :param lane: The lane.
        :param base: See the class; without ``pin``.
        :param patches: The series.
        :param overlays: Folders of the lane's overlay; each may be missing.
        :param native: Folder of the native sources; may be missing.
        :param files: The hash-pinned requirements whose libraries and compilers make parts of the wheel, and the license files.
        :param source: The state of the repository.
        """
        builder = {f"fork/{name}": digest for name, digest in _tool_digests().items()}
        undecided = replace(
            lane, wheels=(), state="", supports=(), pythons=(), is_latest=True, earlier=()
        )  # without what changes no bytes
        return cls(
            base={**base, "pin": _sha256(json.dumps(asdict(undecided), sort_keys=True).encode())},
            patches={patch.name: _sha256(patch.data) for patch in patches},
            overlay={
                f"{folder.name}/{name}": digest for folder in overlays for name, digest in file_digests(folder).items()
            },
            native=file_digests(native),
            builder=builder | {path.name: _sha256(path.read_bytes()) for path in files},
            source=source,
        )


def file_digests(folder: Path) -> dict[str, str]:
    """Hash the files that :func:`fork.queue.overlay.source_files` lists.

    :returns: Path with ``/`` -> SHA-256, sorted.
    """
    return {path.relative_to(folder).as_posix(): _sha256(path.read_bytes()) for path in source_files(folder)}


def _tool_digests() -> dict[str, str]:
    tool = Path(__file__).parents[1]
    modules = [path for name in DECIDING for path in (source_files(tool / name) or [tool / name])]
    return {path.relative_to(tool).as_posix(): _sha256(path.read_bytes()) for path in modules}


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def fork_version(lane: Lane, ingredients: Ingredients) -> str:
    """Name the version, such as ``3.6.0+fork.1.q3fa94c21``.

    A local version (PEP 440) satisfies the pin ``triton==3.6.0`` that torch carries. The ``q`` keeps the last part from being
    read as a number.
    """
    return str(Version(f"{lane.version}+{lane.label}.{lane.revision}.q{ingredients.digest()[:8]}"))
