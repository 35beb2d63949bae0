"""Compile cases inside one of the interpreters under comparison and leave their artifacts in a folder.

Started by :mod:`fork.equivalence.process` as ``python -I -B worker.py REQUEST`` with a fresh cache; the request is a JSON file.
``{"do": "list"}`` writes the table of a corpus, ``{"do": "compile"}`` compiles some of its cases, ``{"do": "assemble"}`` runs ptxas
again on what a case became. Results are written as they come, so that what was done before a crash is known.

Runs inside the interpreters under comparison.
"""

from __future__ import annotations

import ctypes
import importlib
import importlib.util
import json
import os
import re
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

if __name__ == "__main__":  # the folder `ci`, which `python -I` leaves out
    sys.path.append(str(Path(__file__).resolve().parents[2]))

from fork.equivalence.corpus import load_module, module_names
from fork.equivalence.first_ir import FirstIR
from fork.equivalence.normalise import strip_locations
from fork.equivalence.variants import gpu_target, variants

__all__ = ["main"]

#: Entries of the metadata that say nothing on the launch: the cache key, and the version, which names the fork's revision.
_NOT_OF_THE_LAUNCH = ("hash", "triton_version")
#: What differs in messages from run to run.
_OF_A_RUN = re.compile(r"0x[0-9a-f]{6,}|/\S*/tmp\w{8}")


class _Driver:
    """Stands in for a driver: tells library functions which target is compiled for."""

    def __init__(self) -> None:
        self.target: Any = None

    def get_current_target(self) -> Any:
        """Answer ``triton.language.target_info``."""
        return self.target


def main(request_file: Path) -> None:
    """Do what a request says.

    Triton is imported through a link in ``home``. One side works after the other and both have the same ``home``, so that the
    paths of library files, which end up in assertions, line tables and metadata, are the same.

    :param request_file: JSON with the keys ``do``, ``corpus``, ``home`` (where Triton is to appear), ``output`` and, for
        ``compile``, ``locations``, ``first_ir`` and ``tasks``: objects with ``index``, ``module``, ``case`` and ``target``. For
        ``assemble`` see :func:`_assemble`.
    """
    request = json.loads(request_file.read_text())
    package = _installed()
    _redirect(Path(request["home"]), package)
    fixed = _fix_addresses()
    actions: dict[str, Callable[[dict[str, Any]], None]] = {"list": _list, "compile": _compile, "assemble": _assemble}
    actions[request["do"]]({**request, "fixed": fixed, "package": str(package)})


def _fix_addresses() -> bool:
    """Have the programs that Triton starts loaded at fixed addresses.

    The ptxas for Blackwell orders symbols by address: the same PTX gives cubins of the same size whose symbol tables differ from
    run to run.

    :returns: Whether the system allows it; the default seccomp profile of containers does not.
    """
    persona, query, no_randomisation = ctypes.CDLL(None).personality, 0xFFFFFFFF, 0x0040000
    current = persona(ctypes.c_ulong(query))
    return bool(current != -1 and persona(ctypes.c_ulong(current | no_randomisation)) != -1)


def _installed() -> Path:
    """Find the Triton of this interpreter."""
    spec = importlib.util.find_spec("triton")
    if spec is None or spec.origin is None:
        raise SystemExit("no Triton is installed for this interpreter")
    return Path(spec.origin).parent


def _redirect(home: Path, package: Path) -> None:
    """Make ``import triton`` find the package under a path that the caller chose, by way of a link."""
    _link(home, package)
    sys.path.insert(0, str(home))
    importlib.invalidate_caches()


def _link(home: Path, package: Path) -> None:
    home.mkdir(parents=True, exist_ok=True)
    link = home / "triton"
    link.unlink(missing_ok=True)
    link.symlink_to(package, target_is_directory=True)


def _list(request: dict[str, Any]) -> None:
    """Write the table of a corpus, with an error instead of rows for a module that cannot be loaded."""
    rows, faults = [], []
    folder = Path(request["corpus"])
    for module in module_names(folder):
        try:
            rows += [
                {"module": module, "case": c.name, "targets": list(c.targets)} for c in load_module(folder, module)
            ]
        except Exception:
            faults.append({"module": module, "error": traceback.format_exc()})
    Path(request["output"]).write_text(json.dumps({"rows": rows, "faults": faults}))


