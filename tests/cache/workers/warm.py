"""Count what a process reads of a cache that another one filled."""

import builtins
import io
import os

import common

import triton

CACHE = triton.knobs.cache.dir
common.compile_kernel()
opened = []
real = builtins.open


def counting(path, mode="r", *arguments, **options):
    if isinstance(path, (str, os.PathLike)) and os.fspath(path).startswith(CACHE):
        opened.append([os.path.basename(path), os.path.getsize(path), "w" in mode])
    return real(path, mode, *arguments, **options)


hits = common.Hits()
builtins.open = io.open = counting
common.compile_kernel()
builtins.open = io.open = real
assert hits.take() == [True]
common.report(sorted(opened))
