r"""Writing and checking the package index of a wheelhouse: plain files that any web server can hand out.

::

    wheelhouse/
        triton-….whl                what is installed
        triton-….whl.metadata       its METADATA, so that a resolver need not fetch the wheel (PEP 658, PEP 714)
        published.sha256            what was ever published; ``sha256sum --check --ignore-missing published.sha256`` works on it
        simple/index.html           the projects (PEP 503), the index URL to give to pip and uv
        simple/index.json           the same as JSON (PEP 691, PEP 700)
        simple/triton/index.html    the files of a project
        simple/triton/index.json

All links are relative, so the wheelhouse can be moved or copied as a whole; serve it, not only ``simple/``. HTML is enough for pip
and uv: ``python -m http.server --directory wheelhouse`` serves an index at ``/simple/``. A server that also offers the JSON must
choose by the ``Accept`` header and send ``application/vnd.pypi.simple.v1+json``; with nginx::

    map $http_accept $simple_page {
        default index.html;
        "~application/vnd\.pypi\.simple\.v1\+json" index.json;
    }
    location /simple/ {
        index $simple_page;
        types { text/html html; application/vnd.pypi.simple.v1+json json; }
        add_header Vary Accept;
    }

The same wheels give the same bytes: everything is sorted, and no page holds a time.
"""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from fork.errors import DiskFullError, ForkError
from fork.index.pages import RECORD, IndexedWheel, IndexFaultError, render, scan

__all__ = ["IndexFaultError", "IndexReport", "PublishedFileError", "check_index", "published_hashes", "write_index"]

RECORD_LINE = re.compile(r"([0-9a-f]{64})  (\S+)")


class PublishedFileError(ForkError):
    """A published file would change its bytes."""

    exit_code = 34


@dataclass(frozen=True)
class IndexReport:
    """What :func:`write_index` did.

    :param listed: File names in the index.
    :param written: Files that are new or have new content, relative to the wheelhouse.
    :param removed: Files that nothing refers to any more and that are gone, relative to the wheelhouse.
    """

    listed: tuple[str, ...]
    written: tuple[str, ...]
    removed: tuple[str, ...]


def write_index(wheelhouse: Path, current: str | None = None) -> IndexReport:
    """Write the index of all wheels in a folder, each file whole or not at all.

    Two builds of one revision differ in the digest at the end of their versions, which says nothing of their order, and pip
    would take the one that sorts last. So the one that was built last supersedes the others.

    :param wheelhouse: Folder with the wheels. Only one process may write its index at a time.
    :param current: Version of the build that was made last; wheels of its revision with another digest are listed as yanked.
        Without it, what was superseded stays so.
    :returns: What is listed, and what changed.
    :raises IndexFaultError: A file is no proper wheel; all such are named, and nothing is written.
    :raises PublishedFileError: A wheel has other bytes than when it was published; nothing is written.
    :raises DiskFullError: There is no room for the index.
    """
    wheels, faults = scan(wheelhouse)
    if faults:
        raise IndexFaultError("; ".join(faults), "remove what is no wheel, or build it again; the index is as it was")
    published = published_hashes(wheelhouse)
    changed = [wheel.filename for wheel in wheels if published.get(wheel.filename, wheel.sha256) != wheel.sha256]
    if changed:
        raise PublishedFileError(
            f"published with other bytes: {', '.join(changed)}",
            "raise 'revision' in fork.toml for a new file name; a name that nobody can have seen is freed by removing its line "
            f"from {wheelhouse / RECORD} and the index in {wheelhouse / 'simple'}",
        )
    wheels = _mark_superseded(wheels, wheelhouse, current)
    files = render(wheels, published)
    try:
        written = [name for name, content in files.items() if _put(wheelhouse / name, content)]
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            needed = sum(map(len, files.values()))
            raise DiskFullError(
                f"no room for the index in {wheelhouse}: {needed} bytes are needed",
                "make room, then run `ci/fork.sh index`",
            ) from None
        raise
    removed = _stray(wheelhouse, files)
    for name in removed:
        _remove(wheelhouse / name)
    return IndexReport(tuple(wheel.filename for wheel in wheels), tuple(written), tuple(removed))


def _mark_superseded(wheels: Sequence[IndexedWheel], wheelhouse: Path, current: str | None) -> list[IndexedWheel]:
    before = {
        entry["filename"]: str(entry["yanked"]).removeprefix("superseded by ")
        for page in wheelhouse.glob("simple/*/index.json")
        for entry in json.loads(page.read_bytes())["files"]
        if entry.get("yanked")
    }
    marked = []
    for wheel in wheels:
        superseded_by = before.get(wheel.filename, "")
        if current is not None and _revision(str(wheel.version)) == _revision(current):
            superseded_by = "" if str(wheel.version) == current else current
        marked.append(replace(wheel, superseded_by=superseded_by))
    return marked


def _revision(version: str) -> str:
    """Cut the digest off a version: ``3.6.0+fork.1.q3fa94c21`` is a build of ``3.6.0+fork.1``."""
    return version.rpartition(".")[0] if "+" in version else version


