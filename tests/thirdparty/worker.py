"""Search the signatures of a package's kernels: ``python -I -B worker.py REQUEST``, inside the base's interpreter.

Each kernel is searched in a child of its own, so that one that crashes the compiler or never ends takes nothing with it.
"""

from __future__ import annotations

import importlib
import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

_ROOT = Path(__file__).resolve().parents[2]
#: After so long, a search that hangs is ended; it bounds itself by processor time.
_SECONDS = 600


def main(request_file: Path) -> None:
    """Search.

    :param request_file: JSON with ``folder``, ``paths`` (where torch is) and ``output``.
    """
    request = json.loads(request_file.read_text())
    sys.path += [*request["paths"], str(_ROOT), str(_ROOT / "ci")]
    loading = importlib.import_module("tests.thirdparty.loading")
    loaded = loading.load(Path(request["folder"]))
    found = {}
    for number, kernel in enumerate(loaded.kernels):
        found[kernel.label] = _in_child(kernel, Path(request["output"]).with_suffix(f".{number}"))
    document = {
        "kernels": {label: answer["signatures"] for label, answer in found.items()},
        "errors": {label: answer["error"] for label, answer in found.items() if not answer["signatures"]},
        "helpers": loaded.helpers,
        "failures": loaded.failures,
        "absent": loaded.absent,
    }
    Path(request["output"]).write_text(json.dumps(document, indent=1))


def _in_child(kernel: Any, answer_file: Path) -> dict[str, Any]:
    child = os.fork()
    if child == 0:
        signal.alarm(_SECONDS)
        try:
            answer_file.write_text(json.dumps(_search(kernel)))
        finally:
            os._exit(0)
    status = os.waitpid(child, 0)[1]
    if not answer_file.exists():
        return {"signatures": [], "error": f"the search ended with {os.waitstatus_to_exitcode(status)}"}
    answer: dict[str, Any] = json.loads(answer_file.read_text())
    answer_file.unlink()
    return answer


def _search(kernel: Any) -> dict[str, Any]:
    signatures = importlib.import_module("tests.thirdparty.signatures")
    try:
        search = importlib.import_module("tests.thirdparty.search").Search(kernel, _generator())
        words = search.signatures()
    except Exception as error:
        return {"signatures": [], "error": f"{type(error).__name__}: {error}"}
    return {"signatures": [signatures.encode(one) for one in words], "error": search.message}


def _generator() -> Any:
    """Make a function that generates the first IR of a kernel with a signature."""
    stand_ins = importlib.import_module("tests.thirdparty.stand_ins")
    cases = importlib.import_module("fork.equivalence.cases")
    variants = importlib.import_module("fork.equivalence.variants")
    first_ir = importlib.import_module("fork.equivalence.first_ir").FirstIR(f"cuda:{stand_ins.TARGET[1]}")

    def generate(function: Any, parts: dict[str, Any]) -> str:
        (variant,) = variants.variants(cases.Case("searched", function, **parts))
        return str(first_ir.text(variant))

    return generate


if __name__ == "__main__":
    main(Path(sys.argv[1]))
