r"""Writing the package index of a wheelhouse: plain files that any web server can hand out.

::

    wheelhouse/
        triton-….whl                what is installed
        triton-….whl.metadata       its METADATA, so that a resolver need not fetch the wheel (PEP 658, PEP 714)
        published.sha256            what was ever published; ``sha256sum --check --ignore-missing published.sha256`` works on it
        published.times             when each was published first
        promoted.versions           which build of a release installers take, and took before
        simple/index.html           the projects (PEP 503), the index URL to give to pip and uv
        simple/index.json           the same as JSON (PEP 691, PEP 700)
        simple/triton/index.html    the files of a project
        simple/triton/index.json

All links are relative, so the wheelhouse can be moved or copied as a whole; serve it, not only ``simple/``. HTML is enough for pip
and uv: ``python -m http.server --directory wheelhouse`` serves an index at ``/simple/``. Upload times stand in the JSON alone, so
what resolves as of a date needs it; ``docs/publishing.md`` says how to serve it. The same wheels and records give the same bytes:
everything is sorted.
"""

from __future__ import annotations

import errno
import os
import shutil
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from fork.errors import DiskFullError
from fork.index.pages import IndexedWheel, render, scan
from fork.index.promotion import Build, PromotionError, choose, first_promotions, lacking, latest, yanked
from fork.index.records import (
    HASHES,
    PROMOTED,
    TIMES,
    IndexFaultError,
    PublishedFileError,
    Records,
    read_records,
    stamp,
)

__all__ = ["IndexReport", "described", "promote", "stray", "write_index"]


@dataclass(frozen=True)
class IndexReport:
    """What :func:`write_index` did.

    :param listed: File names in the index.
    :param written: Files that are new or have new content, relative to the wheelhouse.
    :param removed: Files that nothing refers to any more and that are gone, relative to the wheelhouse.
    :param yanked: Version -> why only those who name exactly it get it.
    """

    listed: tuple[str, ...]
    written: tuple[str, ...]
    removed: tuple[str, ...]
    yanked: Mapping[str, str]


