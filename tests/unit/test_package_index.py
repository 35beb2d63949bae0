"""Which index is asked, and what is found in it."""

from __future__ import annotations

import os
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from packaging.tags import Tag, parse_tag
from pypi_simple import PYPI_SIMPLE_ENDPOINT

from fork.download import package_index
from fork.download.package_index import (
    IndexLacksFileError,
    NetworkError,
    find_file,
    find_release,
    index_urls,
    list_release,
    redact,
)
from fork.index.writing import write_index
from tests.support.local_index import LocalIndex, unreachable_url
from tests.support.tiny_wheel import make_wheel, pin


@pytest.fixture(autouse=True)
def no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    monkeypatch.delenv("TRITON_FORK_INDEX_URL", raising=False)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setattr(time, "sleep", lambda seconds: None)


def test_argument_then_environment_then_pip(monkeypatch: pytest.MonkeyPatch) -> None:
    assert index_urls() == (PYPI_SIMPLE_ENDPOINT,)
    monkeypatch.setenv("PIP_INDEX_URL", "http://pip.example/simple")
    monkeypatch.setenv("PIP_EXTRA_INDEX_URL", "http://a.example/simple http://b.example/simple")
    assert index_urls() == ("http://pip.example/simple", "http://a.example/simple", "http://b.example/simple")
    monkeypatch.setenv("TRITON_FORK_INDEX_URL", "http://c.example/simple")
    assert index_urls() == ("http://c.example/simple",)
    assert index_urls("http://d.example/simple") == ("http://d.example/simple",)


def test_sections_of_pip_configuration_override_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = {
        "global.index-url": "http://global.example",
        "download.index-url": "http://download.example",
        "install.extra-index-url": "http://extra.example\nfile:///srv/simple",
    }
    assert package_index._pip_index_urls(settings) == (
        "http://download.example",
        "http://extra.example",
        "file:///srv/simple",
    )
    assert package_index._pip_index_urls(settings | {"install.index-url": "http://i.example"})[0] == "http://i.example"
    assert package_index._pip_index_urls(settings | {":env:.index-url": "http://e.example"})[0] == "http://e.example"


def test_configuration_file_of_pip_counts(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "pip.conf").write_text("[install]\nindex-url = http://file.example/simple\n")
    monkeypatch.setenv("PIP_CONFIG_FILE", str(tmp_path / "pip.conf"))
    assert index_urls()[0] == "http://file.example/simple"


def test_no_index_means_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    assert index_urls() == ()
    with pytest.raises(IndexLacksFileError, match="no-index"):
        find_file("triton", "triton-3.6.0-py3-none-any.whl", ())


def test_broken_configuration_of_pip_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "pip.conf").write_text("no section\n")
    monkeypatch.setenv("PIP_CONFIG_FILE", str(tmp_path / "pip.conf"))
    with pytest.raises(NetworkError, match="configuration cannot be read"):
        index_urls()


def test_finds_relative_links_over_http(tmp_path: Path) -> None:
    wheel = make_wheel(tmp_path)
    with LocalIndex(tmp_path) as index:
        assert find_file("Triton", wheel.name, [index.url]) == f"{index.root}/{wheel.name.replace('+', '%2B')}"


@pytest.mark.parametrize("slash", ["", "/"])
def test_finds_files_of_an_index_on_disk(tmp_path: Path, slash: str) -> None:
    wheel = make_wheel(tmp_path / "with blank")
    write_index(wheel.parent)
    url = find_file("triton", wheel.name, [(wheel.parent / "simple").as_uri() + slash])
    with package_index.open_session() as session:
        assert session.get(url).content == wheel.read_bytes()
        assert session.get(url + ".gone").status_code == 404


def test_goes_on_to_the_next_index(tmp_path: Path) -> None:
    wheel = make_wheel(tmp_path)
    with LocalIndex(tmp_path / "nothing") as empty, LocalIndex(tmp_path) as index, unreachable_url() as gone:
        missing = (tmp_path / "missing").as_uri()
        assert find_file("triton", wheel.name, [gone, missing, empty.url, index.url]).startswith(index.root)
        assert [path for _, path, _ in empty.requests] == ["/simple/triton/"]


def test_missing_file_is_told_from_an_unreachable_index(tmp_path: Path) -> None:
    make_wheel(tmp_path)
    with LocalIndex(tmp_path) as index:
        with pytest.raises(IndexLacksFileError, match=r"triton-9.*127\.0\.0\.1") as lacking:
            find_file("triton", "triton-9-py3-none-any.whl", [index.url])
        with unreachable_url() as gone, pytest.raises(NetworkError) as unreachable:
            find_file("triton", "triton-9-py3-none-any.whl", [index.url, gone])
    assert (lacking.value.exit_code, unreachable.value.exit_code) == (31, 30)