def _compile(request: dict[str, Any]) -> None:
    driver = _Driver()
    _triton().runtime.driver.set_active(driver)
    output = Path(request["output"])
    for task in request["tasks"]:
        folder = output / str(task["index"])
        folder.mkdir(parents=True)
        try:
            driver.target = gpu_target(task["target"])
            _compile_case(request, task, driver.target, folder)
            status: dict[str, Any] = {"ok": True, "fixed": request["fixed"], "package": request["package"]}
        except Exception as error:
            status = {"ok": False, "kind": type(error).__name__, "error": traceback.format_exc(), "said": _said(error)}
        (folder / "status.json").write_text(json.dumps(status))


def _compile_case(request: dict[str, Any], task: dict[str, Any], target: Any, folder: Path) -> None:
    triton = _triton()
    for variant in variants(_case(request, task)):
        if request["first_ir"]:
            (folder / f"source{variant.label}").write_text(FirstIR(task["target"]).text(variant))
            continue
        kernel = triton.compile(variant.source, target=target, options=variant.options)
        for stage, artifact in kernel.asm.items():
            if stage in ("source", "json"):
                continue  # the first is the IR before any pass, covered by the next stage; the second is the metadata
            data = artifact if isinstance(artifact, bytes) else artifact.encode()
            if stage in ("ttir", "ttgir") and not request["locations"]:
                data = strip_locations(data.decode()).encode()
            (folder / f"{stage}{variant.label}").write_bytes(data)
        metadata = {k: v for k, v in kernel.metadata._asdict().items() if k not in _NOT_OF_THE_LAUNCH}
        text = json.dumps(metadata, default=_plain, indent=1, sort_keys=True)
        (folder / f"metadata{variant.label}").write_text(text)


def _case(request: dict[str, Any], task: dict[str, Any]) -> Any:
    return next(case for case in load_module(Path(request["corpus"]), task["module"]) if case.name == task["case"])


def _said(error: BaseException) -> str:
    """Say what went wrong, and what that came of, without what differs between two runs: addresses and temporary files."""
    parts = []
    cause: BaseException | None = error
    while cause is not None:
        parts.append(f"{type(cause).__name__}: {cause}")
        cause = cause.__cause__ or cause.__context__
    return _OF_A_RUN.sub("...", "\n".join(parts))


def _assemble(request: dict[str, Any]) -> None:
    """Run ptxas again on PTX that both sides have in common, until it writes what was wanted or has had all its runs.

    ptxas is this side's. With line information it writes the time of change of each source file into the binary: ``home`` shows it
    the files of the other side meanwhile.

    The request has ``task``, ``label`` (of the variant), ``ptx``, ``wanted`` (a cubin), ``files`` (the other side's package) and
    ``runs``. The answer has ``runs``, those that were needed, and ``found``.
    """
    task, driver = request["task"], _Driver()
    _triton().runtime.driver.set_active(driver)
    driver.target = gpu_target(task["target"])
    variant = next(v for v in variants(_case(request, task)) if v.label == request["label"])
    backend = importlib.import_module("triton.compiler.compiler").make_backend(driver.target)
    options = backend.parse_options({**variant.options, **variant.source.parse_options()})
    stages: dict[str, Any] = {}
    backend.add_stages(stages, options, variant.source.language)
    tools = Path(request["package"]) / "backends" / "nvidia" / "bin"
    os.environ |= {
        "TRITON_PTXAS_PATH": str(tools / "ptxas"),
        "TRITON_PTXAS_BLACKWELL_PATH": str(tools / "ptxas-blackwell"),
    }
    _link(Path(request["home"]), Path(request["files"]))
    text, wanted = Path(request["ptx"]).read_text(), Path(request["wanted"]).read_bytes()
    runs = found = 0
    while runs < request["runs"] and not found:
        runs += 1
        found = stages["cubin"](text, {}) == wanted
    Path(request["output"]).write_text(json.dumps({"runs": runs, "found": bool(found)}))


def _triton() -> Any:
    """Import Triton, which the tool itself does not have."""
    return importlib.import_module("triton")


def _plain(value: Any) -> Any:
    return vars(value) if hasattr(value, "__dict__") else repr(value)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
