"""Imports between patched files, the overlay and upstream's files."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from fork.builder import prepare
from fork.git import Git
from fork.queue.check import check_lane
from fork.queue.edit import open_tree, refresh
from fork.queue.imports import ImportsError, import_faults
from tests.support.small_project import SmallProject, commit

UPSTREAM = {
    "triton/__init__.py": "from .runtime import jit\n",
    "triton/runtime/__init__.py": "from .jit import *\n",
    "triton/runtime/jit.py": "import os\nclass JITFunction: ...\nif os.name:\n    KIND = 1\n",
    "triton/lazy.py": "def __getattr__(name): ...\n",
    "triton/made.py": "def make():\n    global MADE\n    MADE = 1\n",
    "triton/filled.py": "globals().update(one=1)\n",
}
OURS = {
    "triton/fork/__init__.py": "",
    "triton/fork/_texts.py": "def text(value): ...\n\nfor NUMBER in (1, 2):\n    pass\n",
}


def faults(text: str, path: str = "triton/compiler.py", drop: tuple[str, ...] = ()) -> list[str]:
    files = {**UPSTREAM, **OURS, path: text}
    sources = {name: content.encode() for name, content in files.items() if name not in drop}
    return import_faults([path], sources, {*sources, "triton/_C/libtriton.so"})


@pytest.mark.parametrize(
    "text",
    [
        "from .fork import _texts\n_texts.text(1)",
        "from triton.fork._texts import text, NUMBER",
        "import triton.fork._texts",
        "from .runtime import JITFunction, jit",
        "from .runtime.jit import KIND",
        "from .lazy import whatever",
        "from .made import MADE",
        "from .filled import one",
        "from triton._C.libtriton import ir",
        "import importlib\nimportlib.import_module('triton.runtime')",
        "try:\n    from .fork import nothing\nexcept ImportError:\n    nothing = None",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from .fork import nothing",
        "from .fork import _texts\n_texts = object()\n_texts.anything",
        "import tritonclient, numpy as np",
    ],
)
def test_what_works_is_no_fault(text: str) -> None:
    assert faults(text) == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("from .fork import nothing", "line 1: 'triton.fork' has no 'nothing'"),
        ("from .fork._nothing import text", "line 1: there is no module 'triton.fork._nothing'"),
        ("from triton.fork._texts import nothing", "line 1: 'triton.fork._texts' has no 'nothing'"),
        ("def late():\n    import triton.fork._nothing", "line 2: there is no module 'triton.fork._nothing'"),
        ("from .fork import _texts\ndef f(): return _texts.nothing", "line 2: 'triton.fork._texts' has no 'nothing'"),
        ("from .runtime import Nothing", "line 1: 'triton.runtime' has no 'Nothing'"),
        ("from ._C import fork_native", "line 1: 'triton._C' has no 'fork_native'"),
        ("lazy_module('triton.nothing')", "line 1: there is no module 'triton.nothing'"),
        ("def (", "is not Python"),
    ],
)
def test_what_leads_nowhere_is_said(text: str, said: str) -> None:
    found = faults(text)
    assert len(found) == 1
    assert said in found[0]


def test_a_file_of_a_package_counts_from_the_package() -> None:
    assert faults("from .fork import _texts", "triton/__init__.py") == []
    assert faults("from ..fork import _texts", "triton/language/__init__.py") == []
    assert faults("from .fork import _texts", "triton/language/__init__.py") != []


def use_overlay(small: SmallProject, scratch: Path) -> None:
    """Make the queue use the overlay, as the real one does."""
    module = small.project.overlay(small.lane) / "python" / "triton" / "fork" / "_texts.py"
    module.write_text("def text(value):\n    return str(value)\n")
    git = Git(open_tree(small.project, small.lane, small.base, discard=True))
    edit = {"python/triton/runtime/jit.py": ("import inspect\n", "import inspect\n\nfrom ..fork import _texts\n")}
    commit(git, "speed/third.patch", "Use it", edit)
    refresh(small.project, small.lane, small.base, scratch)


def checked(small: SmallProject) -> list[str]:
    with small.project.scratch("check") as scratch:
        return check_lane(small.project, small.lane, small.base, scratch)


def prepared(small: SmallProject) -> None:
    with small.project.scratch("build") as scratch:
        prepare(small.project, small.lane, small.base, scratch, lambda _: None)


@pytest.mark.parametrize("lost", ["", "_texts.py"])
def test_a_lane_without_its_overlay_is_neither_in_order_nor_built(small, tmp_path, lost: str) -> None:
    use_overlay(small, tmp_path / "scratch")
    assert checked(small) == []
    prepared(small)
    place = small.project.overlay(small.lane) / "python" / "triton" / "fork" / lost
    shutil.rmtree(place) if place.is_dir() else place.unlink()
    (fault,) = checked(small)
    assert fault.startswith("'triton/runtime/jit.py', line 3: ")
    with pytest.raises(ImportsError, match=r"'triton/runtime/jit\.py', line 3: "):
        prepared(small)


def test_an_overlay_without_its_patch_is_said(small) -> None:
    module = small.project.overlay(small.lane) / "python" / "triton" / "fork" / "_texts.py"
    module.write_text("from triton.runtime.jit import first, added\n")
    assert checked(small) == ["'triton/fork/_texts.py', line 1: 'triton.runtime.jit' has no 'added'"]
