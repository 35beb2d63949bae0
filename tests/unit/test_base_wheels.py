"""Base wheels are checked, resumed, retried and kept."""

from __future__ import annotations

import errno
import multiprocessing
import os
import shutil
import stat
import time
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import Mock, patch

import pytest
from rich.console import Console
from rich.progress import Progress

from fork.config import BaseWheel
from fork.download import base_wheels, transfer
from fork.download.base_wheels import CacheFolderError, WrongFileError, default_cache, fetch
from fork.download.package_index import IndexLacksFileError, NetworkError
from fork.errors import DiskFullError
from fork.index.writing import write_index
from tests.support.local_index import LocalIndex, unreachable_url
from tests.support.tiny_wheel import make_wheel, pin

pause = time.sleep


@pytest.fixture(autouse=True)
def naps(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """How long the code would have slept, each time."""
    slept: list[float] = []
    monkeypatch.setattr(time, "sleep", slept.append)
    return slept


@pytest.fixture
def origin(tmp_path: Path) -> Path:
    return make_wheel(tmp_path / "origin", payload="# filling\n" * 3000)


@pytest.fixture
def index(origin: Path) -> Iterator[LocalIndex]:
    with LocalIndex(origin.parent) as running:
        yield running


@pytest.fixture
def wheel(origin: Path) -> BaseWheel:
    return pin(origin)


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


def leave_part(cache: Path, wheel: BaseWheel, content: bytes, validator: str | None = '"one"') -> None:
    cache.mkdir(mode=0o700)
    folder = cache / wheel.sha256
    folder.mkdir()
    (folder / f"{wheel.filename}.part").write_bytes(content)
    if validator:
        (folder / f"{wheel.filename}.part.validator").write_text(validator)


def files(cache: Path) -> list[str]:
    return sorted(path.name for path in cache.rglob("*") if path.is_file() and path.suffix != ".lock")


def test_downloads_once_and_keeps_the_file(index: LocalIndex, wheel: BaseWheel, cache: Path, origin: Path) -> None:
    first = fetch(wheel, cache=cache, index_urls=[index.url])
    assert first == cache / wheel.sha256 / wheel.filename
    assert first.read_bytes() == origin.read_bytes()
    assert fetch(wheel, cache=cache, index_urls=[]) == first
    assert len(index.file_requests) == 1
    assert files(cache) == [wheel.filename]


def test_cache_is_made_for_its_user_alone(index: LocalIndex, wheel: BaseWheel, cache: Path) -> None:
    previous = os.umask(0)
    try:
        fetch(wheel, cache=cache, index_urls=[index.url])
    finally:
        os.umask(previous)
    assert stat.S_IMODE(cache.stat().st_mode) == 0o700


def test_cache_that_others_can_write_is_refused(index: LocalIndex, wheel: BaseWheel, cache: Path) -> None:
    fetch(wheel, cache=cache, index_urls=[index.url])
    cache.chmod(0o777)
    with pytest.raises(CacheFolderError, match="other users can write") as caught:
        fetch(wheel, cache=cache, index_urls=[index.url])
    assert "chmod go-w" in (caught.value.hint or "")


def test_cache_of_another_user_is_refused(wheel: BaseWheel, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache.mkdir(mode=0o700)
    monkeypatch.setattr(os, "getuid", lambda: cache.stat().st_uid + 1)
    with pytest.raises(CacheFolderError, match="belongs to another user"):
        fetch(wheel, cache=cache, index_urls=[])


def test_cache_that_cannot_be_made_is_named(wheel: BaseWheel, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(CacheFolderError, match="cannot be made"):
        fetch(wheel, cache=tmp_path / "file" / "cache", index_urls=[])


@pytest.mark.parametrize("damage", [b"", b"short", None])
def test_damaged_cached_file_is_said_and_fetched_anew(
    index: LocalIndex, wheel: BaseWheel, cache: Path, origin: Path, damage: bytes | None, tmp_path: Path
) -> None:
    kept = fetch(wheel, cache=cache, index_urls=[index.url])
    kept.write_bytes(damage if damage is not None else origin.read_bytes()[:-1] + b"!")
    with (tmp_path / "said").open("w") as said, Progress(console=Console(file=said, width=500)) as progress:
        assert fetch(wheel, cache=cache, index_urls=[index.url], progress=progress) == kept
    assert kept.read_bytes() == origin.read_bytes()
    assert "damaged" in (tmp_path / "said").read_text()


def test_file_in_a_folder_is_used_in_place(wheel: BaseWheel, cache: Path, origin: Path) -> None:
    assert fetch(wheel, cache=cache, index_urls=[], find_links=[cache, origin.parent]) == origin


def test_wrong_file_in_a_folder_is_said_and_passed_over(
    index: LocalIndex, wheel: BaseWheel, cache: Path, origin: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    links = tmp_path / "links"
    links.mkdir()
    (links / wheel.filename).write_bytes(origin.read_bytes()[:-1] + b"!")
    got = fetch(wheel, cache=cache, index_urls=[index.url], find_links=[links])
    assert got.read_bytes() == origin.read_bytes()
    assert str(links) in caplog.text


def test_broken_connection_is_continued(index: LocalIndex, wheel: BaseWheel, cache: Path, naps: list[float]) -> None:
    index.cut_after = [1000, 500]
    fetch(wheel, cache=cache, index_urls=[index.url])
    assert [asked for _, _, asked in index.file_requests] == [None, "bytes=1000-", "bytes=1500-"]
    assert len(naps) == 2


def test_server_that_cannot_continue_starts_over(
    index: LocalIndex, wheel: BaseWheel, cache: Path, origin: Path
) -> None:
    index.ranges, index.cut_after = False, [1000]
    assert fetch(wheel, cache=cache, index_urls=[index.url]).read_bytes() == origin.read_bytes()
    assert len(index.file_requests) == 2


def test_later_process_continues(index: LocalIndex, wheel: BaseWheel, cache: Path, origin: Path) -> None:
    leave_part(cache, wheel, origin.read_bytes()[:2000])
    assert fetch(wheel, cache=cache, index_urls=[index.url]).read_bytes() == origin.read_bytes()
    assert [asked for _, _, asked in index.file_requests] == ["bytes=2000-"]
    assert files(cache) == [wheel.filename]


def test_changed_file_is_not_continued(index: LocalIndex, wheel: BaseWheel, cache: Path, origin: Path) -> None:
    leave_part(cache, wheel, b"x" * 2000, validator='"older"')
    assert fetch(wheel, cache=cache, index_urls=[index.url]).read_bytes() == origin.read_bytes()
    assert len(index.file_requests) == 1  # If-Range made the server send the whole file


@pytest.mark.parametrize("size", [2000, None, 10**6])
def test_wrong_remains_are_thrown_away(
    index: LocalIndex, wheel: BaseWheel, cache: Path, origin: Path, size: int | None
) -> None:
    leave_part(cache, wheel, b"x" * (wheel.size if size is None else size), validator=None)
    assert fetch(wheel, cache=cache, index_urls=[index.url]).read_bytes() == origin.read_bytes()
    assert files(cache) == [wheel.filename]


def test_wrong_bytes_are_refused(index: LocalIndex, wheel: BaseWheel, cache: Path, origin: Path) -> None:
    index.bodies[wheel.filename] = origin.read_bytes()[:-1] + b"!"
    with pytest.raises(WrongFileError, match="SHA-256") as caught:
        fetch(wheel, cache=cache, index_urls=[index.url])
    assert caught.value.exit_code == 32
    assert files(cache) == []
    assert len(index.file_requests) == 1


@pytest.mark.parametrize("change", [-10, 10])
def test_wrong_size_is_refused_before_the_download(
    index: LocalIndex, wheel: BaseWheel, cache: Path, origin: Path, change: int
) -> None:
    index.bodies[wheel.filename] = (origin.read_bytes() + b"!" * 10)[: wheel.size + change]
    with pytest.raises(WrongFileError, match=f"{wheel.size + change} bytes instead of {wheel.size}"):
        fetch(wheel, cache=cache, index_urls=[index.url])
    assert files(cache) == []
    assert len(index.file_requests) == 1


@pytest.mark.parametrize(("change", "error"), [(-10, NetworkError), (10, WrongFileError)])
def test_wrong_size_that_the_server_hides_is_refused(
    index: LocalIndex, wheel: BaseWheel, cache: Path, origin: Path, change: int, error: type[Exception]
) -> None:
    index.declare_length = False
    index.bodies[wheel.filename] = (origin.read_bytes() + b"!" * 10)[: wheel.size + change]
    with pytest.raises(error):
        fetch(wheel, cache=cache, index_urls=[index.url])
    assert not (cache / wheel.sha256 / wheel.filename).exists()
    assert len(index.file_requests) <= 1 + transfer.FRUITLESS_ATTEMPTS


def test_index_on_disk(wheel: BaseWheel, cache: Path, origin: Path) -> None:
    write_index(origin.parent)
    leave_part(cache, wheel, b"x" * 2000)
    url = (origin.parent / "simple").as_uri()
    assert fetch(wheel, cache=cache, index_urls=[url]).read_bytes() == origin.read_bytes()


def test_busy_server_is_asked_again(index: LocalIndex, wheel: BaseWheel, cache: Path, naps: list[float]) -> None:
    index.file_statuses = [503, 429, 502]
    assert fetch(wheel, cache=cache, index_urls=[index.url]).is_file()
    assert naps == sorted(set(naps)), "each pause is longer than the one before"
    assert len(naps) == 3


def test_connection_that_keeps_breaking_is_given_up_and_kept(index: LocalIndex, wheel: BaseWheel, cache: Path) -> None:
    index.cut_after = [1000] + [0] * 50
    with pytest.raises(NetworkError, match="at byte 1000") as caught:
        fetch(wheel, cache=cache, index_urls=[index.url])
    assert caught.value.exit_code == 30
    assert len(index.file_requests) == 1 + transfer.FRUITLESS_ATTEMPTS
    index.cut_after = []
    fetch(wheel, cache=cache, index_urls=[index.url])
    assert index.file_requests[-1][2] == "bytes=1000-"


def test_listed_file_that_is_gone(index: LocalIndex, wheel: BaseWheel, cache: Path) -> None:
    index.file_statuses = [404]
    with pytest.raises(IndexLacksFileError) as caught:
        fetch(wheel, cache=cache, index_urls=[index.url])
    assert caught.value.exit_code == 31


def test_forbidden_file_is_not_asked_for_again(index: LocalIndex, wheel: BaseWheel, cache: Path) -> None:
    index.file_statuses = [403]
    with pytest.raises(NetworkError, match="status 403"):
        fetch(wheel, cache=cache, index_urls=[index.url])
    assert len(index.file_requests) == 1


def test_no_network(wheel: BaseWheel, cache: Path) -> None:
    with unreachable_url() as url, pytest.raises(NetworkError, match="cannot be reached"):
        fetch(wheel, cache=cache, index_urls=[url])


def test_full_disk_is_seen_before_the_download(
    index: LocalIndex, wheel: BaseWheel, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = shutil.disk_usage(cache.parent)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage._replace(free=wheel.size - 1))
    with pytest.raises(DiskFullError, match="are needed") as caught:
        fetch(wheel, cache=cache, index_urls=[index.url])
    assert caught.value.exit_code == 33
    assert index.file_requests == []


def test_disk_that_fills_up_leaves_nothing(index: LocalIndex, wheel: BaseWheel, cache: Path) -> None:
    leave_part(cache, wheel, b"")
    part = cache / wheel.sha256 / f"{wheel.filename}.part"
    part.unlink()
    part.symlink_to("/dev/full")  # every write to it fails with ENOSPC
    with pytest.raises(DiskFullError):
        fetch(wheel, cache=cache, index_urls=[index.url])
    assert files(cache) == []
    assert not part.is_symlink()


def test_other_faults_of_the_disk_are_not_renamed(
    index: LocalIndex, wheel: BaseWheel, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise OSError(errno.EIO, "input/output error")

    monkeypatch.setattr(transfer.Transfer, "write", fail)
    with pytest.raises(OSError, match="input/output error"):
        fetch(wheel, cache=cache, index_urls=[index.url])


def _fetch_in_a_process(wheel: BaseWheel, cache: Path, url: str) -> None:
    time.sleep = pause  # the lock waits with it
    fetch(wheel, cache=cache, index_urls=[url])


def test_two_processes_download_once(index: LocalIndex, wheel: BaseWheel, cache: Path, origin: Path) -> None:
    context = multiprocessing.get_context("fork")
    processes = [context.Process(target=_fetch_in_a_process, args=(wheel, cache, index.url)) for _ in range(4)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(60)
    assert [process.exitcode for process in processes] == [0] * 4
    assert (cache / wheel.sha256 / wheel.filename).read_bytes() == origin.read_bytes()
    assert len(index.file_requests) == 1


def test_progress_counts_from_where_it_goes_on(index: LocalIndex, wheel: BaseWheel, cache: Path, origin: Path) -> None:
    leave_part(cache, wheel, origin.read_bytes()[:2000])
    with Progress(disable=True) as progress:
        add_task = Mock(wraps=progress.add_task)
        with patch.object(progress, "add_task", add_task):
            fetch(wheel, cache=cache, index_urls=[index.url], progress=progress)
        assert progress.tasks[0].completed == progress.tasks[0].total == wheel.size
    assert add_task.call_args.kwargs["completed"] == 2000


def test_default_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("TRITON_FORK_CACHE", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert default_cache() == tmp_path / ".cache" / "triton-fork" / "wheels"
    monkeypatch.setenv("XDG_CACHE_HOME", "/xdg")
    assert default_cache() == Path("/xdg/triton-fork/wheels")
    monkeypatch.setenv("TRITON_FORK_CACHE", "/chosen")
    assert base_wheels.default_cache() == Path("/chosen")
