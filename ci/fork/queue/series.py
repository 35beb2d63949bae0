"""The patch queue of a lane: the series file, the patches it lists, and the lock beside it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from fork.errors import ForkError
from fork.queue.patch import Patch, PatchFormatError

__all__ = ["Lock", "QueueError", "Series", "read_lock", "read_series", "write_lock", "write_series"]


class QueueError(ForkError):
    """The patch queue is not in order; the message lists everything that is wrong."""

    exit_code = 11

    def __init__(self, faults: list[str]) -> None:
        lines = "".join(f"\n  - {fault}" for fault in faults)
        super().__init__(f"the patch queue is not in order:{lines}", "mend the files, or `edit`, commit and `refresh`")
        self.faults = faults


@dataclass(frozen=True)
class Series:
    """The patches of a lane in the order in which they apply.

    :param patches: Those that could be read.
    :param faults: What is wrong with the files of the queue: unlisted, missing, duplicate or unparsable patches, bad headers.
    """

    patches: tuple[Patch, ...]
    faults: tuple[str, ...]

    def sound(self) -> tuple[Patch, ...]:
        """Return the patches.

        :raises QueueError: Something is wrong with the queue.
        """
        if self.faults:
            raise QueueError(list(self.faults))
        return self.patches


@dataclass(frozen=True)
class Lock:
    """What applying the series must give; written by ``refresh``, compared by every build.

    :param base: Hash of the git tree of the unpatched wheel base.
    :param patched: Hash of the git tree after the last patch.
    :param files: Path -> git blob of every file that the series changes, for bases that hold more files than a wheel.
    """

    base: str
    patched: str
    files: Mapping[str, str]


def read_series(folder: Path) -> Series:
    """Read the queue of a lane.

    :param folder: ``patches/<lane>``. Lines of ``series`` that are empty or begin with ``#`` do not count.
    """
    faults: list[str] = []
    file = folder / "series"
    names: list[str] = []
    if file.is_file():
        text = file.read_bytes().decode("utf-8", errors="replace")
        faults += [f"'{folder.name}/series' is not UTF-8"] if "\ufffd" in text else []
        lines = (line.strip() for line in text.splitlines())
        names = [line for line in lines if line and not line.startswith("#")]
    else:
        faults.append(f"'{folder.name}/series' is missing")
    on_disk = {path.relative_to(folder).as_posix() for path in folder.rglob("*.patch")}
    faults += [
        f"'{name}' is listed {names.count(name)} times" for name in sorted({n for n in names if names.count(n) > 1})
    ]
    faults += [f"'{name}' is listed in series but missing" for name in dict.fromkeys(names) if name not in on_disk]
    faults += [f"'{name}' is not listed in series" for name in sorted(on_disk - set(names))]
    patches = []
    for name in dict.fromkeys(names):
        if name in on_disk:
            try:
                patches.append(Patch.read(folder, name))
            except PatchFormatError as error:
                faults += [f"'{name}' {fault}" for fault in error.faults]
    return Series(tuple(patches), tuple(faults))


def write_series(folder: Path, patches: tuple[Patch, ...]) -> None:
    """Write the patches and the series, and remove patch files that are in it no longer.

    Comments and empty lines at the head of the series are kept.
    """
    file = folder / "series"
    head = []
    for line in file.read_text("utf-8").splitlines() if file.is_file() else []:
        if line.strip() and not line.startswith("#"):
            break
        head.append(line)
    for patch in patches:
        target = folder / patch.name
        target.parent.mkdir(parents=True, exist_ok=True)
        if not target.is_file() or target.read_bytes() != patch.data:
            target.write_bytes(patch.data)
    listed = [patch.name for patch in patches]
    file.write_text("".join(f"{line}\n" for line in [*head, *listed]), "utf-8")
    for stale in folder.rglob("*.patch"):
        if stale.relative_to(folder).as_posix() not in listed:
            stale.unlink()


def read_lock(folder: Path, name: str = "series.lock") -> Lock | None:
    """Read a lock, or return ``None`` where there is none.

    :param folder: ``patches/<lane>``.
    :param name: The lock of another release than the lane's latest, ``series-3.7.0.lock``.
    :raises QueueError: It is not what :func:`write_lock` writes.
    """
    file = folder / name
    if not file.is_file():
        return None
    try:
        content = json.loads(file.read_text("utf-8"))
        return Lock(content["base-tree"], content["patched-tree"], dict(content["files"]))
    except (ValueError, KeyError, TypeError):
        raise QueueError([f"'{folder.name}/{name}' is damaged; `refresh` writes it anew"]) from None


def write_lock(folder: Path, lock: Lock, name: str = "series.lock") -> None:
    """Write a lock: JSON with the keys ``base-tree``, ``patched-tree`` and ``files``."""
    content = {"base-tree": lock.base, "patched-tree": lock.patched, "files": dict(sorted(lock.files.items()))}
    (folder / name).write_text(json.dumps(content, indent=2) + "\n", "utf-8")
