"""The pin: what ``fork.toml`` says about each lane.

>>> lane = load(Path("fork.toml")).lane()
>>> lane.version, lane.revision
('3.6.0', 2)
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from packaging.tags import Tag
from packaging.utils import InvalidWheelFilename, parse_wheel_filename
from packaging.version import InvalidVersion, Version

from fork.errors import ConfigError

__all__ = ["COMMON", "STATES", "BaseWheel", "Identity", "Lane", "Pin", "load"]

#: Folder below ``overlay/`` of what all lanes share, hence the name of no lane.
COMMON = "common"

#: What a lane can be: it gets everything, fixes alone, or nothing any more.
STATES = ("active", "fixes", "retired")

_COMMIT = r"[0-9a-f]{40}"


@dataclass(frozen=True)
class BaseWheel:
    """One published wheel of the upstream release.

    :param filename: Its file name, which carries the tags.
    :param size: Its size in bytes.
    :param sha256: Its SHA-256, 64 hexadecimal digits.
    """

    filename: str
    size: int
    sha256: str

    @property
    def tags(self) -> frozenset[Tag]:
        """The compatibility tags in the file name."""
        return parse_wheel_filename(self.filename)[3]

    @property
    def version(self) -> Version:
        """The upstream version in the file name."""
        return parse_wheel_filename(self.filename)[1]

    @property
    def python(self) -> str:
        """The Python that the wheel is for, such as ``3.12`` or ``3.13t`` for a free-threaded build; of several, the oldest."""
        tag = next(iter(self.tags))
        digits = tag.interpreter.removeprefix("cp")
        return f"{digits[0]}.{digits[1:]}" + ("t" if tag.abi.endswith("t") else "")

    def serves(self, python: str) -> bool:
        """Tell whether a Python installs the wheel; one of the stable ABI serves later Pythons with the GIL too (PEP 425)."""
        if any(tag.abi == "abi3" for tag in self.tags) and not python.endswith("t"):
            return Version(python) >= Version(self.python)
        return python == self.python

    @property
    def machine(self) -> str:
        """The processor that the wheel is for, as ``platform.machine()`` says it."""
        return re.sub(r"^manylinux_\d+_\d+_", "", sorted(tag.platform for tag in self.tags)[0])


@dataclass(frozen=True)
class Identity:
    """Whose fork it is, as the wheels say it.

    :param repository: URL of the fork's repository.
    :param maintainer: Who answers for it.
    :param email: Where to write to; may be empty.
    """

    repository: str
    maintainer: str
    email: str


@dataclass(frozen=True)
class Lane:
    """A supported line of upstream.

    :param name: The name of the table, ``3.6``; also the name of the folders below ``patches/`` and ``overlay/``.
    :param upstream: URL of the upstream repository.
    :param commit: The pinned commit, 40 hexadecimal digits.
    :param version: The upstream version at that commit; the latest one where the lane has several.
    :param label: First part of the local version, ``fork``.
    :param revision: The fork's revision on this lane, from 1.
    :param state: ``active``, ``fixes`` for a lane that gets no more features, or ``retired``.
    :param supports: What the lane is for, ``torch 2.11``.
    :param pythons: The Pythons that the lane serves, ``3.12`` or ``3.13t``, the oldest first; of several releases, each its own.
    :param submodule: Folder of the upstream checkout, relative to the repository.
    :param layout: Pairs of path prefixes, in a wheel and in a checkout; the first that fits counts.
    :param wheels: Every published wheel of the version.
    :param identity: Whose fork it is; the same in all lanes.
    :param is_latest: Whether the version is the latest that the lane serves: the one that patches are edited on.
    :param earlier: The lane as it is on each earlier release that the same queue serves, the latest of them first.
    """

    name: str
    upstream: str
    commit: str
    version: str
    label: str
    revision: int
    state: str
    supports: tuple[str, ...]
    pythons: tuple[str, ...]
    submodule: str
    layout: tuple[tuple[str, str], ...]
    wheels: tuple[BaseWheel, ...]
    identity: Identity
    is_latest: bool = True
    earlier: tuple[Lane, ...] = ()

    @property
    def lock(self) -> str:
        """Name of the file beside the series that says which trees applying it must give."""
        return "series.lock" if self.is_latest else f"series-{self.version}.lock"

    @property
    def releases(self) -> tuple[Lane, ...]:
        """The lane on each release that it serves, the latest first; each of them alone says what to build from."""
        return replace(self, earlier=()), *self.earlier

    @property
    def machines(self) -> tuple[str, ...]:
        """The processors that upstream published wheels for."""
        return tuple(sorted({wheel.machine for wheel in self.wheels}))

    def wheel(self, python: str, machine: str) -> BaseWheel | None:
        """Find the wheel for a Python on a processor; one made for that very Python goes before one of the stable ABI."""
        fitting = [wheel for wheel in self.wheels if wheel.machine == machine and wheel.serves(python)]
        return max(fitting, key=lambda wheel: Version(wheel.python.rstrip("t")), default=None)


@dataclass(frozen=True)
class Pin:
    """Everything in ``fork.toml``.

    :param lanes: The lanes by name, in the order of the file.
    :param default: Name of the lane that a command takes when none is named.
    """

    lanes: Mapping[str, Lane]
    default: str

    def lane(self, name: str | None = None) -> Lane:
        """Find a lane.

        :param name: Its name, or ``None`` for the default.
        :raises ConfigError: There is no lane of that name.
        """
        wanted = name or self.default
        if wanted not in self.lanes:
            raise ConfigError(f"there is no lane '{wanted}' in fork.toml", f"the lanes are: {', '.join(self.lanes)}")
        return self.lanes[wanted]


def load(path: Path) -> Pin:
    """Read the pin.

    :param path: The ``fork.toml``.
    :raises ConfigError: It is missing, is not TOML, or a value is missing or of the wrong form; all faults are listed.
    """
    try:
        document = tomllib.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        raise ConfigError(f"{path.name} is missing", "run the tool from a complete checkout of the fork") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path.name} is not valid TOML: {error}", "mend the line it names") from None
    faults: list[str] = []
    tables = document.get("lane")
    if not isinstance(tables, dict) or not tables:
        raise ConfigError(f'{path.name} has no [lane."<version>"] table', "see the README on pinning a new upstream")
    faults += [f"lane '{name}': is not a plain name" for name in tables if not re.fullmatch(r"\w[\w.-]*", name)]
    faults += [f"lane '{COMMON}': is the folder of what all lanes share"] if COMMON in tables else []
    identity = _identity(_Table(document.get("fork"), "fork", faults))
    lanes = {name: _lane(name, _Table(table, f'lane."{name}"', faults), identity) for name, table in tables.items()}
    default = _Table(document, "", faults).text("default-lane")
    if default and default not in lanes:
        faults.append(f"default-lane: '{default}' is not one of {', '.join(lanes)}")
    if faults:
        raise ConfigError(f"{path.name}: " + "; ".join(faults), "compare with the lane tables that work")
    return Pin(lanes, default)


class _Table:
    """Reads values out of a TOML table and collects what is wrong with them."""

    def __init__(self, table: Any, where: str, faults: list[str]) -> None:
        self.table: dict[str, Any] = table if isinstance(table, dict) else {}
        self.where = where
        self.faults = faults
        if not isinstance(table, dict):
            faults.append(f"{where}: is not a table")

    def fault(self, key: str, text: str) -> None:
        self.faults.append(f"{self.where}.{key}: {text}".lstrip("."))

    def value(self, key: str, kind: type) -> Any:
        found = self.table.get(key)
        if found is None:
            self.fault(key, "is missing")
        elif not isinstance(found, kind) or isinstance(found, bool):
            self.fault(key, f"is not of type {kind.__name__}")
        else:
            return found
        return kind()

    def text(self, key: str, pattern: str = r".+") -> str:
        found: str = self.value(key, str)
        if found and not re.fullmatch(pattern, found):
            self.fault(key, f"'{found}' does not match {pattern}")
        return found

    def texts(self, key: str, pattern: str) -> tuple[str, ...]:
        found = self.value(key, list)
        for item in found:
            if not (isinstance(item, str) and re.fullmatch(pattern, item)):
                self.fault(key, f"'{item}' does not match {pattern}")
        return tuple(map(str, found))

    def texts_by_name(self, key: str, pattern: str) -> dict[str, str]:
        found = self.value(key, dict)
        for name, item in found.items():
            if not (_is_version(name) and isinstance(item, str) and re.fullmatch(pattern, item)):
                self.fault(key, f"'{name}' = '{item}' is not a version and what matches {pattern}")
        return {name: str(item) for name, item in found.items()}

    def positive(self, key: str) -> int:
        found: int = self.value(key, int)
        if isinstance(self.table.get(key), int) and found < 1:
            self.fault(key, "must be 1 or more")
        return found


def _identity(table: _Table) -> Identity:
    return Identity(
        repository=table.text("repository", r"https?://\S+"),
        maintainer=table.text("maintainer", r"[^\s,<>][^,<>\n]*"),
        email=table.text("email", r"[^\s<>@]+@[^\s<>@]+") if "email" in table.table else "",
    )


def _lane(name: str, table: _Table, identity: Identity) -> Lane:
    version = table.text("version")
    if not _is_version(version or "0"):
        table.fault("version", f"'{version}' is not a PEP 440 version")
    layout = table.value("layout", dict)
    for wheel_prefix, tree_prefix in layout.items():
        if not (isinstance(tree_prefix, str) and wheel_prefix.endswith("/") and tree_prefix.endswith("/")):
            table.fault("layout", f"'{wheel_prefix}' and what it maps to must both end with '/'")
    earlier = table.texts_by_name("earlier", _COMMIT) if "earlier" in table.table else {}
    rows = table.value("wheel", list)
    if not rows and "wheel" in table.table:
        table.fault("wheel", "is empty")
    versions = (version, *earlier)
    wheels = [_wheel(_Table(row, f"{table.where}.wheel[{n}]", table.faults), versions) for n, row in enumerate(rows)]
    lane = Lane(
        name=name,
        upstream=table.text("upstream", r"https://.+|file://.+|/.+"),
        commit=table.text("commit", _COMMIT),
        version=version,
        label=table.text("label", r"[a-z0-9]+"),
        revision=table.positive("revision"),
        state=table.text("state", "|".join(STATES)),
        supports=table.texts("supports", r"[\w-]+ [\w.]+"),
        pythons=table.texts("pythons", r"3\.\d+t?"),
        submodule=table.text("submodule", r"\w[\w.-]*"),
        layout=tuple(layout.items()),
        wheels=tuple(wheels),
        identity=identity,
    )
    if table.faults:
        return lane
    releases = _with_releases(lane, earlier)
    for release in releases.releases:
        _compare_pythons(release, table)
    for python in lane.pythons:
        if not any(python in release.pythons for release in releases.releases):
            table.fault("pythons", f"there is no wheel of any release for {python}")
    return releases


def _with_releases(lane: Lane, earlier: Mapping[str, str]) -> Lane:
    """Give each release of a lane the wheels that are of its version, and those Pythons that it has wheels for.

    :param lane: With the wheels of all releases.
    :param earlier: Version -> commit.
    """
    if not earlier:
        return lane

    def at(version: str, commit: str, is_latest: bool) -> Lane:
        wheels = tuple(wheel for wheel in lane.wheels if wheel.version == Version(version))
        pythons = tuple(python for python in lane.pythons if any(wheel.serves(python) for wheel in wheels))
        return replace(lane, version=version, commit=commit, wheels=wheels, pythons=pythons, is_latest=is_latest)

    others = tuple(at(version, earlier[version], False) for version in sorted(earlier, key=Version, reverse=True))
    return replace(at(lane.version, lane.commit, True), earlier=others)


def _is_version(text: str) -> bool:
    try:
        Version(text)
    except InvalidVersion:
        return False
    return True


def _compare_pythons(lane: Lane, table: _Table) -> None:
    """Find Pythons without a wheel, and wheels that none of the lane's Pythons would take."""
    served = {(python, machine): lane.wheel(python, machine) for python in lane.pythons for machine in lane.machines}
    if not lane.wheels:
        table.fault("wheel", f"there is none of version {lane.version}")
    for (python, machine), wheel in served.items():
        if wheel is None:
            table.fault("pythons", f"there is no wheel of {lane.version} for {python} on {machine}")
    for wheel in lane.wheels:
        if wheel not in served.values():
            table.fault("wheel", f"'{wheel.filename}' is for none of the Pythons")


def _wheel(table: _Table, versions: Collection[str]) -> BaseWheel:
    wheel = BaseWheel(table.text("file"), table.positive("size"), table.text("sha256", r"[0-9a-f]{64}"))
    try:
        if wheel.filename and all(versions) and str(wheel.version) not in versions:
            table.fault("file", f"'{wheel.filename}' is not of version {' or '.join(versions)}")
    except InvalidWheelFilename:
        table.fault("file", f"'{wheel.filename}' is not a wheel file name")
    return wheel
