"""Damage the other things that are cached: libraries built at run time, and timings of the autotuner."""

import os
import sys

import common
from triton.runtime import build
from triton.runtime.autotuner import Autotuner, Config

import triton

SOURCE = """
#include <Python.h>
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "tiny", 0, -1, 0};
PyMODINIT_FUNC PyInit_tiny(void) { return PyModule_Create(&module); }
"""
said = common.Said()
builds = []
real_build = build._build


def counted(*arguments):
    builds.append(1)
    return real_build(*arguments)


build._build = counted


def load():
    builds.clear()
    return [build.compile_module_from_src(SOURCE, "tiny").__name__, len(builds)]


class Driver:
    def get_current_target(self):
        return common.TARGET


def tune(apply):
    """Measure, damage the file, and look again as a new process would."""
    triton.runtime.driver.set_active(Driver())
    runs = []

    def tuner():
        configs = [Config({"N": 1}), Config({"N": 2})]
        made = Autotuner(common.kernel, ["p", "N"], configs, [], None, None)

        def bench():
            runs.append(1)
            made.configs_timings = {configs[0]: [1.0], configs[1]: [2.0]}
            made.cache["key",] = configs[0]

        made.check_disk_cache(("key",), configs, bench)
        return made.cache["key",].kwargs["N"]

    best = [tuner()]
    (path,) = (p for p in common.files_below(triton.knobs.cache.dir) if p.endswith(".autotune.json"))
    apply(os.path.join(triton.knobs.cache.dir, path))
    best += [tuner(), tuner()]
    return {"best": best, "runs": len(runs)}


def whole(path):
    pass


def empty(path):
    os.truncate(path, 0)


def cut(path):
    os.truncate(path, os.path.getsize(path) // 2)


def other_json(path):
    with open(path, "w") as stream:
        stream.write('{"configs_timings": []}')


def flip(path):
    data = bytearray(open(path, "rb").read())
    data[len(data) // 2] ^= 255
    os.unlink(path)
    with open(path, "wb") as stream:
        stream.write(data)


def directory(path):
    os.unlink(path)
    os.makedirs(os.path.join(path, "inside"))


kind, name = sys.argv[1:]
apply = globals()[name]
if kind == "timings":
    common.report({**common.outcome(lambda: tune(apply)), "said": len(said.take())})
else:
    first = load()
    (library,) = (p for p in common.files_below(triton.knobs.cache.dir) if p.endswith(".so") and "__grp__" not in p)
    if kind == "unrecorded-library":  # as the base leaves it
        (group,) = (p for p in common.files_below(triton.knobs.cache.dir) if "__grp__" in p)
        os.unlink(os.path.join(triton.knobs.cache.dir, group))
    # The loaded file stays mapped: replace it, so that the damage is in a new one.
    path = os.path.join(triton.knobs.cache.dir, library)
    data = open(path, "rb").read()
    os.unlink(path)
    with open(path, "wb") as stream:
        stream.write(data)
    apply(path)
    result = {"first": first, "again": common.outcome(load), "said": len(said.take()), "third": common.outcome(load)}
    common.report(result)
