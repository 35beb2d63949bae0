"""From the sources of upstream to a wheel: its own build instead of its published wheel."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable
from pathlib import Path

from fork.assembly.provenance import Origin
from fork.assembly.version import fork_version
from fork.assembly.wheel import Changes, Plan
from fork.builder import (
    check_imports,
    gather_ingredients,
    has_native,
    license_files,
    native_extensions,
)
from fork.config import Lane
from fork.git import Git
from fork.layout import Layout
from fork.project import Project
from fork.publishing import Built, publish, write_and_report
from fork.queue.overlay import read_overlay
from fork.queue.series import read_lock, read_series
from fork.queue.tree import apply_patches, verify_files
from fork.source.build import build_base_wheel

__all__ = ["build_from_source"]


def build_from_source(
    project: Project, lane: Lane, scratch: Path, out: Path, step: Callable[[str], None]
) -> list[Built]:
    """Build the submodule with the queue applied, then finish the wheel as any other.

    :param scratch: An empty folder.
    :param out: The wheelhouse; from :func:`fork.builder.output_folder`.
    :param step: Is told what is being done.
    """
    patches = read_series(project.patches(lane)).sound()
    lock = read_lock(project.patches(lane), lane.lock)
    ingredients = gather_ingredients(project, lane, {"source": lane.commit}, patches)
    version = fork_version(lane, ingredients)
    overlay: dict[str, bytes] = {}

    def apply(folder: Path) -> None:
        git = Git(folder)
        apply_patches(git, patches, step)
        verify_files(git, lock)
        layout = Layout.of(lane)
        shipped = {place for name in git("ls-files").splitlines() if (place := layout.to_wheel(name))}
        overlay.update(read_overlay(project.overlays(lane), layout, shipped))
        check_imports(git, layout, overlay, shipped, has_native(project))

    wheel = build_base_wheel(
        checkout=project.root / lane.submodule,
        lane=lane,
        apply=apply,
        version_suffix=version.removeprefix(lane.version),
        work=scratch / "source",
        progress=step,
        environ=os.environ,
        log=project.state / "source-build.log",
    )
    native = native_extensions(project, [platform.machine()], scratch / "native", step)
    plan = Plan(
        lane,
        version,
        Origin("source", lane.commit, ""),
        ingredients,
        patches,
        Changes(overlay=overlay, native=native.get(platform.machine(), {}), licenses=license_files(project)),
    )
    return write_and_report(out, [publish(plan, wheel, out, scratch, step)], version, step)
