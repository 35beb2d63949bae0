"""What a table of kernels is made of: one :class:`Case` a row, one list ``CASES`` a module.

A folder of such modules is a corpus; ``tests/kernels`` is the project's own. A module of it reads::

    import triton
    import triton.language as tl
    from fork.equivalence.cases import ALL, Case, aligned


    @triton.jit
    def scale(x, factor, N: tl.constexpr):
        at = tl.arange(0, N)
        tl.store(x + at, tl.load(x + at) * factor)


    CASES = [Case("scale", scale, {"x": "*fp32", "factor": "fp32"}, {"N": 64}, aligned("x"), targets=ALL)]

Runs inside the interpreters under comparison.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

__all__ = [
    "ALL",
    "AMPERE",
    "BLACKWELL",
    "CDNA",
    "CUDA",
    "DATACENTER_BLACKWELL",
    "FP8",
    "HIP",
    "HOPPER",
    "HOPPER_ONLY",
    "RDNA",
    "Case",
    "aligned",
]

#: Every NVIDIA target, by compute capability.
CUDA: tuple[str, ...] = ("cuda:80", "cuda:89", "cuda:90", "cuda:100", "cuda:120")
#: Every AMD target, by architecture.
HIP: tuple[str, ...] = ("hip:gfx942", "hip:gfx950", "hip:gfx1200")
#: Every target of the project.
ALL: tuple[str, ...] = CUDA + HIP
#: What runs instructions of Ampere: all of NVIDIA's targets.
AMPERE = CUDA
#: NVIDIA's targets with 8-bit floating point in hardware.
FP8 = CUDA[1:]
#: NVIDIA's targets with tensor memory accelerator and clusters.
HOPPER = CUDA[2:]
#: The one target with warpgroup MMA.
HOPPER_ONLY = ("cuda:90",)
#: The Blackwell targets.
BLACKWELL = CUDA[3:]
#: The one target with tensor memory and tcgen05.
DATACENTER_BLACKWELL = ("cuda:100",)
#: AMD's targets with MFMA, whose wavefronts have 64 lanes.
CDNA = HIP[:2]
#: AMD's target with WMMA, whose wavefronts have 32 lanes.
RDNA = HIP[2:]

Attributes = Mapping[str, Sequence[tuple[str, int]]]


@dataclass(frozen=True)
class Case:
    """One kernel, compiled in one way for some targets.

    :param name: Unique in its module.
    :param function: What ``triton.jit`` or ``gluon.jit`` made, or what ``autotune`` and ``heuristics`` made of that. An autotuned
        kernel is compiled once for each of its configurations.
    :param signature: Types of the arguments that are known only at run time, as Triton writes them: ``*fp32``, ``i64``,
        ``tensordesc<fp16[64, 64]>``, or a tuple of such.
    :param constants: Values of the arguments that are known when compiling, including arguments of run time that the launcher
        folds (``None``, 1). A key may be a path of indices into tuple arguments.
    :param attributes: Facts on arguments, such as ``{"x": [("tt.divisibility", 16)]}``; see :func:`aligned`.
    :param options: Options of the backend: ``num_warps``, ``num_stages``, ``num_ctas``, ``maxnreg``...
    :param targets: Where the kernel is valid: ``cuda:<capability>`` or ``hip:<architecture>``.
    :param examples: Values of arguments of run time that heuristics look at.
    """

    name: str
    function: Any
    signature: Mapping[str, Any]
    constants: Mapping[Any, Any] = field(default_factory=dict)
    attributes: Attributes = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    targets: Sequence[str] = ALL
    examples: Mapping[str, Any] = field(default_factory=dict)

    def resolved(self) -> Case:
        """Give the case with its kernel. A kind of case that gets its kernel only when it is compiled overrides this."""
        return self


def aligned(*names: str, to: int = 16) -> dict[str, list[tuple[str, int]]]:
    """State that arguments are divisible, as the launcher does for aligned pointers and round sizes.

    :param names: Names of arguments.
    :param to: The divisor: bytes of an address, or units of an integer.
    :returns: A value for :attr:`Case.attributes`.
    """
    return {name: [("tt.divisibility", to)] for name in names}
