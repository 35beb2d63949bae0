"""Gluon for every NVIDIA target: layouts, shared memory, asynchronous copies, mma of Ampere."""

from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.ampere import async_copy, mma_v2

from fork.equivalence.cases import CUDA, Case, aligned


@gluon.jit
def copy_by_layout(x_ptr, out_ptr, count, BLOCK: gl.constexpr, LAYOUT: gl.constexpr):
    at = gl.program_id(0) * BLOCK + gl.arange(0, BLOCK, layout=LAYOUT)
    inside = at < count
    gl.store(out_ptr + at, gl.load(x_ptr + at, mask=inside) * 2, mask=inside)


@gluon.jit
def copy_by_inferred_layout(x_ptr, out_ptr, count, BLOCK: gl.constexpr):
    at = gl.program_id(0) * BLOCK + gl.arange(0, BLOCK, layout=gl.CoalescedLayout())
    inside = at < count
    x = gl.load(x_ptr + at, mask=inside, other=0.0)
    gl.store(out_ptr + at, gl.where(x > 0, x, gl.full_like(x, -1.0)), mask=inside)


@gluon.jit
def copy_by_late_layout(x_ptr, out_ptr, BLOCK: gl.constexpr, LAYOUT: gl.constexpr):
    at = gl.arange(0, BLOCK, layout=gl.AutoLayout())
    twice = gl.set_auto_layout(at * 2, LAYOUT)
    gl.store(out_ptr + twice, gl.load(x_ptr + twice))


@gluon.jit
def transpose(x_ptr, out_ptr, M: gl.constexpr, N: gl.constexpr):
    read: gl.constexpr = gl.BlockedLayout([1, 4], [4, 8], [gl.num_warps(), 1], [1, 0])
    write: gl.constexpr = gl.BlockedLayout([4, 1], [8, 4], [1, gl.num_warps()], [0, 1])
    rows = gl.arange(0, M, layout=gl.SliceLayout(1, read))
    columns = gl.arange(0, N, layout=gl.SliceLayout(0, read))
    tile = gl.load(x_ptr + rows[:, None] * N + columns[None, :])
    tile = gl.convert_layout(tile, write)
    rows = gl.arange(0, M, layout=gl.SliceLayout(1, write))
    columns = gl.arange(0, N, layout=gl.SliceLayout(0, write))
    gl.store(out_ptr + columns[None, :] * M + rows[:, None], tile)


