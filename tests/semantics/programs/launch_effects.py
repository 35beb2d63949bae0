"""Launches during which tensors change: by grids, hooks, allocators, other threads and the questions themselves.

Prints for each launch what the driver got and which kernel was chosen, or the error, and every question to the tensors that count them.
"""
# mypy: ignore-errors

import json
import sys
import threading
from types import SimpleNamespace

import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

import triton
from tests.fake_driver.nvidia import install
from tests.fake_driver.tensors import TensorLike, dtype_named, tensor
from triton import knobs

DRIVER = install()
REPORT = {}


@triton.jit
def kernel(x, n, B: tl.constexpr):
    tl.store(x, n)


@triton.jit
def pair(x, y, n):
    tl.store(x, tl.load(y) + n)


@triton.jit(do_not_specialize=["x"])
def unaligned(x, y: "*fp32", n: tl.float32):  # noqa: F722
    tl.store(y, n)
    tl.store(x, 1)


@triton.jit
def items(values, y):
    tl.store(values[0], values[1])
    tl.store(y, 1)


@triton.jit
def scratched(pointer, rows, columns):
    made = tl.make_tensor_descriptor(pointer, [rows, columns], [columns, 1], [16, 16])
    made.store([0, 0], made.load([0, 0]) + 1.0)


@triton.jit
def described(descriptor, other):
    descriptor.store([0, 0], descriptor.load([0, 0]) * 2.0)
    tl.store(other, 1)


def chosen(answer):
    """What the base made of the arguments when it chose the kernel."""
    return [str(answer.src.signature), str(answer.src.attrs)]


def launched(action, *arguments, **options):
    """Launch; give the kernel, the parameters, or the error."""
    DRIVER.library.launches()
    try:
        outcome = chosen(action(*arguments, **options))
    except Exception as error:
        outcome = [type(error).__name__, str(error)]
    # Tensor maps hold the address of their own memory, nothing else that differs.
    return [outcome, [[data.hex() for data in each.parameters] for each in DRIVER.library.launches()]]


def section(function):
    REPORT[function.__name__] = list(function())


class Other(TensorLike):
    """A tensor of another class."""


@section
def grids_that_move_a_tensor():
    x = tensor(0x1000)

    def moving(_meta):
        x.address += 0x10000
        return (1,)

    for _ in range(4):
        yield launched(kernel[moving], x, 64, B=64)


@section
def grids_that_change_what_a_kernel_is_chosen_by():
    changes = [
        lambda x: setattr(x, "address", 0x1004),
        lambda x: setattr(x, "dtype", dtype_named("float16")),
        lambda x: setattr(x, "__class__", Other),
        lambda x: setattr(x, "data_ptr", lambda: 0x3000),
        lambda x: setattr(x, "data_ptr", None),
        lambda x: delattr(x, "dtype"),
    ]
    for block, change in enumerate(changes):
        x = tensor(0x1000)
        size = 128 << block

        def changing(_meta, x=x, change=change):
            change(x)
            return (1,)

        # The first launch compiles, the second is looked up, the third might have been learned.
        for _ in range(3):
            x.__dict__.pop("data_ptr", None)
            x.address, x.dtype, x.__class__ = 0x1000, dtype_named("float32"), TensorLike
            yield launched(kernel[changing], x, 64, B=size)
        for later in (tensor(0x1004), tensor(0x1000, "float16"), Other(0x1004, dtype_named("float16")), tensor(0x1000)):
            yield launched(kernel[(1,)], later, 64, B=size)


@section
def hooks_that_change_a_tensor():
    for change in ({"address": 0x1004}, {"dtype": dtype_named("float16")}):
        for chain in (knobs.runtime.launch_enter_hook, knobs.runtime.launch_exit_hook):
            x = tensor(0x1000)

            def hook(_metadata, x=x, change=change):
                x.__dict__.update(change)

            for _ in range(3):
                x.address, x.dtype = 0x1000, dtype_named("float32")
                chain.add(hook)
                yield launched(pair[(1,)], x, x, 7)
                chain.remove(hook)
                for later in (tensor(0x1004), tensor(0x1000, "float16"), tensor(0x1000)):
                    yield launched(pair[(1,)], later, later, 7)


@section
def allocators_that_move_a_tensor():
    x = tensor(0x1000)

    def allocator(size, alignment, stream):
        x.address += 0x10000
        return tensor(0x100000)

    triton.set_allocator(allocator)
    for _ in range(4):
        yield launched(scratched[(2,)], x, 32, 48)


