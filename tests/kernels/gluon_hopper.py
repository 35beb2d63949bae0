"""Gluon for Hopper: tensor memory accelerator, barriers in shared memory, warpgroup MMA, warp specialisation."""

from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.hopper import (
    fence_async_shared,
    mbarrier,
    tma,
    warpgroup_mma,
    warpgroup_mma_init,
    warpgroup_mma_wait,
)

from fork.equivalence.cases import HOPPER, HOPPER_ONLY, Case, aligned


@gluon.jit
def copy_tile(source, target, LAYOUT: gl.constexpr):
    memory = gl.allocate_shared_memory(source.dtype, source.block_shape, source.layout)
    barrier = gl.allocate_shared_memory(gl.int64, [1], mbarrier.MBarrierLayout())
    mbarrier.init(barrier, count=1)
    mbarrier.expect(barrier, source.block_type.nbytes)
    row = gl.program_id(0) * source.block_shape[0]
    tma.async_copy_global_to_shared(source, [row, 0], barrier, memory)
    mbarrier.wait(barrier, 0)
    mbarrier.invalidate(barrier)
    memory.store(memory.load(LAYOUT) + 1)
    fence_async_shared()
    tma.async_copy_shared_to_global(target, [row, 0], memory)
    tma.store_wait(0)


@gluon.jit
def copy_by_device_descriptor(x_ptr, out_ptr, rows, columns, M: gl.constexpr, N: gl.constexpr):
    layout: gl.constexpr = gl.NVMMASharedLayout.get_default_for([M, N], gl.float32)
    source = tma.make_tensor_descriptor(
        x_ptr, shape=[rows, columns], strides=[columns, 1], block_shape=[M, N], layout=layout
    )
    target = tma.make_tensor_descriptor(
        out_ptr, shape=[rows, columns], strides=[columns, 1], block_shape=[M, N], layout=layout
    )
    memory = gl.allocate_shared_memory(gl.float32, [2, M, N], layout)
    barriers = gl.allocate_shared_memory(gl.int64, [2, 1], mbarrier.MBarrierLayout())
    for i in gl.static_range(2):
        mbarrier.init(barriers.index(i), count=1)
    row = gl.program_id(0) * M
    phase = 0
    slot = 0
    for column in range(0, columns, N):
        mbarrier.expect(barriers.index(slot), M * N * 4)
        tma.async_copy_global_to_shared(source, [row, column], barriers.index(slot), memory.index(slot))
        mbarrier.wait(barriers.index(slot), phase)
        tma.async_copy_shared_to_global(target, [row, column], memory.index(slot))
        tma.store_wait(pendings=1)
        slot = slot ^ 1
        phase = phase ^ 1 if slot == 0 else phase
    tma.store_wait(pendings=0)


@gluon.jit
def product(a_ptr, b_ptr, c_ptr, M: gl.constexpr, N: gl.constexpr, K: gl.constexpr):
    load: gl.constexpr = gl.BlockedLayout([1, 8], [4, 8], [gl.num_warps(), 1], [1, 0])
    shared_a: gl.constexpr = gl.NVMMASharedLayout.get_default_for([M, K], gl.float16)
    shared_b: gl.constexpr = gl.NVMMASharedLayout.get_default_for([K, N], gl.float16)
    mma: gl.constexpr = gl.NVMMADistributedLayout(
        version=[3, 0], warps_per_cta=[gl.num_warps(), 1], instr_shape=[16, N, 16]
    )
    rows = gl.arange(0, M, layout=gl.SliceLayout(1, load))[:, None]
    inner = gl.arange(0, K, layout=gl.SliceLayout(0, load))[None, :]
    a = gl.allocate_shared_memory(gl.float16, [M, K], shared_a, gl.load(a_ptr + rows * K + inner))
    rows_of_b = gl.arange(0, K, layout=gl.SliceLayout(1, load))[:, None]
    columns = gl.arange(0, N, layout=gl.SliceLayout(0, load))[None, :]
    b = gl.allocate_shared_memory(gl.float16, [K, N], shared_b, gl.load(b_ptr + rows_of_b * N + columns))
    fence_async_shared()
    total = warpgroup_mma(a, b, gl.zeros([M, N], gl.float32, layout=mma), use_acc=False)
    in_registers: gl.constexpr = gl.DotOperandLayout(0, mma, 2)
    total = warpgroup_mma(a.load(in_registers), b, total, is_async=True)
    total = warpgroup_mma_wait(num_outstanding=0, deps=(total,))
    rows = gl.arange(0, M, layout=gl.SliceLayout(1, mma))[:, None]
    columns = gl.arange(0, N, layout=gl.SliceLayout(0, mma))[None, :]
    gl.store(c_ptr + rows * N + columns, total.to(gl.float16))


