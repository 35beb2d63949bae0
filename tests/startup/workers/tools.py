"""Ask for the answers of programs and report them with the number of processes that this took."""

import json
import sys

started = []
sys.addaudithook(lambda event, arguments: started.append(event) if event == "subprocess.Popen" else None)

from triton.fork.startup import tools  # noqa: E402
from triton.fork.state import memo  # noqa: E402

memo._SETTLING_NANOSECONDS = 0
if sys.argv[1] == "version":
    answers = [tools.version_text(path, with_errors=merged) for path in sys.argv[2:] for merged in (True, False)]
elif sys.argv[1] == "libraries":
    tools._LINKER, tools._LINKER_CACHE = sys.argv[2:4]
    answers = [tools.linker_libraries("libc.so"), tools.linker_libraries("libc.so")]
else:
    from triton.runtime.build import platform_key

    answers = [platform_key()]
print(json.dumps({"answers": answers, "processes": len(started)}))
