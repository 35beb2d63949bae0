"""The key of the installation: it follows every file that can change generated code, and reads only what has changed."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.startup.installed import Installation, edit_in_place

# What the base's key leaves out comes first.
FILES = [
    "__init__.py",
    "language/__init__.py",
    "compiler/__init__.py",
    "backends/nvidia/__init__.py",
    "runtime/jit.py",
    "runtime/build.py",
    "runtime/autotuner.py",
    "knobs.py",
    "_utils.py",
    "experimental/gluon/_runtime.py",
    "experimental/gluon/language/_core.py",
    "experimental/gluon/language/nvidia/hopper/tma.py",
    "backends/nvidia/driver.c",
    "backends/amd/driver.c",
    "backends/amd/lib/ocml.bc",
    "backends/nvidia/bin/ptxas",
    "fork/settings.py",
    "profiler/language.py",
    "runtime/cache.py",
    "compiler/code_generator.py",
    "language/core.py",
    "language/extra/cuda/libdevice.py",
    "backends/nvidia/compiler.py",
    "_C/libtriton.so",
]

# Files that cannot change generated code: see the overlay module.
LEFT_OUT = {
    *("interpreter.py", "testing.py", "_internal_testing.py", "_filecheck.py", "viewer.py"),
    *("__main__.py", "description.py", "requirement.py"),
}


@pytest.fixture(scope="module")
def shared(fork_python: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    made = Installation(fork_python, tmp_path_factory.mktemp("installation"))
    yield made
    made.close()


@pytest.fixture
def own(fork_python: Path, tmp_path: Path) -> Iterator[Installation]:
    made = Installation(fork_python, tmp_path)
    yield made
    made.close()


@pytest.mark.parametrize("name", FILES)
def test_edit_with_old_size_and_time(shared: Installation, name: str) -> None:
    path = shared.package / name
    if not path.stat().st_size:
        path.write_bytes(b"#")
    original = shared.key()
    known = shared.ask()
    assert (known["key"], known["digest"]) == (original, 0)
    before = edit_in_place(path)
    changed = shared.key()
    assert changed != original
    edit_in_place(path, before)
    assert shared.key() == original


def test_every_source_counts(shared: Installation) -> None:
    sources = {path.relative_to(shared.package) for path in shared.package.rglob("*.py")}
    counted = {path for path in sources if path.name not in LEFT_OUT and path.parts[0] != "tools"}
    left_out = sources - counted
    assert {path.parts[0] for path in left_out} <= {
        "fork",
        "tools",
        "runtime",
        "testing.py",
        "_internal_testing.py",
        "_filecheck.py",
        "profiler",
    }
    record = next(shared.state.glob("*.json")).read_text()
    assert not [path for path in counted if str(shared.package / path) not in record]
    assert not [path for path in left_out if f'"{shared.package / path}"' in record]


def test_base_forgets_what_the_fork_counts(base_python: Path, tmp_path: Path) -> None:
    """The reason for this patch: a different frontend with the base's key for the old one."""
    import subprocess

    package = Path(
        subprocess.check_output([base_python, "-c", "import triton; print(triton.__path__[0])"], text=True).strip()
    )
    copy = tmp_path / "triton"
    shutil.copytree(
        package, copy, ignore=lambda folder, names: [name for name in names if name in {"_C", "__pycache__"}]
    )
    (copy / "_C").symlink_to(package / "_C")

    def key() -> bytes:
        program = "from triton.runtime.cache import triton_key; print(triton_key())"
        return subprocess.check_output([base_python, "-c", program], env={**os.environ, "PYTHONPATH": str(tmp_path)})

    before = key()
    for name in ("runtime/jit.py", "knobs.py", "experimental/gluon/_runtime.py", "language/__init__.py"):
        (copy / name).write_text((copy / name).read_text() + "\n# changed\n")
    assert key() == before


def test_files_that_come_and_go(own: Installation) -> None:
    original = own.key()
    new = own.package / "language" / "extra" / "cuda" / "new.py"
    new.write_text("")
    with_new = own.key()
    assert with_new != original
    new.rename(new.with_name("renamed.py"))
    assert own.key() not in {original, with_new}
    new.with_name("renamed.py").unlink()
    assert own.key() == original
    (own.package / "language" / "newer").mkdir()
    assert own.key() == original
    (own.package / "language" / "newer" / "native.so").write_bytes(b"x")
    assert own.key() != original


def test_replaced_and_restored_with_its_times(own: Installation) -> None:
    path = own.package / "language" / "core.py"
    backup = own.package.parent / "backup.py"
    shutil.copy2(path, backup)
    original = own.key()
    status = path.stat()
    other = path.with_suffix(".new")
    other.write_bytes(path.read_bytes().replace(b"e", b"f", 1))
    os.utime(other, ns=(status.st_atime_ns, status.st_mtime_ns))
    other.replace(path)
    assert own.key() != original
    shutil.copy2(backup, path)
    assert own.key() == original


