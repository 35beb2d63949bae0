"""Launches kernels with tuples, tensor descriptors, scratch memory and unusual constants again and again; reports what happened.

Arguments: cuda or hip, then as those of fast_path.
"""
# mypy: ignore-errors

import collections
import functools
import json
import random
import sys

import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

import triton
from tests.fake_driver.amd import install as install_hip
from tests.fake_driver.nvidia import install as install_cuda
from tests.fake_driver.tensors import TensorLike
from tests.native.workers.counting import watch_launches
from tests.native.workers.extension import load_extension
from tests.native.workers.fast_path import Odd, outcome, slow, tensor

Pair = collections.namedtuple("Pair", ["left", "right"])


class Reversed(tuple):
    """A tuple that shows its items in another order than it holds them."""

    def __iter__(self):
        return iter(tuple.__getitem__(self, slice(None, None, -1)))

    def __getitem__(self, at):
        return tuple.__getitem__(self, slice(None, None, -1))[at]


@triton.jit
def tuples(values, other, LAST: tl.constexpr):  # noqa: N803
    tl.store(values[0], values[1] + LAST[0] + (0 if other is None else 1))


@triton.jit
def described(descriptor, other, factor):
    descriptor.store([0, 0], descriptor.load([0, 0]) * factor)
    tl.store(other, 1)


@triton.jit
def scratched(pointer, rows, columns):
    made = tl.make_tensor_descriptor(pointer, [rows, columns], [columns, 1], [16, 16])
    made.store([0, 0], made.load([0, 0]) + 1.0)


@triton.jit
def typed(pointer, count, DTYPE: tl.constexpr, NAME: tl.constexpr):  # noqa: N803
    tl.store(pointer, count.to(DTYPE))


def random_tuple(generator):
    items = (tensor(64 * generator.randrange(1, 5)), generator.choice([1, 16 * generator.randrange(2, 9), 2.5]))
    return generator.choice([items, Pair(*items), (*items, (tensor(8), None))])


def random_descriptor(generator):
    rows, columns = generator.choice([(64, 128), (32, 32), (1, 256)])
    base = tensor(4096 * generator.randrange(1, 9), generator.choice(["float32", "float16"]))
    block = generator.choice([[16, 16], [8, 32], (16, 16)])
    return TensorDescriptor(
        base, generator.choice([list, tuple])([rows, columns]), [columns, 1], block, generator.choice(["zero", "nan"])
    )


