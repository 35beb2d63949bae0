"""Get the packages, by hash, and take them apart."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import filelock

from fork.archive.wheels import WheelArchive
from fork.download.base_wheels import default_cache

__all__ = ["HERE", "Package", "PackageError", "environment", "pinned", "unpack", "unpacked"]

HERE = Path(__file__).resolve().parent
#: What is of no use without a GPU: compiled code and data. Nothing else of a package is larger.
_LARGEST = 2_000_000
_BINARY = (".so", ".a", ".lib", ".dll", ".pyd", ".cubin", ".bin")
#: For which interpreter wheels are chosen that differ by it; only their Python files are read.
_TAGS = ["--implementation", "cp", "--python-version", "3.11", "--abi", "cp311", "--abi", "abi3", "--abi", "none"]
_PLATFORMS = ("manylinux_2_34_x86_64", "manylinux_2_28_x86_64", "manylinux_2_24_x86_64", "manylinux1_x86_64")


class PackageError(Exception):
    """A third-party package cannot be had, or not be searched."""


@dataclass(frozen=True)
class Package:
    """A pinned package.

    :param name: As in ``packages.txt``.
    :param version: Its version.
    :param sha256: Of its wheel.
    """

    name: str
    version: str
    sha256: str

    @property
    def module(self) -> str:
        """The name of its module in the corpus, and of the file with its signatures."""
        return self.name.replace("-", "_")


def pinned(file: Path = HERE / "packages.txt") -> list[Package]:
    """Read the pins.

    :param file: In the format of pip's requirements with hashes, one package a line.
    """
    lines = [line.split() for line in file.read_text().splitlines() if line and not line.startswith("#")]
    return [
        Package(name, version, digest.removeprefix("--hash=sha256:"))
        for requirement, digest in lines
        for name, version in [requirement.split("==")]
    ]


def _place() -> Path:
    return default_cache().parent / "third-party"


def unpacked(packages: Sequence[Package]) -> dict[Package, Path]:
    """Give the folders of packages, downloading and unpacking what is not there.

    :param packages: Some of :func:`pinned`.
    :raises PackageError: pip finds no wheel with the pinned hash.
    :raises ArchiveError: A wheel holds members outside its folder.
    """
    place = _place()
    folders = {package: place / f"{package.module}-{package.sha256[:12]}" for package in packages}
    place.mkdir(parents=True, exist_ok=True)
    with filelock.FileLock(place / "lock"):
        lacking = {package: folder for package, folder in folders.items() if not folder.exists()}
        if lacking:
            wheels = _wheels(list(lacking), place / "wheels")
            for package, folder in lacking.items():
                unpack(wheels[package], folder)
    return folders


def _wheels(packages: Sequence[Package], place: Path) -> dict[Package, Path]:
    place.mkdir(exist_ok=True)
    requirements = place / "requirements.txt"
    requirements.write_text("".join(f"{p.name}=={p.version} --hash=sha256:{p.sha256}\n" for p in packages))
    found = _by_hash(place)
    if any(package.sha256 not in found for package in packages):
        platforms = [word for platform in _PLATFORMS for word in ("--platform", platform)]
        _pip("download", "--no-deps", "--require-hashes", "--only-binary", ":all:", *_TAGS, *platforms, "--dest", str(place),
             "--requirement", str(requirements))  # fmt: skip
        found = _by_hash(place)
    lacking = [package.name for package in packages if package.sha256 not in found]
    if lacking:
        raise PackageError(f"pip left no wheel with the pinned hash of {', '.join(lacking)}")
    return {package: found[package.sha256] for package in packages}


def _by_hash(place: Path) -> dict[str, Path]:
    return {hashlib.sha256(wheel.read_bytes()).hexdigest(): wheel for wheel in place.glob("*.whl")}


def _pip(*arguments: str) -> None:
    command = [sys.executable, "-m", "pip", "--quiet", "--no-input", "--disable-pip-version-check", *arguments]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode != 0:
        raise PackageError(
            f"pip failed; is the package index reachable (pip config list)?\n{done.stderr.strip()[-2000:]}"
        )


def unpack(wheel: Path, folder: Path) -> None:
    """Take a wheel apart, without its compiled code.

    :param wheel: The file.
    :param folder: Where to; it appears when it is whole.
    :raises ArchiveError: A member has an unsafe name.
    """
    part = folder.with_name(folder.name + ".part")
    with WheelArchive.open(wheel) as archive:
        for member in archive.members:
            name = member.filename
            if not (member.is_dir() or name.endswith(_BINARY) or member.file_size > _LARGEST or ".dist-info/" in name):
                target = part / name
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(archive.read(member))
    part.rename(folder)


def environment() -> Path:
    """Give a folder with torch and what else the packages import for real, installing it at first use.

    :raises PackageError: pip cannot install it.
    """
    requirements = HERE / "environment.txt"
    tag = f"{sys.version_info.major}{sys.version_info.minor}"
    folder = _place() / f"site-{tag}-{hashlib.sha256(requirements.read_bytes()).hexdigest()[:12]}"
    folder.parent.mkdir(parents=True, exist_ok=True)
    with filelock.FileLock(folder.with_name("site.lock")):
        if not (folder / "complete").exists():
            _pip("install", "--no-deps", "--require-hashes", "--only-binary", ":all:", "--upgrade", "--target", str(folder),
                 "--requirement", str(requirements))  # fmt: skip
            (folder / "complete").touch()
    return folder
