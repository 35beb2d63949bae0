"""The native extension, and CUDA's driver utilities and launchers out of it: they need no compiler where a job runs.

The base writes C code for every signature of a kernel and compiles it; here the signature becomes a text that the extension's
launcher follows: a letter for each parameter (:data:`LETTERS`), the items of a tuple in parentheses. ``None`` from any function
here means: go the base's way. It is the answer with ``TRITON_FORK_NATIVE=0``, where the extension or the driver's library is not
there or cannot be loaded, on a Python without the GIL, and for a type that the base's launcher does not know either.

Mirrors third_party/nvidia/backend/driver.py: CudaUtils.__init__, CudaLauncher.__init__, ty_to_cpp, make_launcher,
wrap_handle_tensordesc
"""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import ModuleType
from typing import Any

from triton.fork.settings import enabled

__all__ = [
    "LETTERS",
    "cuda_launch",
    "cuda_utilities",
    "expanded_signature",
    "extension",
    "is_unpatched",
    "signature_letters",
]

_SWITCH = "TRITON_FORK_NATIVE"
_NAME = "triton._C.fork_native"
_DESCRIPTOR = re.compile(r"tensordesc<([^[>]*)\[([^]]*)\]")

#: Type of a parameter -> letter of its step. Those of integers are units of ``PyArg_ParseTuple``, as in the base.
LETTERS = {
    "constexpr": "C",
    "nvTmaDesc": "T",
    "i1": "b",
    "i8": "b",
    "i16": "h",
    "i32": "i",
    "i64": "L",
    "u1": "B",
    "u8": "B",
    "u16": "H",
    "u32": "I",
    "u64": "K",
    "fp16": "e",
    "bf16": "g",
    "fp32": "f",
    "f32": "f",
    "fp64": "d",
}


def extension() -> ModuleType | None:
    """Return the extension, imported at the first call."""
    # Without the GIL neither the limited API nor the launcher's way of borrowing arguments holds.
    if not enabled(_SWITCH) or "t" in sys.abiflags:
        return None
    return _imported()


#: The extension once it was looked for. No ``functools.cache``: torch.compile warns of such a function on the way of a launch.
_found: list[ModuleType | None] = []


def _imported() -> ModuleType | None:
    if not _found:
        _found.append(_load())
    return _found[0]


def _load() -> ModuleType | None:
    try:
        return importlib.import_module(_NAME)
    except ModuleNotFoundError:
        return None
    except ImportError as error:
        import logging

        logging.getLogger(__name__).warning("%s cannot be loaded, a C compiler takes its place: %s", _NAME, error)
        return None


def is_unpatched(member: Any, neighbour: Any) -> bool:
    """Tell whether a member of a class is the one that its module defines, and nobody has put another in its place.

    :param member: The member.
    :param neighbour: Another member of the class, which is the module's own.
    """
    code = getattr(member, "__code__", None)
    return code is not None and code.co_filename == neighbour.__code__.co_filename and code.co_name == member.__name__


def cuda_utilities(folder: str | None) -> ModuleType | None:
    """Return a module with everything that the base's ``cuda_utils`` has, the driver's library being loaded.

    :param folder: Where ``libcuda.so.1`` lies if the dynamic linker does not find it; ``TRITON_LIBCUDA_PATH``.
    """
    module = extension()
    return module if module is not None and module.load_driver(folder) else None


def cuda_launch(
    signature: Mapping[Any, Any], descriptors: Sequence[Any] | None, folder: str | None, tensor_map: Any
) -> Callable[..., None] | None:
    """Return the function that launches kernels of a signature, with the arguments of the base's generated ``launch``.

    :param signature: Parameter -> type, in the order of the parameters.
    :param descriptors: What the compiler says of each tensor descriptor among the parameters; an item is ``None`` for one that
        goes to the kernel as address, shape and strides.
    :param folder: As in :func:`cuda_utilities`.
    :param tensor_map: The type of tensor maps.
    """
    module = cuda_utilities(folder)
    if module is None or tensor_map is None:
        return None
    try:
        text = signature_letters(expanded_signature(list(signature.values()), descriptors, "nvTmaDesc"), LETTERS)
        launch: Callable[..., None] = module.Program("cuda", text, tensor_map, 0).launch
    except (KeyError, ValueError):
        return None
    return launch


def signature_letters(types: Iterable[Any], known: Mapping[str, str]) -> str:
    """Write the steps of a signature.

    :param types: Type of each parameter.
    :param known: Type -> letter.
    :raises KeyError: A type is not known.
    """
    letters = []
    for type_ in types:
        if isinstance(type_, tuple):
            letters.append(f"({signature_letters(type_, known)})")
        elif type_.startswith("*"):
            letters.append("P")
        else:
            letters.append(known[type_])
    return "".join(letters)


def expanded_signature(types: Sequence[Any], descriptors: Sequence[Any] | None, own: str) -> list[Any]:
    """Replace each tensor descriptor by what the base hands to the kernel for it.

    :param types: Type of each parameter.
    :param descriptors: As in :func:`cuda_launch`.
    :param own: The type of the vendor's own descriptors.
    :raises KeyError: A descriptor reads otherwise, or there are not as many as the compiler says.
    """
    expanded: list[Any] = []
    count = 0
    for type_ in types:
        if not isinstance(type_, str) or not type_.startswith("tensordesc"):
            expanded.append(type_)
            continue
        found = _DESCRIPTOR.match(type_)
        if found is None or (descriptors and count >= len(descriptors)):
            raise KeyError(type_)
        dimensions = found[2].count(",") + 1
        if descriptors and descriptors[count] is not None:
            expanded.append(own)
        else:
            expanded += ["*" + found[1], *["i64"] * (2 * dimensions), "i1"]
        expanded += ["i32"] * dimensions + ["i64"] * dimensions
        count += 1
    if descriptors and count != len(descriptors):
        raise KeyError("tensordesc")
    return expanded
