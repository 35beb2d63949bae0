"""The first IR of a kernel: what Triton's frontend makes of the source, before any pass.

Runs inside the interpreters under comparison.
"""

from __future__ import annotations

import importlib

from fork.equivalence.variants import Variant, gpu_target

__all__ = ["FirstIR"]


class FirstIR:
    """Generates first IR for one target.

    :param target: A target as in ``Case.targets``.
    """

    def __init__(self, target: str) -> None:
        self._target = gpu_target(target)
        self._backend = importlib.import_module("triton.compiler.compiler").make_backend(self._target)

    def text(self, variant: Variant) -> str:
        """Generate.

        :param variant: One way to compile a case.
        :returns: The IR with the locations of its operations.
        """
        ir, backend, source = importlib.import_module("triton._C.libtriton").ir, self._backend, variant.source
        options = backend.parse_options({**variant.options, **source.parse_options()})
        context = ir.context()
        ir.load_dialects(context)
        backend.load_dialects(context)
        functions, modules = backend.get_codegen_implementation(options), backend.get_module_map()
        return str(source.make_ir(self._target, options, functions, modules, context))