def write_index(wheelhouse: Path, *, now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> IndexReport:
    """Write the index of all wheels in a folder, each file whole or not at all.

    Which build of a release installers take does not change here; see :mod:`fork.index.promotion`.

    :param wheelhouse: Folder with the wheels. Only one process may write its index at a time.
    :param now: Tells the time, which new wheels are given as that of their publication.
    :returns: What is listed, and what changed.
    :raises IndexFaultError: A file is no proper wheel; all such are named, and nothing is written.
    :raises PublishedFileError: A wheel has other bytes than when it was published; nothing is written.
    :raises PromotionError: No build was promoted so far, and there are several of one revision; nothing is written.
    :raises DiskFullError: There is no room for the index.
    """
    wheels, records = _read(wheelhouse)
    return _write(wheelhouse, wheels, _first_promoted(wheels, _recorded(wheelhouse, wheels, records, now), None, now))


def promote(
    wheelhouse: Path,
    wanted: str = "",
    without: Sequence[str] = (),
    *,
    now: Callable[[], datetime] = lambda: datetime.now(UTC),
) -> tuple[str, IndexReport]:
    """Make a build the one that installers take, and write the index.

    :param wheelhouse: Folder with the wheels.
    :param wanted: Its version, or the last part of it; the only build that was never promoted where it is empty.
    :param without: Parts of the tags of wheels that it may lack; see :func:`fork.index.promotion.lacking`.
    :param now: Tells the time of the promotion.
    :returns: The version, and what changed.
    :raises PromotionError: There is no such build, or wheels are lacking that are offered today; nothing is written.
    :raises IndexFaultError, PublishedFileError, DiskFullError: See :func:`write_index`.
    """
    wheels, before = _read(wheelhouse)
    versions = [str(wheel.version) for wheel in wheels]
    version = choose(wanted, versions, [version for _, version in before.promoted])
    records = _first_promoted(wheels, _recorded(wheelhouse, wheels, before, now), version, now)
    promoted = [version for _, version in records.promoted]
    files = defaultdict(list)
    for wheel in wheels:
        files[str(wheel.version)].append(wheel.tags)
    offered = set(versions) - set(yanked(versions, promoted))
    missing = lacking(version, files, offered, without)
    if missing:
        raise PromotionError(
            f"{version} lacks {len(missing)} of the wheels that the index offers:"
            + "".join(f"\n  - {tag}" for tag in missing),
            "build them (`./build.sh --all`), or say with --without which Python or machine is given up",
        )
    if latest(promoted).get(Build.release_of(version)) != version:
        records = replace(records, promoted=(*records.promoted, (stamp(now()), version)))
    return version, _write(wheelhouse, wheels, records)


def described(wheels: Sequence[IndexedWheel], records: Records) -> list[IndexedWheel]:
    """Add to wheels what the records say of them: the time of publication, and why they are yanked."""
    reasons = yanked((str(wheel.version) for wheel in wheels), [version for _, version in records.promoted])
    return [
        replace(wheel, yanked=reasons.get(str(wheel.version), ""), uploaded=records.times.get(wheel.filename, ""))
        for wheel in wheels
    ]


def _read(wheelhouse: Path) -> tuple[list[IndexedWheel], Records]:
    wheels, faults = scan(wheelhouse)
    if faults:
        raise IndexFaultError("; ".join(faults), "remove what is no wheel, or build it again; the index is as it was")
    records = read_records(wheelhouse)
    changed = [wheel.filename for wheel in wheels if records.hashes.get(wheel.filename, wheel.sha256) != wheel.sha256]
    if changed:
        raise PublishedFileError(
            f"published with other bytes: {', '.join(changed)}",
            "raise 'revision' in fork.toml for a new file name; a name that nobody can have seen is freed by removing its line "
            f"from {wheelhouse / HASHES} and the index in {wheelhouse / 'simple'}",
        )
    return wheels, records


def _recorded(
    wheelhouse: Path, wheels: Sequence[IndexedWheel], records: Records, now: Callable[[], datetime]
) -> Records:
    """Add to the records the wheels that are new."""
    times = dict(records.times)
    for wheel in wheels:
        if wheel.filename not in times:
            # One that was published before times were kept: its file is not younger than that.
            old = wheel.filename in records.hashes
            written = datetime.fromtimestamp((wheelhouse / wheel.filename).stat().st_mtime, UTC)
            times[wheel.filename] = stamp(min(written, now()) if old else now())
    hashes = {wheel.filename: wheel.sha256 for wheel in wheels} | dict(records.hashes)
    return replace(records, hashes=hashes, times=times)


def _first_promoted(
    wheels: Sequence[IndexedWheel], records: Records, wanted: str | None, now: Callable[[], datetime]
) -> Records:
    withheld = {str(wheel.version) for wheel in wheels if wheel.filename in records.withheld}
    versions = [str(wheel.version) for wheel in wheels]
    first = first_promotions(versions, [version for _, version in records.promoted], withheld, wanted)
    return replace(records, promoted=(*records.promoted, *((stamp(now()), version) for version in first)))


def _write(wheelhouse: Path, wheels: Sequence[IndexedWheel], records: Records) -> IndexReport:
    wheels = described(wheels, records)
    files = render(wheels, records)
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
    removed = stray(wheelhouse, files)
    for name in removed:
        _remove(wheelhouse / name)
    reasons = {str(wheel.version): wheel.yanked for wheel in wheels if wheel.yanked}
    return IndexReport(tuple(wheel.filename for wheel in wheels), tuple(written), tuple(removed), reasons)


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


def stray(wheelhouse: Path, files: Mapping[str, bytes]) -> list[str]:
    """List what lies where only the index may lie and does not belong to it: metadata of vanished wheels, pages, leftovers."""
    folders = {str(Path(name).parent) for name in files}
    leftovers = (".metadata.new", *(f"{record}.new" for record in (HASHES, TIMES, PROMOTED)))
    metadata = [path.name for path in wheelhouse.glob("*.whl.metadata")]
    metadata += [path.name for path in wheelhouse.glob(".*.new") if path.name.endswith(leftovers)]
    pages = [str(path.relative_to(wheelhouse)) for path in wheelhouse.glob("simple/**/*")]
    return sorted(name for name in (*metadata, *pages) if name not in files and name not in folders)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
