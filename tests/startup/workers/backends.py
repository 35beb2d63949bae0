"""Report the backends that Triton finds and which of them serves each target."""

import json

from triton.backends import backends
from triton.backends.compiler import GPUTarget
from triton.compiler import make_backend
from triton.fork.cache_key.installation import _folders_of_other_backends

targets = [GPUTarget("cuda", 90, 32), GPUTarget("hip", "gfx942", 64), GPUTarget("other", "gfx942", 64)]
report = {
    "backends": sorted(backends),
    "made": [type(make_backend(target)).__name__ for target in targets],
    "key_folders": _folders_of_other_backends(),
}
try:
    make_backend(GPUTarget("nothing", 1, 1))
except RuntimeError as error:
    report["refused"] = str(error)
print(json.dumps(report))
