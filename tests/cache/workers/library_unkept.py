"""Build a library when neither the cache nor a folder of the process can keep it."""

import os
import tempfile

import common
from triton.runtime import build

SOURCE = """
#include <Python.h>
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "tiny", 0, -1, 0};
PyMODINIT_FUNC PyInit_tiny(void) { return PyModule_Create(&module); }
"""
said = common.Said()


def no_folder(*arguments, **options):
    raise FileNotFoundError("no usable temporary folder")


tempfile.mkdtemp, mkdtemp = no_folder, tempfile.mkdtemp
tempfile.TemporaryDirectory.__init__.__globals__["mkdtemp"] = lambda *a, **o: (
    mkdtemp(*a, **o) if not (o.get("prefix") or "").startswith("triton-cache") else no_folder()
)
loaded = [build.compile_module_from_src(SOURCE, "tiny").__name__ for _ in range(2)]
common.report({"loaded": loaded, "said": len(said.take()), "left": os.listdir(os.environ["TMPDIR"])})
