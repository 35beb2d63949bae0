"""Count the signatures of jitted functions that importing the language inspects."""

import inspect
import json
import sys

jitted = 0
inspect_signature = inspect.signature


def counting(function, *args, **kwargs):
    global jitted
    jitted += type(function).__name__ == "JITFunction"
    return inspect_signature(function, *args, **kwargs)


inspect.signature = counting
import triton.language as tl  # noqa: E402

answer = {"jitted": jitted, "documented": [tl.sum.__doc__, tl.tensor.sum.__doc__, tl.tensor.sum is tl.sum]}
sys.stdout.write(json.dumps(answer))
