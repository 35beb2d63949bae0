"""Attention for Blackwell in Gluon: five kinds of warps that hand tiles to each other through barriers.

Two tiles of queries are worked on at a time, each by a partition of its own that turns scores into weights. The other partitions
load, multiply, and rescale and write the result. Scores and results live in tensor memory; weights take the place of the scores
that they come from. Of all the corpus this is the kernel that asks most of the frontend: aggregates in aggregates, methods,
closures over constants, functions passed as constants, and loops that carry many values through several levels of calls.
"""

from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.blackwell import (
    TensorMemoryLayout,
    allocate_tensor_memory,
    fence_async_shared,
    float2,
    get_tmem_reg_layout,
    mbarrier,
    tcgen05_commit,
    tcgen05_mma,
    tensor_memory_descriptor,
    tma,
)
from triton.language.core import _aggregate as aggregate

from fork.equivalence.cases import DATACENTER_BLACKWELL, Case

# ===-- What is known when compiling --===


@aggregate
class Plan:
    """Sizes and layouts, worked out once."""

    rows: gl.constexpr
    keys: gl.constexpr
    depth: gl.constexpr
    dtype: gl.constexpr
    slots: gl.constexpr
    causal: gl.constexpr
    packed: gl.constexpr
    warps: gl.constexpr
    score_layout: gl.constexpr
    score_registers: gl.constexpr
    half_registers: gl.constexpr
    weight_layout: gl.constexpr
    weight_registers: gl.constexpr
    total_layout: gl.constexpr
    total_registers: gl.constexpr
    row_layout: gl.constexpr
    line_layout: gl.constexpr

    @gluon.constexpr_function
    def __init__(self, rows, keys, depth, dtype, slots, causal, packed, warps):
        self.rows = gl.constexpr(rows)
        self.keys = gl.constexpr(keys)
        self.depth = gl.constexpr(depth)
        self.dtype = gl.constexpr(dtype)
        self.slots = gl.constexpr(slots)
        self.causal = gl.constexpr(causal)
        self.packed = gl.constexpr(packed)
        self.warps = gl.constexpr(warps)
        scores = TensorMemoryLayout([rows, keys], col_stride=1)
        halves = TensorMemoryLayout([rows, keys // 2], col_stride=1)
        weights = TensorMemoryLayout([rows, keys], col_stride=1)
        totals = TensorMemoryLayout([rows, depth], col_stride=1)
        self.score_layout = gl.constexpr(scores)
        self.weight_layout = gl.constexpr(weights)
        self.total_layout = gl.constexpr(totals)
        self.score_registers = gl.constexpr(get_tmem_reg_layout(gl.float32, (rows, keys), scores, warps))
        self.half_registers = gl.constexpr(get_tmem_reg_layout(gl.float32, (rows, keys // 2), halves, warps))
        self.weight_registers = gl.constexpr(get_tmem_reg_layout(dtype, (rows, keys), weights, warps))
        self.total_registers = gl.constexpr(get_tmem_reg_layout(gl.float32, (rows, depth), totals, warps))
        self.row_layout = gl.constexpr(gl.SliceLayout(1, self.score_registers))
        self.line_layout = gl.constexpr(gl.BlockedLayout([1], [32], [warps], [0]))


# ===-- How partitions hand things to each other --===


@aggregate
class Handover:
    """Slots that a producer fills and a consumer empties, with a pair of barriers for each."""

    ready: gl.shared_memory_descriptor
    empty: gl.shared_memory_descriptor
    slots: gl.constexpr

    @gluon.constexpr_function
    def __init__(self, ready, empty, slots):
        self.ready = ready
        self.empty = empty
        self.slots = gl.constexpr(slots)

    @gluon.jit
    def create(slots: gl.constexpr, consumers: gl.constexpr = 1):
        ready = gl.allocate_shared_memory(gl.int64, [slots, 1], mbarrier.MBarrierLayout())
        empty = gl.allocate_shared_memory(gl.int64, [slots, 1], mbarrier.MBarrierLayout())
        for i in gl.static_range(slots):
            mbarrier.init(ready.index(i), count=1)
            mbarrier.init(empty.index(i), count=consumers)
        return Handover(ready, empty, slots)

    @gluon.jit
    def close(self):
        for i in gl.static_range(self.slots):
            mbarrier.invalidate(self.ready.index(i))
            mbarrier.invalidate(self.empty.index(i))

    @gluon.jit
    def place(self, turn):
        if self.slots == 1:
            return 0, turn & 1
        else:
            return turn % self.slots, turn // self.slots & 1

    @gluon.jit
    def to_fill(self, turn):
        slot, phase = self.place(turn)
        mbarrier.wait(self.empty.index(slot), phase ^ 1)
        return slot

    @gluon.jit
    def to_use(self, turn):
        slot, phase = self.place(turn)
        mbarrier.wait(self.ready.index(slot), phase)
        return slot

    @gluon.jit
    def filled(self, turn):
        mbarrier.arrive(self.ready.index(self.place(turn)[0]), count=1)

    @gluon.jit
    def used(self, turn):
        mbarrier.arrive(self.empty.index(self.place(turn)[0]), count=1)


@aggregate
class Lines:
    """One number a row, handed over in shared memory."""

    memory: gl.shared_memory_descriptor
    handover: Handover
    plan: Plan

    @gluon.constexpr_function
    def __init__(self, memory, handover, plan):
        self.memory = memory
        self.handover = handover
        self.plan = plan

    @gluon.jit
    def create(plan):
        layout: gl.constexpr = gl.SwizzledSharedLayout(1, 1, 1, order=[0])
        memory = gl.allocate_shared_memory(gl.float32, [1, plan.rows], layout)
        return Lines(memory, Handover.create(1), plan)

    @gluon.jit
    def send(self, value, turn):
        slot = self.handover.to_fill(turn)
        self.memory.index(slot).store(gl.convert_layout(value, self.plan.line_layout))
        self.handover.filled(turn)

    @gluon.jit
    def receive(self, turn, layout: gl.constexpr):
        slot = self.handover.to_use(turn)
        value = self.memory.index(slot).load(self.plan.line_layout)
        self.handover.used(turn)
        return gl.convert_layout(value, layout)


@aggregate
class Tile:
    """What belongs to one of the two tiles of queries."""

    plan: Plan
    query: gl.shared_memory_descriptor
    queries: Handover
    score_memory: tensor_memory_descriptor
    scores: Handover
    weights: Handover
    total: tensor_memory_descriptor
    totals: Handover
    shrink: Lines
    final: Lines

    @gluon.constexpr_function
    def __init__(self, plan, query, queries, score_memory, scores, weights, total, totals, shrink, final):
        self.plan = plan
        self.query = query
        self.queries = queries
        self.score_memory = score_memory
        self.scores = scores
        self.weights = weights
        self.total = total
        self.totals = totals
        self.shrink = shrink
        self.final = final

    @gluon.jit
    def create(plan, query_memory, score_memory, total_memory):
        return Tile(
            plan,
            query_memory,
            Handover.create(1),
            score_memory,
            Handover.create(1),
            Handover.create(1),
            total_memory,
            Handover.create(1),
            Lines.create(plan),
            Lines.create(plan),
        )

    @gluon.jit
    def weight_memory(self):
        plan = self.plan
        memory = self.score_memory.slice(0, plan.keys * plan.dtype.primitive_bitwidth // 32)
        return memory._reinterpret(plan.dtype, [plan.rows, plan.keys], plan.weight_layout)


@aggregate
class Work:
    """Which rows of which head a turn of the outer loop is about."""

    head: gl.tensor
    start: gl.tensor
    context: gl.tensor
    plan: Plan

    @gluon.constexpr_function
    def __init__(self, head, start, context, plan):
        self.head = head
        self.start = start
        self.context = context
        self.plan = plan

    @gluon.jit
    def place(self, tile: gl.constexpr):
        return self.head * self.context + self.start + tile * self.plan.rows

    @gluon.jit
    def key_place(self, step):
        return self.head * self.context + step * self.plan.keys

    @gluon.jit
    def free_steps(self):
        """Blocks of keys that no row of the tiles has to hide."""
        if self.plan.causal:
            return self.start // self.plan.keys
        else:
            return gl.cdiv(self.context, self.plan.keys)

    @gluon.jit
    def steps(self):
        if self.plan.causal:
            return gl.cdiv(self.start + 2 * self.plan.rows, self.plan.keys)
        else:
            return gl.cdiv(self.context, self.plan.keys)


@aggregate
class Schedule:
    """Deals the work to the programs."""

    context: gl.tensor
    blocks: gl.tensor
    count: gl.tensor
    plan: Plan

    @gluon.constexpr_function
    def __init__(self, context, blocks, count, plan):
        self.context = context
        self.blocks = blocks
        self.count = count
        self.plan = plan

    @gluon.jit
    def create(context, heads, plan):
        blocks = gl.cdiv(context, 2 * plan.rows)
        return Schedule(context, blocks, blocks * heads, plan)

    @gluon.jit
    def work(self, index):
        block = index % self.blocks
        if self.plan.causal:
            block = self.blocks - 1 - block
        return Work(index // self.blocks, block * 2 * self.plan.rows, self.context, self.plan)


# ===-- Arithmetic on registers --===


@gluon.jit
def higher_of(a, b):
    return gl.maximum(a, b)


@gluon.jit
def hide_later_keys(scores, first_row, first_key, plan):
    rows = first_row + gl.arange(0, plan.rows, layout=gl.SliceLayout(1, plan.score_registers))
    keys = first_key + gl.arange(0, plan.keys, layout=gl.SliceLayout(0, plan.score_registers))
    return gl.where(rows[:, None] >= keys[None, :], scores, -float("inf"))


@gluon.jit
def powers_of_two(x, plan):
    """Exponentials, in the number format of the weights when that is exact enough."""
    if plan.dtype.primitive_bitwidth == 8:
        return gl.exp2(x.to(gl.float16).to(gl.float32))
    else:
        return gl.exp2(x)


@gluon.jit
def scale_rows(total, factor, plan):
    if plan.packed:
        pairs = float2.pack(total, axis=1)
        factors = float2.pack(gl.broadcast(factor[:, None], total)[0], axis=1)
        return float2.unpack(pairs * factors, axis=1)
    else:
        return total * factor[:, None]


@gluon.jit
def scale_and_shift(scores, scale, highest, plan):
    if plan.packed:
        pairs = float2.pack(scores, axis=1)
        scales = float2.full_like(pairs, scale)
        shifts = float2.pack(gl.broadcast(-highest[:, None], scores)[0], axis=1)
        return float2.unpack(float2.fma(pairs, scales, shifts), axis=1)
    else:
        return scores * scale - highest[:, None]


# ===-- The partitions --===


@gluon.jit
def load_query(q, work, tile, turn, index: gl.constexpr):
    tile.queries.to_fill(turn)
    barrier = tile.queries.ready.index(0)
    mbarrier.expect(barrier, q.block_type.nbytes)
    tma.async_copy_global_to_shared(q, [work.place(index), 0], barrier, tile.query)


@gluon.jit
def load_block(source, place, keys_and_values, memory, turn):
    slot = keys_and_values.to_fill(turn)
    barrier = keys_and_values.ready.index(slot)
    mbarrier.expect(barrier, source.block_type.nbytes)
    tma.async_copy_global_to_shared(source, [place, 0], barrier, memory.index(slot))
    return turn + 1


@gluon.jit
def load_partition(q, k, v, schedule, tile0, tile1, keys_and_values, memory):
    turn = 0
    round = 0
    for index in range(gl.program_id(0), schedule.count, gl.num_programs(0)):
        work = schedule.work(index)
        load_query(q, work, tile0, round, 0)
        turn = load_block(k, work.key_place(0), keys_and_values, memory, turn)
        load_query(q, work, tile1, round, 1)
        turn = load_block(v, work.key_place(0), keys_and_values, memory, turn)
        for step in range(1, work.steps()):
            turn = load_block(k, work.key_place(step), keys_and_values, memory, turn)
            turn = load_block(v, work.key_place(step), keys_and_values, memory, turn)
        round += 1


@gluon.jit
def multiply_scores(tile, key, turn):
    tile.scores.to_fill(turn)
    tcgen05_mma(
        tile.query, key.permute((1, 0)), tile.score_memory, use_acc=False, mbarriers=[tile.scores.ready.index(0)]
    )


@gluon.jit
def multiply_values(tile, value, turn, more):
    tile.weights.to_use(turn)
    tile.totals.to_fill(turn)
    tcgen05_mma(
        tile.weight_memory(),
        value,
        tile.total,
        use_acc=more,
        mbarriers=[tile.totals.ready.index(0), tile.weights.empty.index(0)],
        mbarrier_preds=[True, True],
    )


@gluon.jit
def multiply_partition(schedule, tile0, tile1, keys_and_values, memory):
    tiles = (tile0, tile1)
    turn = 0
    step_of_all = 0
    round = 0
    for index in range(gl.program_id(0), schedule.count, gl.num_programs(0)):
        work = schedule.work(index)
        steps = work.steps()
        key_slot = keys_and_values.to_use(turn)
        for t in gl.static_range(2):
            tiles[t].queries.to_use(round)
            multiply_scores(tiles[t], memory.index(key_slot), step_of_all)
        tcgen05_commit(keys_and_values.empty.index(key_slot))
        turn += 1
        more = False
        for step in range(1, steps):
            value_slot = keys_and_values.to_use(turn)
            key_slot = keys_and_values.to_use(turn + 1)
            for t in gl.static_range(2):
                multiply_values(tiles[t], memory.index(value_slot), step_of_all, more)
                multiply_scores(tiles[t], memory.index(key_slot), step_of_all + 1)
            tcgen05_commit(keys_and_values.empty.index(value_slot))
            tcgen05_commit(keys_and_values.empty.index(key_slot))
            more = True
            turn += 2
            step_of_all += 1
        value_slot = keys_and_values.to_use(turn)
        for t in gl.static_range(2):
            multiply_values(tiles[t], memory.index(value_slot), step_of_all, more)
            tcgen05_commit(tiles[t].queries.empty.index(0))
        tcgen05_commit(keys_and_values.empty.index(value_slot))
        turn += 1
        step_of_all += 1
        round += 1


@gluon.jit
def weigh(tile, scale, highest, sums, turn, first_row, first_key, HIDE: gl.constexpr):
    plan = tile.plan
    tile.scores.to_use(turn)
    scores = tile.score_memory.load(plan.score_registers)
    if HIDE:
        scores = hide_later_keys(scores, first_row, first_key, plan)
    higher = gl.maximum(highest, gl.reduce(scores, 1, higher_of) * scale)
    shrink = gl.exp2(highest - higher)
    tile.shrink.send(shrink, turn)
    weights = powers_of_two(scale_and_shift(scores, scale, higher, plan), plan)
    tile.weights.to_fill(turn)
    tile.weight_memory().store(gl.convert_layout(weights.to(plan.dtype), plan.weight_registers))
    tile.weights.filled(turn)
    tile.scores.used(turn)
    sums = sums * shrink + gl.sum(weights, axis=1)
    return higher, sums, turn + 1


@gluon.jit
def weigh_partition(schedule, tile, scale, log_ptr, INDEX: gl.constexpr):
    plan = tile.plan
    turn = 0
    round = 0
    for index in range(gl.program_id(0), schedule.count, gl.num_programs(0)):
        work = schedule.work(index)
        highest = gl.full([plan.rows], -float("inf"), gl.float32, layout=plan.row_layout)
        sums = gl.full([plan.rows], 0.0, gl.float32, layout=plan.row_layout)
        first_row = work.start + INDEX * plan.rows
        free = work.free_steps()
        for step in range(free):
            highest, sums, turn = weigh(tile, scale, highest, sums, turn, first_row, step * plan.keys, False)
        if plan.causal:
            for step in range(free, work.steps()):
                highest, sums, turn = weigh(tile, scale, highest, sums, turn, first_row, step * plan.keys, True)
        tile.final.send(1.0 / sums, round)
        rows = gl.arange(0, plan.rows, layout=plan.row_layout)
        gl.store(log_ptr + work.place(INDEX) + rows, highest + gl.log2(sums))
        round += 1


@gluon.jit
def shrink_total(tile, turn, layout: gl.constexpr):
    plan = tile.plan
    shrink = tile.shrink.receive(turn, layout)
    tile.totals.to_use(turn - 1)
    total = tile.total.load(plan.total_registers)
    tile.total.store(scale_rows(total, shrink, plan))
    tile.totals.used(turn - 1)


@gluon.jit
def write_total(tile, out, out_memory, work, turn, round, INDEX: gl.constexpr, layout: gl.constexpr):
    plan = tile.plan
    factor = tile.final.receive(round, layout)
    tile.totals.to_use(turn - 1)
    total = tile.total.load(plan.total_registers)
    tile.totals.used(turn - 1)
    tma.store_wait(pendings=0)
    out_memory.store(scale_rows(total, factor, plan).to(out.dtype))
    fence_async_shared()
    tma.async_copy_shared_to_global(out, [work.place(INDEX), 0], out_memory)


@gluon.jit
def correct_partition(out, out_memory, schedule, tile0, tile1):
    plan = tile0.plan
    layout: gl.constexpr = gl.SliceLayout(1, plan.total_registers)
    tiles = (tile0, tile1)
    turn = 0
    round = 0
    for index in range(gl.program_id(0), schedule.count, gl.num_programs(0)):
        work = schedule.work(index)
        for t in gl.static_range(2):
            tiles[t].shrink.receive(turn, layout)
        turn += 1
        for _step in range(1, work.steps()):
            for t in gl.static_range(2):
                shrink_total(tiles[t], turn, layout)
            turn += 1
        for t in gl.static_range(2):
            write_total(tiles[t], out, out_memory.index(t), work, turn, round, t, layout)
        round += 1
    tma.store_wait(pendings=0)


# ===-- The kernel --===


@gluon.jit
def attention(
    q, k, v, out, log_ptr, scale, context, heads, SLOTS: gl.constexpr, CAUSAL: gl.constexpr, PACKED: gl.constexpr
):
    gl.static_assert(k.block_shape[1] == q.block_shape[1], "queries and keys have one depth")
    rows: gl.constexpr = q.block_shape[0]
    keys: gl.constexpr = k.block_shape[0]
    depth: gl.constexpr = q.block_shape[1]
    plan = Plan(rows, keys, depth, q.dtype, SLOTS, CAUSAL, PACKED, gl.num_warps())
    schedule = Schedule.create(context, heads, plan)
    scale *= 1.4426950408889634

    query_memory = gl.allocate_shared_memory(q.dtype, [2] + q.block_shape, q.layout)
    out_memory = gl.allocate_shared_memory(out.dtype, [2] + out.block_shape, out.layout)
    key_value_memory = gl.allocate_shared_memory(k.dtype, [SLOTS] + k.block_shape, k.layout)
    score_memory = allocate_tensor_memory(gl.float32, [2, rows, keys], plan.score_layout)
    total_memory = allocate_tensor_memory(gl.float32, [2, rows, depth], plan.total_layout)

    keys_and_values = Handover.create(SLOTS)
    tile0 = Tile.create(plan, query_memory.index(0), score_memory.index(0), total_memory.index(0))
    tile1 = Tile.create(plan, query_memory.index(1), score_memory.index(1), total_memory.index(1))

    gl.warp_specialize(
        [
            (correct_partition, (out, out_memory, schedule, tile0, tile1)),
            (weigh_partition, (schedule, tile0, scale, log_ptr, 0)),
            (weigh_partition, (schedule, tile1, scale, log_ptr, 1)),
            (multiply_partition, (schedule, tile0, tile1, keys_and_values, key_value_memory)),
            (load_partition, (q, k, v, schedule, tile0, tile1, keys_and_values, key_value_memory)),
        ],
        [4, 4, 1, 1],
        [192, 192, 24, 24],
    )
    keys_and_values.close()


def described(dtype, rows, depth, bits=16):
    layout = gl.NVMMASharedLayout(swizzle_byte_width=min(128, depth * bits // 8), element_bitwidth=bits, rank=2)
    return f"tensordesc<{dtype}{[rows, depth]},{layout!r}>"


def tensors(dtype, keys, depth, bits=16):
    return {
        "q": described(dtype, 128, depth, bits),
        "k": described(dtype, keys, depth, bits),
        "v": described(dtype, keys, depth, bits),
        "out": described("fp16" if bits == 8 else dtype, 128, depth),
        "log_ptr": "*fp32",
        "scale": "fp32",
        "context": "i32",
        "heads": "i32",
    }


CASES = [
    Case(
        "attention",
        attention,
        tensors("fp16", 128, 64),
        {"SLOTS": 3, "CAUSAL": False, "PACKED": False},
        {"context": [("tt.divisibility", 16)]},
        {"num_warps": 4},
        DATACENTER_BLACKWELL,
    ),
    Case(
        "attention_causal",
        attention,
        tensors("bf16", 128, 128),
        {"SLOTS": 2, "CAUSAL": True, "PACKED": False},
        targets=DATACENTER_BLACKWELL,
    ),
    Case(
        "attention_causal_packed",
        attention,
        tensors("fp16", 128, 64),
        {"SLOTS": 4, "CAUSAL": True, "PACKED": True},
        targets=DATACENTER_BLACKWELL,
    ),
    Case(
        "attention_of_bytes",
        attention,
        tensors("fp8e5", 128, 128, 8),
        {"SLOTS": 3, "CAUSAL": True, "PACKED": False},
        targets=DATACENTER_BLACKWELL,
    ),
]
