"""Reading entries of the cache: whole, as written, or not at all.

The group file of an entry names its artifacts and, in the fork, the SHA-256 of each; the base reads and writes such files
without looking at the digests. An entry that is not what was written counts as missing: it is compiled and written again.

Mirrors python/triton/runtime/cache.py: FileCacheManager.get_group, FileCacheManager.put_group

Mirrors python/triton/runtime/autotuner.py: Autotuner.check_disk_cache
"""

# Strings in, strings out: paths of the cache are strings throughout Triton.
# ruff: noqa: PTH113
from __future__ import annotations

import hashlib
import io
import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from triton.fork.disk_cache import files
from triton.fork.python.interruptions import pass_on
from triton.fork.settings import at_import
from triton.fork.state.attached import fork_state

__all__ = [
    "ON",
    "ArtifactGroup",
    "begin",
    "find",
    "group_text",
    "is_whole_elf",
    "load",
    "note",
    "read_bytes",
    "read_group",
    "read_text",
    "read_timings",
    "say_damaged",
]

#: Whether damage is looked for; otherwise the base's way is taken. Read when this module is imported.
ON = at_import("TRITON_FORK_FIX_CACHE_DAMAGED")
_TIMINGS_ON = at_import("TRITON_FORK_FIX_CACHE_DAMAGED_TIMINGS")

_DIGESTS = "sha256"


class DamagedEntryError(Exception):
    """An artifact is not what was written."""


class ArtifactGroup(dict[str, str]):
    """The artifacts of an entry: name -> path, as in the base, and what is known of their content.

    Copies and pickles are plain dictionaries.
    """

    def __init__(self, paths: Mapping[str, str] | None = None) -> None:
        super().__init__(paths or {})
        self.digests: dict[str, str] = {}  # name -> SHA-256
        self.held: dict[str, str | bytes] = {}  # path -> what this process compiled
        self.reads_back = False

    def __reduce__(self) -> tuple[type, tuple[dict[str, str]]]:
        return dict, (dict(self),)

    def put(self, manager: Any, data: Any, filename: str, binary: bool = True) -> None:
        """Store an artifact that has just been compiled, and keep it for the kernel about to be made of it.

        :param manager: The cache manager. One with a ``put`` of its own may change what it stores: its file is read back.
        :param data: Bytes, text, or a module, whose text is stored.
        :param filename: The name of the artifact.
        :param binary: As for ``CacheManager.put``.
        """
        from triton.runtime.cache import FileCacheManager

        if not ON:
            self[filename] = manager.put(data, filename, binary=binary)
            return
        content = data if isinstance(data, bytes) else str(data)
        path = manager.put(content, filename, binary=binary)
        self[filename] = path
        self.held[str(Path(path))] = content
        self.reads_back = getattr(type(manager), "put", None) is not FileCacheManager.put


def begin(found: Mapping[str, str]) -> ArtifactGroup:
    """Give the group of a kernel that is about to be compiled.

    :param found: What the cache has of it, which is of no use; the base keeps its names.
    """
    return ArtifactGroup({} if ON else found)


def note(manager: Any, filename: str, data: bytes) -> None:
    """Remember the digest of a file just stored, for the group file."""
    if not ON:
        return
    state = fork_state(manager)
    state.stored_digests = {**(state.stored_digests or {}), filename: hashlib.sha256(data).hexdigest()}


def group_text(manager: Any, group: Mapping[str, str]) -> str:
    """Give the content of a group file.

    :param manager: The manager that stored the artifacts.
    :param group: Name -> path.
    """
    if not ON:
        return json.dumps({"child_paths": group})
    noted = fork_state(manager).stored_digests or {}
    return json.dumps({"child_paths": group, _DIGESTS: {name: noted[name] for name in group if name in noted}})


def read_group(path: str) -> ArtifactGroup | None:
    """Read a group file of the base or of the fork.

    :param path: The group file.
    :returns: The group, or nothing when the file is gone, damaged, or names an artifact that is gone.
    """
    if not ON:
        children = json.loads(Path(path).read_text()).get("child_paths", None)
        if children is None:
            return None
        return ArtifactGroup({name: child for name, child in children.items() if Path(child).exists()})
    try:
        content = json.loads(Path(path).read_bytes())
        children = content["child_paths"]
        group = ArtifactGroup({str(name): os.fspath(child) for name, child in children.items()})
        group.digests = dict(content.get(_DIGESTS, {}))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        pass_on(error)
        say_damaged(path, error)
        return None
    missing = [child for child in group.values() if not os.path.isfile(child)]
    if missing:
        say_damaged(path, f"missing: {', '.join(missing)}")
        return None
    return group


