"""What lies in a package index: reading wheels, and the content of every file that describes them."""

from __future__ import annotations

import hashlib
import json
import re
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from email.parser import BytesHeaderParser
from pathlib import Path
from urllib.parse import quote
from zipfile import BadZipFile, ZipFile

from packaging.utils import InvalidWheelFilename, canonicalize_name, parse_wheel_filename
from packaging.version import InvalidVersion, Version
from simple_repository.model import File, Meta, ProjectDetail, ProjectList, ProjectListElement
from simple_repository.serializer import SerializerHtmlV1, SerializerJsonV1

from fork.index.records import IndexFaultError, Records

__all__ = ["IndexedWheel", "render", "scan"]

API_VERSION = "1.1"
"""Version of the index format: PEP 700 is the last that adds what a static index can know."""


@dataclass(frozen=True)
class IndexedWheel:
    """What the index says of one wheel.

    :param project: Normalized name of the project.
    :param filename: Its file name.
    :param size: Its size in bytes.
    :param sha256: Its SHA-256.
    :param metadata: The bytes of its METADATA.
    :param yanked: Why the file is listed as yanked (PEP 592), so that only those who name exactly this version get it; empty
        where it is not.
    :param uploaded: When it was published first (PEP 700); empty where nobody knows.
    """

    project: str
    filename: str
    size: int
    sha256: str
    metadata: bytes
    yanked: str = ""
    uploaded: str = ""

    @property
    def version(self) -> Version:
        """The version in the file name."""
        return parse_wheel_filename(self.filename)[1]

    @property
    def tags(self) -> str:
        """The compatibility tags as the file name has them."""
        return self.filename.removesuffix(".whl").split("-", 2)[2]

    def listing(self) -> File:
        """Describe the wheel for a page of its project."""
        requires_python: str | None = BytesHeaderParser().parsebytes(self.metadata)["Requires-Python"]
        return File(
            filename=self.filename,
            url=f"../../{quote(self.filename)}",  # '+' becomes %2B: some object stores read a plain one as a blank
            hashes={"sha256": self.sha256},
            requires_python=requires_python,
            dist_info_metadata={"sha256": hashlib.sha256(self.metadata).hexdigest()},
            size=self.size,
            yanked=self.yanked or None,
            upload_time=datetime.fromisoformat(self.uploaded) if self.uploaded else None,
        )


def scan(wheelhouse: Path) -> tuple[list[IndexedWheel], list[str]]:
    """Read all wheels of a folder, sorted by project, version and name, and list what is no proper wheel."""
    wheels, faults = [], []
    for path in sorted(wheelhouse.glob("*.whl")):
        try:
            wheels.append(_read_wheel(path))
        except (InvalidWheelFilename, InvalidVersion, BadZipFile, zlib.error, IndexFaultError, KeyError) as error:
            faults.append(f"{path.name}: {error}")
    return sorted(wheels, key=lambda wheel: (wheel.project, wheel.version, wheel.filename)), faults


def _read_wheel(path: Path) -> IndexedWheel:
    name, version, _, _ = parse_wheel_filename(path.name)
    with ZipFile(path) as archive:
        members = [member for member in archive.namelist() if re.fullmatch(r"[^/]+\.dist-info/METADATA", member)]
        if len(members) != 1:
            raise IndexFaultError(f"has {len(members)} METADATA files instead of one")
        metadata = archive.read(members[0])
    headers = BytesHeaderParser().parsebytes(metadata)
    if (canonicalize_name(headers["Name"] or ""), Version(headers["Version"] or "")) != (name, version):
        raise IndexFaultError(f"its METADATA is of {headers['Name']} {headers['Version']}")
    with path.open("rb") as file:
        sha256 = hashlib.file_digest(file, "sha256").hexdigest()
        size = file.tell()
    return IndexedWheel(name, path.name, size, sha256, metadata)


def render(wheels: Sequence[IndexedWheel], records: Records) -> dict[str, bytes]:
    """Give the content of every file around the wheels, in the order of writing: what a page refers to comes before it.

    :param records: Of all wheels.
    """
    meta = Meta(API_VERSION)
    files = {f"{wheel.filename}.metadata": wheel.metadata for wheel in wheels}
    files |= records.files()
    projects = sorted({wheel.project for wheel in wheels})
    for project in projects:
        own = [wheel for wheel in wheels if wheel.project == project]
        detail = ProjectDetail(meta, project, tuple(wheel.listing() for wheel in own))
        html, page = (
            SerializerHtmlV1().serialize_project_page(detail),
            SerializerJsonV1().serialize_project_page(detail),
        )
        files[f"simple/{project}/index.json"] = _stable_json(page, [str(wheel.version) for wheel in own])
        files[f"simple/{project}/index.html"] = _both_names(html).encode()
    listing = ProjectList(meta, tuple(map(ProjectListElement, projects)))  # type: ignore[arg-type]  # a set has no order
    files["simple/index.json"] = _stable_json(SerializerJsonV1().serialize_project_list(listing))
    files["simple/index.html"] = SerializerHtmlV1().serialize_project_list(listing).encode()
    return files


def _stable_json(text: str, versions: Sequence[str] = ()) -> bytes:
    """Bring a page into one order, and add to each file the name that PEP 658 metadata had before PEP 714."""
    page = json.loads(text)
    if "versions" in page:
        page["versions"] = list(dict.fromkeys(versions))
    for entry in page.get("files", ()):
        entry["dist-info-metadata"] = entry["core-metadata"]
    if "projects" in page:
        page["projects"].sort(key=lambda project: project["name"])
    return (json.dumps(page, indent=1, sort_keys=True) + "\n").encode()


def _both_names(html: str) -> str:
    """Add to each link the attribute name that PEP 658 metadata had before PEP 714, for older clients."""
    return re.sub(r'data-core-metadata="([^"]*)"', r'data-core-metadata="\1" data-dist-info-metadata="\1"', html) + "\n"
