"""Makes the smallest cubin that the fake driver loads: one kernel with parameters of given sizes."""
# mypy: ignore-errors

import struct

_HEADER = "<16sHHIQQQIHHHHHH"
_SECTION = "<IIQQQQIIQQ"
_CUDA = 190


def image(name, sizes):
    """Make the cubin.

    :param name: of the kernel
    :param sizes: bytes of each parameter
    :returns: the file's content
    """
    entries, offset = [], 0
    for ordinal, size in enumerate(sizes):
        offset = -(-offset // min(size, 128)) * min(size, 128)
        entries.append(struct.pack("<BBHIHHI", 4, 0x17, 12, 0, ordinal, offset, size << 18))
        offset += size
    entries.append(struct.pack("<BBH", 3, 0x19, offset))
    information = b"".join(entries)
    names = b"\0.shstrtab\0.nv.info." + name.encode() + b"\0"
    start = struct.calcsize(_HEADER)
    table = start + len(names) + len(information)
    sections = [
        struct.pack(_SECTION, *[0] * 10),
        struct.pack(_SECTION, 1, 3, 0, 0, start, len(names), 0, 0, 1, 0),
        struct.pack(_SECTION, 11, 1, 0, 0, start + len(names), len(information), 0, 0, 1, 0),
    ]
    identity = b"\x7fELF\x02\x01\x01".ljust(16, b"\0")
    header = struct.pack(_HEADER, identity, 2, _CUDA, 1, 0, 0, table, 0, start, 0, 0, 64, len(sections), 1)
    return header + names + information + b"".join(sections)