def find(manager: Any, filename: str) -> Mapping[str, str]:
    """Ask any cache manager for a group; one that stumbles over its own files has none.

    :param manager: A cache manager, which may be the user's.
    :param filename: The name of the group.
    """
    try:
        return manager.get_group(filename) or {}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        pass_on(error)
        if not ON:
            raise
        say_damaged(filename, error)
        return {}


def load(make_kernel: Callable[[], Any], path: str, key: str) -> Any:
    """Make a kernel of an entry of the cache.

    :param make_kernel: Makes the ``CompiledKernel``.
    :param path: The metadata of the entry, for the message.
    :param key: The hash that the entry is stored under.
    :returns: The kernel, or nothing when the entry is of no use.
    """
    if not ON:
        return make_kernel()
    try:
        kernel = make_kernel()
        if getattr(kernel.metadata, "hash", key) != key:
            raise DamagedEntryError("it is the entry of another kernel")
        _check_binary(kernel)
    except Exception as error:  # an error that is not the entry's fault comes again after compiling
        pass_on(error)
        say_damaged(path, error)
        return None
    return kernel


def _check_binary(kernel: Any) -> None:
    """Check a binary of which there is no digest (written by the base, or kept by a manager of the user)."""
    if getattr(kernel.metadata_group, "digests", None):
        return
    for extension in ("cubin", "hsaco"):
        if kernel.asm.get(extension) == kernel.kernel and not is_whole_elf(kernel.kernel):
            raise DamagedEntryError(f"the {extension} is cut short or no {extension} at all")


def is_whole_elf(data: bytes) -> bool:
    """Tell whether both tables of a 64-bit little-endian ELF file lie inside it. A file cut short lacks the last one."""
    if len(data) < 64 or data[:4] != b"\x7fELF":
        return False

    def field(offset: int, size: int) -> int:
        return int.from_bytes(data[offset : offset + size], "little")

    segments = field(32, 8) + field(54, 2) * field(56, 2)
    sections = field(40, 8) + field(58, 2) * field(60, 2)
    return max(segments, sections) <= len(data)


def _read(group: Mapping[str, str], path: Path) -> str | bytes:
    held = getattr(group, "held", None)
    held = held.get(str(path)) if held else None
    if held is not None and not getattr(group, "reads_back", False):
        return held  # type: ignore[no-any-return]
    try:
        with io.FileIO(path) as stream:  # what Path.read_bytes does, without its detours
            data = stream.read()
    except OSError as error:
        pass_on(error)
        if held is None:
            raise
        return held  # type: ignore[no-any-return]
    digest = getattr(group, "digests", {}).get(path.name)
    if digest is not None and hashlib.sha256(data).hexdigest() != digest:
        raise DamagedEntryError(f"{path} is not what was written")
    return data


def read_bytes(group: Mapping[str, str], path: Path) -> bytes:
    """Read a binary artifact.

    :param group: The group that it is part of.
    :param path: Its path.
    :raises DamagedEntryError: It is not what was written.
    """
    if not ON:
        return path.read_bytes()
    data = _read(group, path)
    return data if isinstance(data, bytes) else files.encode(data)


def read_text(group: Mapping[str, str], path: Path) -> str:
    """Read a textual artifact, as ``Path.read_text`` does.

    :param group: The group that it is part of.
    :param path: Its path.
    :raises DamagedEntryError: It is not what was written.
    """
    if not ON:
        return path.read_text()
    data = _read(group, path)
    if isinstance(data, str):
        return data
    if data.isascii() and b"\r" not in data:  # the same in every encoding that a locale has
        return data.decode("ascii")
    return io.TextIOWrapper(io.BytesIO(data)).read()


def read_timings(path: str, make_config: Callable[..., Any]) -> dict[Any, Any]:
    """Read what an earlier process measured of the configurations of an autotuner.

    :param path: The file.
    :param make_config: Makes a configuration of its stored fields.
    :returns: Configuration -> timings; empty when the file is of no use.
    """
    try:
        stored = json.loads(Path(path).read_bytes())["configs_timings"]
        timings = {make_config(**config): timing for config, timing in stored}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        pass_on(error)
        if not _TIMINGS_ON:
            raise
        say_damaged(path, error)
        return {}
    if not timings:
        if not _TIMINGS_ON:
            raise ValueError(f"there are no timings in {path}")
        say_damaged(path, "it is empty")
    return timings


def say_damaged(path: str, reason: object) -> None:
    """Log that an entry is damaged, once in a process.

    :param path: Its path, or the name of its group.
    :param reason: What is wrong with it.
    """
    if isinstance(reason, Exception) and not isinstance(reason, DamagedEntryError):
        reason = f"{type(reason).__name__}: {reason}"
    files.say_once(path, "The cache entry %s is damaged (%s); it is made again.", path, reason)
