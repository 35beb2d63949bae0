"""What a user of the command line sees: messages, exit codes, and nothing half-written."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time

import pytest

from fork.assembly import wheel as assembly
from fork.cli import main
from tests.support.environments import repository
from tests.support.small_project import SmallProject


@pytest.fixture
def run(small: SmallProject, monkeypatch, tmp_path):
    """Run a verb on the small project, without any index."""
    monkeypatch.setenv("TRITON_FORK_ROOT", str(small.project.root))
    monkeypatch.setenv("TRITON_FORK_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("TRITON_FORK_INDEX_URL", "http://127.0.0.1:9/simple/")

    def call(*arguments: str) -> int:
        links = (
            ["--find-links", str(small.base.parent)]
            if arguments[0] in {"build", "check", "edit", "refresh", "verify"}
            else []
        )
        return main([*arguments, *links])

    return call


def leftovers(small: SmallProject) -> set[str]:
    """Whatever a verb left in the wheelhouse and in the scratch folder, other than locks."""
    house = small.project.wheelhouse
    found = [path for path in house.rglob("*") if path.is_file()] if house.exists() else []
    state = (
        [path for path in small.project.state.iterdir() if path.suffix != ".lock"]
        if small.project.state.exists()
        else []
    )
    return {path.name for path in [*found, *state]} - {".lock"}


BUILD = ("build", "--python", "3.11", "--platform", "x86_64")


def test_build_prints_what_it_built(small, run, capsys) -> None:
    assert run(*BUILD, "--json") == 0
    document = json.loads(capsys.readouterr().out)
    wheel = small.project.wheelhouse / document["wheels"][0]["file"]
    assert wheel.is_file()
    assert document["wheels"][0]["changed"] is True
    assert (small.project.wheelhouse / "simple" / "triton" / "index.html").is_file()


def test_a_wheel_can_be_verified_and_described(small, run, capsys) -> None:
    shutil.copytree(repository / "overlay", small.project.root / "overlay", dirs_exist_ok=True)
    run(*BUILD)
    wheel = next(small.project.wheelhouse.glob("*.whl"))
    capsys.readouterr()
    assert run("verify", str(wheel)) == 0
    assert "in order" in capsys.readouterr().out
    assert run("info", str(wheel)) == 0
    described = capsys.readouterr().out
    assert "fix/first.patch: Return the file" in described
    assert "Because the test says so." in described
    assert run("info", str(small.base)) == 22
    assert "not a wheel of the fork" in capsys.readouterr().err


def test_check_edit_and_refresh(small, run, capsys) -> None:
    assert run("check") == 0
    assert run("edit") == 0
    assert run("refresh") == 0
    assert "2 patches unchanged" in capsys.readouterr().out
    (small.queue / "series").write_text("fix/first.patch\n")
    assert run("check") == 11
    assert "'speed/second.patch' is not listed in series" in capsys.readouterr().err
    assert run("check", "--json") == 11
    assert len(json.loads(capsys.readouterr().out)["faults"]) >= 1


def spoil_toml(small: SmallProject) -> None:
    (small.project.root / "fork.toml").write_text("[")


def spoil_patch(small: SmallProject) -> None:
    patch = small.queue / "fix" / "first.patch"
    patch.write_bytes(patch.read_bytes().replace(b"-    return inspect", b"-    return inspekt"))


def spoil_patch_silently(small: SmallProject) -> None:
    patch = small.queue / "speed" / "second.patch"
    patch.write_bytes(patch.read_bytes() + b"@ -1,2 +1,2 @@\n-import inspect\n+import ast\n \n")


def spoil_lock(small: SmallProject) -> None:
    lock = small.queue / "series.lock"
    lock.write_text(lock.read_text().replace('"patched-tree": "', '"patched-tree": "0'))


def spoil_base(small: SmallProject) -> None:
    small.base.write_bytes(small.base.read_bytes()[:-1])


def spoil_overlay(small: SmallProject) -> None:
    (small.project.overlay(small.lane) / "python" / "triton" / "__init__.py").write_text("")


@pytest.mark.parametrize(
    ("spoil", "code", "said"),
    [
        (spoil_toml, 10, "fork.toml is not valid TOML"),
        (spoil_patch, 12, "'fix/first.patch' does not apply: file python/triton/runtime/jit.py, hunk"),
        (spoil_patch_silently, 13, "git skipped a part of 'speed/second.patch'"),
        (spoil_lock, 13, "locked is"),
        (spoil_overlay, 14, "hides an upstream file"),
        (spoil_base, 30, "127.0.0.1"),
    ],
)
def test_bad_input_has_a_message_a_code_and_leaves_nothing(small, run, capsys, spoil, code, said) -> None:
    spoil(small)
    assert run(*BUILD) == code
    assert said in capsys.readouterr().err
    assert leftovers(small) == set()


def test_a_python_or_platform_without_a_base_wheel(small, run, capsys) -> None:
    assert run("build", "--python", "3.9", "--platform", "x86_64") == 15
    assert "no wheel for Python 3.9 on x86_64" in capsys.readouterr().err
    assert run("build", "--python", "3.11", "--platform", "riscv64") == 15
    assert leftovers(small) == set()


def test_a_full_disk_leaves_nothing(small, run, capsys, monkeypatch) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", "wheel")

    monkeypatch.setattr(assembly.ArchiveWriter, "finish", full)
    assert run(*BUILD) == 33
    assert "the disk is full" in capsys.readouterr().err
    assert leftovers(small) == set()


def test_two_builds_at_once(small, run, capsys) -> None:
    with small.project.scratch("build"):
        assert run(*BUILD) == 16
    assert "another process runs 'build'" in capsys.readouterr().err
    assert run(*BUILD) == 0


def test_two_checkouts_building_into_one_folder(small, run, capsys) -> None:
    from fork.builder import output_folder

    with output_folder(small.project.wheelhouse):
        assert run(*BUILD) == 16
    assert "another build writes into" in capsys.readouterr().err


def start_slow_build(small: SmallProject) -> subprocess.Popen[bytes]:
    """Start a build that stops for a minute with the wheel half written, and wait until it is there."""
    program = (
        "import sys, time\nfrom fork.assembly import archive\nfrom fork.cli import main\n"
        "finish = archive.ArchiveWriter.finish\n"
        "def slow(self):\n    self._file.flush(); open(sys.argv[1], 'w').close(); time.sleep(60); finish(self)\n"
        "archive.ArchiveWriter.finish = slow\nsys.exit(main(sys.argv[2:]))\n"
    )
    sign = small.project.root / "half-written"
    command = [sys.executable, "-c", program, str(sign), *BUILD, "--find-links", str(small.base.parent)]
    process = subprocess.Popen(
        command,
        env={**os.environ, "PYTHONPATH": str(repository / "ci")},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    for _ in range(600):
        if sign.exists() or process.poll() is not None:
            break
        time.sleep(0.05)
    assert sign.exists(), process.communicate()
    sign.unlink()
    return process


@pytest.mark.parametrize("kill", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_build_leaves_nothing(small, run, kill) -> None:
    process = start_slow_build(small)
    process.send_signal(kill)
    _, said = process.communicate(timeout=30)
    assert process.returncode == 130
    assert b"interrupted" in said
    assert leftovers(small) == set()


def test_a_killed_build_is_cleaned_up_by_the_next(small, run) -> None:
    process = start_slow_build(small)
    process.kill()
    process.communicate(timeout=30)
    assert not list(small.project.wheelhouse.glob("*.whl"))
    assert run(*BUILD) == 0
    assert [path.name for path in small.project.wheelhouse.iterdir() if path.name.startswith(".")] == [".lock"]


def test_help_lists_verbs_and_exit_codes(capsys) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["--help"])
    text = capsys.readouterr().out
    assert caught.value.code == 0
    for verb in ("build", "check", "edit", "refresh", "rebase", "verify", "index", "info", "bench"):
        assert f"    {verb} " in text
    assert " 12  A patch does not apply" in text


@pytest.mark.parametrize("verb", ["build", "edit", "rebase", "info", "bench"])
def test_help_of_verbs_has_examples(verb: str, capsys) -> None:
    with pytest.raises(SystemExit):
        main([verb, "--help"])
    assert "example" in capsys.readouterr().out


def test_exit_codes_are_not_shared() -> None:
    from fork.errors import ForkError

    pending, found = [ForkError], {}
    while pending:
        error = pending.pop()
        pending += error.__subclasses__()
        if "exit_code" in vars(error) and error.__module__.startswith("fork."):
            found.setdefault(error.exit_code, set()).add(error.__qualname__)
    shared = {code: names for code, names in found.items() if len(names) > 1}
    assert shared == {}


def test_a_wheel_that_declares_its_own_change_is_not_what_the_checkout_builds(small, run, capsys) -> None:
    from tests.unit.test_wheel import reseal

    run(*BUILD)
    wheel = next(small.project.wheelhouse.glob("*.whl"))
    digests = {}

    def change(content: bytes) -> bytes:
        digests["old"] = hashlib.sha256(content).hexdigest().encode()
        content = content.replace(b"fn.__name__", b"fn.__code__")
        digests["new"] = hashlib.sha256(content).hexdigest().encode()
        return content

    reseal(wheel, "triton/runtime/jit.py", change)
    reseal(wheel, "provenance.json", lambda content: content.replace(digests["old"], digests["new"]))
    capsys.readouterr()
    assert run("verify", str(wheel)) == 17
    assert "not those that this checkout builds" in capsys.readouterr().err


def test_a_base_that_is_not_pinned_is_no_base(small, run, capsys) -> None:
    from tests.unit.test_wheel import reseal

    run(*BUILD)
    wheel = next(small.project.wheelhouse.glob("*.whl"))
    sha256 = small.lane.wheels[0].sha256.encode()
    reseal(
        wheel, "provenance.json", lambda content: content.replace(b'"sha256": "' + sha256, b'"sha256": "' + b"0" * 64)
    )
    assert run("verify", str(wheel)) == 17
    assert "is not pinned in fork.toml" in capsys.readouterr().err


@pytest.mark.parametrize("content", [b"{", b"{}", b"[]"])
def test_a_damaged_provenance_is_said(small, run, capsys, content: bytes) -> None:
    from tests.unit.test_wheel import reseal

    run(*BUILD)
    wheel = next(small.project.wheelhouse.glob("*.whl"))
    reseal(wheel, "provenance.json", lambda _: content)
    assert run("verify", str(wheel)) == 17
    assert run("info", str(wheel)) == 22
    assert "Traceback" not in capsys.readouterr().err


def test_a_folder_that_cannot_be_made(small, run, capsys) -> None:
    assert run(*BUILD, "--out", str(small.project.root / "fork.toml")) == 29
    assert "cannot make the folder" in capsys.readouterr().err