def many(library, generator, repeats):
    """Calls that differ in value only from some that came before, mostly."""
    outcomes = []
    for _ in range(repeats):
        numbers = (generator.choice([2, 3]), "text")
        values = random_tuple(generator)
        other = generator.choice([None, ((3,), 4.0)])
        outcomes.append(outcome(library, functools.partial(tuples[(2,)], values, other, numbers)))
        descriptor, factor = random_descriptor(generator), generator.choice([2.0, 3.5])
        outcomes.append(outcome(library, functools.partial(described[(3,)], descriptor, tensor(64), factor)))
        rows, columns = generator.choice([16, 32]), generator.choice([16, 48])
        grid = generator.choice([(2,), (2, 3), [4, 1, 2], lambda bound: (bound["rows"] // 16,)])
        outcomes.append(outcome(library, functools.partial(scratched[grid], tensor(4096), rows, columns)))
        dtype = generator.choice([tl.float16, tl.float32])
        outcomes.append(outcome(library, functools.partial(typed[(1,)], tensor(4096), 5, dtype, "name")))
    return outcomes


def changed(library, action):
    """What a descriptor does after something in it was changed, launched before and after as it was."""
    seen = []
    for change in [
        lambda one: setattr(one, "block_shape", [8, 16]),
        lambda one: one.block_shape.__setitem__(0, 8),
        lambda one: setattr(one, "block_shape", [16, 16, 16]),
        lambda one: setattr(one, "block_shape", [True, 16]),
        lambda one: setattr(one, "block_shape", [2**40, 16]),
        lambda one: setattr(one, "shape", [64, 128, 2]),
        lambda one: setattr(one, "shape", "text"),
        lambda one: setattr(one, "shape", [1.5, 2]),
        lambda one: setattr(one, "strides", [128, 2]),
        lambda one: setattr(one, "strides", [2**40, 1]),
        lambda one: setattr(one, "strides", []),
        lambda one: setattr(one, "padding", "nan"),
        lambda one: setattr(one, "padding", 5),
        lambda one: setattr(one, "base", tensor(8192, "float16")),
        lambda one: setattr(one, "base", tensor(8)),
        lambda one: setattr(one, "base", tensor(0xBAD0 << 48)),
        lambda one: setattr(one, "base", tensor(64, kind=Odd)),
        lambda one: setattr(one, "base", None),
        lambda one: delattr(one, "base"),
        lambda one: delattr(one, "shape"),
    ]:
        one = TensorDescriptor(tensor(4096), [64, 128], [128, 1], [16, 16])
        seen.append(outcome(library, functools.partial(action, one)))
        change(one)
        seen += [outcome(library, functools.partial(action, one)) for _ in range(2)]
    return seen


def allocations(library):
    """What is asked of allocators, and what they may do wrong."""
    seen, asked = [], []

    def allocator(answer, size, alignment, stream):
        asked.append([int(size), alignment, stream])
        return answer(size)

    def launch(grid=(2, 2), answer=lambda size: tensor(int(size) % (1 << 40))):
        triton.set_allocator(functools.partial(allocator, answer))
        seen.append(outcome(library, functools.partial(scratched[grid], tensor(4096), 32, 48)))

    for _ in range(2):
        for grid in [(2,), (0,), (2**31 - 1, 2**31 - 1, 7), (1.5,), ("a", 2), (True,), (), None, lambda _: (3, 3)]:
            launch(grid)
        for answer in [
            lambda _: None,
            lambda _: 4096,
            lambda _: "text",
            lambda _: 1 // 0,
            lambda _: tensor(0xBAD0 << 48),
            lambda _: tensor(0),
        ]:
            launch((2,), answer)
    return [seen, asked]


def odd(library):
    seen = []
    for values in [
        (tensor(64), 5), Pair(tensor(64), 5), Reversed((5, tensor(64))), (tensor(64),), (tensor(64), "text"),
        (tensor(64), 2**64), (tensor(64, kind=Odd), 5), (tensor(0xBAD0 << 48), 5), (64, 5), (None, 5), [tensor(64), 5],
    ]:  # fmt: skip
        for constant in [
            (2, "text"),
            (True, "text"),
            (3.0, "text"),  # No two of these are equal: the base takes such for the same, see fix/equal-constants.
            Pair(4, "text"),
            Reversed(("text", 5)),
            (2, ["text"]),
            5,
        ]:
            action = functools.partial(tuples[(2,)], values, None, constant)
            seen += [outcome(library, action), outcome(library, action)]
    for dtype in [tl.float16, "fp16", tl.dtype("fp16"), tl.pointer_type(tl.float16), 5, tl.constexpr(tl.float16)]:
        action = functools.partial(typed[(1,)], tensor(4096), 5, dtype, "name")
        seen += [outcome(library, action), outcome(library, action)]
    return seen


def storages(library):
    """What HIP's backend asks of tensors: how large their storage is, unless they say what range they have."""
    from triton import knobs

    torch = sys.modules["torch"]
    seen = []

    class Storage:
        def __init__(self, size):
            self.size = size

    class Stored(TensorLike, torch.Tensor):
        def untyped_storage(self):
            return Storage(self.size)

    def stored(size, address=4096):
        made = Stored(address, tensor(4096).dtype)
        made.size = size
        return made

    def ranged(size):
        made = tensor(4096)
        made.ptr_range = lambda: size
        return made

    kinds = [
        stored(lambda: 100), stored(lambda: 2**31 - 1), stored(lambda: 2**31), stored(lambda: 2**70), stored(lambda: 1 // 0),
        stored(lambda: "text"), stored(lambda: 100, 4104), ranged(100), ranged(2**31), tensor(4096),
    ]  # fmt: skip
    for use in (True, False, True):
        knobs.amd.use_buffer_ops = use
        for each in [*kinds, *kinds]:
            seen += [outcome(library, functools.partial(typed[(1,)], each, 5, tl.float32, "name")) for _ in range(2)]
    return seen


def main():
    vendor, *options = sys.argv[1:]
    fast = options[:1] == ["count"]
    if options[1:]:
        load_extension(options[1])
    if fast:
        watch_launches(lambda function, left: slow.append(function.__name__) if left else None)
    library = {"cuda": install_cuda, "hip": install_hip}[vendor]().library
    triton.set_allocator(lambda size, alignment, stream: tensor((size << 20) + alignment))
    report = {"many": many(library, random.Random(7), 120)}
    slow_of_many = collections.Counter(slow)
    report["descriptors"] = changed(library, lambda one: described[(1,)](one, tensor(64), 2.0))
    report["allocations"] = allocations(library)
    report["odd"] = odd(library)
    report["storages"] = storages(library) if vendor == "hip" else []
    print(json.dumps({"report": report, "slow": slow_of_many}))


if __name__ == "__main__":
    main()
