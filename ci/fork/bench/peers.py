"""Other Tritons to measure beside base and fork, each in an environment of its own."""

from __future__ import annotations

import hashlib
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

from fork.bench.runner import BenchmarkError
from fork.environments import make_environment
from fork.project import Project

__all__ = ["make_peer", "parse_peer"]


def parse_peer(text: str) -> tuple[str, str]:
    """Take ``name==version`` apart.

    :raises BenchmarkError: It is something else: a peer without a fixed version cannot be compared with tomorrow.
    """
    found = re.fullmatch(r"([A-Za-z0-9][A-Za-z0-9._-]*)==([A-Za-z0-9.+!-]+)", text)
    if not found:
        raise BenchmarkError(f"'{text}' names no peer", "write it like --peer triton==3.9.0")
    return found[1], found[2]


def make_peer(project: Project, text: str, python: Path, say: Callable[[str], None]) -> Path:
    """Download a peer and install it.

    :param text: ``name==version``.
    :param python: The interpreter to make the environment with.
    :param say: Gets a line with the wheel's digest, since there is no pin to check it against.
    :returns: The environment's interpreter.
    :raises BenchmarkError: There is no such wheel for this Python, or it cannot be downloaded.
    """
    name, version = parse_peer(text)
    tag = subprocess.run(
        [str(python), "-c", "import sys; print('cp%d%d' % sys.version_info[:2])"],
        check=True,
        capture_output=True,
        text=True,
    ).stdout.strip()
    folder = project.state / "peers" / f"{name}-{version}-{tag}"
    if not list(folder.glob("*.whl")):
        folder.mkdir(parents=True, exist_ok=True)
        command = [str(python), "-m", "pip", "download", "-q", "--disable-pip-version-check", "--no-deps"]
        command += ["--only-binary", ":all:", "--dest", str(folder), f"{name}=={version}"]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise BenchmarkError(f"{text} cannot be downloaded: {done.stderr.strip()}", "leave the peer out?")
    wheel = next(iter(sorted(folder.glob("*.whl"))))
    with wheel.open("rb") as file:
        say(f"{wheel.name} sha256={hashlib.file_digest(file, 'sha256').hexdigest()}")
    return make_environment(project, f"bench-{name}-{version}-{tag}", wheel, python)
