"""Compile with a file system that fails in one way, named by the arguments: an operation and an error."""

import builtins
import errno
import os
import shutil
import sys

import common

import triton

CACHE = triton.knobs.cache.dir
real = {name: getattr(os, name) for name in ("mkdir", "replace", "rename", "rmdir", "unlink")}
real_open = builtins.open


def inside(path):
    return isinstance(path, (str, os.PathLike)) and os.fspath(path).startswith(CACHE)


def failing(name, number):
    def call(*arguments, **options):
        if inside(arguments[0]):
            raise OSError(number, os.strerror(number), arguments[0])
        return real[name](*arguments, **options)

    return call


def failing_open(number):
    def call(path, mode="r", *arguments, **options):
        if inside(path) and set(mode) & set("wax+"):
            raise OSError(number, os.strerror(number), path)
        return real_open(path, mode, *arguments, **options)

    return call


def removing(times):
    """Another process removes the cache just before a file is moved to its place."""
    left = [times]

    def call(*arguments, **options):
        if inside(arguments[0]) and left[0] > 0:
            left[0] -= 1
            shutil.rmtree(CACHE, ignore_errors=True)
        return real["replace"](*arguments, **options)

    return call


def replace_over(number):
    """Only renaming over an existing file fails."""

    def call(source, target):
        if inside(target) and os.path.exists(target):
            raise OSError(number, os.strerror(number), source)
        return real["replace"](source, target)

    return call


def unseen(event, arguments):
    """What this process has just written cannot be read back (metadata caches of network file systems)."""
    if event == "open" and inside(arguments[0]) and not set(arguments[1] or "") & set("wax+"):
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), arguments[0])


said, hits = common.Said(), common.Hits()
operation, name = sys.argv[1], sys.argv[2]
number = getattr(errno, name, 0)
if operation == "as-it-is":
    pass  # the file system itself fails
elif operation == "write":
    builtins.open = failing_open(number)
elif operation == "removed":
    os.replace = removing(int(name))
elif operation == "replace-over":
    common.compile_kernel()
    triton.knobs.compilation.always_compile = True
    os.replace = replace_over(number)
elif operation == "all-moves":
    os.replace, os.rename = failing("replace", number), failing("rename", number)
elif operation == "unseen":
    sys.addaudithook(unseen)
else:
    setattr(os, operation, failing(operation, number))
hits.take()


def compile_two():
    first, other = common.compile_kernel(), common.compile_kernel(value=8)
    return [len(first.kernel) > 0, first.kernel != other.kernel, sorted(first.asm)]


result = {"first": common.outcome(compile_two), "compiled": hits.take()}
triton.knobs.compilation.always_compile = False
result["second"], result["hits"] = common.outcome(compile_two), hits.take()
result["said"] = said.take()
os.rmdir, builtins.open = real["rmdir"], real_open
result["leftovers"] = [path for path in common.files_below(CACHE) if "tmp.pid" in path]
result["files"] = len(common.files_below(CACHE))
common.report(result)