def test_busy_index_is_asked_again(tmp_path: Path) -> None:
    wheel = make_wheel(tmp_path)
    with LocalIndex(tmp_path, statuses=[503, 502]) as index:
        assert find_file("triton", wheel.name, [index.url])
        assert len(index.requests) == 3
        index.statuses = [503] * 20
        with pytest.raises(NetworkError, match="503"):
            find_file("triton", wheel.name, [index.url])
        assert len(index.requests) == 3 + package_index.ATTEMPTS


def test_refusal_is_not_repeated(tmp_path: Path) -> None:
    with LocalIndex(tmp_path, statuses=[401]) as index, pytest.raises(NetworkError, match="401"):
        find_file("triton", "x.whl", [index.url])
    assert len(index.requests) == 1


def test_credentials_are_not_shown(caplog: pytest.LogCaptureFixture) -> None:
    assert redact("https://name:secret@host:8443/simple") == "https://host:8443/simple"
    with unreachable_url() as url, pytest.raises(NetworkError) as caught:
        find_file("triton", "x.whl", [url.replace("//", "//name:secret@")])
    assert "secret" not in caught.value.message + caplog.text
    with LocalIndex(Path(), statuses=[401]) as index, pytest.raises(NetworkError) as caught:
        find_file("triton", "x.whl", [index.url.replace("//", "//name:secret@")])
    assert "secret" not in caught.value.message + caplog.text


def test_credentials_go_to_the_server_of_the_index_alone() -> None:
    carry = package_index._with_credentials
    assert carry("https://host/a.whl", "https://name:secret@host/simple/") == "https://name:secret@host/a.whl"
    assert carry("https://other/a.whl", "https://name:secret@host/simple/") == "https://other/a.whl"
    assert carry("http://host/a.whl", "https://name:secret@host/simple/") == "http://host/a.whl"
    assert carry("https://host/a.whl", "https://host/simple/") == "https://host/a.whl"


def test_finds_the_wheel_of_another_version(tmp_path: Path) -> None:
    for tag in ("cp311-cp311-manylinux_2_35_aarch64", "cp312-cp312-manylinux_2_35_x86_64"):
        make_wheel(tmp_path, "3.7.0", tag=tag)
    make_wheel(tmp_path, "3.8.0", tag="cp311-cp311-manylinux_2_35_x86_64")
    wanted = make_wheel(tmp_path, "3.7.0", tag="cp311-cp311-manylinux_2_35_x86_64")
    write_index(tmp_path)
    tags = [Tag("cp311", "cp311", "manylinux_2_27_x86_64"), Tag("cp311", "cp311", "manylinux_2_28_x86_64")]
    with LocalIndex(tmp_path) as index:
        assert find_release("triton", "3.7.0", tags, [index.url]) == pin(wanted)
        with pytest.raises(IndexLacksFileError, match=r"3\.9\.0"):
            find_release("triton", "3.9.0", tags, [index.url])


def test_lists_the_wheels_of_a_version(tmp_path: Path) -> None:
    tags = ("cp311-cp311-manylinux_2_35_x86_64", "cp312-abi3-manylinux_2_35_x86_64")
    made = [make_wheel(tmp_path, "3.7.0", tag=tag) for tag in tags]
    make_wheel(tmp_path, "3.8.0", tag=tags[0])
    write_index(tmp_path)
    with LocalIndex(tmp_path) as index:
        assert list_release("triton", "3.7.0", [index.url, index.url]) == [pin(path) for path in made]
        with pytest.raises(IndexLacksFileError, match=r"3\.9\.0"):
            list_release("triton", "3.9.0", [index.url])
        with unreachable_url() as gone, pytest.raises(NetworkError):
            list_release("triton", "3.7.0", [gone, index.url])


@pytest.mark.parametrize(
    ("filename", "sha256"),
    [
        ("triton-3.7.0-cp311-cp311-linux_x86_64.whl", "../../outside"),
        ("../triton-3.7.0-cp311-cp311-linux_x86_64.whl", "0" * 64),
    ],
)
def test_an_index_cannot_choose_where_a_download_goes(monkeypatch, filename: str, sha256: str) -> None:
    package = SimpleNamespace(filename=filename, digests={"sha256": sha256}, size=1, url="http://127.0.0.1/x")
    monkeypatch.setattr(package_index, "_packages", lambda *_: [("http://127.0.0.1/", package)])
    with pytest.raises(package_index.IndexLacksFileError):
        package_index.find_release("triton", "3.7.0", parse_tag("cp311-cp311-linux_x86_64"), ["http://127.0.0.1/"])
