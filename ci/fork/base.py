"""Which base wheels a build is for, and getting them."""

from __future__ import annotations

import platform
from collections.abc import Iterable, Sequence
from pathlib import Path
from shutil import which

from fork.config import BaseWheel, Lane
from fork.errors import ForkError
from fork.interpreters import find_interpreters, inspect_interpreter

__all__ = ["NoBaseWheelError", "pythons_of_releases", "select_wheels"]


class NoBaseWheelError(ForkError):
    """Upstream published no wheel for a Python or a platform."""

    exit_code = 15


def select_wheels(
    lane: Lane, pythons: Sequence[str] = (), platforms: Sequence[str] = (), every: bool = False
) -> tuple[BaseWheel, ...]:
    """Select base wheels of a lane.

    :param pythons: Versions such as ``3.12`` or ``3.13t``; ``installed`` stands for those found on this machine. Without any,
        that of ``python3`` on PATH.
    :param platforms: Processors such as ``aarch64``. Without any, this machine's.
    :param every: Take all wheels that the other two, where given, let through.
    :raises NoBaseWheelError: There is no wheel for one of them; the message lists what there is.
    """
    known, machines = lane.pythons, lane.machines
    wanted = _expand(pythons, known) or (list(known) if every else [_current_python(known)])
    targets = list(platforms) or (machines if every else [platform.machine()])
    found = {(python, machine): lane.wheel(python, machine) for python in wanted for machine in targets}
    missing = [f"{python} on {machine}" for (python, machine), wheel in found.items() if wheel is None]
    if missing:
        raise NoBaseWheelError(
            f"Triton {lane.version} has no wheel for Python {', '.join(missing)}",
            f"there are wheels for Python {', '.join(known)} on {', '.join(machines)}; choose with --python and --platform",
        )
    # A wheel of the stable ABI may be the one for several of them.
    return tuple(dict.fromkeys(wheel for wheel in found.values() if wheel))


def pythons_of_releases(lane: Lane, pythons: Sequence[str]) -> list[tuple[Lane, list[str]]]:
    """Say which releases of a lane to build, and for which of the wanted Pythons: a release need not serve them all.

    :param pythons: As for :func:`select_wheels`. One that no release serves is left to the latest, where it is an error.
    """
    if not pythons:
        return [(release, []) for release in lane.releases]
    known = {python for release in lane.releases for python in release.pythons}
    chosen = [
        (
            release,
            [p for p in pythons if p == "installed" or p in release.pythons or (release.is_latest and p not in known)],
        )
        for release in lane.releases
    ]
    return [(release, wanted) for release, wanted in chosen if wanted]


def _expand(pythons: Sequence[str], known: Iterable[str]) -> list[str]:
    expanded: list[str] = []
    for python in pythons:
        if python == "installed":
            expanded += [interpreter.python for interpreter in find_interpreters(known)]
        else:
            expanded.append(python)
    return list(dict.fromkeys(expanded))


def _current_python(known: Sequence[str]) -> str:
    current = which("python3")
    interpreter = inspect_interpreter(Path(current)) if current else None
    if interpreter:
        return interpreter.python
    installed = find_interpreters(known)
    if not installed:
        raise NoBaseWheelError("there is no python3 on PATH to build for", "name one with --python")
    return installed[-1].python
