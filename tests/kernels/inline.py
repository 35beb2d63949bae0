"""What goes past Triton's own operations: inline assembly, device libraries, printing and assertions."""

import triton.language as tl
from triton.language.extra import libdevice
from triton.language.extra.cuda import gdc_launch_dependents, gdc_wait, globaltimer, smid

import triton
from fork.equivalence.cases import CUDA, HIP, HOPPER, Case


@triton.jit
def assembly_of_nvidia(x_ptr, y_ptr, out_ptr, high_ptr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at)
    y = tl.load(y_ptr + at)
    packed = tl.inline_asm_elementwise(
        "lop3.b32 $0, $1, $2, 0, 0x96;", "=r,r,r", [x, y], dtype=tl.int8, is_pure=True, pack=4
    )
    low, high = tl.inline_asm_elementwise(
        asm="{ mov.b32 $0, $2; shr.u32 $1, $2, 8; }",
        constraints="=r,=r,r",
        args=[x.to(tl.int32)],
        dtype=(tl.int32, tl.int32),
        is_pure=True,
        pack=1,
    )
    tl.store(out_ptr + at, packed)
    tl.store(high_ptr + at, high - low)


@triton.jit
def assembly_of_amd(x_ptr, out_ptr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at)
    y = tl.inline_asm_elementwise("v_sin_f32 $0, $1", "=v,v", [x], dtype=tl.float32, is_pure=True, pack=1)
    tl.store(out_ptr + at, y)


@triton.jit
def special_registers(out_ptr):
    tl.store(out_ptr, globaltimer())
    tl.store(out_ptr + 1, smid().to(tl.int64))


@triton.jit
def dependent_launch(x_ptr, out_ptr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    gdc_wait()
    x = tl.load(x_ptr + at)
    gdc_launch_dependents()
    tl.store(out_ptr + at, x)


@triton.jit
def device_library(x_ptr, y_ptr, out_ptr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at)
    y = tl.load(y_ptr + at)
    total = libdevice.tanh(x) + libdevice.pow(x, y) + libdevice.atan2(x, y) + libdevice.log1p(y)
    total += libdevice.expm1(x) + libdevice.erfinv(y) + libdevice.fmod(x, y) + libdevice.nearbyint(x)
    tl.store(out_ptr + at, total + libdevice.isnan(x).to(tl.int1) + libdevice.round(y) * libdevice.trunc(x))


@triton.jit
def device_library_double(x_ptr, y_ptr, out_ptr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at)
    y = tl.load(y_ptr + at)
    tl.store(out_ptr + at, libdevice.asin(x) + libdevice.hypot(x, y) + libdevice.sinh(y) + libdevice.cosh(x))


@triton.jit
def device_library_of_nvidia(x_ptr, out_ptr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at)
    bits = libdevice.float_as_int(x)
    tl.store(
        out_ptr + at, libdevice.popc(bits) + libdevice.clz(bits) + libdevice.brev(bits) + libdevice.mulhi(bits, at)
    )


@triton.jit
def printing(x_ptr, out_ptr, count, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at)
    tl.static_print("compiled for", BLOCK)
    tl.device_print("value", x)
    tl.device_print("places ", at, hex=True)
    print("the scalar", count)
    tl.store(out_ptr + at, x)


@triton.jit
def assertions(x_ptr, out_ptr, count, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < count
    x = tl.load(x_ptr + at, mask=inside)
    tl.device_assert(x >= 0, "negative value", mask=inside)
    assert count > 0, "nothing to do"
    tl.store(out_ptr + at, x * 3 + count, mask=inside)


VECTORS = {"x_ptr": "*fp32", "out_ptr": "*fp32"}
PAIRS = {"x_ptr": "*fp32", "y_ptr": "*fp32", "out_ptr": "*fp32"}

CASES = [
    Case(
        "assembly_of_nvidia",
        assembly_of_nvidia,
        {"x_ptr": "*i8", "y_ptr": "*i8", "out_ptr": "*i8", "high_ptr": "*i32"},
        {"BLOCK": 512},
        targets=CUDA,
    ),
    Case("assembly_of_amd", assembly_of_amd, VECTORS, {"BLOCK": 512}, targets=HIP),
    Case("special_registers", special_registers, {"out_ptr": "*i64"}, targets=CUDA),
    Case("dependent_launch", dependent_launch, VECTORS, {"BLOCK": 512}, options={"launch_pdl": True}, targets=HOPPER),
    Case("device_library", device_library, PAIRS, {"BLOCK": 128}),
    Case(
        "device_library_double",
        device_library_double,
        {"x_ptr": "*fp64", "y_ptr": "*fp64", "out_ptr": "*fp64"},
        {"BLOCK": 128},
    ),
    Case(
        "device_library_of_nvidia",
        device_library_of_nvidia,
        {"x_ptr": "*fp32", "out_ptr": "*i32"},
        {"BLOCK": 128},
        targets=CUDA,
    ),
    Case("printing", printing, VECTORS | {"count": "i32"}, {"BLOCK": 64}),
    Case("assertions", assertions, {"x_ptr": "*i32", "out_ptr": "*i32", "count": "i32"}, {"BLOCK": 128}),
    Case(
        "assertions_in_debug_mode",
        assertions,
        {"x_ptr": "*i32", "out_ptr": "*i32", "count": "i32"},
        {"BLOCK": 128},
        options={"debug": True},
    ),
    Case(
        "overflow_unchecked_in_debug_mode",
        assertions,
        {"x_ptr": "*i32", "out_ptr": "*i32", "count": "i32"},
        {"BLOCK": 128},
        options={"debug": True, "sanitize_overflow": False},
    ),
]
