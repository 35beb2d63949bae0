"""Makes HIP's utilities with the library that TRITON_LIBHIP_PATH names, and prints what that raises."""
# mypy: ignore-errors

import json

from triton.backends.amd.driver import HIPUtils

try:
    HIPUtils()
    raised = None
except Exception as error:
    raised = [type(error).__name__, str(error)]
print(json.dumps(raised))
