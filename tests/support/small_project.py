"""A fork of a tiny make-believe Triton, so that the tool's tests take milliseconds."""

from __future__ import annotations

import hashlib
import zipfile
from dataclasses import dataclass
from pathlib import Path

from fork.archive.records import record_hash, write_record
from fork.config import Lane
from fork.git import Git
from fork.project import Project
from fork.queue.edit import export_queue
from fork.queue.series import write_lock, write_series
from fork.queue.tree import lay_out, lock_of

__all__ = ["SmallProject", "commit", "make_base_wheel", "make_project"]

BASE_NAME = "triton-3.6.0-cp311-cp311-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl"
_DATE = (2026, 1, 20, 14, 57, 6)

JIT = """import inspect


def first(fn):
    return inspect.getsource(fn)


def between():
    return 1


def second(fn):
    return inspect.signature(fn)
"""

_FILES: dict[str, tuple[bytes, int]] = {
    "triton/": (b"", 0o40755),
    "triton/__init__.py": (b"__version__ = '3.6.0'\n\nfrom .runtime import jit\n", 0o100644),
    "triton/FileCheck": (b"\x7fELF program", 0o100755),
    "triton/_C/libtriton.so": (b"\x7fELF library" * 1000, 0o100755),
    "triton/runtime/__init__.py": (b"", 0o100644),
    "triton/runtime/jit.py": (JIT.encode(), 0o100644),
    "triton/backends/nvidia/__init__.py": (b"", 0o100644),
    "triton/backends/nvidia/driver.c": (b"int driver(void) { return 0; }\n", 0o100644),
    "triton/backends/nvidia/include/cuda.h": (b"/* bundled */\n", 0o100644),
    "triton/profiler/__init__.py": (b"def main(): pass\n", 0o100644),
    "triton-3.6.0.dist-info/METADATA": (b"Metadata-Version: 2.4\nName: triton\nVersion: 3.6.0\nAuthor: A. Uthor\nRequires-Python: >=3.10\n\n", 0o100644),
    "triton-3.6.0.dist-info/WHEEL": (
        b"Wheel-Version: 1.0\nGenerator: setuptools (80.9.0)\nRoot-Is-Purelib: false\n"
        b"Tag: cp311-cp311-manylinux_2_27_x86_64\nTag: cp311-cp311-manylinux_2_28_x86_64\n\n",
        0o100644,
    ),
    "triton-3.6.0.dist-info/entry_points.txt": (
        b"[console_scripts]\nproton = triton.profiler:main\n\n[triton.backends]\nnvidia = triton.backends.nvidia\n",
        0o100644,
    ),
}  # fmt: skip


def make_base_wheel(
    folder: Path, name: str = BASE_NAME, changes: dict[str, bytes] | None = None, version: str = "3.6.0"
) -> Path:
    """Write the make-believe upstream wheel.

    :param changes: Content of members that differs from the usual one; new members are added.
    :param version: The version that it says in METADATA and ``triton.__version__``.
    """
    files = {
        path.replace("3.6.0", version): (content.replace(b"3.6.0", version.encode()), mode)
        for path, (content, mode) in _FILES.items()
    }
    files |= {path: (content, 0o100644) for path, content in (changes or {}).items()}
    record = f"triton-{version}.dist-info/RECORD"
    rows = [
        (path, record_hash(content), str(len(content)))
        for path, (content, _) in files.items()
        if not path.endswith("/")
    ]
    files[record] = (write_record([*rows, (record, "", "")]), 0o100664)
    path = folder / name
    with zipfile.ZipFile(path, "w") as archive:
        for member, (content, mode) in files.items():
            info = zipfile.ZipInfo(member, _DATE)
            info.external_attr = mode << 16
            info.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(info, content)
    return path


_TOML = """default-lane = "3.6"

[fork]
repository = "https://example.invalid/fork"
maintainer = "The testers"
email = "fork@example.invalid"

[lane."3.6"]
upstream = "https://example.invalid/triton.git"
commit = "{commit}"
version = "3.6.0"
label = "fork"
revision = 1
state = "active"
supports = ["torch 2.10"]
pythons = ["3.11"]
submodule = "triton"

[lane."3.6".layout]
"triton/backends/nvidia/" = "third_party/nvidia/backend/"
"triton/profiler/" = "third_party/proton/proton/"
"triton/" = "python/triton/"

[[lane."3.6".wheel]]
file = "{name}"
size = {size}
sha256 = "{sha256}"
"""


@dataclass(frozen=True)
class SmallProject:
    """A checkout of the make-believe fork.

    :param project: The checkout.
    :param base: Its base wheel, which lies in ``wheels/``.
    """

    project: Project
    base: Path

    @property
    def lane(self) -> Lane:
        """The only lane."""
        return self.project.pin().lane()

    @property
    def queue(self) -> Path:
        """Folder of the queue."""
        return self.project.patches(self.lane)


def commit(git: Git, name: str, subject: str, edits: dict[str, tuple[str, str]]) -> None:
    """Commit edits of the open tree as a patch of the queue.

    :param name: The patch file.
    :param edits: Path -> text to replace and its replacement; an empty text to replace makes a new file.
    """
    for path, (old, new) in edits.items():
        file = git.folder / path
        text = file.read_text("utf-8") if old else ""
        assert old in text
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text.replace(old, new, 1) if old else new, "utf-8")
    git("add", "--all")
    message = (
        f"{subject}\n\nBecause the test says so.\n\nPatch-Name: {name}\nOrigin: own\nForwarded: no\n"
        "Applied-Upstream: no\nLast-Update: 2026-01-02\n"
    )
    git("commit", "--quiet", "--date=2026-01-02T00:00:00Z", f"--message={message}")


def make_project(folder: Path) -> SmallProject:
    """Make a checkout with two patches and one overlay module."""
    wheels = folder / "wheels"
    wheels.mkdir(parents=True)
    base = make_base_wheel(wheels)
    content = base.read_bytes()
    sha256 = hashlib.sha256(content).hexdigest()
    toml = _TOML.format(commit="0123456789" * 4, name=base.name, size=len(content), sha256=sha256)
    (folder / "fork.toml").write_text(toml, "utf-8")
    requirements = folder / "ci" / "requirements" / "tool.txt"
    requirements.parent.mkdir(parents=True)
    requirements.write_text("rich==15.0.0\n", "utf-8")
    (folder / "LICENSE").write_text("MIT License\n", "utf-8")
    (folder / "NOTICE").write_text("A modified version.\n", "utf-8")
    overlay = folder / "overlay" / "3.6" / "python" / "triton" / "fork"
    overlay.mkdir(parents=True)
    (overlay / "__init__.py").write_text('"""Ours."""\n', "utf-8")
    small = SmallProject(Project(folder), base)
    git = lay_out(small.lane, base, folder / "tree")
    jit = "python/triton/runtime/jit.py"
    commit(git, "fix/first.patch", "Return the file", {jit: ("inspect.getsource(fn)", "inspect.getfile(fn)")})
    commit(git, "speed/second.patch", "Return the name", {jit: ("inspect.signature(fn)", "fn.__name__")})
    small.queue.mkdir(parents=True)
    write_series(small.queue, export_queue(git))
    write_lock(small.queue, lock_of(git))
    return small
