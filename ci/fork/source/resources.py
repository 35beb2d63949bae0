"""How many compilers may run at once: what the machine and the container leave to this process."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

__all__ = ["BYTES_PER_JOB", "BYTES_PER_LINK", "Resources"]

_GIB = 1 << 30

#: Memory to count with for one compiler. Upstream's default of twice the cores runs out of memory with 20 cores, 40 jobs
#: and 32 GiB (triton-lang/triton#3645, NixOS/nixpkgs#303759), that is with 0.8 GiB a job; #2687, #4249 and #11123 report the
#: same. Upstream's own wheels were once built with 4 jobs in 32 GB. A file that includes MLIR takes 1 to 2.5 GiB.
BYTES_PER_JOB = 3 * _GIB

#: Memory to count with for one linker, which reads all of LLVM and MLIR (intel/intel-xpu-backend-for-triton#3521).
BYTES_PER_LINK = 8 * _GIB


@dataclass(frozen=True)
class Resources:
    """What a build may use.

    :param memory: Bytes that are free or can be freed.
    :param cores: Cores, from 1.
    """

    memory: int
    cores: int

    @property
    def jobs(self) -> int:
        """How many compilers may run at once, from 1."""
        return max(1, min(self.cores, self.memory // BYTES_PER_JOB))

    @property
    def link_jobs(self) -> int:
        """How many linkers may run at once, from 1."""
        return max(1, min(self.jobs, self.memory // BYTES_PER_LINK))

    @classmethod
    def measure(cls, proc: Path = Path("/proc"), control_groups: Path = Path("/sys/fs/cgroup")) -> Resources:
        """Look at the machine and at the control groups (version 1 and 2) that this process is in.

        :param proc: Where the ``proc`` file system is mounted.
        :param control_groups: Where the control groups are mounted.
        """
        memory, cores = float(_machine_memory(proc)), float(len(os.sched_getaffinity(0)))
        for folder in _groups(proc, control_groups):
            memory = min(memory, _memory_left(folder))
            cores = min(cores, _core_quota(folder))
        return cls(int(memory), max(1, math.floor(cores)))


def _machine_memory(proc: Path) -> int:
    for line in _read(proc / "meminfo").splitlines():
        name, _, value = line.partition(":")
        if name == "MemAvailable":
            return int(value.split()[0]) * 1024
    return 0  # unknown: build with one job


def _groups(proc: Path, control_groups: Path) -> Iterator[Path]:
    """Give the folders of the process's control groups and of those above them: each may set a limit.

    Inside a container the path can be one of the host's that is not mounted; then the mount itself is the process's group.
    """
    for line in _read(proc / "self" / "cgroup").splitlines():
        _, controllers, path = line.split(":", 2)
        mount = control_groups / controllers if controllers else control_groups
        folder = mount / path.lstrip("/")
        yield from (part for part in (folder, *folder.parents) if part == mount or mount in part.parents)


def _memory_left(folder: Path) -> float:
    for limit, used in (("memory.max", "memory.current"), ("memory.limit_in_bytes", "memory.usage_in_bytes")):
        most, taken = _read(folder / limit), _read(folder / used)
        if most.isdigit() and taken.isdigit():
            return max(0, int(most) - int(taken) + _file_cache(folder))
    return math.inf


def _file_cache(folder: Path) -> int:
    """Bytes of unused file cache, which the kernel counts as used but drops when memory is wanted."""
    for line in _read(folder / "memory.stat").splitlines():
        name, _, value = line.partition(" ")
        if name in ("inactive_file", "total_inactive_file"):
            return int(value)
    return 0


def _core_quota(folder: Path) -> float:
    quota, _, period = _read(folder / "cpu.max").partition(" ")
    if not quota:
        quota, period = _read(folder / "cpu.cfs_quota_us"), _read(folder / "cpu.cfs_period_us")
    return int(quota) / int(period) if quota.isdigit() and period.isdigit() and int(period) else math.inf


def _read(file: Path) -> str:
    try:
        return file.read_text("ascii").strip()
    except OSError:
        return ""
