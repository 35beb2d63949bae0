"""The index is right, the same every time, and what pip and uv read."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import shutil
import subprocess
import sys
import venv
from collections.abc import Callable
from pathlib import Path
from zipfile import ZipFile

import pytest
from pypi_simple import ProjectPage

from fork.errors import DiskFullError
from fork.index.checking import check_index
from fork.index.records import IndexFaultError, PublishedFileError, published_hashes
from fork.index.writing import write_index
from tests.support.local_index import LocalIndex
from tests.support.tiny_wheel import make_wheel


@pytest.fixture
def wheelhouse(tmp_path: Path) -> Path:
    folder = tmp_path / "wheelhouse"
    make_wheel(folder, "3.6.0+fork.10.q00000000")
    make_wheel(folder, "3.6.0+fork.9.q00000000")
    write_index(folder)
    return folder


def snapshot(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def page(wheelhouse: Path) -> ProjectPage:
    return ProjectPage.from_html(
        "triton", (wheelhouse / "simple/triton/index.html").read_bytes(), "http://h/simple/triton/"
    )


def test_html_page(wheelhouse: Path) -> None:
    packages = page(wheelhouse).packages
    assert [package.version for package in packages] == ["3.6.0+fork.9.q00000000", "3.6.0+fork.10.q00000000"]
    for package in packages:
        content = (wheelhouse / package.filename).read_bytes()
        assert package.url == f"http://h/{package.filename.replace('+', '%2B')}"
        assert package.digests == {"sha256": hashlib.sha256(content).hexdigest()}
        assert package.requires_python == ">=3.9,<4"
        assert not package.is_yanked
    html = (wheelhouse / "simple/triton/index.html").read_text()
    metadata = hashlib.sha256((wheelhouse / f"{packages[0].filename}.metadata").read_bytes()).hexdigest()
    for attribute in ("data-core-metadata", "data-dist-info-metadata"):
        assert f'{attribute}="sha256={metadata}"' in html


def test_json_page_agrees(wheelhouse: Path) -> None:
    document = json.loads((wheelhouse / "simple/triton/index.json").read_bytes())
    assert document["meta"] == {"api-version": "1.1"}
    assert document["versions"] == ["3.6.0+fork.9.q00000000", "3.6.0+fork.10.q00000000"]
    for entry, package in zip(document["files"], page(wheelhouse).packages, strict=True):
        assert entry["filename"] == package.filename
        assert entry["hashes"] == package.digests
        assert entry["size"] == (wheelhouse / package.filename).stat().st_size
        assert entry["core-metadata"] == entry["dist-info-metadata"] == package.metadata_digests
        assert entry["requires-python"] == package.requires_python
    read = ProjectPage.from_json_data(document, "http://h/simple/triton/")
    assert [package.url for package in read.packages] == [package.url for package in page(wheelhouse).packages]


def test_list_of_projects(wheelhouse: Path) -> None:
    assert '<a href="triton/">triton</a>' in (wheelhouse / "simple/index.html").read_text()
    assert json.loads((wheelhouse / "simple/index.json").read_bytes())["projects"] == [{"name": "triton"}]


def test_metadata_is_that_of_the_wheel(wheelhouse: Path) -> None:
    for wheel in wheelhouse.glob("*.whl"):
        with ZipFile(wheel) as archive:
            name = next(name for name in archive.namelist() if name.endswith("/METADATA"))
            assert wheel.with_name(f"{wheel.name}.metadata").read_bytes() == archive.read(name)


def test_same_wheels_give_the_same_bytes(wheelhouse: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    for record in ("published.times", "promoted.versions"):
        shutil.copyfile(wheelhouse / record, other / record)
    previous = os.umask(0o077)
    try:
        for wheel in sorted(wheelhouse.glob("*.whl"), reverse=True):
            shutil.copyfile(wheel, other / wheel.name)
            write_index(other)
    finally:
        os.umask(previous)
    assert snapshot(other) == snapshot(wheelhouse)


def test_nothing_is_written_where_nothing_changed(wheelhouse: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in wheelhouse.rglob("*")}
    report = write_index(wheelhouse)
    assert (report.written, report.removed, len(report.listed)) == ((), (), 2)
    assert {path: path.stat().st_mtime_ns for path in wheelhouse.rglob("*")} == before


def test_vanished_wheels_leave_the_index(wheelhouse: Path) -> None:
    gone = next(iter(sorted(wheelhouse.glob("*.whl"))))
    gone.unlink()
    (wheelhouse / "simple" / "old").mkdir()
    (wheelhouse / "simple" / "old" / "index.html").touch()
    (wheelhouse / "simple" / "triton" / ".index.html.new").touch()  # what a killed process leaves
    assert any("old/index.html: belongs to no wheel" in fault for fault in check_index(wheelhouse))
    report = write_index(wheelhouse)
    assert f"{gone.name}.metadata" in report.removed
    assert not (wheelhouse / "simple" / "old").exists()
    assert len(page(wheelhouse).packages) == 1
    assert check_index(wheelhouse) == []


@pytest.mark.parametrize("keep", ["published.sha256", "simple/triton/index.json"])
def test_published_name_keeps_its_bytes(wheelhouse: Path, keep: str) -> None:
    lost = {"published.sha256", "simple/triton/index.json"} - {keep}
    (wheelhouse / lost.pop()).unlink()
    make_wheel(wheelhouse, "3.6.0+fork.9.q00000000", payload="# changed")
    before = snapshot(wheelhouse)
    with pytest.raises(PublishedFileError, match=r"fork\.9\.q00000000") as caught:
        write_index(wheelhouse)
    assert caught.value.exit_code == 34
    assert snapshot(wheelhouse) == before


def test_name_stays_taken_when_its_wheel_is_removed(wheelhouse: Path) -> None:
    (wheelhouse / "triton-3.6.0+fork.9.q00000000-py3-none-any.whl").unlink()
    write_index(wheelhouse)
    make_wheel(wheelhouse, "3.6.0+fork.9.q00000000", payload="# changed")
    with pytest.raises(PublishedFileError):
        write_index(wheelhouse)


def test_record_is_in_the_form_of_sha256sum(wheelhouse: Path) -> None:
    run = subprocess.run(["sha256sum", "--check", "--strict", "published.sha256"], cwd=wheelhouse, check=False)
    assert run.returncode == 0
    assert len(published_hashes(wheelhouse)) == 2


@pytest.mark.parametrize(
    ("name", "content"),
    [("published.sha256", "nonsense\n"), ("simple/triton/index.json", "{}"), ("simple/triton/index.json", "[")],
)
def test_unreadable_record_stops_everything(wheelhouse: Path, name: str, content: str) -> None:
    (wheelhouse / name).write_text(content)
    with pytest.raises(IndexFaultError):
        write_index(wheelhouse)
    assert check_index(wheelhouse)


def test_what_is_no_wheel_is_listed(wheelhouse: Path) -> None:
    (wheelhouse / "bad.whl").touch()
    (wheelhouse / "triton-1-py3-none-any.whl").write_text("not a zip")
    renamed = shutil.copy(next(wheelhouse.glob("triton-3*.whl")), wheelhouse / "triton-2-py3-none-any.whl")
    with pytest.raises(IndexFaultError) as caught:
        write_index(wheelhouse)
    for name in ("bad.whl", "triton-1-py3-none-any.whl", Path(renamed).name):
        assert name in caught.value.message


def test_full_disk(wheelhouse: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_wheel(wheelhouse, "3.6.1")

    def fail(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "no space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    before = snapshot(wheelhouse)
    with pytest.raises(DiskFullError):
        write_index(wheelhouse)
    assert snapshot(wheelhouse) == before


def flip_hash(wheelhouse: Path) -> None:
    html = wheelhouse / "simple/triton/index.html"
    html.write_text(html.read_text().replace("#sha256=", "#sha256=0", 1))


def flip_json_hash(wheelhouse: Path) -> None:
    path = wheelhouse / "simple/triton/index.json"
    document = json.loads(path.read_bytes())
    document["files"][0]["hashes"]["sha256"] = "0" * 64
    path.write_text(json.dumps(document))


def change_size(wheelhouse: Path) -> None:
    path = wheelhouse / "simple/triton/index.json"
    path.write_text(path.read_text().replace('"size": ', '"size": 1', 1))


def change_metadata(wheelhouse: Path) -> None:
    next(iter(wheelhouse.glob("*.metadata"))).write_text("Name: other\n")


def remove_wheel(wheelhouse: Path) -> None:
    next(iter(wheelhouse.glob("*.whl"))).unlink()


def add_wheel(wheelhouse: Path) -> None:
    make_wheel(wheelhouse, "3.6.1")


def flip_wheel(wheelhouse: Path) -> None:
    path = next(iter(wheelhouse.glob("*.whl")))
    content = bytearray(path.read_bytes())
    content[60] ^= 1
    path.write_bytes(content)


def lose(name: str) -> Callable[[Path], None]:
    return lambda wheelhouse: (wheelhouse / name).unlink()


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (flip_hash, ["disagree", "gives SHA-256 0"]),
        (flip_json_hash, ["disagree", "gives SHA-256 0"]),
        (change_size, ["gives size 1"]),
        (change_metadata, [".metadata: differs"]),
        (remove_wheel, ["which is missing", "belongs to no wheel"]),
        (add_wheel, ["does not list", "3.6.1-py3-none-any.whl.metadata: is missing"]),
        (flip_wheel, ["SHA-256"]),
        (lose("simple/index.html"), ["simple/index.html: is missing"]),
        (lose("simple/triton/index.json"), ["simple/triton/index.json: is missing"]),
        (lose("published.sha256"), ["published.sha256: is missing"]),
    ],
)
def test_check_finds(wheelhouse: Path, damage: Callable[[Path], None], said: list[str]) -> None:
    assert check_index(wheelhouse) == []
    damage(wheelhouse)
    faults = "\n".join(check_index(wheelhouse))
    for text in said:
        assert text in faults


def test_check_of_no_index(tmp_path: Path) -> None:
    make_wheel(tmp_path)
    assert any("simple/triton/index.html: is missing" in fault for fault in check_index(tmp_path))


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An interpreter whose environment holds nothing but pip."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, with_pip=True)
    return folder / "bin" / "python"


def installer(kind: str, python: Path) -> list[str | Path]:
    if kind == "pip":
        return [python, "-m", "pip", "--isolated", "install", "--no-cache-dir", "--force-reinstall"]
    uv = Path(sys.executable).parent / "uv"
    return [uv, "pip", "install", "--no-config", "--no-cache", "--reinstall", "--python", python]


def quiet_environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith(("PIP_", "UV_"))}


@pytest.mark.parametrize("kind", ["pip", "uv"])
def test_installs_from_the_index_alone(wheelhouse: Path, python: Path, kind: str) -> None:
    moved = wheelhouse.rename(wheelhouse.with_name("moved"))
    with LocalIndex(moved) as index:
        command = [*installer(kind, python), "triton==3.6.0", "--index-url", index.url]
        environment = quiet_environment() | {"PIP_CONFIG_FILE": os.devnull}
        run = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
        assert run.returncode == 0, run.stderr
        asked = [path for _, path, _ in index.requests]
    code = "import triton; print(triton.__version__)"
    shown = subprocess.run([python, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "3.6.0+fork.10.q00000000"
    assert "/triton-3.6.0+fork.10.q00000000-py3-none-any.whl.metadata" in asked, "the resolver read the metadata file"


@pytest.mark.parametrize("kind", ["pip", "uv"])
def test_wrong_hash_in_the_index_is_not_installed(wheelhouse: Path, python: Path, kind: str) -> None:
    make_wheel(wheelhouse, "3.6.0+fork.10.q00000000", payload="# changed after the index was written")
    with LocalIndex(wheelhouse) as index:
        command = [*installer(kind, python), "triton==3.6.0", "--index-url", index.url]
        environment = quiet_environment() | {"PIP_CONFIG_FILE": os.devnull}
        run = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert run.returncode != 0
    assert "hash" in run.stderr.lower()
