"""Start to the first launch, counting what the process asks of the system. Run by ``start_counts.py``."""

import sys

opened: list[str] = []
started: list[str] = []
# Newer Pythons start a process by os.posix_spawn within subprocess.Popen, which says so too: one event each.
_STARTS = ("subprocess.Popen", "os.system", "os.exec", "os.fork")


def _watch(event: str, arguments: tuple[object, ...]) -> None:
    if event == "open" and isinstance(arguments[0], str):
        opened.append(arguments[0])
    elif event in _STARTS:
        started.append(str(arguments[0]))


sys.addaudithook(_watch)


def main() -> None:
    """Launch one kernel and print the counts.

    Bytes are those that the process itself read by system calls; what is mapped into memory, such as libtriton, is not in them.
    Processes are those that it started itself, not what they started.
    """
    from benchmarks.support.device import Tensor, install
    from benchmarks.support.ten_kernels import launches

    install()
    kernel, arguments, constants = launches(Tensor)[0]
    kernel[(1,)](*arguments, **constants)
    files, modules = len(opened), len(sys.modules)
    with open("/proc/self/io", encoding="ascii") as file:  # noqa: PTH123 (importing pathlib would count)
        read = int(file.readline().split()[1])
    import json

    counts = {"files opened": files, "bytes read": read, "processes started": len(started), "modules imported": modules}
    print(json.dumps(counts))


if __name__ == "__main__":
    main()
