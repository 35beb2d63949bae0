"""The functions that the host may call consist of what they consist of in the base, since Dynamo traces into them."""

from typing import Any

from tests.fake_driver.programs import Both

#: Types and values of the language whose constructors ask whether a kernel is being generated, which is when some of their
#: attributes wait; else they do what they do in the base.
POSTPONING = {
    *("block_type", "block_type.__init__", "distributed_type", "distributed_type.__init__"),
    *("tuple", "tuple.__init__", "tuple._setitem", "tuple_type", "tuple_type.__init__"),
}

#: What runs while a kernel is generated, or a module of Triton is imported, and never else.
CODE_GENERATION = {
    *("tensor", "tensor.__init__", "_tensor_member_fn", "aggregate", "_aggregate_type._unflatten_ir", "jit"),
    *("shared_memory_descriptor_type._unflatten_ir", "tensor_memory_descriptor_type._unflatten_ir"),
}

#: An aggregate, made by what `aggregate` gives.
AGGREGATE = "triton.experimental.gluon.language.nvidia.blackwell.float2.Float2Tensor"


def test_what_the_host_may_call_is_the_base_s(run_both: Both) -> None:
    base, fork = run_both("structure.py", PYTHONHASHSEED="0")
    assert len(base) > 1200
    assert {"triton.cdiv", "triton.next_power_of_2", "ConstexprFunction.__call__"} <= base.keys()
    assert any(name.endswith("dtype.__eq__") for name in base)
    different = {name for name in base.keys() | fork.keys() if base.get(name) != fork.get(name)}
    assert {short(name) for name in different if not name.startswith(AGGREGATE)} == POSTPONING | CODE_GENERATION


def test_classes_that_postpone_have_the_attributes_besides(run_both: Both) -> None:
    base, fork = run_both("structure.py", PYTHONHASHSEED="0")
    more: dict[str, Any] = {
        short(name): set(fork[name]) - set(base[name])
        for name in base
        if isinstance(base[name], list) and name in fork and fork[name] != base[name] and not name.startswith(AGGREGATE)
    }
    assert more == {
        "block_type": {"name"},
        "distributed_type": {"name"},
        "tensor": {"numel", "shape"},
        "tuple": {"type"},
        "tuple_type": {"name"},
    }


def short(path: str) -> str:
    """Give the name of a function or method without that of its module, some parts of which are packages."""
    names = path.split(".")
    of_class = len(names) > 1 and (names[-2].endswith("_type") or names[-2] in ("tuple", "tensor"))
    return ".".join(names[-2:] if of_class else names[-1:])
