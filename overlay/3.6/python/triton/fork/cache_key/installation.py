"""The key of the installation: a digest of every file that can change the code that Triton generates.

Two installations with the same content have the same key wherever they lie, so machines can share a kernel cache. Reading the
content takes a good part of a second (``libtriton.so`` alone has 415 MB), so the digests are remembered for the user together
with the identity of each file: inode, size, modification time and change time. Each process looks at every file and folder
again, one ``stat`` each, and reads only what has changed since. Folders are looked at because a new file changes only its folder.

Mirrors python/triton/runtime/cache.py: triton_key
"""

# ruff: noqa: PTH100, PTH113, PTH116, PTH120
# pathlib is one of the imports that a start goes without.

from __future__ import annotations

import hashlib
import os
import sys
from typing import Any

from triton.fork.python.interruptions import pass_on
from triton.fork.state.digest import digest_of
from triton.fork.state.memo import Identity, identity, is_settled, recall, remember
from triton.fork.state.parallel import identities

__all__ = ["installation_key"]

_VERSION = 1
_PACKAGE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
_SUFFIXES = (".py", ".so", ".c", ".bc")
_TOOLS = frozenset({"ptxas", "ptxas-blackwell"})

# Folders without a file that takes part in generating code: bytecode, C headers of the launchers, the profiling library of
# NVIDIA, command-line tools (the kernels in them are keyed by their own source like any kernel of a user).
_LEFT_OUT_FOLDERS = frozenset({"__pycache__", "include", "cupti", "tools"})
# The interpreter runs kernels without generating code; the others test, time and tell what is installed.
_LEFT_OUT_FILES = frozenset(
    {
        "interpreter.py",
        "testing.py",
        "_internal_testing.py",
        "_filecheck.py",
        "viewer.py",
        "__main__.py",
        "description.py",
        "requirement.py",
    }
)

#: Environment variables that name a file whose content takes part in generating code.
FILE_VARIABLES = ("LLVM_PASS_PLUGIN_PATH", "TRITON_PTXAS_PATH", "TRITON_PTXAS_BLACKWELL_PATH")


def installation_key() -> str | None:
    """Return the key of this installation.

    :returns: ``fork-`` and 64 hexadecimal digits; ``None`` where a file could not be read, and only the base's way is left.
    """
    try:
        roots = [_PACKAGE, *_folders_of_other_backends()]
        files = [path for name in FILE_VARIABLES if (path := os.environ.get(name)) and os.path.isfile(path)]
        name = ("installation", str(_VERSION), *roots, "", *files, "", *map(str, _identity_of_library()))
        record = recall(*name)
        if record is not None and _is_unchanged(record):
            return str(record["key"])
        return _survey(roots, files, record, name)
    except OSError as error:
        pass_on(error)
        return None


def _folders_of_other_backends() -> list[str]:
    """List the folders of the backends that are installed outside this package."""
    from triton.backends import backends
    from triton.fork.startup.lazy_backend import package_of

    modules = [sys.modules[name] for name in map(package_of, backends.values()) if name in sys.modules]
    found = {os.path.abspath(folder) for module in modules for folder in getattr(module, "__path__", ())}
    return sorted(folder for folder in found if not folder.startswith(_PACKAGE + os.sep))


def _identity_of_library() -> Identity:
    """Tell apart the machines and images that share one home: part of the name, so that they do not displace each other."""
    return identity(str(sys.modules["triton._C.libtriton"].__file__))


def _is_unchanged(record: dict[str, Any]) -> bool:
    expected: dict[str, Identity] = record["identities"]
    return identities(list(expected)) == list(expected.values())


def _survey(roots: list[str], files: list[str], record: dict[str, Any] | None, name: tuple[str, ...]) -> str:
    """Work the key out from the files, reading again only those whose identity is not in the record."""
    known = (record or {}).get("identities", {})
    digests = (record or {}).get("digests", {})
    folders: list[str] = []
    labels = {
        path: f"{FILE_VARIABLES.index(variable)}"
        for variable in FILE_VARIABLES
        for path in files
        if os.environ.get(variable) == path
    }
    for number, root in enumerate(roots):
        _walk(root, f"{number}/", folders, labels, set())
    before = {path: identity(path) for path in [*folders, *labels]}
    found = {
        path: digests[path] if path in digests and known.get(path) == before[path] else digest_of(path)
        for path in labels
    }
    after = {path: identity(path) for path in before}
    lines = sorted(f"{label}\0{found[path]}\n" for path, label in labels.items())
    key = "fork-" + hashlib.sha256("".join(lines).encode("utf-8", "surrogateescape")).hexdigest()
    if before == after and is_settled(list(after.values())):
        remember({"key": key, "identities": after, "digests": found}, list(after), *name)
    return key


def _walk(folder: str, label: str, folders: list[str], labels: dict[str, str], above: set[tuple[int, int]]) -> None:
    """Collect the folders under one, and the files that matter with the label that stands for each in the key.

    :param above: Device and inode of the folders that lead here: a link to one of them would go round for ever.
    """
    status = os.stat(folder)
    here = (status.st_dev, status.st_ino)
    if here in above:
        return
    folders.append(folder)
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir():
                if entry.name not in _LEFT_OUT_FOLDERS:
                    _walk(entry.path, f"{label}{entry.name}/", folders, labels, above | {here})
            elif entry.is_file() and _matters(entry.name):
                labels[entry.path] = label + entry.name


def _matters(name: str) -> bool:
    return name in _TOOLS or (name.endswith(_SUFFIXES) and name not in _LEFT_OUT_FILES)
