"""Settings of lit. ``tests/integration/test_lit.py`` runs it with ``--param python=`` for base and for fork."""

import subprocess
import sys
import tempfile
from pathlib import Path

import lit.formats

folder = Path(__file__).parent
python = lit_config.params.get("python", sys.executable)  # noqa: F821
script = "import importlib.util as u, os; print(os.path.dirname(u.find_spec('triton').origin))"
triton = subprocess.run([python, "-I", "-c", script], check=True, capture_output=True, text=True).stdout.strip()

config.name = "ir"  # noqa: F821
config.test_format = lit.formats.ShTest(execute_external=False)  # noqa: F821
config.suffixes = [".test"]  # noqa: F821
config.test_source_root = str(folder)  # noqa: F821
# lit writes how long each test took; that does not belong into the checkout.
config.test_exec_root = lit_config.params.get("scratch") or tempfile.mkdtemp(prefix="lit-")  # noqa: F821
config.substitutions += [  # noqa: F821
    ("%compile", f"{python} -I -B {folder / 'compile.py'}"),
    ("%filecheck", f"{triton}/FileCheck"),
]
