"""Compile kernels, and say what their metadata is and how many classes were made for it."""

import collections

import common

made = 0
original = collections.namedtuple


def counting(*args, **kwargs):
    global made
    made += args[0] == "KernelMetadata"
    return original(*args, **kwargs)


kind = type(common.compile_kernel(value=1).metadata)
collections.namedtuple = counting
try:
    from triton.fork.disk_cache import metadata

    metadata.namedtuple = counting
except ImportError:
    pass  # the base
OTHERS = {"hash", "extern_libs", "triton_version"}  # They tell installations apart.
kernels = [common.compile_kernel(value=value) for value in (2, 3, 4)]
facts = []
for kernel in kernels:
    fields = {name: str(value) for name, value in kernel.metadata._asdict().items() if name not in OTHERS}
    facts.append([kind.__name__, kind.__module__, fields, list(kernel.packed_metadata)])
common.report({"made": made, "facts": facts, "classes": len({type(kernel.metadata) for kernel in kernels})})
