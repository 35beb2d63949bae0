from __future__ import annotations

import io
import zipfile
from pathlib import Path

import pytest

from fork.archive.wheels import ArchiveError, ArchiveWriter, WheelArchive

DATE = (2026, 1, 20, 14, 57, 6)
OLDER = (2025, 12, 31, 23, 59, 58)


def write_zip(path: Path, *names: str) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name in names:
            archive.writestr(zipfile.ZipInfo(name, DATE), b"content " * 100)
    return path


def test_what_is_written_can_be_read(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "source.whl", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(zipfile.ZipInfo("old/name.py", OLDER), b"old " * 1000, zipfile.ZIP_DEFLATED)
    target = tmp_path / "target.whl"
    with WheelArchive.open(tmp_path / "source.whl") as source, target.open("wb") as file:
        writer = ArchiveWriter(file, DATE)
        writer.copy(source, source.members[0], "new/name.py")
        writer.add("new/résumé.py", b"new", 0o100755)
        writer.finish()
    with zipfile.ZipFile(target) as archive:
        assert archive.testzip() is None
        copied, added = archive.infolist()
        assert archive.read(copied) == b"old " * 1000
        assert copied.date_time == OLDER  # ptxas writes the times of source files into line tables
        assert copied.compress_type == zipfile.ZIP_DEFLATED
        assert (added.filename, added.date_time, added.external_attr >> 16) == ("new/résumé.py", DATE, 0o100755)
        assert added.compress_type == zipfile.ZIP_STORED


@pytest.mark.parametrize("name", ["../out.py", "/etc/passwd", "a/../../out.py", "a\\..\\out.py"])
def test_path_traversal_is_refused(tmp_path: Path, name: str) -> None:
    path = write_zip(tmp_path / "bad.whl", "fine.py", name)
    with pytest.raises(ArchiveError, match="unsafe or repeated"), WheelArchive.open(path):
        pass


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_repeated_names_are_refused(tmp_path: Path) -> None:
    path = write_zip(tmp_path / "bad.whl", "twice.py", "twice.py")
    with pytest.raises(ArchiveError, match=r"unsafe or repeated names: \['twice\.py'\]"), WheelArchive.open(path):
        pass


def test_a_truncated_file_is_refused(tmp_path: Path) -> None:
    path = write_zip(tmp_path / "cut.whl", "fine.py")
    path.write_bytes(path.read_bytes()[:-30])
    with pytest.raises(ArchiveError, match=r"'cut\.whl' is not a readable wheel"), WheelArchive.open(path):
        pass


def test_a_wheel_beyond_four_gigabytes_is_refused() -> None:
    class Far(io.BytesIO):
        def tell(self) -> int:
            return 1 << 32

    with pytest.raises(ArchiveError, match="beyond 4 GiB"):
        ArchiveWriter(Far(), DATE).add("far.py", b"", 0o100644)


@pytest.mark.parametrize("folders", [(), ("a.dist-info", "b.dist-info")])
def test_there_is_one_dist_info_folder(tmp_path: Path, folders: tuple[str, ...]) -> None:
    path = write_zip(tmp_path / "odd.whl", "fine.py", *(f"{folder}/METADATA" for folder in folders))
    with WheelArchive.open(path) as archive, pytest.raises(ArchiveError, match=rf"has {len(folders)} \.dist-info"):
        _ = archive.dist_info
