"""The source base: a wheel that upstream's own build makes from the submodule with the queue applied.

>>> wheel = build_base_wheel(
...     checkout=project.root / lane.submodule,
...     lane=lane,
...     apply=lambda folder: apply_patches(Git(folder), patches),
...     version_suffix="+fork.1.q3fa94c21",
...     work=scratch,
...     progress=print,
...     environ=os.environ,
... )
"""

from __future__ import annotations

import re
import shutil
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from fork.config import Lane
from fork.environments import pinned_python
from fork.errors import DiskFullError, ForkError
from fork.source.checkout import check_checkout, copy_checkout
from fork.source.environment import build_environment
from fork.source.process import LoggedProcess
from fork.source.wheel import check_source_wheel

__all__ = ["SourceBuildError", "build_base_wheel"]

_SHOWN = 20
_LOOKED_AT = 200
_ERROR = re.compile(r"^\s*FAILED: |CMake Error|: (?:fatal )?error: ")


class SourceBuildError(ForkError):
    """Upstream's own build failed; the message ends with what it said of it."""

    exit_code = 43


def build_base_wheel(
    checkout: Path,
    lane: Lane,
    apply: Callable[[Path], None],
    version_suffix: str,
    work: Path,
    progress: Callable[[str], None],
    environ: Mapping[str, str],
    *,
    python: Path | None = None,
    log: Path | None = None,
) -> Path:
    """Build upstream with the queue applied.

    The submodule is only read. The build runs in a repository of its own below ``work``, which is gone when this returns or
    raises, and so are all its processes. No build isolation: what the build needs is in the environment of ``python``.

    :param checkout: Folder of the submodule.
    :param lane: The lane.
    :param apply: Applies the queue in the repository whose folder it is given; the pinned commit there is tagged ``base``.
    :param version_suffix: What follows the upstream version, such as ``+fork.1.q3fa94c21``.
    :param work: An empty scratch folder.
    :param progress: Is told what is being done.
    :param environ: The user's environment; see :func:`fork.source.environment.build_environment`.
    :param python: What to build with and for; the source environment's (``ci/environment.sh source``) where it is ``None``.
    :param log: Where the output of the build goes; ``source-build.log`` beside ``work`` where it is ``None``. It is kept.
    :returns: The wheel, in ``work/dist``.
    :raises SubmoduleEmptyError: The submodule is not populated (40).
    :raises SubmoduleCommitError: It is at another commit (41).
    :raises SubmoduleDirtyError: It has changes, before or after the build (42).
    :raises SourceBuildError: The build failed (43).
    :raises SourceVersionError: It made another version than the planned one (44).
    :raises SourceSettingError: An environment variable cannot work (45).
    :raises VirtualEnvironmentError: The tools are not there (26).
    :raises SourceWheelError: The wheel lacks something (46).
    :raises DiskFullError: There is no room left (33).
    """
    check_checkout(checkout, lane)
    python = python or pinned_python("source", environ)
    log = log or work.with_name("source-build.log")
    tree, target = work / "tree", work / "dist"
    try:
        progress("copying the pinned commit")
        git = copy_checkout(checkout, lane, tree)
        apply(tree)
        settings = build_environment(
            environ,
            python=python,
            work=work,
            version_suffix=version_suffix,
            epoch=git("show", "--no-patch", "--format=%ct", "base"),
            progress=progress,
        )
        progress(f"building, with the output in {log}")
        _run_build(python, tree, target, settings, log, progress)
        wheel = _only_wheel(target, log)
        progress(f"checking {wheel.name}")
        check_source_wheel(wheel, lane, lane.version + version_suffix, git, settings)
        check_checkout(checkout, lane)
    except BaseException:
        shutil.rmtree(target, ignore_errors=True)
        raise
    finally:
        shutil.rmtree(tree, ignore_errors=True)
        shutil.rmtree(work / "tmp", ignore_errors=True)
    return wheel


def _run_build(
    python: Path, tree: Path, target: Path, settings: Mapping[str, str], log: Path, progress: Callable[[str], None]
) -> None:
    command = [str(python), "-m", "pip", "--isolated", "--disable-pip-version-check", "--no-input", "wheel"]
    command += ["--no-build-isolation", "--check-build-dependencies", "--no-deps", "--no-index", "--no-cache-dir"]
    command += ["--verbose", f"--wheel-dir={target}", "."]
    status = LoggedProcess(command, tree, settings, log, progress).run()
    if status != 0:
        raise _failure(status, log, settings["MAX_JOBS"])


def _failure(status: int, log: Path, jobs: str) -> ForkError:
    with log.open(encoding="utf-8", errors="replace") as file:
        what, shown, end = _excerpt(line.rstrip() for line in file)
    said = "\n".join([*shown, *end])
    if "No space left on device" in said:
        return DiskFullError(f"the build of upstream ran out of disk space; its output is in {log}", "free some GB")
    hint = f"the whole output is in {log}"
    if re.search(r"Killed signal terminated program|signal 9|std::bad_alloc|out of memory|: Killed", said):
        hint += f"; something was killed, mostly for want of memory: try MAX_JOBS={max(1, int(jobs) // 2)}"
    text = "".join(f"\n  {line}" for line in shown)
    return SourceBuildError(f"upstream's build failed with status {status}; {what}:{text}", hint)


def _excerpt(lines: Iterable[str]) -> tuple[str, list[str], list[str]]:
    """Pick what to show of a log: from the first error of a tool on, for the end is mostly tracebacks of setuptools and pip.

    :returns: What the excerpt is, the excerpt, and the end of the log.
    """
    errors: list[str] = []
    end: deque[str] = deque(maxlen=_LOOKED_AT)
    for line in lines:
        end.append(line)
        if len(errors) < _SHOWN and (errors or _ERROR.search(line)):
            errors.append(line)
    return ("its first error", errors, [*end]) if errors else ("its last lines", [*end][-_SHOWN:], [*end])


def _only_wheel(target: Path, log: Path) -> Path:
    wheels = sorted(target.glob("*.whl"))
    if len(wheels) != 1:
        names = ", ".join(wheel.name for wheel in wheels) or "none"
        raise SourceBuildError(f"upstream's build should leave one wheel, it left: {names}", f"its output is in {log}")
    return wheels[0]
