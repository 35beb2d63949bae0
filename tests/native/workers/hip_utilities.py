"""Calls the functions of the hip_utils that the base compiles and the extension's with the same arguments; prints differences.

Argument: how many descriptors to make.
"""
# mypy: ignore-errors

import ctypes
import json
import random as randoms
import sys
from collections import Counter
from pathlib import Path

from triton.backends.amd import driver as amd
from triton.fork.launch import native
from triton.runtime.build import compile_module_from_src

from tests.fake_driver.amd import install
from tests.native.workers.image import hsaco

DESCRIPTOR_BYTES = slice(16, 64)
BIG = [2**31 - 1, 2**31, 2**32 - 1, 2**32 + 5, 2**63 - 1, -1, -(2**31)]


def compiled_utilities(path):
    """Compile the base's module, as HIPUtils does with the extension switched off."""
    source = (Path(amd.dirname) / "driver.c").read_text().replace("/*py_libhip_search_path*/", path, 1)
    return compile_module_from_src(src=source, name="hip_utils", include_dirs=amd.include_dirs)


def outcome(function, arguments):
    try:
        answer = function(*arguments)
    except Exception as error:
        return ["error", type(error).__name__, str(error)]
    if type(answer).__name__ == "PyTDMDescriptor":
        return ["descriptor", type(answer).__module__, type(answer).__basicsize__, raw(answer)]
    # Handles of a module and a function differ.
    return ["answer", answer[2:] if isinstance(answer, tuple) else answer]


def raw(descriptor):
    return ctypes.string_at(id(descriptor), 64)[DESCRIPTOR_BYTES].hex()


def extent(random):
    return (
        random.choice(BIG) if random.random() < 0.1 else random.choice([1, 2, 3, 16, 32, 100, 4096, 70000, 2**20 + 3])
    )


def pair(random):
    """Make two extents; or a few that are wrong."""
    made = [extent(random), extent(random)]
    if random.random() < 0.1:
        return random.choice([made[:1], [*made, 1], [*made, "3"][1:], [1.5, 2], None, 7, "ab", (), [made, made]])
    return random.choice([list, tuple])(made)


def descriptor(random):
    """Make the arguments of a descriptor. A block without rows and a number of warps that is none crash the base."""
    warps = random.choice([1, 2, 4, 8, 3, 16]) if random.random() < 0.95 else random.choice(["4", 2.0, None, 2**31])
    bits = random.choice([8, 16, 32, 64, 4, 0, 128, 12])
    padding = [random.choice([0, 0, 1, 2, 32, 64, 128, 100, -4, 2**30]) for _ in range(2)]
    address = random.choice([0, 4096, 2**47 + 16, 2**57 - 1, 2**64 - 1, -1, "a"])
    return [bits, pair(random), warps, *padding, pair(random), pair(random), address]


def agree(base, ours):
    # A number that fits no 64 bits leaves an exception in the base, beside a descriptor.
    return base == ours or (base[1] == "SystemError" and ours[1] == "OverflowError")


def main():
    fake = install()
    extension = native.extension()
    base = compiled_utilities(str(fake.library.path))
    random = randoms.Random(11)
    differences, kinds = [], Counter()

    def compare(name, own_name, arguments):
        answers = [outcome(getattr(base, name), arguments), outcome(getattr(extension, own_name), arguments)]
        kinds[answers[0][0]] += 1
        if not agree(*answers):
            differences.append([name, repr(arguments), *map(repr, answers)])

    for arguments in [(0,), (7,), (-1,), ("a",), (), (0, 1), (2**31,), (None,)]:
        compare("get_device_properties", "hip_get_device_properties", arguments)
    image = hsaco("kernel", [8, 4, 8, 8])
    for arguments in [
        ("kernel", image, 0, 0), ("other", image, 0, 0), ("kernel", b"no image" * 20, 0, 0), ("kernel", image, 2**20, 5),
        (1, image, 0, 0), ("kernel", "text" * 20, 0, 0), ("kernel", image, 0), ("ker\0nel", image, 0, 0),
    ]:  # fmt: skip
        compare("load_binary", "hip_load_binary", arguments)
    for name, code in [("hipModuleLoadDataEx", 209), ("hipModuleGetFunction", 500), ("hipFuncGetAttribute", 1)]:
        fake.library.fail([name], code)
        compare("load_binary", "hip_load_binary", ("kernel", image, 0, 0))
        fake.library.clear_failures()
    for _ in range(int(sys.argv[1])):
        compare("create_tdm_descriptor", "create_tdm_descriptor", descriptor(random))
    refused = [outcome(extension.create_tdm_descriptor, [16, block, warps, 0, 0, [64, 64], [64, 1], 0])
               for block, warps in [([0, 16], 4), ([16, 16], 0)]]  # fmt: skip
    empty = raw(extension.PyTDMDescriptor(1, a=2)) == raw(base.PyTDMDescriptor(1, a=2))
    answer = {"differences": differences, "kinds": kinds, "refused": refused, "empty": empty}
    print(json.dumps(answer))


if __name__ == "__main__":
    main()
