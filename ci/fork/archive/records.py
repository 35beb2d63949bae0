"""RECORD, the list of what a wheel installs (binary distribution format of the Python packaging specifications)."""

from __future__ import annotations

import csv
import hashlib
import io
from base64 import urlsafe_b64encode
from collections.abc import Iterable

__all__ = ["Row", "parse_record", "record_hash", "write_record"]

#: Path, hash as ``sha256=<urlsafe base64>``, size in bytes; the last two are empty for RECORD itself.
Row = tuple[str, str, str]


def record_hash(content: bytes) -> str:
    """Hash content as RECORD writes it."""
    return "sha256=" + urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()


def parse_record(text: str) -> dict[str, Row]:
    """Read a RECORD into rows by path.

    :raises ValueError: A row has not three columns, or a path stands twice.
    """
    rows: dict[str, Row] = {}
    for columns in csv.reader(io.StringIO(text)):
        if len(columns) != 3 or columns[0] in rows:
            raise ValueError(f"bad or repeated row {columns}")
        rows[columns[0]] = (columns[0], columns[1], columns[2])
    return rows


def write_record(rows: Iterable[Row]) -> bytes:
    """Write rows as a RECORD with line feeds."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue().encode()
