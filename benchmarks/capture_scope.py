"""``JITFunction.get_capture_scope()``: nanoseconds a call, on functions of three sizes, with and without a closure."""

from __future__ import annotations

import importlib.util
import json
import tempfile
from pathlib import Path
from types import ModuleType

from benchmarks.support.timing import seconds_a_call

SIZES = {"small": 5, "attention-sized": 150, "large": 600}
GLOBALS = 60
REPEATS = 5

HEAD = "import triton\nimport triton.language as tl\n" + "".join(
    f"GLOBAL_{n} = tl.constexpr({n})\n" for n in range(GLOBALS)
)


def write_kernel(name: str, lines: int, closure: bool) -> str:
    """Write the source of a kernel of that many lines, made by a function where it has a closure."""
    indent = "    " if closure else ""
    free = "inner" if closure else "GLOBAL_0"
    body = "".join(
        f"{indent}    x = x + tl.load(pointer + {n}) * GLOBAL_{n % GLOBALS} + {free}\n" for n in range(lines)
    )
    kernel = f"{indent}@triton.jit\n{indent}def {name}(pointer, x):\n{body}{indent}    tl.store(pointer, x)\n"
    return (
        f"def make_{name}(inner=tl.constexpr(1)):\n{kernel}    return {name}\n{name} = make_{name}()\n"
        if closure
        else kernel
    )


def load(source: str, folder: Path) -> ModuleType:
    """Import source as a module."""
    path = folder / "kernels.py"
    path.write_text(source, "utf-8")
    spec = importlib.util.spec_from_file_location("kernels", path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def nanoseconds(kernel: object) -> float:
    """Time a call of a kernel's ``get_capture_scope``."""
    return seconds_a_call(kernel.get_capture_scope, REPEATS, 1) * 1e9  # type: ignore[attr-defined]


def main() -> None:
    """Measure and print the quantities."""
    cases = [(size, closure) for size in SIZES for closure in (False, True)]
    names = {(size, closure): f"{size.replace('-', '_')}_{int(closure)}" for size, closure in cases}
    source = HEAD + "".join(write_kernel(names[case], SIZES[case[0]], case[1]) for case in cases)
    with tempfile.TemporaryDirectory() as folder:
        module = load(source, Path(folder))
    results = {
        f"{size}, {'with closure' if closure else 'no closure'}": [
            nanoseconds(getattr(module, names[size, closure])),
            "ns",
        ]
        for size, closure in cases
    }
    print(json.dumps(results))


if __name__ == "__main__":
    main()
