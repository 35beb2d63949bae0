"""Count what a process reads of a cache that another one filled."""

import os
import sys

import common

import triton

CACHE = triton.knobs.cache.dir
common.compile_kernel()
opened, counting = [], False


def count(event, arguments):
    if counting and event == "open" and str(arguments[0]).startswith(CACHE):
        path, mode = arguments[:2]
        opened.append([os.path.basename(path), os.path.getsize(path), "w" in mode])


sys.addaudithook(count)
hits = common.Hits()
counting = True
common.compile_kernel()
counting = False
assert hits.take() == [True]
common.report(sorted(opened))
