"""Damage each file of an entry in each way (or in those named), compile again, and say what came of it."""

import os
import shutil
import sys

import common

import triton

said, hits = common.Said(), common.Hits()


def cut(path):
    os.truncate(path, os.path.getsize(path) // 2)


def cut_end(path):
    os.truncate(path, os.path.getsize(path) - 1)


def empty(path):
    os.truncate(path, 0)


def garbage(path):
    with open(path, "wb") as stream:
        stream.write(b"\xff\x00{[" * 100)


def flip(path):
    with open(path, "r+b") as stream:
        stream.seek(os.path.getsize(path) // 2)
        byte = stream.read(1)[0]
        stream.seek(-1, os.SEEK_CUR)
        stream.write(bytes([byte ^ 1]))


def other_json(path):
    with open(path, "w") as stream:
        stream.write('["not", "what", "was", "expected"]')


def deep_json(path):
    with open(path, "w") as stream:
        stream.write("[" * 100_000)


def directory(path):
    os.unlink(path)
    os.mkdir(path)


def full_directory(path):
    directory(path)
    with open(os.path.join(path, "file"), "w"):
        pass


def dangling(path):
    os.unlink(path)
    os.symlink("/nonexistent/artifact", path)


def unreadable(path):
    os.chmod(path, 0)


DAMAGES = {
    "missing": os.unlink,
    "empty": empty,
    "cut": cut,
    "cut_end": cut_end,
    "garbage": garbage,
    "flip": flip,
    "other_json": other_json,
    "deep_json": deep_json,
    "directory": directory,
    "full_directory": full_directory,
    "dangling": dangling,
    "unreadable": unreadable,
}
TEXTS_TOO = {"missing", "cut_end", "flip", "directory", "unreadable"}
asked = sys.argv[1:] or DAMAGES.keys() - {"unreadable"}


def contents(folder):
    return {name: open(os.path.join(folder, name), "rb").read() for name in common.files_below(folder)}


whole = common.compile_kernel()
(key,) = os.listdir(triton.knobs.cache.dir)
folder = os.path.join(triton.knobs.cache.dir, key)
written = contents(folder)
hits.take()
result = {}
for name in sorted(written):
    for damage in sorted(asked):
        if name.endswith(("ir", "ptx", "source")) and damage not in TEXTS_TOO:
            continue
        DAMAGES[damage](os.path.join(folder, name))
        said.take()

        def again():
            kernel = common.compile_kernel()
            return {
                "kernel": kernel.kernel == whole.kernel,
                "texts": dict(kernel.asm) == dict(whole.asm),
                "metadata": kernel.metadata == whole.metadata,
            }

        case = {"first": common.outcome(again), "compiled": hits.take() != [True], "said": said.take()}
        case["repaired"] = common.outcome(lambda: contents(folder) == written)
        case["second"] = common.outcome(again)
        case["hit"] = hits.take() == [True]
        result[f"{name} {damage}"] = case
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        for file, data in written.items():
            with open(os.path.join(folder, file), "wb") as stream:
                stream.write(data)
        if hasattr(triton, "fork"):
            from triton.fork.disk_cache import files

            files._SAID.clear()
common.report(result)
