"""Uses the extension in interpreters that come and go, before and after the main one does; prints how each fared."""
# mypy: ignore-errors

import importlib
import importlib.machinery
import importlib.util
import json
import os
import sys

PROGRAM = """
import importlib.machinery, importlib.util, os
loader = importlib.machinery.ExtensionFileLoader("triton._C.fork_native", {path!r})
try:
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
except ImportError:
    answer = b"refused"
else:
    module.load_driver({folder!r})
    function = module.load_binary("kernel", {image!r}, 0, 0)[1]
    launch = module.Program("cuda", "Pi", None, 32).launch

    class Pointer:
        def data_ptr(self):
            return 4096

    launch(1, 1, 1, 0, function, 0, 0, None, None, (4, 1, 0), None, None, None, Pointer(), 5)
    module.fill_tma_descriptor(4096, 0, 4, 7, [16, 16], [64, 64], [64, 1], 1)
    answer = b"used"
os.write({descriptor}, answer)
"""


def interpreters():
    """Find the module under the name that this Python has for it; it is not public before 3.14."""
    for name in ("_interpreters", "_xxsubinterpreters"):
        try:
            return importlib.import_module(name)
        except ModuleNotFoundError:
            continue
    return None


def load(path):
    loader = importlib.machinery.ExtensionFileLoader("triton._C.fork_native", path)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


def main(path):
    from tests.fake_driver.library import FakeLibrary
    from tests.native.workers.image import cubin

    folder = os.environ["FAKE_DRIVER_FOLDER"]
    library = FakeLibrary(os.path.join(folder, "libcuda.so.1"))  # noqa: PTH118 - of the main interpreter, and loaded for all
    module, outcomes = interpreters(), []
    reader, writer = os.pipe()
    program = PROGRAM.format(path=path, folder=folder, descriptor=writer, image=cubin("kernel", [8, 4, 8, 8]))

    def elsewhere():
        if module is None:
            return
        other = module.create()
        failure = module.run_string(other, program)
        module.destroy(other)
        if failure is not None:
            raise RuntimeError(failure)
        outcomes.append(os.read(reader, 16).decode())

    elsewhere()
    elsewhere()
    own = load(path)
    elsewhere()
    own.load_driver(folder)
    launch = own.Program("cuda", "C", None, 32).launch
    function = own.load_binary("kernel", cubin("kernel", [8, 8]), 0, 0)[1]
    for _ in range(3):
        launch(1, 1, 1, 0, function, 0, 0, None, None, (4, 1, 0), None, None, None, object())
    elsewhere()
    if library.launch_count < 3:
        raise RuntimeError("nothing was launched")
    print(json.dumps(outcomes))


if __name__ == "__main__":
    main(sys.argv[1])
