"""Assembling a wheel, and finding what is wrong with one."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import shutil
import time
import zipfile
from collections.abc import Callable
from email.message import Message
from email.parser import BytesHeaderParser
from pathlib import Path

import pytest
from installer.sources import WheelFile
from packaging.metadata import Metadata

from fork.archive.records import record_hash
from fork.archive.wheels import ArchiveError
from fork.assembly.provenance import BASE_RECORD, PROVENANCE
from fork.assembly.wheel import wheel_name
from fork.builder import BaseMismatchError, build_wheels, prepare
from fork.git import Git
from fork.index.records import PublishedFileError
from fork.publishing import output_folder
from fork.smoke import SmokeImportError, smoke_import
from fork.verify import VerifyError, verify_wheel, wheel_faults
from tests.support.small_project import SmallProject, make_base_wheel, make_project


def build(small: SmallProject, wheelhouse: Path) -> Path:
    lane = small.lane
    with small.project.scratch("build") as scratch, output_folder(wheelhouse):
        prepared = prepare(small.project, lane, small.base, scratch, lambda _: None)
        return build_wheels(prepared, [(lane.wheels[0], small.base)], wheelhouse, scratch, lambda _: None)[0].path


@pytest.fixture
def wheel(small: SmallProject, tmp_path: Path) -> Path:
    return build(small, tmp_path / "wheelhouse")


def rewrite(wheel: Path, change: Callable[[str, bytes, zipfile.ZipInfo], bytes | None]) -> None:
    """Write a wheel anew, passing each member through a function; ``None`` leaves it out."""
    copy = wheel.with_suffix(".copy")
    with zipfile.ZipFile(wheel) as source, zipfile.ZipFile(copy, "w") as target:
        for member in source.infolist():
            content = change(member.filename, source.read(member), member)
            if content is not None:
                target.writestr(member, content)
    copy.replace(wheel)


def test_the_wheel_is_what_it_should_be(small, wheel) -> None:
    assert wheel.name.startswith("triton-3.6.0+fork.1.q")
    assert wheel.name.endswith("-cp311-cp311-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl")
    assert wheel_faults(wheel, small.base) == []
    with zipfile.ZipFile(wheel) as archive:
        assert b"return fn.__name__" in archive.read("triton/runtime/jit.py")
        assert archive.read("triton/fork/__init__.py") == b'"""Ours."""\n'
        assert archive.infolist()[-1].filename.endswith(".dist-info/RECORD")


def test_the_installer_library_accepts_record(wheel) -> None:
    with WheelFile.open(wheel) as source:
        source.validate_record(validate_contents=True)


def test_unchanged_members_are_not_compressed_again(small, wheel) -> None:
    with zipfile.ZipFile(small.base) as old, zipfile.ZipFile(wheel) as new:
        before, after = old.getinfo("triton/_C/libtriton.so"), new.getinfo("triton/_C/libtriton.so")
    assert (before.compress_size, before.CRC, before.date_time, before.external_attr) == (
        after.compress_size,
        after.CRC,
        after.date_time,
        after.external_attr,
    )


def test_two_builds_give_the_same_bytes(tmp_path, monkeypatch) -> None:
    first = build(make_project(tmp_path / "one"), tmp_path / "one-out")
    previous = os.umask(0o077)
    try:
        monkeypatch.setattr(time, "time", lambda: 2_000_000_000.0)
        second = build(make_project(tmp_path / "elsewhere" / "two"), tmp_path / "two-out")
    finally:
        os.umask(previous)
    assert first.name == second.name
    assert first.read_bytes() == second.read_bytes()


def test_a_rebuild_changes_nothing(small, wheel, tmp_path) -> None:
    before = wheel.stat().st_mtime_ns
    build(small, wheel.parent)
    assert wheel.stat().st_mtime_ns == before
    assert [path.name for path in wheel.parent.iterdir() if path.name.startswith(".")] == []


def test_other_bytes_under_a_published_name_are_refused(small, wheel) -> None:
    wheel.write_bytes(wheel.read_bytes() + b"\0")
    with pytest.raises(PublishedFileError, match="published with other bytes"):
        build(small, wheel.parent)


def test_a_name_that_was_published_keeps_its_bytes_after_the_file_is_gone(small, wheel) -> None:
    record = wheel.parent / "published.sha256"
    digest = record.read_text().split()[0]
    record.write_text(record.read_text().replace(digest, "0" * 64))
    wheel.unlink()
    with pytest.raises(PublishedFileError, match="published with other bytes"):
        build(small, wheel.parent)
    assert not wheel.exists()


def test_a_file_that_the_series_removes_is_gone(small, tmp_path) -> None:
    from fork.git import Git
    from fork.queue.edit import open_tree, refresh

    git = Git(open_tree(small.project, small.lane, small.base, discard=True))
    git("rm", "--quiet", "python/triton/runtime/__init__.py")
    message = "Remove it\n\nWhy not.\n\nPatch-Name: fix/gone.patch\nOrigin: own\nForwarded: no\nApplied-Upstream: no\n"
    git("commit", "--quiet", f"--message={message}Last-Update: 2026-01-01")
    refresh(small.project, small.lane, small.base, tmp_path / "scratch")
    wheel = build(small, tmp_path / "out")
    assert "triton/runtime/__init__.py" not in zipfile.ZipFile(wheel).namelist()
    assert wheel_faults(wheel, small.base) == []


def test_base_wheels_with_other_sources_are_not_mixed(small, tmp_path) -> None:
    lane = small.lane
    other = make_base_wheel(tmp_path, changes={"triton/runtime/jit.py": b"# another\n"})
    with small.project.scratch("build") as scratch, output_folder(tmp_path / "out"):
        prepared = prepare(small.project, lane, small.base, scratch, lambda _: None)
        with pytest.raises(BaseMismatchError, match="are not those that the queue was applied on"):
            build_wheels(prepared, [(lane.wheels[0], other)], tmp_path / "out", scratch, lambda _: None)
    assert list((tmp_path / "out").glob("*.whl")) == []


def test_a_base_that_sets_the_version_twice_is_refused(tmp_path) -> None:
    small = make_project(tmp_path / "checkout")
    make_base_wheel(small.base.parent, changes={"triton/__init__.py": b"__version__ = 'a'\n__version__ = 'b'\n"})
    from fork.queue.series import read_series, write_lock
    from fork.queue.tree import apply_patches, lay_out, lock_of

    git = lay_out(small.lane, small.base, tmp_path / "tree")
    apply_patches(git, read_series(small.queue).patches)
    write_lock(small.queue, lock_of(git))
    with pytest.raises(ArchiveError, match="sets __version__ 2 times"):
        build(small, tmp_path / "out")
    assert list((tmp_path / "out").glob("*.whl")) == []


def test_a_flipped_byte_is_found(small, wheel) -> None:
    data = bytearray(wheel.read_bytes())
    with zipfile.ZipFile(wheel) as archive:
        member = archive.getinfo("triton/_C/libtriton.so")
    data[member.header_offset + 80] ^= 1
    wheel.write_bytes(data)
    assert any("libtriton.so" in fault for fault in wheel_faults(wheel, small.base))


def in_info(name: str, file: str) -> bool:
    return name.endswith(f".dist-info/{file}")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda n, c, m: c.replace(b"libtriton.so,sha256=", b"libtriton.so,sha256=x") if in_info(n, "RECORD") else c, "RECORD says"),
        (lambda n, c, m: c + b"triton/none.py,,\n" if in_info(n, "RECORD") else c, "which is missing"),
        (lambda n, c, m: c.partition(b"\n")[2] if in_info(n, "RECORD") else c, "is not in RECORD"),
        (lambda n, c, m: c + c.partition(b"\n")[0] + b"\n" if in_info(n, "RECORD") else c, "bad or repeated row"),
        (lambda n, c, m: None if n == "triton/backends/nvidia/driver.c" else c, "which is missing"),
        (lambda n, c, m: c.replace(b"Version: 3.6.0+", b"Version: 3.6.0.post1+") if in_info(n, "METADATA") else c, "METADATA says"),
        (lambda n, c, m: c.replace(b"_x86_64", b"_aarch64") if in_info(n, "WHEEL") else c, "WHEEL has the tags"),
        (lambda n, c, m: c.replace(b"false", b"true") if in_info(n, "WHEEL") else c, "Root-Is-Purelib"),
        (lambda n, c, m: c.replace(b"profiler:main", b"nothing:main") if in_info(n, "entry_points.txt") else c, "which is not in the wheel"),
        (lambda n, c, m: c.replace(b"3.6.0+", b"3.6.1+") if n == "triton/__init__.py" else c, "triton.__version__ is not"),
        (lambda n, c, m: c.replace(b'"version": "3.6.0+', b'"version": "3.6.1+') if n.endswith("provenance.json") else c, "provenance.json says version"),
        (lambda n, c, m: b"{}" if n.endswith(".cdx.json") else c, "documents: KeyError"),
    ],
)  # fmt: skip
def test_each_fault_of_a_wheel_is_said(small, wheel, change, said) -> None:
    rewrite(wheel, change)
    found = wheel_faults(wheel, small.base)
    assert any(said in fault for fault in found), found


def test_wrong_permissions_are_said(small, wheel) -> None:
    def change(name: str, content: bytes, member: zipfile.ZipInfo) -> bytes:
        if name == "triton/FileCheck":
            member.external_attr = 0o100644 << 16
        if name == "triton/runtime/jit.py":
            member.external_attr = 0o100666 << 16
        return content

    rewrite(wheel, change)
    found = wheel_faults(wheel)
    assert "'triton/FileCheck' is not executable" in found
    assert "'triton/runtime/jit.py' has the mode 100666" in found


def test_an_undeclared_difference_from_the_base_is_said(small, wheel, tmp_path) -> None:
    other = make_base_wheel(tmp_path, changes={"triton/profiler/__init__.py": b"def main(): return 1\n"})
    found = wheel_faults(wheel, other)
    assert found == [
        "'triton/profiler/__init__.py' differs from the base, and provenance.json does not say so",
        "'triton/fork/base_record.csv' is not the RECORD of the base",
    ]


def test_a_wheel_of_another_name_is_refused(wheel) -> None:
    other = wheel.with_name(wheel.name.replace("fork.1", "fork.2"))
    shutil.copy(wheel, other)
    with pytest.raises(VerifyError, match="METADATA says"):
        verify_wheel(other)


def test_the_name_keeps_the_tags_of_the_base() -> None:
    assert wheel_name("triton-3.6.0-cp313-cp313t-manylinux_2_28_aarch64.whl", "3.6.0+fork.1.q0") == (
        "triton-3.6.0+fork.1.q0-cp313-cp313t-manylinux_2_28_aarch64.whl"
    )


def test_hidden_files_of_the_overlay_stay_out(small, tmp_path) -> None:
    hidden = small.project.overlay(small.lane) / "python" / "triton" / "fork" / ".mypy_cache" / "cache.db"
    hidden.parent.mkdir()
    hidden.write_bytes(b"large")
    wheel = build(small, tmp_path / "out")
    assert not [name for name in zipfile.ZipFile(wheel).namelist() if "mypy" in name]


def test_a_wheelhouse_in_another_file_system(small, tmp_path, monkeypatch) -> None:
    """As where the wheelhouse is a mount of its own: what is moved there is copied, and appears whole."""
    replace, seen = Path.replace, []

    def across(source: Path, target: Path) -> Path:
        if source.parent != Path(target).parent and source.suffix == ".whl":
            raise OSError(errno.EXDEV, "Invalid cross-device link")
        seen.append((source.name, Path(target).name))
        return replace(source, target)

    monkeypatch.setattr(Path, "replace", across)
    wheel = build(small, tmp_path / "out")
    assert (f".{wheel.name}.part", wheel.name) in seen
    assert wheel_faults(wheel, small.base) == []
    assert [path.name for path in wheel.parent.iterdir() if path.name.startswith(".")] == []


def test_what_a_killed_move_left_goes(small, wheel) -> None:
    (wheel.parent / f".{wheel.name}.part").touch()
    (wheel.parent / ".staging").mkdir()
    (wheel.parent / ".lock").touch()  # these two, of revision 1 of the tool
    build(small, wheel.parent)
    assert [path.name for path in wheel.parent.iterdir() if path.name.startswith(".")] == []


def test_a_wheel_of_another_format_is_not_misjudged(wheel) -> None:
    reseal(wheel, "provenance.json", lambda content: content.replace(b'"format": 2', b'"format": 1'))
    (fault,) = wheel_faults(wheel)
    assert "has the format 1, and this tool checks 2" in fault


def add(wheel: Path, name: str, content: bytes) -> None:
    """Add a member and name it in RECORD."""

    def put(path: str, old: bytes, _: zipfile.ZipInfo) -> bytes:
        row = f"{name},{record_hash(content)},{len(content)}\n".encode()
        return old + row if path.endswith(".dist-info/RECORD") else old

    rewrite(wheel, put)
    with zipfile.ZipFile(wheel, "a") as archive:
        member = zipfile.ZipInfo(name)
        member.external_attr = 0o100644 << 16
        archive.writestr(member, content)


@pytest.mark.parametrize("name", ["triton/backdoor.py", "sitecustomize.py", "triton.pth"])
def test_an_added_file_that_record_names_is_found_without_the_base(wheel, name: str) -> None:
    add(wheel, name, b"import os\n")
    assert wheel_faults(wheel) == [f"'{name}' is not in the base, and provenance.json does not say what it is"]


def test_a_lost_file_that_record_does_not_name_is_found_without_the_base(wheel) -> None:
    name = "triton/profiler/__init__.py"
    rewrite(wheel, lambda n, c, m: None if n == name else c)
    rewrite(wheel, lambda n, c, m: b"".join(row for row in c.splitlines(keepends=True) if not row.startswith(name.encode()))
            if in_info(n, "RECORD") else c)  # fmt: skip
    assert f"'{name}' of the base is missing, and provenance.json does not say so" in wheel_faults(wheel)


def test_another_record_of_the_base_is_found_with_the_base(small, wheel) -> None:
    add(wheel, "triton/backdoor.py", b"import os\n")
    row = f"triton/backdoor.py,{record_hash(b'import os' + bytes([10]))},10\n".encode()
    old = hashlib.sha256(zipfile.ZipFile(wheel).read(BASE_RECORD)).hexdigest().encode()
    reseal(wheel, BASE_RECORD, lambda content: content + row)
    new = hashlib.sha256(zipfile.ZipFile(wheel).read(BASE_RECORD)).hexdigest().encode()
    reseal(wheel, "provenance.json", lambda content: content.replace(old, new))
    assert wheel_faults(wheel) == []
    assert f"'{BASE_RECORD}' is not the RECORD of the base" in wheel_faults(wheel, small.base)


def metadata(wheel: Path) -> Message:
    with zipfile.ZipFile(wheel) as archive:
        name = next(name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        return BytesHeaderParser().parsebytes(archive.read(name))


def test_the_wheel_says_whose_it_is(small, wheel) -> None:
    ours, base = metadata(wheel), metadata(small.base)
    assert (ours["Maintainer"], ours["Maintainer-email"]) == ("The testers", "fork@example.invalid")
    assert ours.get_all("Project-URL") == ["Fork, https://example.invalid/fork"]
    assert base["Author"] == ours["Author"] == "A. Uthor"
    Metadata.from_email(ours.as_bytes())
    assert base["Maintainer"] is None
    info = f"triton-{wheel.name.split('-')[1]}.dist-info"
    with zipfile.ZipFile(wheel) as archive:
        for name in ours.get_all("License-File"):
            assert archive.read(f"{info}/licenses/{name}")
        assert archive.read(f"{info}/licenses/fork/NOTICE") == b"A modified version.\n"
        assert archive.read(f"{info}/licenses/fork/LICENSE") == b"MIT License\n"
        provenance = json.loads(archive.read(PROVENANCE))
    assert provenance["fork"] == {
        "repository": "https://example.invalid/fork",
        "maintainer": "The testers",
        "email": "fork@example.invalid",
        "commit": "",
        "modified": False,
    }


def test_the_commit_of_the_fork_is_that_of_its_files(small, tmp_path) -> None:
    git = Git.init(small.project.root)
    (small.project.root / ".gitignore").write_text("/tree/\n/.fork/\n/wheels/\n/wheelhouse/\n")

    def fork() -> dict[str, object]:
        wheel = build(small, tmp_path / "out")
        said: dict[str, object] = json.loads(zipfile.ZipFile(wheel).read(PROVENANCE))["fork"]
        wheel.unlink()
        return {"commit": said["commit"], "modified": said["modified"], "version": wheel.name.split("-")[1]}

    git.commit_all("First")
    first = fork()
    assert (first["commit"], first["modified"]) == (git("rev-parse", "HEAD"), False)
    (small.project.root / "README.md").write_text("Read me.\n")
    assert fork() == first
    git("add", "README.md")
    git("commit", "--quiet", "--message=Documentation")
    assert fork() == first
    (small.project.root / "LICENSE").write_text("Another one.\n")
    changed = fork()
    assert (changed["commit"], changed["modified"]) == (first["commit"], True)
    git.commit_all("Another license")
    last = fork()
    assert (last["commit"], last["modified"]) == (git("rev-parse", "HEAD"), False)
    assert len({first["version"], changed["version"], last["version"]}) == 3


def test_the_bill_has_licenses_and_suppliers(wheel) -> None:
    with zipfile.ZipFile(wheel) as archive:
        text = archive.read(next(name for name in archive.namelist() if name.endswith(".cdx.json"))).decode()
    bill = json.loads(text)
    main = bill["metadata"]["component"]
    assert main["supplier"]["name"] == bill["metadata"]["supplier"]["name"] == "The testers"
    assert main["supplier"]["url"] == ["https://example.invalid/fork"]
    assert main["licenses"] == [{"license": {"id": "MIT"}}]
    (ancestor,) = main["pedigree"]["ancestors"]
    assert (ancestor["supplier"]["name"], ancestor["licenses"]) == ("Triton", [{"license": {"id": "MIT"}}])
    assert [part["name"] for part in bill["components"] if not (part.get("licenses") and part.get("supplier"))] == []
    library = next(part for part in bill["components"] if part["name"] == "triton/_C/libtriton.so")
    assert library["licenses"] == [{"expression": "MIT AND Apache-2.0 WITH LLVM-exception"}]


def test_a_wheel_that_cannot_be_imported_is_not_published(small, tmp_path) -> None:
    module = small.project.overlay(small.lane) / "python" / "triton" / "fork" / "broken.py"
    module.write_text("import triton.runtime\n\nVALUE = triton.runtime.nothing\n")
    with pytest.raises(SmokeImportError, match=r"triton\.fork\.broken: AttributeError"):
        build(small, tmp_path / "out")
    assert list((tmp_path / "out").iterdir()) == []


def test_where_no_python_fits_nothing_is_imported(wheel, tmp_path) -> None:
    other = wheel.with_name(wheel.name.replace("cp311-cp311", "cp27-cp27"))
    shutil.copy(wheel, other)
    assert smoke_import(other, [], tmp_path / "unpacked") is None
    assert (
        smoke_import(wheel.rename(wheel.with_name(wheel.name.replace("x86_64", "s390x"))), [], tmp_path / "unpacked")
        is None
    )


def reseal(wheel: Path, name: str, change: Callable[[bytes], bytes]) -> None:
    """Change a member and correct RECORD, as somebody with bad intent would."""
    with zipfile.ZipFile(wheel) as archive:
        member = next(each for each in archive.namelist() if each.endswith(name))
        content = change(archive.read(member))
    row = f"{member},{record_hash(content)},{len(content)}\n".encode()

    def put(path: str, old: bytes, _: zipfile.ZipInfo) -> bytes:
        if path == member:
            return content
        if path.endswith(".dist-info/RECORD"):
            return b"".join(
                row if line.startswith(f"{member},".encode()) else line for line in old.splitlines(keepends=True)
            )
        return old

    rewrite(wheel, put)


@pytest.mark.parametrize(
    ("name", "old", "new", "said"),
    [
        (
            ".dist-info/METADATA",
            b"Requires-Python",
            b"Requires-Dist: evil\nRequires-Python",
            "METADATA differs from the base's",
        ),
        (".dist-info/entry_points.txt", b"proton =", b"prot =", "entry_points.txt' is not the base's"),
        ("triton/profiler/__init__.py", b"pass", b"...", "is not the base's"),
        ("triton/_C/libtriton.so", b"library", b"liebary", "is not the base's"),
    ],
)
def test_a_resealed_change_is_found(small, wheel, name: str, old: bytes, new: bytes, said: str) -> None:
    reseal(wheel, name, lambda content: content.replace(old, new, 1))
    assert (wheel_faults(wheel) == []) == name.endswith("METADATA")  # which the base's RECORD says nothing of
    found = wheel_faults(wheel, small.base)
    assert any(said in fault for fault in found), found
