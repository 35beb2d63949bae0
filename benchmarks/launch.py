"""A launch of a compiled kernel on a CUDA driver that does nothing: microseconds a call."""

from __future__ import annotations

import importlib.util
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.support.device import Tensor, install
from benchmarks.support.timing import seconds_a_call

triton: Any = importlib.import_module("triton")

HEADLINE = "12 arguments"
COUNTS = (0, 4, 12, 30)
REPEATS = 7


def load(folder: Path) -> Any:
    """Make a module with a kernel for each count of arguments."""
    lines = ["import triton", ""]
    for count in COUNTS:
        names = ", ".join(f"a{n}" for n in range(count))
        lines += ["@triton.jit", f"def take_{count}({names}):", "    pass", ""]
    path = folder / "launched.py"
    path.write_text("\n".join(lines), "utf-8")
    spec = importlib.util.spec_from_file_location("launched", path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def mixed(count: int) -> tuple[Any, ...]:
    """Give tensor-like objects, integers and numbers in turn, as real kernels take them: pointers first."""
    pointers = (count + 1) // 2
    scalars = [(1000 + n if n % 3 else 0.5 + n) for n in range(count - pointers)]
    return (*(Tensor(4096 * (n + 1)) for n in range(pointers)), *scalars)


def microseconds(call: Callable[[], object]) -> float:
    """Time a call."""
    return seconds_a_call(call, REPEATS, 64) * 1e6


def main() -> None:
    """Measure and print the quantities."""
    install()
    module = load(Path(os.environ["BENCH_FOLDER"]))
    results: dict[str, list[object]] = {}
    for count in COUNTS:
        kernel, arguments = getattr(module, f"take_{count}"), mixed(count)
        results[f"{count} arguments"] = [microseconds(lambda k=kernel, a=arguments: k[(1,)](*a)), "us"]  # type: ignore[misc]
    kernel, arguments = module.take_12, mixed(12)
    tensors = tuple(Tensor(4096 * (n + 1)) for n in range(12))
    results["12 tensor-like objects"] = [microseconds(lambda: kernel[(1,)](*tensors)), "us"]
    results["12 arguments, kernel.run"] = [microseconds(lambda: kernel.run(*arguments, grid=(1,), warmup=False)), "us"]
    compiled = kernel[(1,)](*arguments)
    results["12 arguments, compiled kernel"] = [microseconds(lambda: compiled[(1, 1, 1)](*arguments)), "us"]
    results["12 arguments, hooks set"] = [_with_hooks(lambda: kernel[(1,)](*arguments)), "us"]
    print(json.dumps(results))


def _with_hooks(call: Callable[[], object]) -> float:
    knobs = triton.knobs.runtime
    for hook in (knobs.launch_enter_hook, knobs.launch_exit_hook):
        hook.add(_ignore)
    try:
        return microseconds(call)
    finally:
        for hook in (knobs.launch_enter_hook, knobs.launch_exit_hook):
            hook.remove(_ignore)


def _ignore(_metadata: object) -> None:
    pass


if __name__ == "__main__":
    main()
