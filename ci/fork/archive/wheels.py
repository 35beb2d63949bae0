"""Wheels as archives: read with care, written member by member, unchanged members copied without being compressed again."""

from __future__ import annotations

import struct
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO
from zlib import crc32

from fork.errors import ForkError

__all__ = ["ArchiveError", "ArchiveWriter", "WheelArchive"]

# Sizes and signatures of the records of a ZIP file: .ZIP File Format Specification 6.3.10, sections 4.3.7, 4.3.12, 4.3.16.
_LOCAL = struct.Struct("<4s5H3L2H")
_CENTRAL = struct.Struct("<4s6H3L5H2L")
_END = struct.Struct("<4s4H2LH")
_LIMIT = 0xFFFFFFFF
_UNIX = 3
_VERSION = 20
_UTF8 = 0x800


class ArchiveError(ForkError):
    """A file is not a wheel that can be read safely."""

    exit_code = 38


@dataclass(frozen=True)
class WheelArchive:
    """A wheel opened for reading.

    :param path: The file.
    :param members: Its members in the order of the archive; names checked against duplicates and path traversal.
    """

    path: Path
    members: tuple[zipfile.ZipInfo, ...]
    _archive: zipfile.ZipFile

    @classmethod
    @contextmanager
    def open(cls, path: Path) -> Iterator[WheelArchive]:
        """Open a wheel.

        :raises ArchiveError: It is not a ZIP file, or a member has an unsafe or repeated name.
        """
        try:
            archive = zipfile.ZipFile(path)
        except (zipfile.BadZipFile, OSError) as error:
            raise ArchiveError(
                f"'{path.name}' is not a readable wheel: {error}", "download or build it again"
            ) from None
        with archive:
            members = tuple(archive.infolist())
            names = [member.filename for member in members]
            unsafe = sorted({name for name in names if not _is_safe(name)})
            twice = sorted({name for name in names if names.count(name) > 1}) if len(set(names)) < len(names) else []
            if unsafe or twice:
                raise ArchiveError(f"'{path.name}' has members with unsafe or repeated names: {unsafe + twice}")
            yield cls(path, members, archive)

    def read(self, member: zipfile.ZipInfo | str) -> bytes:
        """Return the content of a member.

        :raises ArchiveError: There is no such member, or it is damaged.
        """
        try:
            return self._archive.read(member)
        except (KeyError, zipfile.BadZipFile, EOFError) as error:
            raise ArchiveError(f"'{self.path.name}': {error}", "download or build it again") from None

    def stream(self, member: zipfile.ZipInfo) -> IO[bytes]:
        """Open a member for reading piece by piece."""
        return self._archive.open(member)

    def compressed(self, member: zipfile.ZipInfo) -> Iterator[bytes]:
        """Give the stored bytes of a member as they lie in the file, in pieces of 1 MiB."""
        with self.path.open("rb") as file:
            file.seek(member.header_offset)
            header = _LOCAL.unpack(file.read(_LOCAL.size))
            if header[0] != b"PK\x03\x04":
                raise ArchiveError(f"'{self.path.name}': no member at offset {member.header_offset}")
            file.seek(header[-2] + header[-1], 1)
            left = member.compress_size
            while left:
                piece = file.read(min(left, 1 << 20))
                if not piece:
                    raise ArchiveError(f"'{self.path.name}' ends within '{member.filename}'")
                left -= len(piece)
                yield piece

    @property
    def dist_info(self) -> str:
        """Name of the ``.dist-info`` folder.

        :raises ArchiveError: There is none, or more than one.
        """
        tops = {member.filename.partition("/")[0] for member in self.members}
        folders = sorted(top for top in tops if top.endswith(".dist-info"))
        if len(folders) != 1:
            raise ArchiveError(f"'{self.path.name}' has {len(folders)} .dist-info folders, not one")
        return folders[0]


def _is_safe(name: str) -> bool:
    path = PurePosixPath(name)
    return not (path.is_absolute() or ".." in path.parts or "\\" in name or "\0" in name or not path.parts)


class ArchiveWriter:
    """Writes a ZIP file whose bytes depend on nothing but what is put in.

    New members are stored, not compressed: they are few and small, and the output of a compressor depends on its version.

    :param file: A binary file, empty and seekable.
    :param date: Date of new members, as ``zipfile`` has it: year, month, day, hour, minute, second.
    """

    def __init__(self, file: IO[bytes], date: tuple[int, int, int, int, int, int]) -> None:
        self._file = file
        self._date = date
        self._directory: list[bytes] = []

    def add(self, name: str, content: bytes, mode: int) -> None:
        """Add a new member.

        :param name: Path in the archive.
        :param content: Its bytes.
        :param mode: Unix mode including the file type, such as ``0o100644``.
        """
        member = zipfile.ZipInfo(name, self._date)
        member.file_size = member.compress_size = len(content)
        member.CRC = crc32(content)
        member.external_attr = mode << 16
        self._put(member, name, iter([content]))

    def copy(self, archive: WheelArchive, member: zipfile.ZipInfo, name: str) -> None:
        """Copy a member as it lies in another archive, under a name that may be new."""
        self._put(member, name, archive.compressed(member))

    def finish(self) -> None:
        """Write the directory at the end of the file."""
        start = self._file.tell()
        self._file.write(b"".join(self._directory))
        size, count = self._file.tell() - start, len(self._directory)
        if max(start, size) >= _LIMIT or count > 0xFFFF:
            raise ArchiveError("a wheel of more than 4 GiB or 65535 members cannot be written")
        self._file.write(_END.pack(b"PK\x05\x06", 0, 0, count, count, size, start, 0))

    def _put(self, member: zipfile.ZipInfo, name: str, pieces: Iterator[bytes]) -> None:
        year, month, day, hour, minute, second = member.date_time
        date, time = (year - 1980) << 9 | month << 5 | day, hour << 11 | minute << 5 | second // 2
        encoded = name.encode()
        flags = 0 if name.isascii() else _UTF8
        common = (flags, member.compress_type, time, date, member.CRC, member.compress_size, member.file_size)
        offset = self._file.tell()
        if max(offset, member.file_size) >= _LIMIT:
            raise ArchiveError(f"'{name}' lies beyond 4 GiB, which a wheel without ZIP64 cannot hold")
        self._file.write(_LOCAL.pack(b"PK\x03\x04", _VERSION, *common, len(encoded), 0) + encoded)
        for piece in pieces:
            self._file.write(piece)
        made_by = _UNIX << 8 | _VERSION
        self._directory.append(
            _CENTRAL.pack(
                b"PK\x01\x02", made_by, _VERSION, *common, len(encoded), 0, 0, 0, 0, member.external_attr, offset
            )
            + encoded
        )
