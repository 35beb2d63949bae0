"""Turns a base wheel into a wheel of the fork."""

from __future__ import annotations

import errno
import hashlib
import os
import re
import stat
import zipfile
from base64 import urlsafe_b64decode
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath

from fork.archive.records import Row, parse_record, record_hash, write_record
from fork.archive.wheels import ArchiveError, ArchiveWriter, WheelArchive
from fork.assembly.metadata import LICENSES, fork_metadata
from fork.assembly.provenance import BASE_RECORD, PROVENANCE, Origin, describe, dump
from fork.assembly.sbom import SBOM, write_sbom
from fork.assembly.version import Ingredients
from fork.config import Lane
from fork.errors import DiskFullError
from fork.queue.patch import Patch

__all__ = ["Changes", "Plan", "assemble", "wheel_name"]

_FILE_MODE = stat.S_IFREG | 0o644
_PROGRAM_MODE = stat.S_IFREG | 0o755
_BINARY_SUFFIXES = frozenset({".so", ".a", ".bc"})


@dataclass(frozen=True)
class Changes:
    """What differs from the base; every key is a path in the wheel.

    :param patched: New content of files that the series changes or adds.
    :param removed: Files that the series removes.
    :param overlay: Our own modules.
    :param native: Our compiled extension.
    :param licenses: Our license files; the key is the name of the file, which goes below ``licenses/fork/``.
    """

    patched: Mapping[str, bytes] = field(default_factory=dict)
    removed: frozenset[str] = frozenset()
    overlay: Mapping[str, bytes] = field(default_factory=dict)
    native: Mapping[str, bytes] = field(default_factory=dict)
    licenses: Mapping[str, bytes] = field(default_factory=dict)


@dataclass(frozen=True)
class Plan:
    """What to build.

    :param lane: The lane.
    :param version: The whole version, with the local part.
    :param origin: The base.
    :param ingredients: What the version's digest covers.
    :param patches: The series.
    :param changes: What differs from the base.
    """

    lane: Lane
    version: str
    origin: Origin
    ingredients: Ingredients
    patches: tuple[Patch, ...]
    changes: Changes


def wheel_name(base: str, version: str) -> str:
    """Name the wheel: the base's tags in the base's order with another version."""
    distribution, _, rest = base.partition("-")
    return f"{distribution}-{version}-{rest.partition('-')[2]}"


def assemble(base: Path, plan: Plan, target: Path) -> None:
    """Write a wheel of the fork.

    Members that do not change are copied as they are compressed. The bytes depend on the base and the plan alone.

    :param base: The base wheel, already verified.
    :param plan: What to build.
    :param target: The file to write. It appears whole or not at all.
    :raises ArchiveError: The base is not fit: no version to replace, no RECORD, a name of ours in it already.
    """
    part = target.with_name(f".{target.name}.part")
    try:
        with WheelArchive.open(base) as archive, part.open("wb") as file:
            _Assembly(archive, plan).write(ArchiveWriter(file, _date(archive)))
            file.flush()
            os.fsync(file.fileno())
        part.chmod(0o644)
        part.replace(target)
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise DiskFullError(
                f"the disk is full: no room for '{target.name}' in {target.parent}",
                f"make room ({base.stat().st_size / 1e6:.0f} MB), or choose another folder with --out",
            ) from None
        raise
    finally:
        part.unlink(missing_ok=True)


def _date(archive: WheelArchive) -> tuple[int, int, int, int, int, int]:
    return max(member.date_time for member in archive.members)


