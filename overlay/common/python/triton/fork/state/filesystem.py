"""Which file systems give every change of a file a new change time that a program cannot put back."""

# ruff: noqa: PTH123
# pathlib is one of the imports that a start goes without.

from __future__ import annotations

import os

from triton.fork.python.interruptions import pass_on

__all__ = ["keeps_change_time"]

# Left out on purpose: squashfs, erofs and iso9660 report the modification time as the change time, so that two images built
# with the same SOURCE_DATE_EPOCH look alike; cifs lets a client set it; most FUSE file systems make it up.
_TRUSTED = frozenset(
    {"9p", "bcachefs", "beegfs", "btrfs", "ceph", "ext2", "ext3", "ext4", "f2fs", "fuse.fuse-overlayfs", "gpfs"}
    | {"jfs", "lustre", "nfs", "nfs4", "overlay", "ramfs", "reiserfs", "tmpfs", "virtiofs", "xfs", "zfs"}
)
_MOUNTS = "/proc/self/mountinfo"


def keeps_change_time(path: str) -> bool:
    """Tell whether a file lies on a file system whose change times can be relied on.

    :param path: Any path on the file system.
    :returns: ``False`` also where the system does not say which file system it is.
    """
    try:
        with open(_MOUNTS, encoding="utf-8", errors="surrogateescape") as file:
            lines = file.read().splitlines()
    except OSError as error:
        pass_on(error)
        return False
    return _type_of(os.path.realpath(path), lines) in _TRUSTED


def _type_of(path: str, lines: list[str]) -> str:
    """Find the type of the mount that a resolved path lies in; the last of several at one place is the visible one."""
    longest, kind = "", ""
    for line in lines:
        before, _, after = line.partition(" - ")
        fields = before.split(" ")
        if len(fields) < 5 or not after:
            continue
        place = _unescape(fields[4])
        inside = path == place or path.startswith(place.rstrip("/") + "/")
        if inside and len(place) >= len(longest):
            longest, kind = place, after.split(" ")[0]
    return kind


def _unescape(place: str) -> str:
    """Undo the octal escapes that the kernel writes for blanks and backslashes."""
    for code, character in (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")):
        place = place.replace(code, character)
    return place
