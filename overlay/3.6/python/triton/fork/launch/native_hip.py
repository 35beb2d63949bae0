"""HIP's driver utilities and launchers out of the native extension; :mod:`triton.fork.launch.native` has those of CUDA.

``None`` from any function here means: go the base's way. It is the answer with ``TRITON_FORK_NATIVE=0``, where the extension is
not there, on a Python without the GIL, and for a type that the base's launcher does not know either. A runtime library that
cannot be used raises what the base's compiled modules raise when they are imported.

Mirrors third_party/amd/backend/driver.py: HIPUtils.__init__, HIPLauncher.__init__, ty_to_cpp, make_launcher,
wrap_handle_tensordesc
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

from triton.fork.launch.native import LETTERS, expanded_signature, extension, signature_letters

__all__ = ["hip_launch", "hip_utilities"]

_DESCRIPTOR = "tensordesc"
_LETTERS = {type_: letter for type_, letter in LETTERS.items() if type_ != "nvTmaDesc"} | {_DESCRIPTOR: "T"}


def hip_utilities(path: str) -> SimpleNamespace | None:
    """Return everything that the base's ``hip_utils`` has, the runtime library being loaded.

    :param path: Where ``libamdhip64.so`` lies.
    :raises RuntimeError: The library cannot be loaded, is too old or lacks a function.
    """
    module = extension()
    if module is None:
        return None
    module.load_hip_driver(path)
    return SimpleNamespace(
        load_binary=module.hip_load_binary,
        get_device_properties=module.hip_get_device_properties,
        create_tdm_descriptor=module.create_tdm_descriptor,
        PyTDMDescriptor=module.PyTDMDescriptor,
    )


def hip_launch(
    signature: Mapping[Any, Any], descriptors: Sequence[Any] | None, warp_size: Any, path: str, descriptor_type: Any
) -> Callable[..., None] | None:
    """Return the function that launches kernels of a signature, with the arguments of the base's generated ``launch``.

    :param signature: Parameter -> type, in the order of the parameters.
    :param descriptors: What the compiler says of each tensor descriptor among the parameters; an item is ``None`` for one that
        goes to the kernel as address, shape and strides.
    :param warp_size: Threads of a warp.
    :param path: As in :func:`hip_utilities`.
    :param descriptor_type: The type of descriptors for the tensor data mover.
    :raises RuntimeError: As in :func:`hip_utilities`.
    """
    module = extension()
    if module is None or descriptor_type is None or type(warp_size) is not int:
        return None
    try:
        text = signature_letters(expanded_signature(list(signature.values()), descriptors, _DESCRIPTOR), _LETTERS)
    except KeyError:
        return None
    module.load_hip_driver(path)
    launch: Callable[..., None] = module.Program("hip", text, descriptor_type, warp_size).launch
    return launch
