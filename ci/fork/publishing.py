"""From a plan to a wheel in the wheelhouse: assembled, verified, imported, moved in whole, listed in the index."""

from __future__ import annotations

import errno
import hashlib
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from time import monotonic

from fork.assembly.wheel import Plan, assemble, wheel_name
from fork.errors import ForkError
from fork.index.records import PublishedFileError, published_hashes
from fork.index.writing import write_index
from fork.locks import locked_folder
from fork.smoke import smoke_import
from fork.verify import verify_wheel

__all__ = ["Built", "output_folder", "publish", "write_and_report"]

Step = Callable[[str], None]


class OutputFolderError(ForkError):
    """The folder for the results cannot be made."""

    exit_code = 29


@dataclass(frozen=True)
class Built:
    """A wheel that was published.

    :param path: The file.
    :param sha256: Its SHA-256.
    :param size: Its size in bytes.
    :param seconds: How long assembling and verifying it took.
    :param changed: Whether the file is new; ``False`` where the same bytes lay there already.
    :param imported_by: The Python that imported it, such as ``3.12.1``; ``None`` where none is there for it.
    :param yanked: Why the index gives it only to those who name exactly its version; empty where it gives it to all.
    """

    path: Path
    sha256: str
    size: int
    seconds: float
    changed: bool
    imported_by: str | None
    yanked: str = ""


@contextmanager
def output_folder(wheelhouse: Path) -> Iterator[Path]:
    """Make a wheelhouse where it is missing, and keep other processes from writing into it.

    Nothing lies in it but what is to be published: wheels are made elsewhere, and the folder itself is what is locked.

    :returns: The wheelhouse.
    :raises BusyError: Another build writes into it.
    :raises OutputFolderError: It cannot be made.
    """
    try:
        wheelhouse.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputFolderError(
            f"cannot make the folder '{wheelhouse}': {error.strerror}", "choose another --out"
        ) from None
    with locked_folder(
        wheelhouse,
        f"another build writes into {wheelhouse}",
        "wait for it to end, or give this one a folder of its own with --out",
    ):
        for part in wheelhouse.glob(".*.whl.part"):
            part.unlink(missing_ok=True)  # what a killed process left
        shutil.rmtree(wheelhouse / ".staging", ignore_errors=True)  # the same, of revision 1 of the tool
        yield wheelhouse


def write_and_report(wheelhouse: Path, built: Sequence[Built], version: str, step: Step) -> list[Built]:
    """Write the index, and add to what was built whether the index gives it to all.

    :param version: The version of what was built.
    """
    step("writing the index")
    yanked = write_index(wheelhouse).yanked.get(version, "")
    return [replace(each, yanked=yanked) for each in built]


def publish(
    plan: Plan, base: Path, wheelhouse: Path, folder: Path, step: Step, compare_with: Path | None = None
) -> Built:
    """Assemble, verify and import one wheel in a scratch folder, then move it into the wheelhouse.

    :param compare_with: Base wheel that undeclared differences are looked for against.
    :raises PublishedFileError: A file of that name with other bytes was published already.
    :raises SmokeImportError: There is a Python for it on this machine, which cannot import it.
    """
    started = monotonic()
    name = wheel_name(base.name, plan.version)
    staged, target = folder / name, wheelhouse / name
    step(f"assembling {name}")
    assemble(base, plan, staged)
    step(f"verifying {name}")
    verify_wheel(staged, compare_with)
    digest = _sha256(staged)
    published = published_hashes(wheelhouse).get(name) or (_sha256(target) if target.is_file() else digest)
    same = target.is_file() and _sha256(target) == digest
    if published != digest or (target.is_file() and not same):
        raise PublishedFileError(
            f"'{name}' was published with other bytes",
            "raise 'revision' in fork.toml; if the file in the wheelhouse is merely damaged, remove it",
        )
    step(f"importing {name}")
    changes = plan.changes
    imported_by = smoke_import(staged, {*changes.patched, *changes.overlay}, folder / "imported")
    size = staged.stat().st_size
    if same:
        staged.unlink()
    else:
        _move(staged, target)
    return Built(target, digest, size, monotonic() - started, not same, imported_by)


def _move(source: Path, target: Path) -> None:
    """Move a file, which appears whole or not at all, also where the target lies in another file system."""
    try:
        source.replace(target)
        return
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
    part = target.with_name(f".{target.name}.part")
    try:
        shutil.copyfile(source, part)
        part.chmod(0o644)
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)
    source.unlink()


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
