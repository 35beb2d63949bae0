"""Generate the IR of kernels that are given as text, without a device."""

import importlib.util
import sys
import tempfile
import traceback
from pathlib import Path

from triton._C.libtriton import ir
from triton.backends.compiler import GPUTarget
from triton.compiler.compiler import ASTSource, make_backend

TARGET = GPUTarget("cuda", 90, 32)

_HEADER = "import triton\nimport triton.language as tl\n\n\n"
_folder = Path(tempfile.mkdtemp())


def load(name, text):
    """Import a module made of a text; the functions in it have sources to read."""
    path = _folder / f"{name}.py"
    path.write_text(_HEADER + text)
    specification = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(specification)
    sys.modules[name] = module
    specification.loader.exec_module(module)
    return module


def generate(function, signature, constants):
    """Give the module of a kernel as the first stage of compilation makes it."""
    types = {name: "constexpr" if name in constants else signature[name] for name in function.arg_names}
    source = ASTSource(function, types, constants)
    backend = make_backend(TARGET)
    options = backend.parse_options({})
    context = ir.context()
    ir.load_dialects(context)
    backend.load_dialects(context)
    return source.make_ir(
        TARGET, options, backend.get_codegen_implementation(options), backend.get_module_map(), context
    )


def text_of(function, signature, constants):
    """Give the IR with debug locations, or the chain of errors, with the paths of this process taken out."""
    try:
        text = str(generate(function, signature, constants))
    except Exception as error:
        text = "".join(_messages(error))
    return text.replace(str(_folder), "FOLDER").replace(sys.prefix, "PREFIX")


def _messages(error):
    while error is not None:
        yield "".join(traceback.format_exception_only(type(error), error))
        error = error.__cause__
