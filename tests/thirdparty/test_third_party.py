"""Kernels of third-party packages: how they are found, and in the night, that base and fork make the same of them."""

from __future__ import annotations

import ast
import importlib
import json
import os
import sys
import types
import zipfile
from pathlib import Path

import pytest

from fork.archive.wheels import ArchiveError
from fork.equivalence.comparison import compare
from fork.equivalence.report import DIFFERENT, FAILED, SAME
from tests.thirdparty.comparing import compare_packages
from tests.thirdparty.packages import PackageError, environment, pinned, unpack, unpacked
from tests.thirdparty.searching import SIGNATURES, run_search
from tests.thirdparty.signatures import Constant, Word, case_parts, decode, encode
from tests.thirdparty.stand_ins import Absent, absent_packages
from tests.thirdparty.table import write_corpus
from tests.thirdparty.usage import read

PACKAGE = """
import triton
import triton.language as tl
from not_installed import anything, deeper
from not_installed.further import Base


class Own(Base):
    pass


@triton.jit
def inner(place, value, MODE: tl.constexpr):
    if MODE == "double":
        value = value * 2
    elif MODE == "plain":
        value = value + 0
    else:
        tl.static_assert(False, "no such mode")
    tl.store(place, value)


@triton.jit
def helper(x):
    return x + 1


@triton.autotune([triton.Config({"BLOCK": 64})], key=[])
@triton.jit
def kernel(x, y, bias, n, BLOCK: tl.constexpr, HAS_BIAS: tl.constexpr, MODE: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + at, mask=at < n)
    if HAS_BIAS:
        value += tl.load(bias + at)
    inner(y + at, helper(value), MODE)


@triton.jit
def no_way(x):
    tl.static_assert(False)
"""

