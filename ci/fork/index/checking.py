"""Comparing the package index of a wheelhouse with the wheels beside it."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path

from fork.index.pages import IndexedWheel, render, scan
from fork.index.promotion import Build, yanked
from fork.index.records import PROMOTED, IndexFaultError, read_records
from fork.index.writing import described, stray

__all__ = ["check_index"]


def check_index(wheelhouse: Path) -> list[str]:
    """Compare an index with the wheels beside it.

    :returns: Everything that is wrong; empty for an index in order.
    """
    wheels, faults = scan(wheelhouse)
    try:
        records = read_records(wheelhouse)
    except IndexFaultError as error:
        return [*faults, error.message]
    faults += [
        f"{wheel.filename}: its SHA-256 is {wheel.sha256}, but {records.hashes[wheel.filename]} was published"
        for wheel in wheels
        if records.hashes.get(wheel.filename, wheel.sha256) != wheel.sha256
    ]
    faults += [
        f"{wheel.filename}: no time of publication is recorded"
        for wheel in wheels
        if wheel.filename not in records.times
    ]
    faults += _promotion_faults({str(wheel.version) for wheel in wheels}, [version for _, version in records.promoted])
    hashes = {wheel.filename: wheel.sha256 for wheel in wheels} | dict(records.hashes)
    expected = render(described(wheels, records), replace(records, hashes=hashes))
    for project in sorted({wheel.project for wheel in wheels} | _listed_projects(wheelhouse)):
        faults += _page_faults(wheelhouse, project, [wheel for wheel in wheels if wheel.project == project])
    for name, content in expected.items():
        path = wheelhouse / name
        if not path.is_file():
            faults.append(f"{name}: is missing")
        elif path.read_bytes() != content:
            faults.append(f"{name}: differs from what the wheels give")
    return faults + [f"{name}: belongs to no wheel" for name in stray(wheelhouse, expected)]


def _promotion_faults(versions: Collection[str], promoted: Sequence[str]) -> list[str]:
    """List the releases of which installers get nothing, since the promoted build is gone."""
    reasons = yanked(versions, promoted)
    offered = {build.release for build in Build.parse_all(versions) if build.version not in reasons}
    releases = sorted({build.release for build in Build.parse_all(versions)} - offered)
    return [f"{PROMOTED}: no build of {release} is offered; `ci/fork.sh index --promote` one" for release in releases]


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
