"""Fixtures that more than one folder of tests uses."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from fork.config import Lane
from fork.environments import make_environment
from fork.project import Project
from tests.support.environments import base_wheel, build, repository, this_python


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
    """The default lane."""
    return project.pin().lane()


@pytest.fixture(scope="session")
def base(lane: Lane) -> Path:
    """The pinned wheel for this Python, verified."""
    return base_wheel(lane)


@pytest.fixture(scope="session")
def fork_wheel(project: Project) -> Path:
    """The fork's wheel for this Python, built by build.sh from the checkout as it is."""
    return build("--python", this_python, wheelhouse=project.wheelhouse)[0]


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
