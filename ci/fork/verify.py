"""Whether a wheel is whole, says the truth about itself, and differs from its base only where it says so."""

from __future__ import annotations

import configparser
import hashlib
import json
import re
import stat
import zipfile
from base64 import urlsafe_b64encode
from pathlib import Path
from typing import Any

from packaging.metadata import Metadata
from packaging.utils import InvalidWheelFilename, parse_wheel_filename

from fork.assembly.archive import ArchiveError, WheelArchive
from fork.assembly.provenance import PROVENANCE
from fork.assembly.records import parse_record
from fork.assembly.sbom import SBOM
from fork.errors import ForkError

__all__ = ["VerifyError", "verify_wheel", "wheel_faults"]

_PROGRAMS = re.compile(r"\.so(\.\d+)*$|/bin/[^/.]+$|/FileCheck$")
_PIECE = 1 << 20


class VerifyError(ForkError):
    """A wheel is not in order; the message lists everything that is wrong."""

    exit_code = 17


def verify_wheel(path: Path, base: Path | None = None) -> None:
    """Check a wheel; see :func:`wheel_faults`.

    :raises VerifyError: Something is wrong with it.
    """
    faults = wheel_faults(path, base)
    if faults:
        lines = "".join(f"\n  - {fault}" for fault in faults)
        raise VerifyError(
            f"'{path.name}' is not in order:{lines}", "build it again; never publish or install this file"
        )


def wheel_faults(path: Path, base: Path | None = None) -> list[str]:
    """List what is wrong with a wheel.

    Every member is read and compared with RECORD; name, METADATA, WHEEL, entry points, permissions, provenance and bill of
    materials must agree. With the base at hand, each member that the provenance does not list must be the base's.

    :param path: The wheel.
    :param base: The base wheel that it was made from, already verified.
    """
    try:
        with WheelArchive.open(path) as archive:
            checks = _Checks(archive)
            faults = checks.run()
            if base is not None and checks.provenance:
                with WheelArchive.open(base) as original:
                    faults += [] if faults else _base_faults(archive, original, checks.provenance)
            return faults
    except ArchiveError as error:
        return [error.message]


