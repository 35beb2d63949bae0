"""A wheel of a few hundred bytes that pip and uv install."""

from __future__ import annotations

import base64
import hashlib
from pathlib import Path
from zipfile import ZipFile, ZipInfo

from fork.config import BaseWheel


def make_wheel(
    folder: Path, version: str = "3.6.0+fork.1.q00000000", payload: str = "", tag: str = "py3-none-any"
) -> Path:
    """Write ``triton-<version>-<tag>.whl`` with one module, ``triton``, whose ``__version__`` is the version.

    :param payload: Source that the module ends with; it can be used to reach a size.
    """
    information = f"triton-{version}.dist-info"
    members = {
        "triton.py": f"__version__ = {version!r}\n{payload}",
        f"{information}/METADATA": f"Metadata-Version: 2.1\nName: triton\nVersion: {version}\nRequires-Python: >=3.9,<4\n\n",
        f"{information}/WHEEL": f"Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: {tag}\n",
    }
    record = ""
    for name, text in members.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
        record += f"{name},sha256={digest},{len(text.encode())}\n"
    members[f"{information}/RECORD"] = f"{record}{information}/RECORD,,\n"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"triton-{version}-{tag}.whl"
    with ZipFile(path, "w") as archive:
        for name, text in members.items():
            archive.writestr(ZipInfo(name, (2024, 1, 1, 0, 0, 0)), text)
    return path


def pin(path: Path) -> BaseWheel:
    """Describe a file as ``fork.toml`` would."""
    content = path.read_bytes()
    return BaseWheel(path.name, len(content), hashlib.sha256(content).hexdigest())
