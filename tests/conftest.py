"""Fixtures that more than one folder of tests uses."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from fork.config import Lane
from fork.environments import make_environment
from fork.errors import ConfigError
from fork.project import Project
from tests.support.environments import base_wheel, build, repository, this_python
from tests.support.lanes import BaseFault, Expectations, chosen_lane, read_expectations

_EXPECTATIONS = pytest.StashKey[Expectations]()


def pytest_configure(config: pytest.Config) -> None:
    """Read what differs on the lane under test."""
    pin = Project(repository).pin()
    try:
        lane = pin.lane(chosen_lane()).name
    except ConfigError as error:
        raise pytest.UsageError(f"{error.message}; {error.hint}") from None
    config.stash[_EXPECTATIONS] = read_expectations(repository / "tests" / "lanes", lane, pin.default)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark the tests that cannot pass on the lane."""
    config.stash[_EXPECTATIONS].mark(items)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Report what the base of the lane does no longer."""
    expectations = config.stash[_EXPECTATIONS]
    if expectations.changes:
        terminalreporter.section(f"changes of the base, lane {expectations.lane}")
        for change in expectations.changes:
            terminalreporter.line(change)


@pytest.fixture(scope="session")
def base_fault(pytestconfig: pytest.Config) -> BaseFault:
    """Say whether the base shows a fault, ``base_fault("name", seen)``; see :mod:`tests.support.lanes`."""
    return pytestconfig.stash[_EXPECTATIONS].base_fault


@pytest.fixture(scope="session", autouse=True)
def _home_of_triton(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep the developer's ``~/.triton`` out of what runs Triton without :mod:`tests.support.programs`, such as lit."""
    home = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TRITON_HOME", str(home))
        patch.setenv("TRITON_CACHE_DIR", str(home / "cache"))
        patch.setenv("TRITON_FORK_STATE_DIR", str(home / "state"))
        yield


@pytest.fixture(scope="session")
def project() -> Project:
    """The checkout under test."""
    return Project(repository)


@pytest.fixture(scope="session")
def lane(project: Project) -> Lane:
    """The lane under test: the one that ``ci/test --lane`` names, else the default one."""
    return project.pin().lane(chosen_lane())


@pytest.fixture(scope="session")
def base(lane: Lane) -> Path:
    """The pinned wheel for this Python, verified."""
    return base_wheel(lane)


@pytest.fixture(scope="session")
def fork_wheel(project: Project, lane: Lane) -> Path:
    """The fork's wheel for this Python, built by build.sh from the checkout as it is."""
    return build("--lane", lane.name, "--python", this_python, wheelhouse=project.wheelhouse)[0]


@pytest.fixture(scope="session")
def base_python(project: Project, lane: Lane) -> Path:
    """An interpreter with the unpatched Triton; TRITON_FORK_TEST_BASE names another one."""
    given = os.environ.get("TRITON_FORK_TEST_BASE")
    return Path(given) if given else make_environment(project, "base", base_wheel(lane), Path(sys.executable))


@pytest.fixture(scope="session")
def fork_python(project: Project, request: pytest.FixtureRequest) -> Path:
    """An interpreter with the fork's Triton; TRITON_FORK_TEST_FORK names another one."""
    given = os.environ.get("TRITON_FORK_TEST_FORK")
    if given:
        return Path(given)
    return make_environment(project, "fork", request.getfixturevalue("fork_wheel"), Path(sys.executable))
