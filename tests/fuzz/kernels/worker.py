"""Compile programs inside one of the interpreters under comparison: a description a line on standard input, an answer a line back.

Started by :mod:`tests.fuzz.kernels.processes`. A description names the file of a program and says what is wanted; an answer has the
first IR with locations, or the error, of each of its ``REQUESTS``, what was printed and warned of, and the keys.

Runs inside the interpreters under comparison.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import io
import json
import os
import re
import sys
import traceback
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from triton._C.libtriton import ir
from triton.backends.compiler import GPUTarget
from triton.compiler.compiler import ASTSource, make_backend

import triton

_TRITON = str(Path(triton.__file__).parent)
_ADDRESS = re.compile(r"0x[0-9a-f]{6,}")
_NAME = "program"
_EXACT = importlib.import_module("exact_names")  # it lies beside this file


def main() -> None:
    """Answer until the input ends."""
    answers = os.fdopen(os.dup(1), "w")
    silent = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silent, 1)  # what MLIR says of a module that it refuses
    os.dup2(silent, 2)
    for line in sys.stdin:
        answers.write(json.dumps(_answer(json.loads(line))) + "\n")
        answers.flush()


def _answer(description: dict[str, Any]) -> dict[str, Any]:
    path = Path(description["path"])
    try:
        module = _load(path)
    except Exception:
        return {"fault": traceback.format_exc()}
    for name in description["first"]:
        with contextlib.suppress(Exception):
            module.__dict__[name].cache_key  # noqa: B018
    wanted = description["wanted"]
    return {"requests": [_compiled(request, path, wanted) for request in module.REQUESTS]}


def _load(path: Path) -> Any:
    """Import a program; every one has the same name."""
    spec = importlib.util.spec_from_file_location(_NAME, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[_NAME] = module
    spec.loader.exec_module(module)
    return module


def _compiled(request: dict[str, Any], path: Path, wanted: str) -> dict[str, Any]:
    kind, _, architecture = request["target"].partition(":")
    target = GPUTarget(kind, int(architecture) if kind == "cuda" else architecture, 32 if kind == "cuda" else 64)
    backend = make_backend(target)
    options = backend.parse_options(dict(request["options"]))
    kernel = request["kernel"]
    source = _source_class(kernel)(kernel, request["signature"], request["constants"], request["attributes"])
    answer: dict[str, Any] = {"key": _key(source, options)}
    if answer["key"].startswith("raised"):  # such a kernel is not compiled
        return answer | {"ok": False, "text": answer["key"], "printed": [], "warned": [], "again": answer["key"]}
    if wanted != "keys":
        with _EXACT.exact_names() if wanted == "exact" else contextlib.nullcontext():
            answer |= _generated(source, target, backend, options, path)
        answer["again"] = _key(source, options)
    return answer


def _source_class(kernel: Any) -> Any:
    if not kernel.is_gluon():
        return ASTSource
    from triton.experimental.gluon._runtime import GluonASTSource

    return GluonASTSource


def _key(source: Any, options: Any) -> str:
    """Give what the name of the compiled kernel in the cache follows from, installation and environment aside."""
    try:
        return f"{source.hash()}-{options.hash()}"
    except Exception as error:
        return f"raised {type(error).__name__}: {_ADDRESS.sub('0x', str(error))}"


def _generated(source: Any, target: Any, backend: Any, options: Any, path: Path) -> dict[str, Any]:
    """Generate the first IR, noting what is printed and warned of."""
    with contextlib.redirect_stdout(io.StringIO()) as printed, warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            context = ir.context()
            ir.load_dialects(context)
            backend.load_dialects(context)
            functions, modules = backend.get_codegen_implementation(options), backend.get_module_map()
            text, ok = str(source.make_ir(target, options, functions, modules, context)), True
        except Exception as error:
            text, ok = "".join(_messages(error)), False

    def without_paths(what: str) -> str:
        return what.replace(_TRITON, "TRITON").replace(str(path.parent), "PROGRAM")

    notes = sorted({_note(warning, path) for warning in warned})
    said = sorted(set(without_paths(printed.getvalue()).splitlines()))
    shown = without_paths(text)
    return {"ok": ok, "text": shown if ok else _ADDRESS.sub("0x", shown), "printed": said, "warned": notes}


def _note(warning: warnings.WarningMessage, path: Path) -> str:
    """Describe a warning, with its line where that is the program's."""
    line = warning.lineno if warning.filename == str(path) else ""
    return f"{warning.category.__name__} {line} {warning.message}"


def _messages(error: BaseException | None) -> Iterator[str]:
    """Give the messages of an error and of those that it came from."""
    while error is not None:
        yield "".join(traceback.format_exception_only(type(error), error))
        error = error.__cause__


if __name__ == "__main__":
    main()