TORCH = """
import types

cuda = types.SimpleNamespace(
    is_available=None, device_count=None, current_device=None, get_device_capability=None, get_device_properties=None,
    get_device_name=None, is_bf16_supported=None, mem_get_info=None,
)
version, _C = types.SimpleNamespace(cuda=None), types.SimpleNamespace()
"""


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A package with kernels, unpacked."""
    folder = tmp_path / "unpacked"
    (folder / "mine" / "test").mkdir(parents=True)
    (folder / "mine" / "__init__.py").write_text("raise ImportError('asks for a GPU')")
    (folder / "mine" / "kernels.py").write_text(PACKAGE)
    (folder / "mine" / "broken.py").write_text("import triton\nfrom .nowhere import x\n@triton.jit\ndef f(): pass\n")
    (folder / "mine" / "test" / "other.py").write_text(PACKAGE)
    return folder


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """What stands for torch."""
    folder = tmp_path / "site"
    folder.mkdir()
    (folder / "torch.py").write_text(TORCH)
    return folder


def test_signatures_are_found_stored_and_compiled(base_python: Path, package: Path, site: Path, tmp_path: Path) -> None:
    answer = run_search(base_python, package, site, tmp_path)
    assert answer["kernels"] == {
        "mine.kernels:inner": ["*fp32 fp32 =\"double\""],
        "mine.kernels:kernel": [
            '*fp32 *fp32 *fp32 i32 =64 =false ="double"',
            '*fp32 *fp32 *fp32 i32 =64 =true ="double"',
        ],
        "mine.kernels:no_way": [],
    }  # fmt: skip
    assert answer["errors"]["mine.kernels:no_way"].startswith("line 2: CompileTimeAssertionFailure")
    assert (answer["helpers"], answer["absent"]) == (1, ["not_installed"])
    assert list(answer["failures"]) == ["mine.broken"] and "mine.nowhere" in answer["failures"]["mine.broken"]
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    (tmp_path / "mine.json").write_text(json.dumps(answer))
    write_corpus(corpus, {"mine": package}, tmp_path, site)
    report = compare(base_python, base_python, corpus, first_ir=True, errors=True)
    assert [(outcome.verdict, list(outcome.artifacts)) for outcome in report.outcomes] == [(SAME, ["source"])] * 12


def test_a_signature_is_read_as_it_was_written() -> None:
    words: list[Word] = [
        "*fp32",
        "tensordesc<fp16[32, 32]>",
        "(i32,*fp16)",
        *map(Constant, (1, True, None, 0.5, "a b", [1, 2])),
    ]
    text = encode(words)
    assert text == '*fp32 tensordesc<fp16[32,32]> (i32,*fp16) =1 =true =null =0.5 ="a\\u0020b" =[1,2]'
    parts = case_parts("abcdefghi", decode(text))
    assert parts["signature"] == {"a": "*fp32", "b": "tensordesc<fp16[32,32]>", "c": ("i32", "*fp16")}
    assert parts["constants"] == {"d": 1, "e": True, "f": None, "g": 0.5, "h": "a b", "i": (1, 2)}
    assert parts["attributes"] == {"a": [("tt.divisibility", 16)]}
    assert decode("=1") != decode("=true")


def function(source: str, **known: object) -> types.SimpleNamespace:
    names = [argument.arg for argument in ast.parse(source).body[0].args.args]  # type: ignore[attr-defined]
    return types.SimpleNamespace(src=source, arg_names=names, fn=types.SimpleNamespace(__globals__=known))


def test_what_a_kernel_says_on_its_parameters() -> None:
    called = function("def called(at, kind: tl.constexpr):\n    if kind == 3:\n        tl.store(at, 0)")
    kernel = function(
        "def kernel(a, b, ids, flag, maybe, T, KIND):\n"
        "    place = a + tl.load(ids) * 4\n"
        "    x = tl.load(place).to(T)\n"
        "    if flag and maybe is not None:\n"
        "        called(b + 1, KIND)\n",
        called=called,
    )
    facts = read(kernel)
    told = facts.parameters
    assert [name for name, p in told.items() if p.pointer] == ["a", "b", "ids"]
    assert [name for name, p in told.items() if p.stored] == ["ids"]
    assert [name for name, p in told.items() if p.truth] == ["flag"]
    assert [name for name, p in told.items() if p.optional] == ["maybe"]
    assert [name for name, p in told.items() if p.dtype] == ["T"]
    assert told["KIND"].compared == [3]
    assert facts.involved([(3, 4)]) == ["T", "a", "ids"]
    assert facts.involved([(5, 8), (3, 8)])[0] == "b"


def test_only_what_the_package_itself_lacks_stands_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "asker.py").write_text(
        "import lacking_one.deep\nfrom lacking_two import decorate, Base\n@decorate\ndef f(): return 1\nclass C(Base): pass\n"
        "available = bool(lacking_one.is_it_available())\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    with absent_packages(tmp_path) as absent:
        asker = importlib.import_module("asker")
        with pytest.raises(ModuleNotFoundError):
            importlib.import_module("asked_by_a_test")
        with pytest.raises(ModuleNotFoundError):
            importlib.import_module("asker.part")
    assert (asker.f(), asker.available, absent) == (1, False, {"lacking_one", "lacking_two"})
    for name in [name for name, module in sys.modules.items() if isinstance(module, Absent)]:
        del sys.modules[name]


def test_packages_are_taken_apart_without_compiled_code(tmp_path: Path) -> None:
    wheel = tmp_path / "a-1-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for name in ("a/b.py", "a/_c.so", "a-1.dist-info/METADATA"):
            archive.writestr(name, name)
    unpack(wheel, tmp_path / "out")
    assert [str(p.relative_to(tmp_path)) for p in (tmp_path / "out").rglob("*") if p.is_file()] == ["out/a/b.py"]


@pytest.mark.parametrize("name", ["../out.py", "/out.py", "a/../../out.py"])
def test_a_package_that_writes_elsewhere_is_refused(tmp_path: Path, name: str) -> None:
    wheel = tmp_path / "a-1-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr(name, "x = 1")
    with pytest.raises(ArchiveError, match="unsafe"):
        unpack(wheel, tmp_path / "to" / "out")
    assert not (tmp_path / "to").exists() and not (tmp_path / "out.py").exists()


def test_signatures_are_of_the_pinned_versions() -> None:
    stored = {json.loads(file.read_text())["package"] for file in SIGNATURES.glob("*.json")}
    assert stored == {f"{package.name}=={package.version}" for package in pinned()}
    assert all(len(package.sha256) == 64 for package in pinned())


@pytest.mark.slow
def test_base_and_fork_make_the_same_of_third_party_kernels(base_python: Path, fork_python: Path) -> None:
    try:
        environment(), unpacked(pinned())
    except PackageError as error:
        pytest.skip(str(error))
    figures = compare_packages(base_python, fork_python, pinned(), one_in=24, jobs=os.cpu_count() or 1)
    print(*figures.lines(), sep="\n")
    assert figures.solved >= 400
    for report in (figures.first, figures.whole):
        wrong = [(str(o.task), o.detail) for o in report.outcomes if o.verdict in (DIFFERENT, FAILED)]
        assert not wrong, wrong
