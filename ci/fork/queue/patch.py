"""One patch file: its headers, its reasons, the files it touches."""

from __future__ import annotations

import email
import email.policy
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path, PurePosixPath

from unidiff.errors import UnidiffParseError
from unidiff.patch import PatchSet

__all__ = ["GROUPS", "TRAILERS", "Patch", "PatchFormatError"]

#: The groups of the queue; they name a patch's life.
GROUPS = ("backport", "fix", "speed")

#: The trailers that every patch has, after DEP-3: where it comes from, whether it was offered upstream, whether upstream has it.
TRAILERS = ("Patch-Name", "Origin", "Forwarded", "Applied-Upstream", "Last-Update")

# What git's own tools assume of a message: `git log` indents it by four columns on each side of a terminal of 80.
_COLUMNS = 72

_URL = r"https?://[\w.-]+\S*"
_LINK = rf"{_URL}|[\w.-]+/[\w.-]+#\d+"
_RELEASE = r"\d+(?:\.\d+)+(?: \([^()]+\))?"
_FORMS = {
    "Forwarded": (rf"no|not-needed|{_LINK}", "no, not-needed, or where: a URL or owner/project#number"),
    "Bug": (rf"{_URL}(?: \(.+\))?", "a URL"),
    "Applied-Upstream": (
        rf"no|{_RELEASE}(?:, {_RELEASE})*",
        "no, or the versions that have it: 3.7.0, 3.7.0 (what of it), 3.7.0 (a part), 3.8.0 (another)",
    ),
    "Last-Update": (r"\d{4}-\d\d-\d\d", "a date, 2026-11-30"),
}


class PatchFormatError(ValueError):
    """A patch file that is not in the form that ``git format-patch`` writes; carries every fault found."""

    def __init__(self, faults: list[str]) -> None:
        super().__init__("; ".join(faults))
        self.faults = faults


@dataclass(frozen=True)
class Patch:
    """A patch of the queue.

    :param name: Its path below the lane's folder, ``speed/lazy-gluon.patch``.
    :param data: Its bytes.
    :param subject: First line of the message.
    :param body: The reasons, without the trailers.
    :param trailers: The trailers in their order, as pairs.
    :param files: The files that it touches, as they are named after it.
    """

    name: str
    data: bytes
    subject: str
    body: str
    trailers: tuple[tuple[str, str], ...]
    files: tuple[str, ...]

    @classmethod
    def parse(cls, name: str, data: bytes) -> Patch:
        """Read a patch.

        :param name: Its path below the lane's folder.
        :param data: The bytes of the file.
        :raises PatchFormatError: It has no headers or no diff, lacks a trailer, or touches a path outside the tree.
        """
        message = email.message_from_bytes(data, policy=email.policy.default)
        subject = re.sub(r"^\[PATCH[^]]*\]\s*", "", re.sub(r"\s*\n\s*", " ", str(message["subject"] or "")))
        text = data.decode("utf-8", errors="replace")
        reasons = re.split(r"^(?:---$|diff --git )", text.partition("\n\n")[2], maxsplit=1, flags=re.MULTILINE)[
            0
        ].strip()
        body, trailers = _split_trailers(reasons)
        faults = _header_faults(subject, message.get_all("from", []), body)
        faults += _width_faults(subject, reasons) + _trailer_faults(name, trailers)
        if PurePosixPath(name).parts[0] not in GROUPS:
            faults.append(f"is not in one of the groups {', '.join(GROUPS)}")
        files: tuple[str, ...] = ()
        try:
            diff = PatchSet(text)
            files = tuple(file.path for file in diff)
            faults += [] if files else ["has no diff"]
        except UnidiffParseError as error:
            faults.append(f"the diff cannot be read: {error}")
        faults += [f"touches '{file}', outside the tree" for file in files if _outside(file)]
        if faults:
            raise PatchFormatError(faults)
        return cls(name, data, subject, body, trailers, files)

    @classmethod
    def read(cls, folder: Path, name: str) -> Patch:
        """Read a patch from the folder of a lane; see :meth:`parse`."""
        return cls.parse(name, (folder / name).read_bytes())


def _split_trailers(reasons: str) -> tuple[str, tuple[tuple[str, str], ...]]:
    body, _, last = reasons.rpartition("\n\n")
    pairs = [re.fullmatch(r"([A-Z][A-Za-z-]+): (.+)", line) for line in last.splitlines()]
    if not last or not all(pairs):
        return reasons, ()
    return body.strip(), tuple((pair[1], pair[2].strip()) for pair in pairs if pair)


def _header_faults(subject: str, authors: Sequence[object], body: str) -> list[str]:
    faults = [] if subject else ["has no 'Subject' header"]
    if not authors:
        faults.append("has no 'From' header")
    elif len(authors) > 1 or re.search(r"^From: ", body, flags=re.MULTILINE):
        faults.append("names more than one author: it has several lines 'From:'")
    elif not re.fullmatch(r"[^<>]+ <[^<>\s]+@[^<>\s]+>", str(authors[0])):
        faults.append(f"its author is '{authors[0]}', not a name and an address: A Person <person@example.org>")
    return faults + ([] if body else ["has no body that says why"])


def _width_faults(subject: str, reasons: str) -> list[str]:
    """Find lines that are too wide; one with a URL may be, since that cannot be broken."""
    faults = [f"its subject has {len(subject)} columns, not {_COLUMNS} at most"] if len(subject) > _COLUMNS else []
    wide = [line for line in reasons.splitlines() if len(line) > _COLUMNS and "://" not in line]
    return faults + [
        f"a line of its message has {len(line)} columns, not {_COLUMNS} at most: '{line}'" for line in wide
    ]


def _trailer_faults(name: str, trailers: tuple[tuple[str, str], ...]) -> list[str]:
    present = dict(trailers)
    faults = [f"has no '{key}:' trailer" for key in TRAILERS if key not in present]
    faults += [
        f"its '{key}:' trailer says '{value}', not {form}"
        for key, value in trailers
        for pattern, form in [_FORMS.get(key, (r".*", ""))]
        if not re.fullmatch(pattern, value) or (key == "Last-Update" and not _is_date(value))
    ]
    keys = [key for key, _ in trailers]
    faults += [f"has {keys.count(key)} '{key}:' trailers" for key in TRAILERS if keys.count(key) > 1]
    if present.get("Patch-Name", name) != name:
        faults.append(f"its 'Patch-Name:' trailer says '{present['Patch-Name']}'")
    return faults


def _is_date(text: str) -> bool:
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


def _outside(file: str) -> bool:
    path = PurePosixPath(file)
    return path.is_absolute() or ".." in path.parts or ".git" in path.parts
