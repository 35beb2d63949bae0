"""Import the modules of a package that hold kernels, without what the package needs to be of use, and find the kernels.

Runs inside the interpreters under comparison.
"""

from __future__ import annotations

import ast
import importlib
import importlib.util
import re
import sys
import types
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.thirdparty.stand_ins import absent_packages, pretend_gpu

__all__ = ["Kernel", "Loaded", "jit_function", "load"]

#: What a module with kernels has in its text.
_MARK = re.compile(r"^\s*@(?:\w+\.)*(?:jit|autotune|libentry)\b|\bjit\(", re.MULTILINE)
_USES_TRITON = re.compile(r"^\s*(?:import|from)\s+triton\b", re.MULTILINE)
#: Parts of names of modules that are written for other Tritons, or are tests.
_OTHERS = re.compile(
    r"(?:^|[._])(?:ascend|camb|mlu|npu|musa|kunlunxin|metax|iluvatar|cambricon|mthreads|hygon|aipu|amd_gluon|gluon_amd|tests?|"
    r"enflame|sunrise|tsingmicro|spacemit|intel|xpu|benchmarks?)(?:[._]|$)"
)


@dataclass(frozen=True)
class Kernel:
    """A kernel of a package.

    :param module: The module that defines it.
    :param name: Its name there.
    :param function: What the name is bound to, decorators of autotuning included.
    """

    module: str
    name: str
    function: Any

    @property
    def jitted(self) -> Any:
        """The kernel without decorators."""
        return jit_function(self.function)

    @property
    def label(self) -> str:
        """What tells it from the other kernels of its package."""
        return f"{self.module}:{self.name}"


@dataclass
class Loaded:
    """What became of a package.

    :param kernels: Kernels found.
    :param helpers: How many functions are there for kernels to call: those that return a value.
    :param failures: Modules that cannot be imported, with the reason.
    :param absent: Packages that stood in.
    """

    kernels: list[Kernel] = field(default_factory=list)
    helpers: int = 0
    failures: dict[str, str] = field(default_factory=dict)
    absent: list[str] = field(default_factory=list)


def load(folder: Path) -> Loaded:
    """Import a package and find its kernels.

    :param folder: Where it is unpacked.
    """
    loaded = Loaded()
    sys.path.insert(0, str(folder))
    names = list(_modules(folder))
    with absent_packages(folder) as absent, pretend_gpu(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = {name: _import(name, folder, loaded.failures) for name in names}
    loaded.absent = sorted(absent)
    for name, module in found.items():
        for kernel in _kernels(name, module):
            if _returns(kernel.function):
                loaded.helpers += 1
            else:
                loaded.kernels.append(kernel)
    return loaded


def _modules(folder: Path) -> Iterator[str]:
    for path in sorted(folder.rglob("*.py")):
        text = path.read_text(errors="replace")
        name = ".".join(path.relative_to(folder).with_suffix("").parts).removesuffix(".__init__")
        if _MARK.search(text) and _USES_TRITON.search(text) and not _OTHERS.search(name):
            yield name


def _import(name: str, folder: Path, failures: dict[str, str]) -> types.ModuleType | None:
    top = name.partition(".")[0]
    if top not in sys.modules and "." in name and (folder / top / "__init__.py").exists():
        _bare(top, folder)  # the whole of a package asks for far more than its kernels do
    try:
        return importlib.import_module(name)
    except (Exception, SystemExit) as error:
        reason = f"{type(error).__name__}: {error}"
    for parent in _parents(name):
        if parent not in sys.modules:
            _bare(parent, folder)
    try:
        return importlib.import_module(name)
    except (Exception, SystemExit) as error:
        failures[name] = f"{reason}; without its parents {type(error).__name__}: {error}"[:400]
        return None


def _bare(name: str, folder: Path) -> None:
    """Make a package whose ``__init__`` does not run."""
    package = types.ModuleType(name)
    package.__path__ = [str(folder.joinpath(*name.split(".")))]
    package.__version__ = "99.0.0"  # type: ignore[attr-defined]
    sys.modules[name] = package


def _parents(name: str) -> Iterator[str]:
    parts = name.split(".")
    for end in range(1, len(parts)):
        yield ".".join(parts[:end])


def _kernels(name: str, module: types.ModuleType | None) -> Iterator[Kernel]:
    seen = set()
    for attribute, value in list(vars(module).items()) if module else ():
        function = jit_function(value)
        if function is not None and function.fn.__module__ == name and id(function) not in seen:
            seen.add(id(function))
            yield Kernel(name, attribute, value)


def jit_function(value: Any) -> Any:
    """Peel the decorators off a kernel.

    :param value: Anything.
    :returns: What ``triton.jit`` or ``gluon.jit`` made, or ``None`` where the value is no kernel.
    """
    jit = importlib.import_module("triton.runtime.jit")
    for _ in range(6):
        if isinstance(value, jit.JITFunction):
            return value if isinstance(getattr(value, "fn", None), types.FunctionType) else None
        if isinstance(value, (type, types.ModuleType, types.FunctionType)):
            return None
        value = vars(value).get("fn") if hasattr(value, "__dict__") else None
    return None


def _returns(value: Any) -> bool:
    """Say whether a function returns something, which a kernel does not."""
    tree = ast.parse(jit_function(value).src)
    return any(isinstance(node, ast.Return) and not _nothing(node.value) for node in ast.walk(tree))


def _nothing(value: ast.expr | None) -> bool:
    return value is None or (isinstance(value, ast.Constant) and value.value is None)
