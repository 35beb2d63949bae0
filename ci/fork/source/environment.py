"""The environment variables that upstream's build gets."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path

from fork.errors import ForkError
from fork.source.resources import BYTES_PER_JOB, Resources

__all__ = ["SourceSettingError", "build_environment"]

#: Places that upstream's ``setup.py`` hands to CMake, which runs in another folder: relative paths must be made absolute
#: (triton-lang/triton#4464, #6919).
PLACES = (
    "LLVM_SYSPATH",
    "JSON_SYSPATH",
    "PYBIND11_SYSPATH",
    "TRITON_CUDACRT_PATH",
    "TRITON_CUDART_PATH",
    "TRITON_CUOBJDUMP_PATH",
    "TRITON_CUPTI_INCLUDE_PATH",
    "TRITON_CUPTI_LIB_BLACKWELL_PATH",
    "TRITON_CUPTI_LIB_PATH",
    "TRITON_NVDISASM_PATH",
    "TRITON_PTXAS_BLACKWELL_PATH",
    "TRITON_PTXAS_PATH",
    "TRITON_ROCTRACER_INCLUDE_PATH",
)

#: Variables that would build something else under the same version: another build type, other backends, another folder.
LEFT_OUT = (
    "DEBUG",
    "REL_WITH_DEB_INFO",
    "TRITON_BUILD_DIR",
    "TRITON_BUILD_WITH_ASAN",
    "TRITON_BUILD_WITH_O1",
    "TRITON_PLUGIN_DIRS",
    "TRITON_WHEEL_NAME",
    "TRITON_WHEEL_VERSION_SUFFIX",
)

# The tool's own settings and those of git, pip and the shell, of no use in the build. NINJA_STATUS would hide the progress.
_NOT_FOR_THE_BUILD = ("GIT_", "PIP_", "PYTHON", "NINJA_STATUS", "VIRTUAL_ENV")

_YES = ("ON", "1", "YES", "TRUE", "Y")


class SourceSettingError(ForkError):
    """An environment variable of the source build has a value that cannot work."""

    exit_code = 45


def build_environment(
    environ: Mapping[str, str],
    *,
    python: Path,
    work: Path,
    version_suffix: str,
    epoch: str,
    progress: Callable[[str], None],
    resources: Resources | None = None,
) -> dict[str, str]:
    """Make the environment of the build from the user's.

    :param environ: The user's. ``MAX_JOBS``, ``TRITON_PARALLEL_LINK_JOBS``, ``LLVM_SYSPATH``, ``TRITON_OFFLINE_BUILD``,
        ``TRITON_BUILD_PROTON``, ``TRITON_BUILD_WITH_CCACHE``, ``TRITON_BUILD_WITH_CLANG_LLD``, ``TRITON_APPEND_CMAKE_ARGS``
        and the places of the CUDA tools mean what upstream says; relative places are relative to the current folder.
    :param python: Of the environment that holds setuptools, CMake, Ninja and pybind11.
    :param work: Scratch folder; temporary files go below it.
    :param version_suffix: What follows the upstream version.
    :param epoch: Seconds since 1970 that dates in the wheel are set to.
    :param progress: Is told what was chosen and what was left out.
    :param resources: What there is; measured where it is ``None``.
    :raises SourceSettingError: A place does not exist, a number is none, or an offline build has no ``LLVM_SYSPATH``.
    """
    ignored = [name for name in LEFT_OUT if environ.get(name)]
    if ignored:
        progress(f"not passed on, for they would change what the version stands for: {', '.join(ignored)}")
    kept = {
        name: value
        for name, value in environ.items()
        if name not in LEFT_OUT and not name.startswith(_NOT_FOR_THE_BUILD) and not (name in PLACES and not value)
    }
    places = {name: _place(name, value) for name, value in kept.items() if name in PLACES}
    if kept.get("TRITON_OFFLINE_BUILD", "").upper() in _YES and "LLVM_SYSPATH" not in places:
        raise SourceSettingError(
            "TRITON_OFFLINE_BUILD is set, but LLVM_SYSPATH is not",
            "set it to an LLVM built from the commit in cmake/llvm-hash.txt of the submodule, or build online",
        )
    temporary = work / "tmp"
    temporary.mkdir(parents=True, exist_ok=True)
    home = kept.get("TRITON_HOME") or kept.get("HOME") or work / "home"
    fixed = {
        "LC_ALL": "C.UTF-8",
        "PATH": f"{python.parent}{os.pathsep}{kept.get('PATH', os.defpath)}",
        "PYTHONNOUSERSITE": "1",
        "PYTHONUNBUFFERED": "1",
        "SOURCE_DATE_EPOCH": epoch,
        "TMPDIR": str(temporary),
        "TRITON_HOME": str(Path(home).absolute()),
        "TRITON_WHEEL_NAME": "triton",
        "TRITON_WHEEL_VERSION_SUFFIX": version_suffix,
    }
    return kept | places | fixed | _jobs(kept, resources, progress)


def _place(name: str, value: str) -> str:
    place = Path(value).expanduser().absolute()
    if not place.exists():
        raise SourceSettingError(f"{name} names '{place}', which does not exist", f"correct {name}, or unset it")
    if name == "LLVM_SYSPATH" and not place.is_dir():
        raise SourceSettingError(
            f"{name} names '{place}', which is not a folder", "name the folder that LLVM is installed in"
        )
    return str(place)


def _jobs(kept: Mapping[str, str], resources: Resources | None, progress: Callable[[str], None]) -> dict[str, str]:
    chosen = {name: kept[name] for name in ("MAX_JOBS", "TRITON_PARALLEL_LINK_JOBS") if kept.get(name)}
    for name, value in chosen.items():
        if not value.isdecimal() or int(value) < 1:
            raise SourceSettingError(f"{name} is '{value}', not a number from 1", f"correct {name}, or unset it")
    found = resources or Resources.measure()
    if "MAX_JOBS" not in chosen:
        progress(
            f"{found.jobs} jobs for {found.cores} cores and {found.memory / (1 << 30):.0f} GiB of memory, "
            f"counting {BYTES_PER_JOB >> 30} GiB for each; MAX_JOBS overrides it"
        )
    return {"MAX_JOBS": str(found.jobs), "TRITON_PARALLEL_LINK_JOBS": str(found.link_jobs)} | chosen
