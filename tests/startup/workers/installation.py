"""Answer questions about the key of an installation whose package lies in a folder given, without its libtriton.

The package is one that ``installed.py`` laid out: the real Python files, small files in place of the native ones, and an
``__init__.py`` that imports nothing. Each line of standard input is one question, each line of the answer one JSON value.
"""

# ruff: noqa: PTH118, PTH120
# Runs in the environment under test: the order of imports matters, and pathlib is one of those that are watched.

import json
import os
import sys
import threading
import time
import types
from typing import Any

package = sys.argv[1]
sys.path.insert(0, os.path.dirname(package))


def module(name: str, **attributes: Any) -> types.ModuleType:
    made = types.ModuleType(name)
    made.__dict__.update(attributes)
    sys.modules[name] = made
    return made


module("triton", __path__=[package])
library = os.path.join(package, "_C", "libtriton.so")
module("triton._C.libtriton", __file__=library)


class Backend:
    def __init__(self, compiler: type) -> None:
        self.compiler = compiler


backends: dict[str, Backend] = {}
module("triton.backends", __path__=[os.path.join(package, "backends")], backends=backends, Backend=Backend)
module("triton.fork.startup.lazy_backend", package_of=lambda backend: backend.compiler.__module__.rpartition(".")[0])

from triton.fork.cache_key import installation  # noqa: E402
from triton.fork.state import filesystem, memo, parallel  # noqa: E402

counts = {"stat": 0, "digest": 0, "threads": 0}
real_identity, real_digest, delay = memo.identity, installation.digest_of, 0.0


def identity(path: str) -> list[int]:
    counts["stat"] += 1
    counts["threads"] = max(counts["threads"], threading.active_count())
    time.sleep(delay)
    return real_identity(path)


def digest_of(path: str) -> str:
    counts["digest"] += 1
    return real_digest(path)


memo.identity = installation.identity = parallel.identity = identity
installation.digest_of = digest_of


def ask(question: dict[str, Any]) -> Any:
    global delay
    counts.update(stat=0, digest=0, threads=0)
    os.environ.update(question.get("environment", {}))
    delay = question.get("delay", 0.0)
    memo._SETTLING_NANOSECONDS = question.get("settling", 0)
    parallel._SLOW_NANOSECONDS = question.get("slow", 10**12)
    if "trusted" in question:
        filesystem._TRUSTED = frozenset(question["trusted"])
    backends.clear()
    for name, folder in question.get("backends", {}).items():
        module(name, __path__=[folder])
        backends[name] = Backend(type("Compiler", (), {"__module__": name + ".compiler"}))
    return {"key": installation.installation_key(), **counts}


for line in sys.stdin:
    print(json.dumps(ask(json.loads(line))), flush=True)
