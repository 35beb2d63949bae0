"""What the workers share: a kernel, compiling it, and what was said."""

import json
import logging
import os

import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

import triton

TARGET = GPUTarget("cuda", 90, 32)


@triton.jit
def kernel(p, N: tl.constexpr):
    tl.store(p, N)


class Said(logging.Handler):
    """Collects the messages of Triton's loggers."""

    def __init__(self):
        super().__init__(logging.WARNING)
        self.messages = []
        logging.getLogger("triton").addHandler(self)
        logging.getLogger("triton").propagate = False

    def emit(self, record):
        self.messages.append(record.getMessage())

    def take(self):
        messages, self.messages = self.messages, []
        return messages


class Hits:
    """Counts the kernels that were found in the cache, and those that were compiled."""

    def __init__(self):
        self.found = []
        triton.knobs.compilation.listener = self

    def __call__(self, *, cache_hit, **_):
        self.found.append(cache_hit)

    def take(self):
        found, self.found = self.found, []
        return found


def compile_kernel(function=kernel, constants=None, value=7):
    """Compile a kernel whose other parameter is a pointer."""
    constants = {"N": value} if constants is None else constants
    signature = {"p": "*i32", **dict.fromkeys(constants, "constexpr")}
    return triton.compile(ASTSource(function, signature, constants), target=TARGET)


def outcome(call):
    """Say what came of a call: a value, or the name of an error."""
    try:
        return call()
    except BaseException as error:
        return f"raised {type(error).__name__}: {error}"[:300]


def files_below(folder):
    """Relative paths of all files below a folder."""
    return sorted(
        os.path.relpath(os.path.join(root, name), folder) for root, _, names in os.walk(folder) for name in names
    )


def report(result):
    """Print the result, as the last line."""
    print(json.dumps(result))
