"""Compiles the fake driver libraries with the C compiler of the machine."""

import importlib.util
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

SOURCES = Path(__file__).resolve().parent / "src"


@dataclass(frozen=True)
class Library:
    """What one library is made of.

    :param name: file name and soname; a loader that asks for this name gets the library once it is loaded
    :param sources: C files under ``src/``
    :param headers: folder with the vendor's headers, below the package folder of Triton
    :param flags: more arguments for the compiler
    """

    name: str
    sources: tuple[str, ...]
    headers: str
    flags: tuple[str, ...] = ()


COMMON_SOURCES = ("recorder.c", "binary.c")
CUDA = Library(
    name="libcuda.so.1",
    sources=(*COMMON_SOURCES, "cubin.c", "cuda_launch.c", "cuda_device.c"),
    headers="backends/nvidia/include",
)
HIP = Library(
    name="libamdhip64.so",
    sources=(*COMMON_SOURCES, "hsaco.c", "hip.c"),
    headers="backends/amd/include",
    flags=("-D__HIP_PLATFORM_AMD__",),
)


def triton_package() -> Path:
    """Find the installed package folder of Triton without importing it.

    :returns: the folder that holds ``triton/__init__.py``
    :raises ModuleNotFoundError: when this interpreter has no Triton
    """
    spec = importlib.util.find_spec("triton")
    if spec is None or spec.origin is None:
        message = "no triton in this interpreter; give build() the package folder of one that has it"
        raise ModuleNotFoundError(message)
    return Path(spec.origin).parent


def package_of(python: Path) -> Path:
    """Ask another interpreter for its package folder of Triton.

    :param python: an interpreter with Triton installed
    :returns: the folder that holds ``triton/__init__.py``
    """
    program = "import importlib.util as u; print(u.find_spec('triton').origin)"
    # Not from the working directory: the repository has a folder of that name.
    answer = subprocess.run([python, "-I", "-c", program], check=True, capture_output=True, text=True)
    return Path(answer.stdout.strip()).parent


def build(folder: Path, package: Path | None = None, library: Library = CUDA) -> Path:
    """Compile one fake library.

    Safe to call from several processes at once: the file appears in one step.

    :param folder: where to put it; made if missing
    :param package: package folder of a Triton, for the vendor's headers; this interpreter's own by default
    :param library: which one
    :returns: the library's path
    :raises subprocess.CalledProcessError: when the compiler fails; its messages are on stderr
    """
    folder.mkdir(parents=True, exist_ok=True)
    headers = (package or triton_package()) / library.headers
    descriptor, temporary = tempfile.mkstemp(dir=folder, suffix=".so")
    os.close(descriptor)
    command = [os.environ.get("CC", "cc"), "-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror", "-fvisibility=hidden"]
    command += ["-shared", "-fPIC", "-isystem", str(headers), f"-Wl,-soname,{library.name}", *library.flags]
    command += [str(SOURCES / source) for source in library.sources]
    try:
        subprocess.run([*command, "-o", temporary, "-lpthread", "-ldl"], check=True, stdout=sys.stderr)
        Path(temporary).replace(folder / library.name)
    finally:
        Path(temporary).unlink(missing_ok=True)
    return folder / library.name
