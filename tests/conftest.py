"""Fixtures that more than one folder of tests uses."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from fork.config import Lane
from fork.project import Project

from tests.support.environments import base_wheel, build, make_environment, repository, this_python


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
def base_python(lane: Lane) -> Path:
    """An interpreter with the unpatched Triton; TRITON_FORK_TEST_BASE names another one."""
    given = os.environ.get("TRITON_FORK_TEST_BASE")
    return Path(given) if given else make_environment("base", base_wheel(lane))


@pytest.fixture(scope="session")
def fork_python(request: pytest.FixtureRequest) -> Path:
    """An interpreter with the fork's Triton; TRITON_FORK_TEST_FORK names another one."""
    given = os.environ.get("TRITON_FORK_TEST_FORK")
    return Path(given) if given else make_environment("fork", request.getfixturevalue("fork_wheel"))
