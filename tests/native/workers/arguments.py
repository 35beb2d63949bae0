"""Random signatures, and arguments for them: most fit, some do not."""
# mypy: ignore-errors

import collections
import struct

from tests.fake_driver.tensors import tensor

SIZES = {
    "i1": 1, "i8": 1, "i16": 2, "i32": 4, "i64": 8, "u1": 1, "u8": 1, "u16": 2, "u32": 4, "u64": 8,
    "fp16": 2, "bf16": 2, "fp32": 4, "f32": 4, "fp64": 8, "*fp32": 8, "*i8": 8, "*bf16": 8, "nvTmaDesc": 128,
    "tensordesc": 48,
}  # fmt: skip
LIMITS = [0, 1, -1, 127, 128, 255, 256, 32767, 32768, -32768, -32769, 65535, 65536, 2**31 - 1, 2**31, -(2**31), 2**32]
LIMITS += [2**63 - 1, 2**63, -(2**63), -(2**63) - 1, 2**64 - 1, 2**64, 10**30]
REALS = [0.0, -0.0, 1.5, 65504.0, 65519.99, 65520.0, 5.96e-8, 2.98e-8, 2.9802322387695312e-08, 6.1e-5, 1e-45, 3.5e38]
REALS += [
    float("inf"),
    float("-inf"),
    *(struct.unpack("<d", struct.pack("<Q", bits))[0] for bits in (0x7FF8 << 48, 0xFFF8 << 48, 0x7FF8000012345678)),
]
ADDRESSES = [0, 16, 0x7F0000001230, 2**63, 2**64 - 16, 0xBAD2 << 48]

Pair = collections.namedtuple("Pair", ["left", "right"])


class Index:
    def __index__(self):
        return 5


class Text:
    def data_ptr(self):
        return "64"


class Negative:
    def data_ptr(self):
        return -64


class Raising:
    def data_ptr(self):
        raise LookupError("no storage")


ODD = [
    None,
    "text",
    b"12",
    1j,
    [1, 2],
    {},
    object(),
    1.5,
    7,
    True,
    Index(),
    Text(),
    Negative(),
    Raising(),
    (),
    len,
    int,
]
ODD += [collections.OrderedDict(), collections.deque([1, 2]), tensor(0xBAD0 << 48), tensor(0xBAD1 << 48), range(2)]


CUDA_TYPES = [type_ for type_ in SIZES if type_ != "tensordesc"]


def random_type(random, types=CUDA_TYPES, depth=0):
    """Choose a type; that of a tuple is the tuple of its items' types."""
    if depth < 3 and random.random() < 0.08:
        return tuple(random_type(random, types, depth + 1) for _ in range(random.randrange(4)))
    if random.random() < 0.1:
        return "constexpr"
    return random.choice(types)


def leaves(types):
    """List the types of the items of tuples in place of the tuples."""
    found = []
    for type_ in types:
        found += leaves(type_) if isinstance(type_, tuple) else [type_]
    return found


def value(random, type_, descriptors):
    """Make an argument that fits, or comes close."""
    if isinstance(type_, tuple):
        items = [value(random, item, descriptors) for item in type_]
        return Pair(*items) if len(items) == 2 and random.random() < 0.5 else tuple(items)
    if type_ == "constexpr":
        return random.choice(ODD)
    if type_ in ("nvTmaDesc", "tensordesc"):
        return random.choice(descriptors)
    if type_.startswith("*"):
        address = random.choice(ADDRESSES) if random.random() < 0.5 else random.getrandbits(63)
        return random.choice([tensor(address), tensor(address), address, None])
    if "f" in type_:
        chosen = random.random()
        return (
            random.uniform(-7e4, 7e4)
            if chosen < 0.4
            else random.choice(REALS[:5])
            if chosen < 0.95
            else random.choice(REALS)
        )
    bits = SIZES[type_] * 8
    low, high = (0, 255) if bits == 8 else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    return random.choice([low, high, random.randint(low, high)])


def spoil(random, arguments):
    """Put something that does not fit in one place."""
    at = random.randrange(len(arguments))
    arguments[at] = random.choice(ODD) if random.random() < 0.6 else random.choice([*LIMITS, *REALS])
