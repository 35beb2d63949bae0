"""Fixtures of the unit tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.small_project import SmallProject, make_project


@pytest.fixture
def small(tmp_path: Path) -> SmallProject:
    """A fork of a make-believe Triton with two patches, in order."""
    return make_project(tmp_path / "checkout")
