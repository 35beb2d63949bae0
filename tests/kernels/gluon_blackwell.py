"""Gluon for Blackwell: tensor memory, tcgen05, gathers by TMA, warp specialisation."""

from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.blackwell import (
    TensorMemoryLayout,
    TensorMemoryScalesLayout,
    allocate_tensor_memory,
    fence_async_shared,
    get_tmem_reg_layout,
    mbarrier,
    tcgen05_commit,
    tcgen05_mma,
    tcgen05_mma_scaled,
    tma,
)

from fork.equivalence.cases import DATACENTER_BLACKWELL, Case, aligned


@gluon.jit
def through_tensor_memory(x_ptr, out_ptr, M: gl.constexpr, N: gl.constexpr):
    layout: gl.constexpr = gl.BlockedLayout([1, 4], [4, 8], [gl.num_warps(), 1], [1, 0])
    memory_layout: gl.constexpr = TensorMemoryLayout([M, N], col_stride=1)
    registers: gl.constexpr = get_tmem_reg_layout(gl.float32, (M, N), memory_layout, gl.num_warps())
    rows = gl.arange(0, M, layout=gl.SliceLayout(1, layout))[:, None]
    columns = gl.arange(0, N, layout=gl.SliceLayout(0, layout))[None, :]
    x = gl.convert_layout(gl.load(x_ptr + rows * N + columns), registers)
    memory = allocate_tensor_memory(gl.float32, [M, N], memory_layout, x)
    half: gl.constexpr = get_tmem_reg_layout(
        gl.float32, (M, N // 2), TensorMemoryLayout([M, N // 2], col_stride=1), gl.num_warps()
    )
    left = memory.slice(0, N // 2)
    right = memory.slice(N // 2, N // 2)
    left.store(right.load(half) - left.load(half))
    gl.store(out_ptr + rows * N + columns, gl.convert_layout(memory.load(registers), layout))


@gluon.jit
def product(a, b, c, M: gl.constexpr, N: gl.constexpr, K: gl.constexpr):
    memory_a = gl.allocate_shared_memory(a.dtype, [M, K], a.layout)
    memory_b = gl.allocate_shared_memory(b.dtype, [N, K], b.layout)
    memory_c = gl.allocate_shared_memory(c.dtype, [M, N], c.layout)
    memory_layout: gl.constexpr = TensorMemoryLayout([M, N], col_stride=1)
    total = allocate_tensor_memory(gl.float32, [M, N], memory_layout)
    loaded = gl.allocate_shared_memory(gl.int64, [1], mbarrier.MBarrierLayout())
    computed = gl.allocate_shared_memory(gl.int64, [1], mbarrier.MBarrierLayout())
    mbarrier.init(loaded, count=1)
    mbarrier.init(computed, count=1)
    row = gl.program_id(0) * M
    column = gl.program_id(1) * N
    phase = 0
    more = False
    for k in range(0, a.shape[1], K):
        mbarrier.expect(loaded, a.block_type.nbytes + b.block_type.nbytes)
        tma.async_copy_global_to_shared(a, [row, k], loaded, memory_a)
        tma.async_copy_global_to_shared(b, [column, k], loaded, memory_b)
        mbarrier.wait(loaded, phase)
        tcgen05_mma(memory_a, memory_b.permute((1, 0)), total, use_acc=more)
        tcgen05_commit(computed)
        mbarrier.wait(computed, phase)
        more = True
        phase ^= 1
    mbarrier.invalidate(loaded)
    mbarrier.invalidate(computed)
    registers: gl.constexpr = get_tmem_reg_layout(gl.float32, (M, N), memory_layout, gl.num_warps())
    memory_c.store(total.load(registers).to(c.dtype))
    fence_async_shared()
    tma.async_copy_shared_to_global(c, [row, column], memory_c)
    tma.store_wait(pendings=0)


@gluon.jit
def product_with_left_in_tensor_memory(a_ptr, b_ptr, c_ptr, M: gl.constexpr, N: gl.constexpr, K: gl.constexpr):
    layout: gl.constexpr = gl.BlockedLayout([1, 8], [2, 16], [gl.num_warps(), 1], [1, 0])
    rows = gl.arange(0, M, layout=gl.SliceLayout(1, layout))[:, None]
    columns = gl.arange(0, N, layout=gl.SliceLayout(0, layout))[None, :]
    inner = gl.arange(0, K, layout=gl.SliceLayout(0, layout))[None, :]
    inner_rows = gl.arange(0, K, layout=gl.SliceLayout(1, layout))[:, None]
    shared: gl.constexpr = gl.NVMMASharedLayout.get_default_for([K, N], gl.float16)
    b = gl.allocate_shared_memory(gl.float16, [K, N], shared, gl.load(b_ptr + inner_rows * N + columns))
    left_layout: gl.constexpr = TensorMemoryLayout([M, K], col_stride=1)
    left: gl.constexpr = get_tmem_reg_layout(gl.float16, (M, K), left_layout, gl.num_warps())
    a = allocate_tensor_memory(gl.float16, [M, K], left_layout)
    a.store(gl.convert_layout(gl.load(a_ptr + rows * K + inner), left))
    total_layout: gl.constexpr = TensorMemoryLayout([M, N], col_stride=1)
    total = allocate_tensor_memory(gl.float32, [M, N], total_layout)
    barrier = gl.allocate_shared_memory(gl.int64, [1], mbarrier.MBarrierLayout())
    mbarrier.init(barrier, count=1)
    fence_async_shared()
    tcgen05_mma(a, b, total, use_acc=False, mbarriers=[barrier], mbarrier_preds=[True])
    mbarrier.wait(barrier, 0, deps=[b])
    mbarrier.invalidate(barrier)
    registers: gl.constexpr = get_tmem_reg_layout(gl.float32, (M, N), total_layout, gl.num_warps())
    value = gl.convert_layout(total.load(registers), layout)
    gl.store(c_ptr + rows * N + columns, value.to(gl.float16))


@gluon.jit
def scaled_product(a_ptr, b_ptr, a_scale_ptr, b_scale_ptr, c_ptr, M: gl.constexpr, N: gl.constexpr, K: gl.constexpr):
    layout: gl.constexpr = gl.BlockedLayout([1, 16], [4, 8], [gl.num_warps(), 1], [1, 0])
    rows = gl.arange(0, M, layout=gl.SliceLayout(1, layout))[:, None]
    columns = gl.arange(0, N, layout=gl.SliceLayout(1, layout))[:, None]
    inner = gl.arange(0, K, layout=gl.SliceLayout(0, layout))[None, :]
    shared: gl.constexpr = gl.NVMMASharedLayout(swizzle_byte_width=128, element_bitwidth=8, rank=2)
    a = gl.allocate_shared_memory(gl.float8e4nv, [M, K], shared, gl.load(a_ptr + rows * K + inner))
    b = gl.allocate_shared_memory(gl.float8e4nv, [N, K], shared, gl.load(b_ptr + columns * K + inner))
    scales: gl.constexpr = TensorMemoryScalesLayout()
    blocks: gl.constexpr = K // 32
    a_registers: gl.constexpr = get_tmem_reg_layout(gl.int8, (M, blocks), scales, gl.num_warps())
    b_registers: gl.constexpr = get_tmem_reg_layout(gl.int8, (N, blocks), scales, gl.num_warps())
    a_scale = allocate_tensor_memory(gl.int8, [M, blocks], scales)
    b_scale = allocate_tensor_memory(gl.int8, [N, blocks], scales)
    a_rows = gl.arange(0, M, layout=gl.SliceLayout(1, a_registers))[:, None]
    a_blocks = gl.arange(0, blocks, layout=gl.SliceLayout(0, a_registers))[None, :]
    a_scale.store(gl.load(a_scale_ptr + a_rows * blocks + a_blocks))
    b_rows = gl.arange(0, N, layout=gl.SliceLayout(1, b_registers))[:, None]
    b_blocks = gl.arange(0, blocks, layout=gl.SliceLayout(0, b_registers))[None, :]
    b_scale.store(gl.load(b_scale_ptr + b_rows * blocks + b_blocks))
    total_layout: gl.constexpr = TensorMemoryLayout([M, N], col_stride=1)
    total = allocate_tensor_memory(gl.float32, [M, N], total_layout)
    barrier = gl.allocate_shared_memory(gl.int64, [1], mbarrier.MBarrierLayout())
    mbarrier.init(barrier, count=1)
    fence_async_shared()
    tcgen05_mma_scaled(a, b.permute((1, 0)), total, a_scale, b_scale, "e4m3", "e4m3", use_acc=False)
    tcgen05_commit(barrier)
    mbarrier.wait(barrier, 0)
    mbarrier.invalidate(barrier)
    registers: gl.constexpr = get_tmem_reg_layout(gl.float32, (M, N), total_layout, gl.num_warps())
    out_rows = gl.arange(0, M, layout=gl.SliceLayout(1, registers))[:, None]
    out_columns = gl.arange(0, N, layout=gl.SliceLayout(0, registers))[None, :]
    gl.store(c_ptr + out_rows * N + out_columns, total.load(registers))


@gluon.jit
def gather_and_scatter(source, target, rows_ptr, column, M: gl.constexpr, N: gl.constexpr):
    offsets: gl.constexpr = gl.SliceLayout(0, gl.BlockedLayout([1, 4], [32, 1], [1, gl.num_warps()], [1, 0]))
    rows = gl.load(rows_ptr + gl.arange(0, M, layout=offsets))
    memory = gl.allocate_shared_memory(source.dtype, [M, N], source.layout)
    barrier = gl.allocate_shared_memory(gl.int64, [1], mbarrier.MBarrierLayout())
    mbarrier.init(barrier, count=1)
    mbarrier.expect(barrier, M * source.block_type.nbytes)
    tma.async_gather(source, rows, column, barrier, memory)
    mbarrier.wait(barrier, 0)
    mbarrier.invalidate(barrier)
    tma.async_scatter(target, rows, column, memory)
    tma.store_wait(0)


@gluon.jit
def load_partition(
    a, b, memory_a, memory_b, ready, empty, PROGRAMS: gl.constexpr, tiles_m, tiles, STAGES: gl.constexpr
):
    M: gl.constexpr = a.block_shape[0]
    N: gl.constexpr = b.block_shape[0]
    K: gl.constexpr = a.block_shape[1]
    step = 0
    for tile in range(gl.program_id(0), tiles, PROGRAMS):
        row = tile % tiles_m * M
        column = tile // tiles_m * N
        for k in range(0, a.shape[1], K):
            slot = step % STAGES
            mbarrier.wait(empty.index(slot), step // STAGES & 1 ^ 1)
            mbarrier.expect(ready.index(slot), a.block_type.nbytes + b.block_type.nbytes)
            tma.async_copy_global_to_shared(a, [row, k], ready.index(slot), memory_a.index(slot))
            tma.async_copy_global_to_shared(b, [column, k], ready.index(slot), memory_b.index(slot))
            step += 1


@gluon.jit
def mma_partition(
    a, memory_a, memory_b, totals, ready, empty, done, free, PROGRAMS: gl.constexpr, tiles, STAGES: gl.constexpr
):
    K: gl.constexpr = a.block_shape[1]
    step = 0
    turn = 0
    for _tile in range(gl.program_id(0), tiles, PROGRAMS):
        buffer = turn & 1
        mbarrier.wait(free.index(buffer), turn // 2 & 1 ^ 1)
        more = False
        for _k in range(0, a.shape[1], K):
            slot = step % STAGES
            mbarrier.wait(ready.index(slot), step // STAGES & 1)
            tcgen05_mma(memory_a.index(slot), memory_b.index(slot).permute((1, 0)), totals.index(buffer), use_acc=more)
            tcgen05_commit(empty.index(slot))
            more = True
            step += 1
        tcgen05_commit(done.index(buffer))
        turn += 1


@gluon.jit
def store_partition(c, memory_c, totals, done, free, PROGRAMS: gl.constexpr, tiles_m, tiles):
    M: gl.constexpr = c.block_shape[0]
    N: gl.constexpr = c.block_shape[1]
    registers: gl.constexpr = get_tmem_reg_layout(
        gl.float32, (M, N), TensorMemoryLayout([M, N], col_stride=1), gl.num_warps()
    )
    turn = 0
    for tile in range(gl.program_id(0), tiles, PROGRAMS):
        buffer = turn & 1
        mbarrier.wait(done.index(buffer), turn // 2 & 1)
        value = totals.index(buffer).load(registers)
        mbarrier.arrive(free.index(buffer), count=1)
        tma.store_wait(pendings=0)
        memory_c.store(value.to(c.dtype))
        fence_async_shared()
        tma.async_copy_shared_to_global(c, [tile % tiles_m * M, tile // tiles_m * N], memory_c)
        turn += 1
    tma.store_wait(pendings=0)


@gluon.jit
def persistent_specialised_product(a, b, c, STAGES: gl.constexpr, PROGRAMS: gl.constexpr):
    M: gl.constexpr = c.block_shape[0]
    N: gl.constexpr = c.block_shape[1]
    memory_a = gl.allocate_shared_memory(a.dtype, [STAGES] + a.block_shape, a.layout)
    memory_b = gl.allocate_shared_memory(b.dtype, [STAGES] + b.block_shape, b.layout)
    memory_c = gl.allocate_shared_memory(c.dtype, c.block_shape, c.layout)
    totals = allocate_tensor_memory(gl.float32, [2, M, N], TensorMemoryLayout([M, N], col_stride=1))
    ready = gl.allocate_shared_memory(gl.int64, [STAGES, 1], mbarrier.MBarrierLayout())
    empty = gl.allocate_shared_memory(gl.int64, [STAGES, 1], mbarrier.MBarrierLayout())
    done = gl.allocate_shared_memory(gl.int64, [2, 1], mbarrier.MBarrierLayout())
    free = gl.allocate_shared_memory(gl.int64, [2, 1], mbarrier.MBarrierLayout())
    for i in gl.static_range(STAGES):
        mbarrier.init(ready.index(i), count=1)
        mbarrier.init(empty.index(i), count=1)
    for i in gl.static_range(2):
        mbarrier.init(done.index(i), count=1)
        mbarrier.init(free.index(i), count=1)
    tiles_m = gl.cdiv(c.shape[0].to(gl.int32), M)
    tiles = tiles_m * gl.cdiv(c.shape[1].to(gl.int32), N)
    gl.warp_specialize(
        [
            (store_partition, (c, memory_c, totals, done, free, PROGRAMS, tiles_m, tiles)),
            (load_partition, (a, b, memory_a, memory_b, ready, empty, PROGRAMS, tiles_m, tiles, STAGES)),
            (mma_partition, (a, memory_a, memory_b, totals, ready, empty, done, free, PROGRAMS, tiles, STAGES)),
        ],
        [1, 1],
        [24, 24],
    )


def described(dtype, *shape, bits=16, swizzle=128):
    layout = gl.NVMMASharedLayout(swizzle_byte_width=swizzle, element_bitwidth=bits, rank=len(shape))
    return f"tensordesc<{dtype}{list(shape)},{layout!r}>"


PRODUCT = {"a": described("fp16", 128, 64), "b": described("fp16", 128, 64), "c": described("fp16", 128, 128)}
POINTERS = {"a_ptr": "*fp16", "b_ptr": "*fp16", "c_ptr": "*fp16"}

CASES = [
    Case(
        "through_tensor_memory",
        through_tensor_memory,
        {"x_ptr": "*fp32", "out_ptr": "*fp32"},
        {"M": 128, "N": 64},
        targets=DATACENTER_BLACKWELL,
    ),
    Case("product", product, PRODUCT, {"M": 128, "N": 128, "K": 64}, targets=DATACENTER_BLACKWELL),
    Case(
        "product_with_left_in_tensor_memory",
        product_with_left_in_tensor_memory,
        POINTERS,
        {"M": 128, "N": 64, "K": 64},
        aligned("a_ptr", "b_ptr", "c_ptr"),
        targets=DATACENTER_BLACKWELL,
    ),
    Case(
        "scaled_product",
        scaled_product,
        {"a_ptr": "*fp8e4nv", "b_ptr": "*fp8e4nv", "a_scale_ptr": "*i8", "b_scale_ptr": "*i8", "c_ptr": "*fp32"},
        {"M": 128, "N": 128, "K": 128},
        aligned("a_ptr", "b_ptr"),
        targets=DATACENTER_BLACKWELL,
    ),
    Case(
        "gather_and_scatter",
        gather_and_scatter,
        {"source": described("fp16", 1, 64), "target": described("fp16", 1, 64), "rows_ptr": "*i32", "column": "i32"},
        {"M": 32, "N": 64},
        targets=DATACENTER_BLACKWELL,
    ),
    Case(
        "persistent_specialised_product",
        persistent_specialised_product,
        PRODUCT,
        {"STAGES": 3, "PROGRAMS": 148},
        targets=DATACENTER_BLACKWELL,
    ),
]
