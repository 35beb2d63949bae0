"""Makes the smallest cubin and the smallest hsaco that the fake drivers load: one kernel with parameters of given sizes."""
# mypy: ignore-errors

import struct

_HEADER = "<16sHHIQQQIHHHHHH"
_SECTION = "<IIQQQQIIQQ"
_CUDA, _AMDGPU = 190, 224
_PROGBITS, _STRINGS, _NOTE = 1, 3, 7


def cubin(name, sizes):
    """Make a cubin.

    :param name: of the kernel
    :param sizes: bytes of each parameter
    :returns: the file's content
    """
    entries = [
        struct.pack("<BBHIHHI", 4, 0x17, 12, 0, ordinal, offset, size << 18)
        for ordinal, (offset, size) in enumerate(_places(sizes, 128))
    ]
    entries.append(struct.pack("<BBH", 3, 0x19, _end(sizes, 128)))
    return _elf(_CUDA, ".nv.info." + name, _PROGBITS, b"".join(entries))


def hsaco(name, sizes):
    """Make an hsaco.

    :param name: of the kernel
    :param sizes: bytes of each parameter
    :returns: the file's content
    """
    arguments = [{".offset": offset, ".size": size, ".value_kind": "by_value"} for offset, size in _places(sizes, 8)]
    kernel = {".name": name, ".args": arguments, ".kernarg_segment_size": _end(sizes, 8)}
    content = _message({"amdhsa.kernels": [kernel]})
    note = struct.pack("<III8s", len(b"AMDGPU\0"), len(content), 32, b"AMDGPU") + content
    return _elf(_AMDGPU, ".note", _NOTE, note + bytes(-len(note) % 4))


def _places(sizes, most_alignment):
    offset = 0
    for size in sizes:
        alignment = next(bits for bits in (128, 8, 4, 2, 1) if bits <= most_alignment and size % bits == 0)
        offset = -(-offset // alignment) * alignment
        yield offset, size
        offset += size


def _end(sizes, most_alignment):
    return max((offset + size for offset, size in _places(sizes, most_alignment)), default=0)


def _message(item):
    """Write an item as MessagePack."""
    if isinstance(item, dict):
        return b"\xde" + struct.pack(">H", len(item)) + b"".join(_message(key) + _message(item[key]) for key in item)
    if isinstance(item, list):
        return b"\xdc" + struct.pack(">H", len(item)) + b"".join(map(_message, item))
    if isinstance(item, str):
        return b"\xd9" + struct.pack(">B", len(item)) + item.encode()
    return b"\xce" + struct.pack(">I", item)


def _elf(machine, section, kind, content):
    names = b"\0.shstrtab\0" + section.encode() + b"\0"
    names += bytes(-len(names) % 8)
    start = struct.calcsize(_HEADER)
    table = start + len(names) + len(content)
    sections = [
        struct.pack(_SECTION, *[0] * 10),
        struct.pack(_SECTION, 1, _STRINGS, 0, 0, start, len(names), 0, 0, 1, 0),
        struct.pack(_SECTION, 11, kind, 0, 0, start + len(names), len(content), 0, 0, 1, 0),
    ]
    identity = b"\x7fELF\x02\x01\x01".ljust(16, b"\0")
    header = struct.pack(_HEADER, identity, 2, machine, 1, 0, 0, table, 0, start, 0, 0, 64, len(sections), 1)
    return header + names + content + b"".join(sections)