def test_linked_folder_as_in_a_checkout(own: Installation) -> None:
    backend = own.package / "backends" / "nvidia"
    elsewhere = own.package.parent / "nvidia"
    original = own.key()
    backend.rename(elsewhere)
    backend.symlink_to(elsewhere)
    assert own.key() == original
    edit_in_place(elsewhere / "compiler.py")
    changed = own.key()
    assert changed != original
    second = own.package.parent / "second"
    shutil.copytree(elsewhere, second)
    edit_in_place(second / "compiler.py")
    backend.unlink()
    backend.symlink_to(second)
    assert own.key() == original
    (backend / "loop").symlink_to(own.package)
    assert own.key() == original


@pytest.mark.parametrize("variable", ["LLVM_PASS_PLUGIN_PATH", "TRITON_PTXAS_PATH", "TRITON_PTXAS_BLACKWELL_PATH"])
def test_file_named_by_the_environment(shared: Installation, tmp_path: Path, variable: str) -> None:
    plugin = tmp_path / "plugin.so"
    plugin.write_bytes(b"abc")
    with_plugin = shared.key(environment={variable: str(plugin)})
    edit_in_place(plugin)
    assert shared.key() != with_plugin
    missing = shared.key(environment={variable: str(tmp_path / "missing")})
    assert missing == shared.key(environment={variable: ""}) != with_plugin


def test_backend_of_another_package(shared: Installation, tmp_path: Path) -> None:
    folder = tmp_path / "other"
    (folder / "nested").mkdir(parents=True)
    (folder / "compiler.py").write_text("a = 1")
    (folder / "nested" / "passes.so").write_bytes(b"abc")
    own = shared.key()
    known = {"backends": {"other": str(folder)}}
    with_backend = shared.key(**known)
    assert with_backend != own
    edit_in_place(folder / "nested" / "passes.so")
    assert shared.key(**known) != with_backend
    assert shared.key() == own


def test_same_content_elsewhere_has_the_same_key(own: Installation, fork_python: Path, tmp_path: Path) -> None:
    copy = Installation(fork_python, tmp_path / "copy")
    assert own.key() != copy.key()  # other random bytes in the native files
    shutil.rmtree(copy.package)
    shutil.copytree(own.package, copy.package)
    assert own.key() == copy.key()
    copy.close()


def test_counts(own: Installation) -> None:
    files = own.ask()["digest"]
    known = own.ask()
    assert known["digest"] == 0
    assert known["stat"] < 230  # one for each file and folder that matters
    own.restart()
    assert own.ask() == known
    edit_in_place(own.package / "knobs.py")
    assert own.ask()["digest"] == 1 < files


def test_many_looks_side_by_side_where_each_takes_long(own: Installation) -> None:
    key = own.key()
    slow = own.ask(delay=0.001, slow=200_000)
    assert slow["key"] == key
    assert slow["threads"] > 8
    assert own.ask()["threads"] == 1


def test_nothing_is_remembered_of_files_that_changed_just_now(own: Installation) -> None:
    first = own.ask(settling=3_600_000_000_000)
    second = own.ask(settling=3_600_000_000_000)
    assert first["key"] == second["key"]
    assert second["digest"] == first["digest"] > 0


def test_nothing_is_remembered_on_other_file_systems(own: Installation) -> None:
    first = own.ask(trusted=[])
    assert own.ask(trusted=[])["digest"] == first["digest"] > 0
    assert not list(own.state.glob("*"))


def test_state_folder_that_cannot_be_made(own: Installation) -> None:
    own.state.write_text("a file")
    first = own.ask()
    assert own.ask() == first
    assert first["digest"] > 0


def _spoil_by_writable(record: Path) -> None:
    record.chmod(0o666)


def _spoil_by_link(record: Path) -> None:
    record.rename(record.with_suffix(".moved"))
    record.symlink_to(record.with_suffix(".moved"))


def _spoil_by_owner(record: Path) -> None:
    if os.geteuid():
        pytest.skip("only root can give a file away")
    os.chown(record, 12345, -1)


def _spoil_by_truncation(record: Path) -> None:
    record.write_bytes(record.read_bytes()[:100])


def _spoil_by_other_content(record: Path) -> None:
    record.write_text("[]")


@pytest.mark.parametrize(
    "spoil", [_spoil_by_writable, _spoil_by_link, _spoil_by_owner, _spoil_by_truncation, _spoil_by_other_content]
)
def test_record_that_is_not_to_be_trusted(own: Installation, spoil: object) -> None:
    first = own.ask()
    assert own.ask()["digest"] == 0
    (record,) = own.state.glob("*.json")
    assert record.stat().st_mode & 0o777 == 0o600
    assert own.state.stat().st_mode & 0o777 == 0o700
    assert callable(spoil)
    spoil(record)
    again = own.ask()
    assert (again["key"], again["digest"]) == (first["key"], first["digest"])


def test_unreadable_file_leaves_the_base(own: Installation) -> None:
    (own.package / "language" / "dangling").symlink_to(own.package / "nowhere")
    assert own.key().startswith("fork-")
    shutil.rmtree(own.package / "_C")
    assert own.ask()["key"] is None
