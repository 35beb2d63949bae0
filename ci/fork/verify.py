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

from fork.archive.records import parse_record
from fork.archive.wheels import ArchiveError, WheelArchive
from fork.assembly.metadata import LICENSES, fork_metadata
from fork.assembly.provenance import BASE_RECORD, FORMAT, PROVENANCE
from fork.assembly.sbom import SBOM
from fork.config import Identity
from fork.errors import ForkError
from fork.queue.imports import import_faults

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
    materials must agree; each member that the provenance does not list must stand in the RECORD of the base, a copy of which is in
    the wheel; and imports must lead somewhere. With the base at hand, that copy and what is not in a RECORD is compared with it.

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
        """Run them; a wheel of another format is not looked at further."""
        if found := self._format_fault():
            return [found]
        checks = (
            self._names,
            self._record,
            self._permissions,
            self._wheel,
            self._entry_points,
            self._documents,
            self._carried,
            self._imports,
        )
        for check in checks:
            try:
                check()
            except (ArchiveError, ForkError) as error:
                self.faults.append(error.message)
            except (ValueError, KeyError, TypeError, configparser.Error) as error:
                self.faults.append(f"{check.__name__.strip('_')}: {type(error).__name__}: {error}")
        return self.faults

    def _format_fault(self) -> str | None:
        try:
            found = json.loads(self.archive.read(PROVENANCE))["format"]
        except (ArchiveError, ValueError, KeyError, TypeError):
            return None  # said by another check
        if found == FORMAT:
            return None
        return f"provenance.json has the format {found}, and this tool checks {FORMAT}: verify it in the checkout that it is from"

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

    def _carried(self) -> None:
        """Compare what is not declared with the RECORD of the base, so that nothing can be added and be named in RECORD alone."""
        base = _plain_rows(self.archive.read(BASE_RECORD).decode())
        ours = _plain_rows(self._text("RECORD"))
        declared = _declared(self.archive, self.provenance)
        for name in sorted((ours.keys() | base.keys()) - declared):
            if name not in base:
                self.faults.append(f"'{name}' is not in the base, and provenance.json does not say what it is")
            elif ours.get(name) != base[name]:
                what = "is not the base's" if name in ours else "of the base is missing"
                self.faults.append(f"'{name}' {what}, and provenance.json does not say so")

    def _imports(self) -> None:
        if not self.faults:
            sources = {
                member.filename: self.archive.read(member)
                for member in self.archive.members
                if member.filename.endswith(".py")
            }
            names = {member.filename for member in self.archive.members}
            self.faults += import_faults(set(self.provenance["files"]), sources, names)


def _declared(archive: WheelArchive, provenance: dict[str, Any]) -> set[str]:
    """Name what may differ from the base; the ``.dist-info`` folder goes by one name."""
    files = {_plain(name, archive.dist_info) for name in provenance["files"]}
    return files | {PROVENANCE, f"{_INFO}/METADATA", f"{_INFO}/RECORD", f"{_INFO}/{SBOM}"}


def _plain(name: str, info: str) -> str:
    return _INFO + name.removeprefix(info) if name.startswith(f"{info}/") else name


def _plain_rows(record: str) -> dict[str, tuple[str, str]]:
    """Give hash and size of the rows of a RECORD; the ``.dist-info`` folder goes by one name."""
    rows = parse_record(record)
    info = next((name.partition("/")[0] for name in rows if name.partition("/")[0].endswith(".dist-info")), "")
    return {_plain(name, info): row[1:] for name, row in rows.items()}


def _base_faults(archive: WheelArchive, original: WheelArchive, provenance: dict[str, Any]) -> list[str]:
    """Compare members with the base's by the hashes in both RECORDs, which were compared with the content before."""
    declared = _declared(archive, provenance)
    ours, theirs = _described(archive), _described(original)
    differing = {name for name in ours.keys() | theirs.keys() if ours.get(name) != theirs.get(name)}
    faults = [
        f"'{name}' differs from the base, and provenance.json does not say so" for name in sorted(differing - declared)
    ]
    if archive.read(BASE_RECORD) != original.read(f"{original.dist_info}/RECORD"):
        faults.append(f"'{BASE_RECORD}' is not the RECORD of the base")
    return faults + _metadata_faults(archive, original, provenance)


def _metadata_faults(archive: WheelArchive, original: WheelArchive, provenance: dict[str, Any]) -> list[str]:
    fork = provenance["fork"]
    identity = Identity(fork["repository"], fork["maintainer"], fork["email"])
    place = f"{archive.dist_info}/licenses/{LICENSES}/"
    licenses = [name.removeprefix(place) for name in provenance["files"] if name.startswith(place)]
    base = original.read(f"{original.dist_info}/METADATA")
    expected = fork_metadata(base, provenance["version"], identity, licenses)
    differs = archive.read(f"{archive.dist_info}/METADATA") != expected
    return (
        ["METADATA differs from the base's in more than version, maintainer, licenses and project"] if differs else []
    )


_INFO = "*.dist-info"


def _described(archive: WheelArchive) -> dict[str, tuple[str, str, int]]:
    """Give hash and size as RECORD has them, and the mode, of every member; the ``.dist-info`` folder goes by one name."""
    record = parse_record(archive.read(f"{archive.dist_info}/RECORD").decode())
    modes = {member.filename: member.external_attr >> 16 for member in archive.members}
    return {
        _plain(name, archive.dist_info): (digest, size, modes.get(name, 0)) for name, digest, size in record.values()
    }
