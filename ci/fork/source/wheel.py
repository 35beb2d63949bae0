"""What a wheel must be that upstream's build made: of the planned version, whole, and with the patches in it."""

from __future__ import annotations

from collections.abc import Mapping
from email.parser import BytesHeaderParser
from pathlib import Path

from packaging.utils import InvalidWheelFilename, parse_wheel_filename
from packaging.version import Version

from fork.archive.records import parse_record
from fork.archive.wheels import WheelArchive
from fork.config import Lane
from fork.errors import ForkError
from fork.git import Git
from fork.layout import Layout

__all__ = ["SourceVersionError", "SourceWheelError", "check_source_wheel"]

#: What every wheel of Triton holds; upstream's build once made an empty one without failing (triton-lang/triton#7891).
ESSENTIAL = (
    "triton/__init__.py",
    "triton/_C/libtriton.so",
    "triton/backends/amd/compiler.py",
    "triton/backends/nvidia/compiler.py",
    "triton/backends/nvidia/driver.c",
    "triton/backends/nvidia/driver.py",
    "triton/backends/nvidia/lib/libdevice.10.bc",
    "triton/runtime/jit.py",
)

_ELF = b"\x7fELF"
_NO = ("OFF", "0", "NO", "FALSE", "N")


class SourceVersionError(ForkError):
    """Upstream's build made a wheel of another version than the planned one."""

    exit_code = 44


class SourceWheelError(ForkError):
    """Upstream's build made a wheel that lacks something; the message lists what."""

    exit_code = 46


def check_source_wheel(wheel: Path, lane: Lane, version: str, git: Git, settings: Mapping[str, str]) -> None:
    """Check a wheel that upstream's build made.

    :param wheel: The wheel.
    :param lane: Gives the layout.
    :param version: The planned version.
    :param git: The repository that it was built from: the queue lies between ``base`` and ``HEAD``.
    :param settings: The environment of the build.
    :raises SourceVersionError: File name or METADATA say another version.
    :raises SourceWheelError: A file is missing or is not what the queue made it.
    """
    with WheelArchive.open(wheel) as archive:
        _check_version(archive, version)
        names = {member.filename for member in archive.members if not member.is_dir()}
        faults = [f"{name} is missing" for name in ESSENTIAL if name not in names]
        listed = set(parse_record(archive.read(f"{archive.dist_info}/RECORD").decode()))
        faults += [f"{name} is not in RECORD" for name in sorted(names - listed)]
        faults += [f"{name} is in RECORD but missing" for name in sorted(listed - names)]
        if "triton/_C/libtriton.so" in names and archive.read("triton/_C/libtriton.so")[:4] != _ELF:
            faults.append("triton/_C/libtriton.so is not a shared library")
        faults += _queue_faults(archive, names, Layout.of(lane), git, settings)
    if faults:
        raise SourceWheelError(f"'{wheel.name}' is not whole: {'; '.join(faults)}", "the output of the build says more")


def _check_version(archive: WheelArchive, version: str) -> None:
    try:
        named = str(parse_wheel_filename(archive.path.name)[1])
    except InvalidWheelFilename as error:
        raise SourceVersionError(f"upstream's build made '{archive.path.name}': {error}") from None
    metadata = BytesHeaderParser().parsebytes(archive.read(f"{archive.dist_info}/METADATA"))
    for where, found in (("file name", named), ("METADATA", str(metadata["Version"]))):
        if found != str(Version(version)):
            raise SourceVersionError(
                f"upstream's build made version {found} ({where}), planned is {version}",
                "compare `version` in fork.toml with TRITON_VERSION in setup.py of the submodule",
            )


def _queue_faults(
    archive: WheelArchive, names: set[str], layout: Layout, git: Git, settings: Mapping[str, str]
) -> list[str]:
    profiler = settings.get("TRITON_BUILD_PROTON", "").upper() not in _NO
    faults = []
    for path, removed in _changes(git):
        name = layout.to_wheel(path)
        if name is None or not layout.is_source(name) or (name.startswith("triton/profiler/") and not profiler):
            continue
        if removed:
            faults += [f"{name} is there, though the queue removes it"] if name in names else []
        elif name not in names:
            faults.append(f"{name} is missing, though the queue changes it")
        elif archive.read(name) != git.run("cat-file", "blob", f"HEAD:{path}").stdout:
            faults.append(f"{name} is not what the queue made it")
    return faults


def _changes(git: Git) -> list[tuple[str, bool]]:
    """List the files that the queue changes, each with whether it removes it."""
    fields = git("diff", "--name-status", "--no-renames", "-z", "base", "HEAD").split("\0")
    return [(path, status == "D") for status, path in zip(fields[::2], fields[1::2], strict=False)]
