"""A warm start in steps, shared by the programs that differ in what the system has in memory."""

from __future__ import annotations

from benchmarks.support.steps import Steps

__all__ = ["start"]


def start(steps: Steps) -> None:
    """Import Triton, launch ten kernels, and note what each step took."""
    # Inside, since importing is what is measured.
    from benchmarks.support.ten_kernels import launches

    steps.done("import")
    from benchmarks.support.device import Tensor, install

    install()
    steps.done("driver")
    from triton.runtime.cache import triton_key

    triton_key()
    steps.done("installation key")
    first, *others = launches(Tensor)
    kernel, arguments, constants = first
    kernel.warmup(*arguments, grid=(1,), **constants)
    steps.done("lookup")
    kernel[(1,)](*arguments, **constants)
    steps.done("launch")
    steps.total("to the first launch")
    for kernel, arguments, constants in others:
        kernel[(1,)](*arguments, **constants)
    steps.done("nine more kernels")
    steps.total("to the tenth kernel's launch")
