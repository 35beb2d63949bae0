"""What a user of the command line sees: messages, exit codes, and nothing half-written."""

from __future__ import annotations

import errno
import hashlib
import importlib
import json
import os
import pkgutil
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from fork.assembly import wheel as assembly
from fork.cli import main
from tests.support.environments import repository
from tests.support.small_project import SmallProject, make_project


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
    return {path.name for path in [*found, *state]}


BUILD = ("build", "--python", "3.11", "--platform", "x86_64")


def test_build_prints_what_it_built(small, run, capsys) -> None:
    assert run(*BUILD, "--json") == 0
    document = json.loads(capsys.readouterr().out)
    wheel = small.project.wheelhouse / document["wheels"][0]["file"]
    assert wheel.is_file()
    assert document["wheels"][0]["changed"] is True
    assert (small.project.wheelhouse / "simple" / "triton" / "index.html").is_file()


def test_a_wheel_can_be_verified_and_described(small, run, capsys) -> None:
    for name in ("description.py", "settings.py"):
        place = f"overlay/common/python/triton/fork/{name}"
        (small.project.root / place).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(repository / place, small.project.root / place)
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
    from fork.publishing import output_folder

    with output_folder(small.project.wheelhouse):
        assert run(*BUILD) == 16
    assert "another build writes into" in capsys.readouterr().err


def start_slow_build(small: SmallProject) -> subprocess.Popen[bytes]:
    """Start a build that stops for a minute with the wheel half written, and wait until it is there."""
    program = (
        "import sys, time\nfrom fork.archive import wheels\nfrom fork.cli import main\n"
        "finish = wheels.ArchiveWriter.finish\n"
        "def slow(self):\n    self._file.flush(); open(sys.argv[1], 'w').close(); time.sleep(60); finish(self)\n"
        "wheels.ArchiveWriter.finish = slow\nsys.exit(main(sys.argv[2:]))\n"
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
    assert list(small.project.wheelhouse.iterdir()) == []  # nothing that is not finished lies where it would be served
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
    assert [path.name for path in small.project.wheelhouse.iterdir() if path.name.startswith(".")] == []


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


def error_classes() -> list[type]:
    """Every error class of the tool, whichever module it is in."""
    import fork
    from fork.errors import ForkError

    for module in pkgutil.walk_packages(fork.__path__, "fork."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    pending, found = [ForkError], []
    while pending:
        error = pending.pop()
        pending += error.__subclasses__()
        found.append(error)
    return [error for error in found if error.__module__.startswith("fork.")]


def test_each_exit_code_means_one_thing() -> None:
    from fork import cli
    from fork.errors import UsageError

    meanings = {code: {meaning} for code, meaning in cli._OTHER_CODES.items()}
    classes = error_classes()
    assert len(classes) > 35
    for error in classes:
        if not issubclass(error, UsageError):
            meanings.setdefault(error.exit_code, set()).add(error.__qualname__)
    assert {code: names for code, names in meanings.items() if len(names) > 1} == {}


def test_help_lists_every_exit_code() -> None:
    command = [sys.executable, "-m", "fork", "--help"]
    environment = os.environ | {"PYTHONPATH": str(repository / "ci")}
    text = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
    listed = {int(code): meaning for code, meaning in re.findall(r"^ +(\d+)  (\S.*)$", text, flags=re.MULTILINE)}
    for error in error_classes():
        if error.exit_code != 1:
            assert error.exit_code in listed, error
    script = (repository / "ci" / "environment.sh").read_text()
    assert {int(code) for code in re.findall(r"\bexit (\d+)", script)} <= set(listed)


def test_a_file_that_is_not_there_is_no_bad_wheel(small, run, capsys) -> None:
    assert run("verify", "/nowhere/triton.whl") == run("info", "/nowhere/triton.whl") == 38
    assert "Traceback" not in capsys.readouterr().err


def test_a_reader_who_stops_reading(small, run) -> None:
    run(*BUILD)
    wheel = next(small.project.wheelhouse.glob("*.whl"))
    command = [sys.executable, "-m", "fork", "info", str(wheel), "--json"]
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(
        command, env=os.environ | {"PYTHONPATH": str(repository / "ci")}, stdout=write, stderr=subprocess.PIPE
    )
    os.close(write)
    assert (done.returncode, done.stderr) == (141, b"")


OTHER_USER = 65534


def as_another_user(*command: str, root: Path) -> subprocess.CompletedProcess[str]:
    """Run the tool as a user who may read and not write the checkout; as root, who may do everything, as nobody."""
    environment = os.environ | {
        "PYTHONPATH": str(repository / "ci"),
        "TRITON_FORK_ROOT": str(root),
        "HOME": "/nonexistent",
    }
    own = {"user": OTHER_USER, "group": OTHER_USER, "extra_groups": []} if os.geteuid() == 0 else {}
    program = (
        "import sys; from fork.cli import main; import os; os.seteuid(int(sys.argv[1])); sys.exit(main(sys.argv[2:]))"
    )
    user = str(OTHER_USER if own else os.geteuid())
    # The interpreter may lie where only root reads: the user changes when everything is imported.
    arguments = [sys.executable, "-c", program, user, *command]
    return subprocess.run(arguments, env=environment, capture_output=True, text=True, check=False)


@pytest.fixture
def foreign() -> Iterator[SmallProject]:
    """A checkout that the user may only read."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        small = make_project(Path(folder) / "checkout")
        modes = {path: path.stat().st_mode for path in [small.project.root, *small.project.root.rglob("*")]}
        for path, mode in modes.items():
            path.chmod((mode | 0o044 | (0o011 if path.is_dir() else 0)) & ~0o222)
        yield small
        for path, mode in modes.items():
            path.chmod(mode)


@pytest.mark.parametrize(
    ("verb", "code", "said"),
    [(verb, 51, "belongs to the user") for verb in ("build", "check", "edit", "refresh")]
    + [("index", 29, "cannot make the folder")],
)
def test_a_checkout_of_another_user(foreign: SmallProject, verb: str, code: int, said: str) -> None:
    cache = foreign.base.parent / foreign.lane.wheels[0].sha256
    links = [] if verb == "index" else ["--find-links", str(foreign.base.parent), "--cache", str(cache.parent)]
    done = as_another_user(verb, *links, root=foreign.project.root)
    assert "Traceback" not in done.stderr, done.stderr
    assert (done.returncode, said in done.stderr) == (code, True), done.stderr


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
    assert run("verify", str(wheel)) == 50
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