class _Assembly:
    """One wheel in the making: decides for each member whether it is copied, replaced, added or left out."""

    def __init__(self, archive: WheelArchive, plan: Plan) -> None:
        self.archive = archive
        self.plan = plan
        self.old_info = archive.dist_info
        self.new_info = f"triton-{plan.version}.dist-info"
        self.base_record = archive.read(f"{self.old_info}/RECORD")
        self.record = parse_record(self.base_record.decode())
        self.rows: list[Row] = []
        self.new = self._new_members()

    def write(self, writer: ArchiveWriter) -> None:
        """Write every member, the ``.dist-info`` folder last and RECORD at its very end."""
        package = [member for member in self.archive.members if not self._in_info(member)]
        info = [member for member in self.archive.members if self._in_info(member)]
        existing = {member.filename for member in self.archive.members}
        for member in package:
            self._carry(writer, member, member.filename)
        for name in sorted(set(self.new) - existing):
            if not name.startswith(f"{self.new_info}/"):
                self._add(writer, name)
        for member in info:
            if member.filename != f"{self.old_info}/RECORD":
                self._carry(writer, member, self.new_info + member.filename.removeprefix(self.old_info))
        renamed = {
            self.new_info + name.removeprefix(self.old_info) for name in existing if name.startswith(self.old_info)
        }
        for name in sorted(set(self.new) - renamed):
            if name.startswith(f"{self.new_info}/"):
                self._add(writer, name)
        record = f"{self.new_info}/RECORD"
        writer.add(record, write_record([*self.rows, (record, "", "")]), _FILE_MODE)
        writer.finish()

    def _in_info(self, member: zipfile.ZipInfo) -> bool:
        return member.filename.startswith(f"{self.old_info}/")

    def _carry(self, writer: ArchiveWriter, member: zipfile.ZipInfo, name: str) -> None:
        if member.filename in self.plan.changes.removed:
            return
        if name in self.new:
            self._add(writer, name, member.external_attr >> 16)
            return
        writer.copy(self.archive, member, name)
        if not member.is_dir():
            row = self.record.get(member.filename)
            if row is None:
                raise ArchiveError(f"'{member.filename}' is not in the RECORD of '{self.archive.path.name}'")
            self.rows.append((name, row[1], row[2]))

    def _add(self, writer: ArchiveWriter, name: str, mode: int | None = None) -> None:
        content = self.new[name]
        program = name.endswith(".so")
        writer.add(name, content, mode or (_PROGRAM_MODE if program else _FILE_MODE))
        self.rows.append((name, record_hash(content), str(len(content))))

    def _new_members(self) -> dict[str, bytes]:
        changes, plan = self.plan.changes, self.plan
        licenses = {f"{self.new_info}/licenses/{LICENSES}/{name}": text for name, text in changes.licenses.items()}
        added = {
            "overlay": changes.overlay,
            "native": changes.native,
            "license": licenses,
            "base": {BASE_RECORD: self.base_record},
        }
        new = {**changes.patched, **{name: content for part in added.values() for name, content in part.items()}}
        new["triton/__init__.py"] = self._with_version(new)
        makers = {name: maker for maker, part in added.items() for name in part}
        makers = {name: "series" if name in changes.patched else "version" for name in new} | makers
        files = {name: {"sha256": _sha256(content), "by": makers[name]} for name, content in new.items()}
        files |= {name: {"sha256": "", "by": "removed by series"} for name in changes.removed}
        document = describe(
            lane=plan.lane,
            version=plan.version,
            origin=plan.origin,
            ingredients=plan.ingredients,
            patches=plan.patches,
            files=files,
        )
        new[PROVENANCE] = dump(document)
        new[f"{self.new_info}/METADATA"] = self._metadata()
        date = datetime(*_date(self.archive), tzinfo=UTC)
        new[f"{self.new_info}/{SBOM}"] = write_sbom(
            plan.lane, plan.version, plan.origin, plan.patches, self._binaries(changes.native), date
        )
        return new

    def _with_version(self, new: Mapping[str, bytes]) -> bytes:
        name = "triton/__init__.py"
        content = new.get(name) or self.archive.read(name)
        replaced, count = re.subn(
            rb"^__version__ = .*$", f"__version__ = '{self.plan.version}'".encode(), content, flags=re.M
        )
        if count != 1:
            raise ArchiveError(f"'{name}' sets __version__ {count} times, not once")
        return replaced

    def _metadata(self) -> bytes:
        content = self.archive.read(f"{self.old_info}/METADATA")
        try:
            return fork_metadata(content, self.plan.version, self.plan.lane.identity, self.plan.changes.licenses)
        except ValueError as error:
            raise ArchiveError(f"METADATA of '{self.archive.path.name}' {error}") from None

    def _binaries(self, native: Mapping[str, bytes]) -> dict[str, str]:
        found = {name: _sha256(content) for name, content in native.items()}
        for member in self.archive.members:
            path = PurePosixPath(member.filename)
            if not member.is_dir() and (path.suffix in _BINARY_SUFFIXES or member.external_attr >> 16 & stat.S_IXUSR):
                algorithm, _, digest = self.record[member.filename][1].partition("=")
                if algorithm == "sha256":
                    found[member.filename] = _from_record(digest)
        return found


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _from_record(digest: str) -> str:
    return urlsafe_b64decode(digest + "=" * (-len(digest) % 4)).hex()
