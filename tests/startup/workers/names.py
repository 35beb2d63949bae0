"""Report the public names of Triton's modules, what they are, and what else users ask of modules and classes."""

# ruff: noqa: I001
# Runs in the environment under test: the order of imports matters, and pathlib is one of those that are watched.

import dataclasses
import importlib
import inspect
import json
import pickle
import sys
import typing

import triton
import triton.language as tl

imported = sorted(name for name in sys.modules if name.startswith("triton"))
MODULES = [
    "triton", "triton.backends", "triton.compiler", "triton.compiler.compiler", "triton.experimental.gluon",
    "triton.experimental.gluon.amd", "triton.experimental.gluon.amd.gfx1250", "triton.experimental.gluon.nvidia",
    "triton.experimental.gluon.nvidia.hopper", "triton.knobs", "triton.language", "triton.language.core",
    "triton.language.extra", "triton.language.math", "triton.language.standard", "triton.runtime", "triton.runtime._async_compile",
    "triton.runtime.build", "triton.runtime.cache", "triton.runtime.jit", "triton.testing", "triton.tools", "triton.tools.disasm",
    "triton.backends.nvidia.compiler", "triton.backends.nvidia.driver", "triton.backends.amd.compiler", "triton.backends.amd.driver",
]  # fmt: skip


def kind(value: object) -> str:
    if inspect.ismodule(value):
        return f"module {value.__name__}"
    if inspect.isclass(value):
        return f"class {value.__module__}.{value.__qualname__}"
    return type(value).__name__


names, everything, starred, documented = {}, {}, {}, {}
for module_name in MODULES:
    module = importlib.import_module(module_name)
    listed = [name for name in dir(module) if not name.startswith("__")]
    names[module_name] = {name: kind(getattr(module, name)) for name in listed}
    everything[module_name] = sorted(getattr(module, "__all__", []))
    if module_name != "triton.language.extra":  # the base's __all__ holds names that are not attributes
        namespace: dict = {}
        exec(f"from {module_name} import *", namespace)
        starred[module_name] = sorted(namespace.keys() - {"__builtins__"})

from triton.experimental.gluon.nvidia.hopper import TensorDescriptor  # noqa: E402
from triton.testing import do_bench  # noqa: E402

hints = typing.get_type_hints(TensorDescriptor)
kernels = {}
for module_name in ("standard", "math", "random", "core", "target_info"):
    for name, value in vars(importlib.import_module(f"triton.language.{module_name}")).items():
        if isinstance(value, triton.runtime.jit.JITCallable):
            kernels[f"{module_name}.{name}"] = {
                "raw": value.raw_src,
                "line": value.starting_line_number,
                "src": value.src,
                "signature": str(value.signature),
                "parameters": getattr(value, "arg_names", None),
                "constexprs": getattr(value, "constexprs", None),
                "key": value.cache_key,
            }

print(
    json.dumps(
        {
            "imported": imported,
            "names": names,
            "all": everything,
            "starred": starred,
            "hint": str(hints["layout"]),
            "fields": [field.name for field in dataclasses.fields(TensorDescriptor)],
            "pickled": pickle.loads(pickle.dumps(do_bench)) is triton.testing.do_bench,
            "source": inspect.getsource(triton.testing.do_bench)[:20],
            "members": len(inspect.getmembers(tl)),
            "kernels": kernels,
            "member_docs": {
                name: str(getattr(tl.tensor, name).__doc__)
                for name in dir(tl.tensor)
                # These two are of instances alone in the base.
                if name[0] != "_" and name not in {"numel", "shape"} and hasattr(tl.tensor, name)
            },
            "docs": {name: str(getattr(tl, name).__doc__) for name in tl.__all__},
        }
    )
)
