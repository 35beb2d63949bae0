"""Builds the stand-in the way upstream's ``setup.py`` builds Triton: same variables, same mapping of packages, CMake and Ninja."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path

import pybind11
from setuptools import Extension, find_packages, setup
from setuptools.command.build_ext import build_ext
from setuptools.command.build_py import build_py

ROOT = Path(__file__).parent.resolve()
BACKENDS = ("nvidia", "amd")
PASSED_TO_CMAKE = ("LLVM_SYSPATH", "TRITON_OFFLINE_BUILD", "TRITON_PARALLEL_LINK_JOBS")


def flag(name: str, default: str = "") -> bool:
    return os.environ.get(name, default).upper() in ("1", "ON", "YES", "TRUE", "Y")


def git(*arguments: str) -> str:
    return subprocess.check_output(["git", *arguments], cwd=ROOT, text=True).strip()


def git_suffix() -> str:
    """A checkout carries its commit in the version, unless it is on a release branch; what is no checkout carries nothing."""
    if not (ROOT / ".git").exists() or git("rev-parse", "--abbrev-ref", "HEAD").startswith("release"):
        return ""
    return "+git" + git("rev-parse", "--short=8", "HEAD")


def version_suffix() -> str:
    from_git, from_environment = git_suffix(), os.environ.get("TRITON_WHEEL_VERSION_SUFFIX", "")
    return from_git + (from_environment.replace("+", "-") if from_git else from_environment)


def cache_folder() -> Path:
    home = os.environ.get("TRITON_HOME") or os.environ.get("HOME")
    if not home:
        raise RuntimeError("no home folder")
    return Path(home) / ".triton"


class CMakeBuildPy(build_py):  # type: ignore[misc]
    def run(self) -> None:
        self.run_command("build_ext")
        super().run()


class CMakeBuild(build_ext):  # type: ignore[misc]
    def run(self) -> None:
        ninja = shutil.which("ninja")
        if ninja is None:
            raise RuntimeError("no ninja")
        library_folder = (ROOT / self.build_lib / "triton" / "_C").resolve()
        build_folder = ROOT / "build" / f"cmake-{sysconfig.get_platform()}"
        build_folder.mkdir(parents=True, exist_ok=True)
        options = {
            "CMAKE_MAKE_PROGRAM": ninja,
            "CMAKE_LIBRARY_OUTPUT_DIRECTORY": str(library_folder),
            "Python3_EXECUTABLE": sys.executable,
            "Python3_INCLUDE_DIR": sysconfig.get_path("platinclude"),
            "pybind11_INCLUDE_DIR": pybind11.get_include(),
            "TRITON_CODEGEN_BACKENDS": ";".join(BACKENDS),
            "TRITON_CACHE_PATH": str(cache_folder()),
            "CMAKE_BUILD_TYPE": "Debug" if flag("DEBUG") else "Release",
        }
        options |= {name: os.environ[name] for name in PASSED_TO_CMAKE if name in os.environ}
        arguments = [f"-D{name}={value}" for name, value in options.items()]
        jobs = os.environ.get("MAX_JOBS", str(2 * (os.cpu_count() or 1)))
        subprocess.check_call(["cmake", str(ROOT), "-G", "Ninja", *arguments], cwd=build_folder)
        subprocess.check_call(["cmake", "--build", ".", f"-j{jobs}"], cwd=build_folder)
        subprocess.check_call(["cmake", "--build", ".", "--target", "mlir-doc"], cwd=build_folder)


def language_folders() -> Iterator[tuple[str, str]]:
    for backend in BACKENDS:
        folder = Path("third_party", backend, "language")
        for entry in sorted((ROOT / folder).iterdir()) if (ROOT / folder).is_dir() else ():
            yield f"triton.language.extra.{entry.name}", (folder / entry.name).as_posix()


def package_folders() -> dict[str, str]:
    folders = {"": "python", **{f"triton.backends.{name}": f"third_party/{name}/backend" for name in BACKENDS}}
    folders |= dict(language_folders())
    if flag("TRITON_BUILD_PROTON", "ON"):
        folders |= {
            "triton.profiler": "third_party/proton/proton",
            "triton.profiler.hooks": "third_party/proton/proton/hooks",
        }
    return folders


setup(
    name=os.environ.get("TRITON_WHEEL_NAME", "triton"),
    version="3.6.0" + version_suffix(),
    packages=[*find_packages(where="python"), *(name for name in package_folders() if name)],
    package_dir=package_folders(),
    entry_points={"triton.backends": [f"{name} = triton.backends.{name}" for name in BACKENDS]},
    include_package_data=True,
    ext_modules=[Extension("triton", sources=[])],
    cmdclass={"build_ext": CMakeBuild, "build_py": CMakeBuildPy},
    zip_safe=False,
    python_requires=">=3.10",
)
