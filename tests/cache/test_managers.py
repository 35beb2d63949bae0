"""Cache managers of users, remote ones, dumps and overrides work as in the base."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.cache.conftest import Worker
from tests.support.lanes import BaseFault


@pytest.fixture(scope="module")
def results(
    run: Worker, base_python: Path, fork_python: Path, tmp_path_factory: pytest.TempPathFactory
) -> list[dict[str, Any]]:
    """The base, the fork, and the base again, which share one folder of files."""
    shared = str(tmp_path_factory.mktemp("shared"))
    return [run(python, "managers", shared) for python in (base_python, fork_python, base_python)]


@pytest.mark.parametrize(
    "part",
    [
        "OwnFolders",
        "InMemory",
        "Changing",
        "RemoteCacheManager",
        "dumped",
        "overridden",
        "dump_fails",
        "binary_only",
        "mode",
    ],
)
def test_the_fork_does_what_the_base_does(part: str, results: list[dict[str, Any]]) -> None:
    base, fork, _ = results
    assert fork[part] == base[part]


def test_the_worker_tries_what_it_should(results: list[dict[str, Any]]) -> None:
    _, fork, _ = results
    for manager in ("OwnFolders", "InMemory", "Changing", "RemoteCacheManager"):
        assert fork[manager]["hits"] == [False, True]
    assert fork["Changing"]["ptx"] == ["// signed", "// signed"]
    assert len(fork["dumped"]) == 6
    assert fork["overridden"] is True
    assert fork["dump_fails"].startswith("raised ")
    assert fork["binary_only"] == [["cubin", "source"], ["cubin", "source"], [False, True]]


def test_damage_in_a_remote_cache_is_compiled_again(results: list[dict[str, Any]], base_fault: BaseFault) -> None:
    base, fork, _ = results
    base_fault("cache: damage in a remote cache", base["remote_damaged"]["kernel"].startswith("raised JSONDecodeError"))
    assert fork["remote_damaged"] == {"kernel": True, "said": 1, "hits": [False]}
    texts = ["cubin", "llir", "ptx", "source", "ttgir", "ttir"]
    assert fork["remote_part_missing"] == {"texts": texts, "hits": [False]}


def test_base_and_fork_read_the_files_of_each_other(results: list[dict[str, Any]]) -> None:
    assert results[0]["found"] is None
    assert results[1]["found"] == results[2]["found"] == {"text": "ä\n", "bytes": "b"}
    assert results[1]["said"] == []