def published_hashes(wheelhouse: Path) -> dict[str, str]:
    """Read which files were ever published.

    :returns: Their SHA-256 by file name, from the record and from the index itself, so that neither can be lost alone.
    :raises IndexFaultError: The record or the index cannot be read.
    """
    known: dict[str, str] = {}
    try:
        for page in sorted(wheelhouse.glob("simple/*/index.json")):
            known |= {entry["filename"]: entry["hashes"]["sha256"] for entry in json.loads(page.read_bytes())["files"]}
    except (ValueError, KeyError, TypeError) as error:
        raise IndexFaultError(f"{page} is damaged ({error})", "remove it and run `ci/fork.sh index`") from None
    record = wheelhouse / RECORD
    for line in record.read_text("utf-8").splitlines() if record.exists() else ():
        match = RECORD_LINE.fullmatch(line)
        if not match:
            raise IndexFaultError(f"{record} has a line that is not '<sha256>  <file>': '{line}'", "mend that line")
        known[match[2]] = match[1]
    return known


def check_index(wheelhouse: Path) -> list[str]:
    """Compare an index with the wheels beside it.

    :returns: Everything that is wrong; empty for an index in order.
    """
    wheels, faults = scan(wheelhouse)
    try:
        published = published_hashes(wheelhouse)
    except IndexFaultError as error:
        return [*faults, error.message]
    faults += [
        f"{wheel.filename}: its SHA-256 is {wheel.sha256}, but {published[wheel.filename]} was published"
        for wheel in wheels
        if published.get(wheel.filename, wheel.sha256) != wheel.sha256
    ]
    expected = render(wheels, published)
    for project in sorted({wheel.project for wheel in wheels} | _listed_projects(wheelhouse)):
        faults += _page_faults(wheelhouse, project, [wheel for wheel in wheels if wheel.project == project])
    for name, content in expected.items():
        path = wheelhouse / name
        if not path.is_file():
            faults.append(f"{name}: is missing")
        elif path.read_bytes() != content:
            faults.append(f"{name}: differs from what the wheels give")
    return faults + [f"{name}: belongs to no wheel" for name in _stray(wheelhouse, expected)]


def _listed_projects(wheelhouse: Path) -> set[str]:
    return {page.parent.name for page in wheelhouse.glob("simple/*/index.*")}


def _page_faults(wheelhouse: Path, project: str, wheels: Sequence[IndexedWheel]) -> list[str]:
    """Compare what the HTML and the JSON page of a project say of each file with the files."""
    folder = wheelhouse / "simple" / project
    pages = {path.name: _read_page(path) for path in (folder / "index.html", folder / "index.json") if path.is_file()}
    faults = []
    if len(pages) == 2 and pages["index.html"] != pages["index.json"]:
        faults.append(f"simple/{project}: index.html and index.json disagree")
    actual = {wheel.filename: wheel for wheel in wheels}
    sizes = {wheel.filename: str(wheel.size) for wheel in wheels}
    for page, entries in pages.items():
        place = f"simple/{project}/{page}"
        faults += [f"{place}: does not list {name}" for name in actual if name not in entries]
        for name, sha256 in entries.items():
            if name not in actual:
                faults.append(f"{place}: lists {name}, which is missing or no wheel")
            elif sha256 != actual[name].sha256:
                faults.append(f"{place}: gives SHA-256 {sha256} for {name}, which has {actual[name].sha256}")
    if "index.json" in pages:
        entries = json.loads((folder / "index.json").read_bytes())["files"]
        faults += [
            f"simple/{project}/index.json: gives size {entry.get('size')} for {entry['filename']}, which has "
            f"{sizes[entry['filename']]}"
            for entry in entries
            if entry["filename"] in sizes and str(entry.get("size")) != sizes[entry["filename"]]
        ]
    return faults


def _read_page(path: Path) -> dict[str, str]:
    """Read file names and hashes from a page of a project."""
    text = path.read_text("utf-8")
    if path.suffix == ".json":
        return {entry["filename"]: entry["hashes"]["sha256"] for entry in json.loads(text)["files"]}
    links = re.findall(r'<a href="[^"#]*#sha256=([0-9a-f]*)"[^>]*>([^<]*)</a>', text)
    return {name: sha256 for sha256, name in links}


def _put(path: Path, content: bytes) -> bool:
    """Write a file whole or not at all; one that has the content already is left alone, and keeps its date for HTTP caches."""
    if path.is_file() and path.read_bytes() == content:
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_name(f".{path.name}.new")
    try:
        with new.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        new.replace(path)
    finally:
        new.unlink(missing_ok=True)
    return True


def _stray(wheelhouse: Path, files: Mapping[str, bytes]) -> list[str]:
    """List what lies where only the index may lie and does not belong to it: metadata of vanished wheels, pages, leftovers."""
    folders = {str(Path(name).parent) for name in files}
    metadata = [path.name for path in wheelhouse.glob("*.whl.metadata")] + [
        path.name for path in wheelhouse.glob(".*.new") if path.name.endswith((".metadata.new", f"{RECORD}.new"))
    ]
    pages = [str(path.relative_to(wheelhouse)) for path in wheelhouse.glob("simple/**/*")]
    return sorted(name for name in (*metadata, *pages) if name not in files and name not in folders)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
