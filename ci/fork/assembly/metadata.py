"""METADATA of a wheel of the fork: the base's, with the fork's version, and with who maintains it."""

from __future__ import annotations

import re
from collections.abc import Iterable

from fork.config import Identity

__all__ = ["LICENSES", "fork_metadata"]

#: Folder of the fork's own license files, below ``licenses/`` of the ``.dist-info`` folder; upstream's lie beside it.
LICENSES = "fork"

# License-File is a field from this version of the metadata on (PEP 639).
_LICENSE_FILES = (2, 4)


def fork_metadata(base: bytes, version: str, identity: Identity, licenses: Iterable[str]) -> bytes:
    """Write the METADATA.

    Upstream's author, home page and everything else stay.

    :param base: The base's.
    :param version: The fork's version.
    :param identity: Who maintains the fork.
    :param licenses: Names of the fork's license files.
    :raises ValueError: The base's has not one version.
    """
    head, separator, body = base.partition(b"\n\n")
    head, count = re.subn(rb"^Version: .*$", f"Version: {version}".encode(), head, flags=re.MULTILINE)
    if count != 1:
        raise ValueError(f"has {count} Version fields, not one")
    lines = [f"Maintainer: {identity.maintainer}"]
    lines += [f"Maintainer-email: {identity.email}"] if identity.email else []
    lines.append(f"Project-URL: Fork, {identity.repository}")
    if _format(head) >= _LICENSE_FILES:
        lines += [f"License-File: {LICENSES}/{name}" for name in sorted(licenses)]
    return head.rstrip(b"\n") + b"\n" + "\n".join(lines).encode() + (separator or b"\n") + body


def _format(head: bytes) -> tuple[int, ...]:
    found = re.search(rb"^Metadata-Version: (\d+)\.(\d+)$", head, flags=re.MULTILINE)
    return (int(found[1]), int(found[2])) if found else (0,)
