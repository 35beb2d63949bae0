"""Reads the linker's cache, a file given as the first argument or the system's, and prints the lines with a word."""
# mypy: ignore-errors

import json
import sys

from triton.fork.startup import linker_cache

word, *path = sys.argv[1:]
if path:
    linker_cache._PATH = path[0]
print(json.dumps(linker_cache.linker_libraries(word)))