@section
def descriptors_whose_base_changes():
    for block in (16, 32):
        descriptor = TensorDescriptor(tensor(0x1000), [64, 64], [64, 1], [block, 16])

        def replacing(_meta, descriptor=descriptor):
            descriptor.base = tensor(0x8000, "float16")
            return (1,)

        for _ in range(3):
            descriptor.base = tensor(0x1000)
            yield launched(described[replacing], descriptor, tensor(64))[0]
        for dtype in ("float16", "float32", "float16"):
            later = TensorDescriptor(tensor(0x1000, dtype), [64, 64], [64, 1], [block, 16])
            yield launched(described[(1,)], later, tensor(64))[0]


class Wrapper:
    """A tensor with a dtype that is a new object at each question."""

    def __init__(self, bits):
        self.bits = bits

    @property
    def dtype(self):
        return f"float{self.bits}"

    def data_ptr(self):
        return 0x1000


@section
def dtypes_that_are_new_each_time():
    a, b = Wrapper(32), Wrapper(16)
    for _ in range(100):
        for value in (a, b):
            yield pair[(1,)](value, value, 3).src.signature["x"]
    base = SimpleNamespace(dtype=None, data_ptr=lambda: 0x1000)
    for turn in range(40):
        one = TensorDescriptor(tensor(0x1000), [64, 64], [64, 1], [16, 16])
        one.base = base
        base.dtype = "".join(["float", "32" if turn % 2 else "16"])
        yield described[(1,)](one, tensor(64)).src.signature["descriptor"]


@section
def threads_that_change_a_tensor():
    """One kernel for each dtype; a thread switches the dtype while others launch."""
    sys.setswitchinterval(1e-6)
    x, done = tensor(0x1000), threading.Event()

    def switch():
        while not done.is_set():
            x.dtype = dtype_named("float16")
            x.dtype = dtype_named("float32")

    thread = threading.Thread(target=switch)
    thread.start()
    for _ in range(300):
        kernel[(1,)](x, 64, B=32)
    done.set()
    thread.join()
    sys.setswitchinterval(0.005)
    for dtype in ("float16", "float32"):
        yield launched(kernel[(1,)], tensor(0x1000, dtype), 64, B=32)


@section
def threads_that_change_the_caches():
    """What the base has for a function grows and shrinks while calls of it are looked up."""
    sys.setswitchinterval(1e-6)
    kernels, done = pair.device_caches[0][0], threading.Event()
    kernels.update(dict.fromkeys(range(3000)))

    def churn():
        while not done.is_set():
            for number in range(3000, 3010):
                kernels[number] = None
            for number in range(3000, 3010):
                del kernels[number]

    thread = threading.Thread(target=churn)
    thread.start()
    value, bound = Wrapper(32), pair[(1,)]
    for turn in range(400):
        seen = launched(bound, value, tensor(16 * turn), 3)
        if seen[0][0] != "{'x': '*fp32', 'y': '*fp32', 'n': 'i32'}":
            yield seen
    done.set()
    thread.join()
    sys.setswitchinterval(0.005)
    yield len(kernels)


ASKED = []


class Counting:
    """Tells of each question, and raises at one of them."""

    def __init__(self, name, raises_at=None, error=ValueError):
        self.name, self.raises_at, self.error, self.count = name, raises_at, error, 0

    def asked(self, what):
        ASKED.append([self.name, what])
        self.count += 1
        if self.count == self.raises_at:
            raise self.error(f"question {self.count}")

    @property
    def dtype(self):
        self.asked("dtype")
        return dtype_named("float32")

    def data_ptr(self):
        self.asked("data_ptr")
        return 0x1000


@section
def questions_are_those_of_the_base():
    """Their number and order, whether they answer or raise; the kernels have been launched before."""
    pair[(1,)](tensor(0x1000), tensor(0x1000), 3)
    unaligned[(1,)](tensor(0x1000), tensor(0x1000), 3.0)
    items[(1,)]((tensor(0x1000), 2.5), tensor(0x1000))
    for error in (ValueError, KeyError, AttributeError, TypeError, OverflowError):
        for raises_at in (None, *range(1, 10)):
            a, b = Counting("a", raises_at, error), Counting("b")
            for grid, function, arguments, named in [
                ((1,), pair, (a, b, 3), {}),
                ((1,), pair, (), {"n": 3, "y": b, "x": a}),
                (lambda _: (2,), pair, (b, a, 3), {}),
                ((1,), unaligned, (a, b, 3.0), {}),
                ((1,), items, ((a, 2.5),), {"y": b}),
                ((1,), pair, (a, b, "text"), {}),
                ((1,), pair, (a, b), {}),
            ]:
                ASKED.clear()
                yield [launched(function[grid], *arguments, **named), list(ASKED)]


print(json.dumps(REPORT))