@gluon.jit
def through_shared_memory(x_ptr, out_ptr, M: gl.constexpr, N: gl.constexpr, SHARED: gl.constexpr):
    layout: gl.constexpr = gl.BlockedLayout([1, 4], [4, 8], [gl.num_warps(), 1], [1, 0])
    rows = gl.arange(0, M, layout=gl.SliceLayout(1, layout))
    columns = gl.arange(0, N, layout=gl.SliceLayout(0, layout))
    at = rows[:, None] * N + columns[None, :]
    memory = gl.allocate_shared_memory(gl.float16, [M, N], SHARED, gl.load(x_ptr + at))
    half = memory.slice(0, N // 2, dim=1)
    other = memory.slice(N // 2, N // 2, dim=1)
    memory.store(memory.load(layout) + 1)
    value = half.load(layout) - other.load(layout)
    turned = memory.permute([1, 0]).load(gl.BlockedLayout([4, 1], [8, 4], [1, gl.num_warps()], [0, 1]))
    memory._keep_alive()
    gl.store(
        out_ptr
        + gl.arange(0, M, layout=gl.SliceLayout(1, layout))[:, None] * (N // 2)
        + gl.arange(0, N // 2, layout=gl.SliceLayout(0, layout))[None, :],
        value,
    )
    gl.store(out_ptr + M * N, gl.max(gl.max(turned, axis=0), axis=0))


@gluon.jit
def reductions_and_scans(x_ptr, out_ptr, M: gl.constexpr, N: gl.constexpr):
    layout: gl.constexpr = gl.BlockedLayout([1, 2], [2, 16], [2, 2], [1, 0])
    rows = gl.arange(0, M, layout=gl.SliceLayout(1, layout))
    columns = gl.arange(0, N, layout=gl.SliceLayout(0, layout))
    x = gl.load(x_ptr + rows[:, None] * N + columns[None, :])
    x = gl.exp2(x - gl.max(x, axis=1)[:, None])
    x = gl.associative_scan(x, 1, add)
    gl.store(out_ptr + rows, gl.sum(x, axis=1) + gl.reduce(x, 1, larger))
    gl.store(out_ptr + M + columns, gl.min(x, axis=0))


@gluon.jit
def add(a, b):
    return a + b


@gluon.jit
def larger(a, b):
    return gl.maximum(a, b)


@gluon.jit
def pipeline_of_copies(x_ptr, y_ptr, out_ptr, columns, BLOCK: gl.constexpr, STAGES: gl.constexpr):
    layout: gl.constexpr = gl.BlockedLayout([4], [32], [gl.num_warps()], [0])
    shared: gl.constexpr = gl.SwizzledSharedLayout(1, 1, 1, order=[0])
    xs = gl.allocate_shared_memory(gl.float32, [STAGES, BLOCK], shared)
    ys = gl.allocate_shared_memory(gl.float32, [STAGES, BLOCK], shared)
    at = gl.arange(0, BLOCK, layout=layout)
    row = gl.program_id(0) * columns
    steps = gl.cdiv(columns, BLOCK)
    for step in gl.static_range(STAGES - 1):
        place = row + step * BLOCK + at
        inside = step * BLOCK + at < columns
        async_copy.async_copy_global_to_shared(xs.index(step), x_ptr + place, mask=inside)
        async_copy.async_copy_global_to_shared(ys.index(step), y_ptr + place, mask=inside)
        async_copy.commit_group()
    total = gl.zeros([BLOCK], gl.float32, layout=layout)
    for step in range(steps):
        ahead = step + STAGES - 1
        place = row + ahead * BLOCK + at
        inside = ahead * BLOCK + at < columns
        async_copy.async_copy_global_to_shared(xs.index(ahead % STAGES), x_ptr + place, mask=inside)
        async_copy.async_copy_global_to_shared(ys.index(ahead % STAGES), y_ptr + place, mask=inside)
        async_copy.commit_group()
        async_copy.wait_group(STAGES - 1)
        total += xs.index(step % STAGES).load(layout) * ys.index(step % STAGES).load(layout)
        gl.thread_barrier()
    gl.store(out_ptr + gl.program_id(0), gl.sum(total, axis=0))


@gluon.jit
def mma_of_ampere(a_ptr, b_ptr, c_ptr, k, M: gl.constexpr, N: gl.constexpr, K: gl.constexpr):
    mma: gl.constexpr = gl.NVMMADistributedLayout(version=[2, 0], warps_per_cta=[2, 2], instr_shape=[16, 8])
    left: gl.constexpr = gl.DotOperandLayout(0, mma, 2)
    right: gl.constexpr = gl.DotOperandLayout(1, mma, 2)
    load: gl.constexpr = gl.BlockedLayout([1, 8], [8, 4], [4, 1], [1, 0])
    rows = gl.arange(0, M, layout=gl.SliceLayout(1, load))
    columns = gl.arange(0, N, layout=gl.SliceLayout(0, load))
    inner_of_a = gl.arange(0, K, layout=gl.SliceLayout(0, load))
    inner_of_b = gl.arange(0, K, layout=gl.SliceLayout(1, load))
    total = gl.zeros([M, N], gl.float32, layout=mma)
    for start in range(0, k, K):
        a = gl.load(a_ptr + rows[:, None] * k + start + inner_of_a[None, :])
        b = gl.load(b_ptr + (start + inner_of_b)[:, None] * N + columns[None, :])
        total = mma_v2(gl.convert_layout(a, left), gl.convert_layout(b, right), total)
    rows = gl.arange(0, M, layout=gl.SliceLayout(1, mma))
    columns = gl.arange(0, N, layout=gl.SliceLayout(0, mma))
    gl.store(c_ptr + rows[:, None] * N + columns[None, :], total.to(gl.float16))


@gluon.jit
def small_product(a_ptr, b_ptr, c_ptr, N: gl.constexpr):
    layout: gl.constexpr = gl.BlockedLayout([1, 1], [4, 8], [4, 1], [1, 0])
    left: gl.constexpr = gl.DotOperandLayout(0, layout, 0)
    right: gl.constexpr = gl.DotOperandLayout(1, layout, 0)
    rows = gl.arange(0, N, layout=gl.SliceLayout(1, layout))
    columns = gl.arange(0, N, layout=gl.SliceLayout(0, layout))
    at = rows[:, None] * N + columns[None, :]
    a = gl.convert_layout(gl.load(a_ptr + at), left)
    b = gl.convert_layout(gl.load(b_ptr + at), right)
    gl.store(c_ptr + at, gl.dot_fma(a, b, gl.zeros([N, N], gl.float32, layout=layout)))


@gluon.constexpr_function
def widest(bits, count):
    return gl.BlockedLayout([min(128 // bits, count // 128)], [32], [4], [0])


@gluon.jit
def layout_by_function(x_ptr, out_ptr, BLOCK: gl.constexpr):
    layout: gl.constexpr = widest(x_ptr.dtype.element_ty.primitive_bitwidth, BLOCK)
    at = gl.arange(0, BLOCK, layout=layout)
    x = gl.load(x_ptr + at)
    joined = gl.join(x, x + 1)
    left, right = gl.split(joined)
    gl.static_assert(gl.num_ctas() == 1)
    gl.store(out_ptr + at, gl.convert_layout(left * right, layout))
    gl.atomic_add(out_ptr + at, x)


@gluon.jit
def linear_layout(x_ptr, out_ptr):
    layout: gl.constexpr = gl.DistributedLinearLayout(
        [[1], [2]], [[4], [8], [16], [32], [64]], [[128], [256]], [], [512]
    )
    at = gl.arange(0, 512, layout=layout)
    gl.store(out_ptr + at, gl.histogram(gl.load(x_ptr + at), 512, layout=layout))


VECTORS = {"x_ptr": "*fp32", "out_ptr": "*fp32"}
HALVES = {"x_ptr": "*fp16", "out_ptr": "*fp16"}
MATRICES = {"a_ptr": "*fp16", "b_ptr": "*fp16", "c_ptr": "*fp16"}

CASES = [
    Case(
        "copy_by_layout",
        copy_by_layout,
        VECTORS | {"count": "i32"},
        {"BLOCK": 1024, "LAYOUT": gl.BlockedLayout([4], [32], [4], [0])},
        aligned("x_ptr", "out_ptr"),
        targets=(*CUDA, "hip:gfx1200"),
    ),
    Case(
        "copy_by_inferred_layout",
        copy_by_inferred_layout,
        VECTORS | {"count": "i32"},
        {"BLOCK": 1024},
        aligned("x_ptr", "out_ptr"),
        targets=CUDA,
    ),
    Case(
        "copy_by_late_layout",
        copy_by_late_layout,
        VECTORS,
        {"BLOCK": 512, "LAYOUT": gl.BlockedLayout([2], [32], [4], [0])},
        targets=(*CUDA, "hip:gfx1200"),
    ),
    Case(
        "transpose", transpose, HALVES, {"M": 64, "N": 64}, aligned("x_ptr", "out_ptr"), targets=(*CUDA, "hip:gfx1200")
    ),
    Case(
        "through_swizzled_memory",
        through_shared_memory,
        HALVES,
        {"M": 64, "N": 64, "SHARED": gl.SwizzledSharedLayout(8, 2, 4, order=[1, 0])},
        targets=CUDA,
    ),
    Case(
        "through_plain_memory",
        through_shared_memory,
        HALVES,
        {"M": 32, "N": 64, "SHARED": gl.SwizzledSharedLayout(1, 1, 1, order=[1, 0])},
        targets=CUDA,
    ),
    Case("reductions_and_scans", reductions_and_scans, VECTORS, {"M": 16, "N": 64}, targets=(*CUDA, "hip:gfx1200")),
    Case(
        "pipeline_of_copies",
        pipeline_of_copies,
        {"x_ptr": "*fp32", "y_ptr": "*fp32", "out_ptr": "*fp32", "columns": "i32"},
        {"BLOCK": 512, "STAGES": 3},
        aligned("x_ptr", "y_ptr", "columns"),
        targets=CUDA,
    ),
    Case(
        "mma_of_ampere",
        mma_of_ampere,
        MATRICES | {"k": "i32"},
        {"M": 64, "N": 64, "K": 32},
        aligned("a_ptr", "b_ptr", "c_ptr", "k"),
        targets=CUDA,
    ),
    Case(
        "small_product",
        small_product,
        {"a_ptr": "*fp32", "b_ptr": "*fp32", "c_ptr": "*fp32"},
        {"N": 16},
        targets=(*CUDA, "hip:gfx1200"),
    ),
    Case("layout_by_function", layout_by_function, VECTORS, {"BLOCK": 1024}, targets=CUDA),
    Case("linear_layout", linear_layout, {"x_ptr": "*i32", "out_ptr": "*i32"}, targets=CUDA),
]
