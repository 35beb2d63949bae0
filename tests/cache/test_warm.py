"""Checking an entry costs no more reading than using it."""

from __future__ import annotations

from pathlib import Path

from tests.cache.conftest import Worker


def test_a_warm_process_opens_the_files_that_the_base_opens_and_each_once(
    run: Worker, fork_python: Path, base_python: Path
) -> None:
    fork, base = run(fork_python, "warm"), run(base_python, "warm")
    assert [name for name, _, _ in fork] == [name for name, _, _ in base]
    assert len({name for name, _, _ in fork}) == len(fork) == 8
    assert not any(written for _, _, written in fork)
    # A digest of 64 characters, and the name, for each of the seven artifacts: only the group file is longer.
    sizes = {name: size for name, size, _ in base}
    more = {name: size - sizes[name] for name, size, _ in fork}
    assert 0 < more["__grp__kernel.json"] < 7 * 100
    assert more["kernel.cubin"] == 0
