"""What the programs at a launch's side answer: ``ptxas --version``, ``ldconfig -p`` and ``file -b``.

What ``file`` says of an interpreter is seen in its first bytes. Another answer is remembered with the identity of every file
it depends on (:mod:`triton.fork.state.memo`). That of a script is not: it may hand on what some other file answers. ``ldconfig`` is
an exception, since ``ldconfig -p`` prints ``/etc/ld.so.cache``.

Mirrors python/triton/knobs.py: NvidiaTool.from_path

Mirrors third_party/nvidia/backend/compiler.py: get_ptxas_version

Mirrors python/triton/runtime/build.py: platform_key
"""

# ruff: noqa: PTH117, PTH123
# pathlib is one of the imports that a start goes without.

from __future__ import annotations

import functools
import os
import sys

from triton.fork.python.interruptions import pass_on
from triton.fork.settings import enabled
from triton.fork.startup.lazy_import import lazy_module
from triton.fork.state.memo import identity, is_settled, recall, remember

__all__ = ["executable_suffix", "linker_libraries", "platform_text", "version_text"]

subprocess = lazy_module("subprocess")

_SWITCH = "TRITON_FORK_TOOL_ANSWERS"
_LINKER = "/sbin/ldconfig"
_LINKER_CACHE = "/etc/ld.so.cache"
_MACHINE_CODE = b"\x7fELF"


def executable_suffix() -> str:
    """Return the suffix of the names of programs: ``sysconfig.get_config_var("EXE")``, without that import on Linux."""
    if sys.platform == "linux":
        return ""
    import sysconfig

    return str(sysconfig.get_config_var("EXE"))


def platform_text() -> str | None:
    """Return the machine, system, word size and file format: what the ``platform`` module says with the help of ``file -b``.

    :returns: ``None`` where the answer takes that module: for an interpreter of another kind, or with the switch off.
    """
    if not enabled(_SWITCH) or sys.platform != "linux":
        return None
    try:
        if not _is_machine_code(sys.executable):
            return None
    except OSError as error:
        pass_on(error)
        return None
    names = os.uname()
    return ",".join([names.machine, names.sysname, "64bit" if sys.maxsize > 2**32 else "32bit", "ELF"])


def version_text(path: str, *, with_errors: bool) -> str:
    """Return what a program prints when it is called with ``--version``.

    :param path: The program.
    :param with_errors: Whether what it writes to its standard error is part of the answer.
    :raises subprocess.CalledProcessError: It failed.
    :raises OSError: It cannot be run.
    """
    known = _known_version(path) if enabled(_SWITCH) and os.path.isabs(path) else None
    if known is not None:
        return known
    errors = subprocess.STDOUT if with_errors else None
    return str(subprocess.check_output([path, "--version"], stderr=errors).decode("utf-8"))


def linker_libraries(word: str) -> str:
    """Return the lines of ``/sbin/ldconfig -p`` that contain a word.

    :param word: Part of a library's name.
    :raises subprocess.CalledProcessError: The program failed.
    :raises OSError: It cannot be run.
    """
    sources = [_LINKER, _LINKER_CACHE]
    try:
        before = [identity(path) for path in sources] if enabled(_SWITCH) else []
    except OSError as error:
        pass_on(error)
        before = []
    record = recall("ldconfig", word) if before else None
    if record is not None and record.get("identities") == before:
        return str(record["text"])
    printed = subprocess.check_output([_LINKER, "-p"]).decode(errors="ignore")
    text = "\n".join(line for line in printed.splitlines() if word in line)
    if before and before == [identity(path) for path in sources] and is_settled(before):
        remember({"identities": before, "text": text}, sources, "ldconfig", word)
    return text


@functools.cache
def _known_version(path: str) -> str | None:
    """Return the answer that was remembered or can be; ``None`` where only running the program as the base does will do."""
    try:
        before = identity(path)
        record = recall("version", path)
        if record is not None and record.get("identity") == before:
            return str(record["text"])
        if not _is_machine_code(path):
            return None
        done = subprocess.run([path, "--version"], capture_output=True, check=False)
        if done.returncode or done.stderr:
            return None
        text = str(done.stdout.decode("utf-8"))
        if before == identity(path) and is_settled([before]):
            remember({"identity": before, "text": text}, [path], "version", path)
    except (OSError, UnicodeDecodeError) as error:
        pass_on(error)
        return None
    return text


def _is_machine_code(path: str) -> bool:
    with open(path, "rb") as file:
        return file.read(len(_MACHINE_CODE)) == _MACHINE_CODE
