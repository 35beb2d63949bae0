"""Three checkers of other people's, asked about wheels of ours: abi3audit, auditwheel and check-wheel-contents.

What a checker says of the base wheel too is the base's own: 3.6.0 carries libcupti under three names (W002 of
check-wheel-contents), and libraries of NVIDIA's that abi3audit takes for extensions. So abi3audit is shown our extension alone,
and findings of check-wheel-contents count where the base has none of the same text.
"""

from __future__ import annotations

import re
import subprocess
import zipfile
from pathlib import Path

from packaging.utils import parse_wheel_filename

from fork.environments import pinned_python
from fork.native import EXTENSION

__all__ = ["content_findings", "extension_fault", "glibc_fault", "wheel_faults"]

_OLDEST_PYTHON = "3.10"
_CONSISTENT = re.compile(r'consistent with the following platform tag:\s+"([^"]+)"')
_FINDING = re.compile(r"\b([A-Z]\d{3}: .*(?:\n  .*)*)")


def extension_fault(extension: Path) -> str | None:
    """Say what abi3audit has against an extension.

    :param extension: A file whose name ends in ``.abi3.so``.
    :returns: ``None`` where it keeps to the limited API of the oldest Python that we serve.
    """
    done = _run("abi3audit", "--strict", "--verbose", "--assume-minimum-abi3", _OLDEST_PYTHON, extension)
    return None if done.returncode == 0 else f"abi3audit: {done.stdout}{done.stderr}"


def glibc_fault(wheel: Path) -> str | None:
    """Say where auditwheel finds that a wheel needs a newer system, or more of it, than the tags in its name promise.

    :returns: ``None`` where every tag is kept.
    """
    done = _run("auditwheel", "show", wheel)
    found = _CONSISTENT.search(done.stdout)
    promised = {tag.platform for tag in parse_wheel_filename(wheel.name)[3]}
    if done.returncode == 0 and found and found[1] == min(promised, key=_glibc):
        return None
    return f"auditwheel: the name promises {sorted(promised)}; {done.stdout}{done.stderr}"


def content_findings(wheel: Path) -> list[str]:
    """List the findings of check-wheel-contents, each with the files it names."""
    done = _run("check-wheel-contents", wheel)
    findings = _FINDING.findall(done.stdout)
    return findings if findings or done.returncode == 0 else [done.stdout + done.stderr]


def wheel_faults(wheel: Path, base: Path, scratch: Path) -> list[str]:
    """List what the three have against a wheel and not against its base, and whether it has the extension that it should have.

    :param wheel: The wheel.
    :param base: The base wheel that it was made from.
    :param scratch: An empty folder.
    """
    faults = [glibc_fault(wheel)]
    known = content_findings(base)
    faults += [f"check-wheel-contents: {finding}" for finding in content_findings(wheel) if finding not in known]
    free_threaded = any(tag.abi.endswith("t") for tag in parse_wheel_filename(wheel.name)[3])
    with zipfile.ZipFile(wheel) as archive:
        if (EXTENSION in archive.namelist()) == free_threaded:
            faults.append("it has the extension" if free_threaded else "it lacks the extension")
        elif not free_threaded:
            faults.append(extension_fault(Path(archive.extract(EXTENSION, scratch))))
    return [fault for fault in faults if fault]


def _glibc(tag: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", tag.partition("manylinux_")[2])[:2])


def _run(program: str, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [pinned_python("checkers").parent / program, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)