class _Checks:
    """The checks of one wheel on its own."""

    def __init__(self, archive: WheelArchive) -> None:
        self.archive = archive
        self.info = archive.dist_info
        self.faults: list[str] = []
        self.provenance: dict[str, Any] = {}

    def run(self) -> list[str]:
        for check in (self._names, self._record, self._permissions, self._wheel, self._entry_points, self._documents):
            try:
                check()
            except (ArchiveError, ForkError) as error:
                self.faults.append(error.message)
            except (ValueError, KeyError, TypeError, configparser.Error) as error:
                self.faults.append(f"{check.__name__.strip('_')}: {type(error).__name__}: {error}")
        return self.faults

    def _text(self, name: str) -> str:
        return self.archive.read(f"{self.info}/{name}").decode()

    def _names(self) -> None:
        name = self.archive.path.name
        try:
            distribution, version, _, _ = parse_wheel_filename(name)
        except InvalidWheelFilename as error:
            self.faults.append(str(error))
            return
        metadata = Metadata.from_email(self._text("METADATA"))
        if (metadata.name, metadata.version) != (distribution, version):
            self.faults.append(
                f"METADATA says {metadata.name} {metadata.version}, the file name {distribution} {version}"
            )
        if self.info != f"{distribution}-{version}.dist-info":
            self.faults.append(f"the folder is '{self.info}', the file name says {distribution} {version}")
        if f"__version__ = '{version}'".encode() not in self.archive.read("triton/__init__.py"):
            self.faults.append(f"triton.__version__ is not {version}")

    def _record(self) -> None:
        rows = parse_record(self._text("RECORD"))
        members = {member.filename: member for member in self.archive.members if not member.is_dir()}
        self.faults += [f"RECORD lists '{name}', which is missing" for name in sorted(set(rows) - set(members))]
        self.faults += [f"'{name}' is not in RECORD" for name in sorted(set(members) - set(rows))]
        for name in sorted(set(rows) & set(members)):
            expected = rows[name][1:]
            if name == f"{self.info}/RECORD":
                if expected != ("", ""):
                    self.faults.append("RECORD gives a hash for itself")
            elif (found := self._digest(members[name])) != expected:
                self.faults.append(f"'{name}' is {' '.join(found)}, RECORD says {' '.join(expected)}")

    def _digest(self, member: zipfile.ZipInfo) -> tuple[str, str]:
        digest, size = hashlib.sha256(), 0
        try:
            with self.archive.stream(member) as stream:
                while piece := stream.read(_PIECE):
                    digest.update(piece)
                    size += len(piece)
        except (zipfile.BadZipFile, zipfile.zlib.error, EOFError, OSError) as error:  # type: ignore[attr-defined]
            return ("unreadable", str(error))
        return "sha256=" + urlsafe_b64encode(digest.digest()).rstrip(b"=").decode(), str(size)

    def _permissions(self) -> None:
        for member in self.archive.members:
            mode = member.external_attr >> 16
            if member.is_dir():
                continue
            if not stat.S_ISREG(mode) or not mode & stat.S_IRUSR or mode & (stat.S_IWOTH | stat.S_ISUID | stat.S_ISGID):
                self.faults.append(f"'{member.filename}' has the mode {mode:o}")
            elif _PROGRAMS.search(member.filename) and not mode & stat.S_IXUSR:
                self.faults.append(f"'{member.filename}' is not executable")

    def _wheel(self) -> None:
        text = self._text("WHEEL")
        found = sorted(re.findall(r"^Tag: (\S+)$", text, flags=re.MULTILINE))
        expected = sorted(str(tag) for tag in parse_wheel_filename(self.archive.path.name)[3])
        if found != expected:
            self.faults.append(f"WHEEL has the tags {', '.join(found)}, the file name {', '.join(expected)}")
        if "Root-Is-Purelib: false" not in text:
            self.faults.append("WHEEL does not say 'Root-Is-Purelib: false'")

    def _entry_points(self) -> None:
        parser = configparser.ConfigParser(delimiters=("=",))
        parser.read_string(self._text("entry_points.txt"))
        names = {member.filename for member in self.archive.members}
        for section in parser.sections():
            for name, target in parser[section].items():
                module = target.partition(":")[0].strip().replace(".", "/")
                if not {f"{module}.py", f"{module}/__init__.py"} & names:
                    self.faults.append(f"the entry point {section}: {name} names '{target}', which is not in the wheel")

    def _documents(self) -> None:
        self.provenance = json.loads(self.archive.read(PROVENANCE))
        version = str(parse_wheel_filename(self.archive.path.name)[1])
        if self.provenance["version"] != version:
            self.faults.append(f"provenance.json says version {self.provenance['version']}")
        if not version.endswith(f".q{self.provenance['digest'][:8]}"):
            self.faults.append(
                f"the digest {self.provenance['digest'][:8]} of provenance.json is not that of the version"
            )
        bill = json.loads(self._text(SBOM))
        if bill["bomFormat"] != "CycloneDX" or bill["metadata"]["component"]["version"] != version:
            self.faults.append("the bill of materials is of another wheel")
        for name, entry in self.provenance["files"].items():
            if entry["sha256"] and hashlib.sha256(self.archive.read(name)).hexdigest() != entry["sha256"]:
                self.faults.append(f"'{name}' is not the file that provenance.json describes")


def _base_faults(archive: WheelArchive, original: WheelArchive, provenance: dict[str, Any]) -> list[str]:
    """Compare members with the base's by the hashes in both RECORDs, which were compared with the content before."""
    declared = set(provenance["files"]) | {PROVENANCE, f"{_INFO}/METADATA", f"{_INFO}/RECORD", f"{_INFO}/{SBOM}"}
    ours, theirs = _described(archive), _described(original)
    differing = {name for name in ours.keys() | theirs.keys() if ours.get(name) != theirs.get(name)}
    faults = [
        f"'{name}' differs from the base, and provenance.json does not say so" for name in sorted(differing - declared)
    ]
    metadata = [_without_version(each.read(f"{each.dist_info}/METADATA")) for each in (archive, original)]
    return (
        faults if metadata[0] == metadata[1] else [*faults, "METADATA differs from the base's in more than the version"]
    )


_INFO = "*.dist-info"


def _described(archive: WheelArchive) -> dict[str, tuple[str, str, int]]:
    """Give hash and size as RECORD has them, and the mode, of every member; the ``.dist-info`` folder goes by one name."""
    record = parse_record(archive.read(f"{archive.dist_info}/RECORD").decode())
    modes = {member.filename: member.external_attr >> 16 for member in archive.members}
    return {
        name.replace(archive.dist_info, _INFO, 1): (digest, size, modes.get(name, 0))
        for name, digest, size in record.values()
    }


def _without_version(metadata: bytes) -> bytes:
    return re.sub(rb"^Version: .*$", b"", metadata, count=1, flags=re.MULTILINE)
