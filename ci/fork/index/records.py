"""What a wheelhouse remembers of its files: their hashes, when each was published first, and which build was promoted when.

Three text files lie beside the wheels, each a line an entry::

    published.sha256     <sha256>  <file>          in the form of sha256sum
    published.times      <time>  <file>            first publication, UTC, 2026-11-30T12:00:00Z
    promoted.versions    <time>  <version>         in the order of the promotions; the last of a release counts

Hashes and times stand in the JSON pages too, so that neither the records nor the pages can be lost alone.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from fork.errors import ForkError

__all__ = [
    "HASHES",
    "PROMOTED",
    "TIMES",
    "IndexFaultError",
    "PublishedFileError",
    "Records",
    "published_hashes",
    "read_records",
    "stamp",
]

HASHES = "published.sha256"
"""Name of the file that remembers what was ever published."""

TIMES = "published.times"
"""Name of the file that remembers when each file was published first."""

PROMOTED = "promoted.versions"
"""Name of the file that remembers which build of a release was promoted when."""

_FORMAT = "%Y-%m-%dT%H:%M:%SZ"
_TIME = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"
_LINES = {
    HASHES: (r"([0-9a-f]{64})  (\S+)", "<sha256>  <file>"),
    TIMES: (rf"({_TIME})  (\S+)", "<time>  <file>"),
    PROMOTED: (rf"({_TIME})  (\S+)", "<time>  <version>"),
}


class IndexFaultError(ForkError):
    """An index and the wheels that it lists disagree, or a file in the wheelhouse is no wheel."""

    exit_code = 35


class PublishedFileError(ForkError):
    """A published file would change its bytes."""

    exit_code = 34


@dataclass(frozen=True)
class Records:
    """What is remembered.

    :param hashes: File -> SHA-256, of everything that was ever published.
    :param times: File -> time of its first publication, as PEP 700 writes it.
    :param promoted: Pairs of time and version in the order of the promotions.
    :param withheld: Files that the JSON pages list as yanked (PEP 592).
    """

    hashes: Mapping[str, str]
    times: Mapping[str, str]
    promoted: tuple[tuple[str, str], ...]
    withheld: frozenset[str]

    def files(self) -> dict[str, bytes]:
        """Give the content of the three files."""
        texts = {
            HASHES: (f"{sha256}  {name}\n" for name, sha256 in sorted(self.hashes.items())),
            TIMES: (f"{time}  {name}\n" for name, time in sorted(self.times.items())),
            PROMOTED: (f"{time}  {version}\n" for time, version in self.promoted),
        }
        return {name: "".join(lines).encode() for name, lines in texts.items()}


def read_records(wheelhouse: Path) -> Records:
    """Read the records of a wheelhouse, each completed by what the JSON pages say.

    :raises IndexFaultError: A record or a page cannot be read.
    """
    entries = list(_entries(wheelhouse))
    hashes = {entry["filename"]: entry["hashes"]["sha256"] for entry in entries}
    times = {entry["filename"]: entry["upload-time"] for entry in entries if "upload-time" in entry}
    return Records(
        hashes=hashes | {name: sha256 for sha256, name in _lines(wheelhouse, HASHES)},
        times=times | {name: time for time, name in _lines(wheelhouse, TIMES)},
        promoted=tuple(_lines(wheelhouse, PROMOTED)),
        withheld=frozenset(entry["filename"] for entry in entries if entry.get("yanked")),
    )


def published_hashes(wheelhouse: Path) -> Mapping[str, str]:
    """Read which files were ever published.

    :returns: Their SHA-256 by file name, from the record and from the index itself, so that neither can be lost alone.
    :raises IndexFaultError: A record or a page cannot be read.
    """
    return read_records(wheelhouse).hashes


def stamp(moment: datetime) -> str:
    """Write a time as PEP 700 has it; the fraction of the second is left out."""
    return moment.astimezone(UTC).strftime(_FORMAT)


def _entries(wheelhouse: Path) -> Iterator[dict[str, Any]]:
    for page in sorted(wheelhouse.glob("simple/*/index.json")):
        try:
            entries = json.loads(page.read_bytes())["files"]
            for entry in entries:
                entry["filename"], entry["hashes"]["sha256"]
        except (ValueError, KeyError, TypeError) as error:
            raise IndexFaultError(f"{page} is damaged ({error})", "remove it and run `ci/fork.sh index`") from None
        yield from entries


def _lines(wheelhouse: Path, name: str) -> Iterator[tuple[str, str]]:
    record = wheelhouse / name
    pattern, form = _LINES[name]
    for line in record.read_text("utf-8").splitlines() if record.exists() else ():
        match = re.fullmatch(pattern, line)
        if not match:
            raise IndexFaultError(f"{record} has a line that is not '{form}': '{line}'", "mend that line")
        yield match[1], match[2]