@gluon.jit
def issue_loads(producer, a, b, row, column, k, barriers, memory_a, memory_b, STAGES: gl.constexpr, pred=True):
    slot = producer % STAGES
    barrier = barriers.index(slot)
    mbarrier.expect(barrier, a.block_type.nbytes + b.block_type.nbytes, pred=pred)
    tma.async_copy_global_to_shared(a, [row, k], barrier, memory_a.index(slot), pred=pred)
    tma.async_copy_global_to_shared(b, [k, column], barrier, memory_b.index(slot), pred=pred)
    return producer + 1


@gluon.jit
def issue_product(consumer, total, barriers, memory_a, memory_b, STAGES: gl.constexpr):
    slot = consumer % STAGES
    mbarrier.wait(barriers.index(slot), consumer // STAGES & 1)
    total = warpgroup_mma_wait(num_outstanding=0, deps=(total,))
    total = warpgroup_mma(memory_a.index(slot), memory_b.index(slot), total, is_async=True)
    return consumer + 1, total


@gluon.jit
def pipelined_product(a, b, c, STAGES: gl.constexpr):
    M: gl.constexpr = c.block_shape[0]
    N: gl.constexpr = c.block_shape[1]
    K: gl.constexpr = a.block_shape[1]
    memory_a = gl.allocate_shared_memory(a.dtype, [STAGES] + a.block_shape, a.layout)
    memory_b = gl.allocate_shared_memory(b.dtype, [STAGES] + b.block_shape, b.layout)
    barriers = gl.allocate_shared_memory(gl.int64, [STAGES, 1], mbarrier.MBarrierLayout())
    for i in gl.static_range(STAGES):
        mbarrier.init(barriers.index(i), count=1)
    mma: gl.constexpr = gl.NVMMADistributedLayout(
        version=[3, 0], warps_per_cta=[gl.num_warps(), 1], instr_shape=[16, N, 16]
    )
    row = gl.program_id(0) * M
    column = gl.program_id(1) * N
    producer = 0
    consumer = 0
    total = warpgroup_mma_init(gl.zeros((M, N), gl.float32, layout=mma))
    for i in gl.static_range(STAGES - 1):
        producer = issue_loads(producer, a, b, row, column, i * K, barriers, memory_a, memory_b, STAGES)
    depth = a.shape[1]
    for k in range((STAGES - 1) * K, depth, K):
        producer = issue_loads(producer, a, b, row, column, k, barriers, memory_a, memory_b, STAGES)
        consumer, total = issue_product(consumer, total, barriers, memory_a, memory_b, STAGES)
    for _ in gl.static_range(STAGES - 1):
        consumer, total = issue_product(consumer, total, barriers, memory_a, memory_b, STAGES)
    total = warpgroup_mma_wait(num_outstanding=0, deps=(total,))
    for i in gl.static_range(STAGES):
        mbarrier.invalidate(barriers.index(i))
    memory_c = gl.allocate_shared_memory(c.dtype, c.block_shape, c.layout)
    memory_c.store(total.to(c.dtype))
    fence_async_shared()
    tma.async_copy_shared_to_global(c, [row, column], memory_c)
    tma.store_wait(pendings=0)


@gluon.jit
def loading_partition(a, b, row, column, ready, empty, memory_a, memory_b, STAGES: gl.constexpr):
    K: gl.constexpr = a.block_shape[1]
    depth = a.shape[1]
    step = 0
    for k in range(0, depth, K):
        slot = step % STAGES
        mbarrier.wait(empty.index(slot), step // STAGES & 1 ^ 1)
        mbarrier.expect(ready.index(slot), a.block_type.nbytes + b.block_type.nbytes)
        tma.async_copy_global_to_shared(a, [row, k], ready.index(slot), memory_a.index(slot))
        tma.async_copy_global_to_shared(b, [k, column], ready.index(slot), memory_b.index(slot))
        step += 1


@gluon.jit
def computing_partition(a, c, row, column, ready, empty, memory_a, memory_b, memory_c, STAGES: gl.constexpr):
    M: gl.constexpr = c.block_shape[0]
    N: gl.constexpr = c.block_shape[1]
    K: gl.constexpr = a.block_shape[1]
    mma: gl.constexpr = gl.NVMMADistributedLayout(
        version=[3, 0], warps_per_cta=[gl.num_warps(), 1], instr_shape=[16, N, 16]
    )
    total = gl.zeros((M, N), gl.float32, layout=mma)
    depth = a.shape[1]
    step = 0
    for _k in range(0, depth, K):
        slot = step % STAGES
        mbarrier.wait(ready.index(slot), step // STAGES & 1)
        total = warpgroup_mma(memory_a.index(slot), memory_b.index(slot), total)
        mbarrier.arrive(empty.index(slot), count=1)
        step += 1
    memory_c.store(total.to(c.dtype))
    fence_async_shared()
    tma.async_copy_shared_to_global(c, [row, column], memory_c)
    tma.store_wait(pendings=0)


@gluon.jit
def specialised_product(a, b, c, STAGES: gl.constexpr):
    memory_a = gl.allocate_shared_memory(a.dtype, [STAGES] + a.block_shape, a.layout)
    memory_b = gl.allocate_shared_memory(b.dtype, [STAGES] + b.block_shape, b.layout)
    memory_c = gl.allocate_shared_memory(c.dtype, c.block_shape, c.layout)
    ready = gl.allocate_shared_memory(gl.int64, [STAGES, 1], mbarrier.MBarrierLayout())
    empty = gl.allocate_shared_memory(gl.int64, [STAGES, 1], mbarrier.MBarrierLayout())
    for i in gl.static_range(STAGES):
        mbarrier.init(ready.index(i), count=1)
        mbarrier.init(empty.index(i), count=1)
    row = gl.program_id(0) * c.block_shape[0]
    column = gl.program_id(1) * c.block_shape[1]
    gl.warp_specialize(
        [
            (computing_partition, (a, c, row, column, ready, empty, memory_a, memory_b, memory_c, STAGES)),
            (loading_partition, (a, b, row, column, ready, empty, memory_a, memory_b, STAGES)),
        ],
        [1],
        [24],
    )


def described(dtype, *shape, bits=16, swizzle=128):
    layout = gl.NVMMASharedLayout(swizzle_byte_width=swizzle, element_bitwidth=bits, rank=len(shape))
    return f"tensordesc<{dtype}{list(shape)},{layout!r}>"


PRODUCT = {"a": described("fp16", 64, 64), "b": described("fp16", 64, 128), "c": described("fp16", 64, 128)}

CASES = [
    Case(
        "copy_tile",
        copy_tile,
        {"source": described("fp32", 32, 32, bits=32), "target": described("fp32", 32, 32, bits=32)},
        {"LAYOUT": gl.BlockedLayout([1, 4], [4, 8], [4, 1], [1, 0])},
        targets=HOPPER,
    ),
    Case(
        "copy_by_device_descriptor",
        copy_by_device_descriptor,
        {"x_ptr": "*fp32", "out_ptr": "*fp32", "rows": "i32", "columns": "i32"},
        {"M": 32, "N": 32},
        aligned("x_ptr", "out_ptr", "columns"),
        targets=HOPPER,
    ),
    Case(
        "product",
        product,
        {"a_ptr": "*fp16", "b_ptr": "*fp16", "c_ptr": "*fp16"},
        {"M": 64, "N": 64, "K": 64},
        aligned("a_ptr", "b_ptr", "c_ptr"),
        targets=HOPPER_ONLY,
    ),
    Case("pipelined_product", pipelined_product, PRODUCT, {"STAGES": 3}, targets=HOPPER_ONLY),
    Case("specialised_product", specialised_product, PRODUCT, {"STAGES": 4}, targets=HOPPER_ONLY),
]
