"""What a wheel or an installed Triton is."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

from fork.archive.wheels import ArchiveError, WheelArchive
from fork.assembly.provenance import PROVENANCE
from fork.errors import ForkError

__all__ = ["NotTheForkError", "installed_info", "wheel_info"]

_KEYS = frozenset({"version", "upstream", "base", "patches", "digest", "builder", "files"})


class NotTheForkError(ForkError):
    """A wheel or an installation is not one of the fork."""

    exit_code = 22


def wheel_info(path: Path) -> dict[str, Any]:
    """Read the provenance of a wheel.

    :raises ArchiveError: The file is not a wheel.
    :raises NotTheForkError: The wheel carries no provenance.
    """
    with WheelArchive.open(path) as archive:
        try:
            document: dict[str, Any] = json.loads(archive.read(PROVENANCE))
        except ArchiveError:
            raise NotTheForkError(f"'{path.name}' has no {PROVENANCE}: it is not a wheel of the fork") from None
        except ValueError as error:
            raise NotTheForkError(f"{PROVENANCE} of '{path.name}' is damaged: {error}") from None
    if not isinstance(document, dict) or not document.keys() >= _KEYS:
        raise NotTheForkError(f"{PROVENANCE} of '{path.name}' lacks what the fork writes there")
    return document


def installed_info(python: Path) -> dict[str, Any]:
    """Ask a Python what its Triton is.

    :param python: The interpreter whose ``triton`` is meant.
    :raises NotTheForkError: It has no Triton, or not the fork's.
    """
    command = [str(python), "-m", "triton.fork", "--json"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError as error:
        raise NotTheForkError(f"cannot run '{python}': {error.strerror}", "name an interpreter with --python") from None
    if done.returncode != 0:
        reason = done.stderr.strip().rpartition("\n")[2]
        raise NotTheForkError(f"the triton of '{python}' is not the fork: {reason}", "name another one with --python")
    document: dict[str, Any] = json.loads(done.stdout)
    return document
