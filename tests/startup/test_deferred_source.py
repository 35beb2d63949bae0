"""Sources and parameters that are found later are those that the base finds at once."""

from __future__ import annotations

from pathlib import Path

from tests.startup.running import run


def test_every_shape(base_python: Path, fork_python: Path, tmp_path: Path) -> None:
    for name in ("base", "fork"):
        (tmp_path / name).mkdir()
    base = run(base_python, "decorated.py", tmp_path, str(tmp_path / "base"))
    fork = run(fork_python, "decorated.py", tmp_path, str(tmp_path / "fork"))
    assert base.pop("deferred")[1] == 0
    assert fork.pop("deferred")[1] > 20
    assert {name: fork[name] for name in base if fork[name] != base[name]} == {}


def test_switch(fork_python: Path, tmp_path: Path) -> None:
    fork = run(fork_python, "decorated.py", tmp_path, str(tmp_path), TRITON_FORK_DEFERRED_SOURCE="0")
    assert fork["deferred"][0] > 20
    assert fork["deferred"][1] == 0


def test_lines_of_every_function_of_many_modules(fork_python: Path, tmp_path: Path) -> None:
    modules = [
        "argparse",
        "ast",
        "asyncio.base_events",
        "collections",
        "dataclasses",
        "decimal",
        "difflib",
        "doctest",
        "email.message",
    ]
    modules += [
        "inspect",
        "logging",
        "pathlib",
        "pickle",
        "subprocess",
        "tarfile",
        "tokenize",
        "typing",
        "unittest.mock",
        "zipfile",
    ]
    modules += [
        "triton.language.standard",
        "triton.language.core",
        "triton.compiler.code_generator",
    ]
    answer = run(fork_python, "sources.py", tmp_path, *modules)
    assert answer["different"] == []
    assert answer["checked"] > 2000
    # The short way is the usual one.
    assert answer["by_indentation"] > 0.95 * answer["checked"]
    # The parser is asked where a string goes over several lines.
    assert 0 < answer["parsed"] < 0.6 * answer["checked"]


def test_own_functions_become_what_they_are_in_the_base(base_python: Path, fork_python: Path, tmp_path: Path) -> None:
    base = run(base_python, "waiting.py", tmp_path)
    fork = run(fork_python, "waiting.py", tmp_path)
    assert (any(base.pop("waiting")), all(fork.pop("waiting"))) == (False, True)
    for name in [name for name in base if name.startswith("quiet: ")]:
        assert (base.pop(name), fork.pop(name)) == ([True, False], [True, True]), name
    # Eight threads look at a function at once: one makes it.
    assert base.pop("threads") == [0, True, True]
    assert fork.pop("threads") == [1, True, True]
    assert len(base) == 12
    assert fork == base
