"""Short ways for plain values: integers, constants, scalar types, names of the function at hand.

Each function here stands as a decorator before a function of the base, answers the calls that are common and simple, and leaves
every other one to the base's function.  Results, errors and the order of checks are the base's.

Mirrors python/triton/compiler/code_generator.py: CodeGenerator._define_name_lookup, CodeGenerator._name_loc_prefix

Mirrors python/triton/_utils.py: find_paths_if

Mirrors python/triton/language/core.py: _unwrap_if_constexpr

Mirrors python/triton/language/semantic.py: TritonSemantic.binary_op_type_checking_impl, TritonSemantic.computation_type_impl,
TritonSemantic.broadcast_impl_value, TritonSemantic.cast, TritonSemantic._bool_like
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from types import ModuleType, TracebackType
from typing import Any, TypeVar

from triton.fork.codegen import lazy
from triton.fork.settings import at_import
from triton.fork.state.current_kernel import current

__all__ = [
    "ON",
    "SWITCH",
    "binary_broadcast",
    "binary_operands",
    "bool_like",
    "cast",
    "fast_path",
    "find_paths",
    "lookup",
    "name_prefix",
    "scope",
    "unwrap",
]

#: The environment variable that leaves every function to the base; read when this module is imported, as it is with ``triton``.
SWITCH = "TRITON_FORK_PLAIN_VALUES"

#: Whether the short ways are taken.
ON = at_import(SWITCH)

Function = TypeVar("Function", bound=Callable[..., Any])
AnyFunction = Callable[..., Any]

_SCOPE = "values from no module of the backend"
_CORE = "triton.language.core"
_UNWRAPPED = frozenset({int, float, bool, str, type(None)})


def fast_path(on: bool) -> Callable[[Callable[[AnyFunction], AnyFunction]], Callable[[Function], Function]]:
    """Make a decorator for functions of the base of a function that replaces one.

    :param on: Whether functions are replaced; otherwise the decorator gives back the base's.
    :returns: A decorator for a function that takes the base's function and gives the one to put in its place.
    """

    def wrap(make: Callable[[AnyFunction], AnyFunction]) -> Callable[[Function], Function]:
        def decorate(base: Function) -> Function:
            return functools.wraps(base)(make(base)) if on else base  # type: ignore[return-value]

        decorate.__name__, decorate.__doc__ = make.__name__, make.__doc__
        return decorate

    return wrap


@fast_path(ON)
def find_paths(base: AnyFunction) -> AnyFunction:
    """Look at each item once, without a function call to tell what can be iterated over."""
    del base
    iterables: tuple[type, ...] = ()

    def find_paths_if(iterable: Any, pred: Callable[[tuple[int, ...], Any], bool]) -> list[tuple[int, ...]]:
        nonlocal iterables
        if not iterables:
            from triton.language import core

            iterables = (list, tuple, core.tuple, core.tuple_type)
        found: list[tuple[int, ...]] = []

        def look(path: tuple[int, ...], current: Any) -> None:
            for index, item in enumerate(current):
                if isinstance(item, iterables):
                    look((*path, index), item)
                elif pred((*path, index), item):
                    found.append((*path, index))

        if isinstance(iterable, iterables):
            look((), iterable)
        elif pred((), iterable):
            found.append(())
        return found

    return find_paths_if


@fast_path(ON)
def unwrap(base: AnyFunction) -> AnyFunction:
    """Tell constants and what holds none by class, without rebuilding lists of integers item by item.

    For code generation alone: what the host may call as well is the base's.
    """
    constant = base.__globals__["constexpr"]

    def _unwrap_if_constexpr(o: Any) -> Any:
        kind = o.__class__
        if kind is constant:
            return o.value
        return o if kind in _UNWRAPPED else base(o)

    return _unwrap_if_constexpr


def _with_element(block: Any, scalar: Any) -> Any:
    """Give the type of a block with other elements, with the shape that has been validated."""
    kind = block.__class__
    if kind.__qualname__ != "block_type" or kind.__module__ != _CORE or lazy.EAGER:
        return block.with_element_ty(scalar)
    made = kind.__new__(kind)
    made.element_ty, made.shape, made.numel = scalar, block.shape, block.numel
    return made


@fast_path(ON)
def binary_operands(base: AnyFunction) -> AnyFunction:
    """Leave tensors of one scalar type, which need no conversion, to the broadcast."""
    language = base.__globals__["tl"]
    tensor, scalars = language.tensor, language.dtype
    no_number = (tensor,)
    rule: Any = None

    def is_own_rule(semantic: Any) -> bool:
        """Tell whether it is the base's rule that gives the type of a result, and keeps a type that both have."""
        nonlocal rule
        method = type(semantic).computation_type_impl
        if method is not rule and getattr(method, "__globals__", None) is base.__globals__:
            rule = method
        return method is rule and "computation_type_impl" not in semantic.__dict__

    def binary_op_type_checking_impl(
        self: Any,
        lhs: Any,
        rhs: Any,
        allow_lhs_ptr: bool = False,
        allow_rhs_ptr: bool = False,
        arithmetic_check: bool = True,
        div_or_mod: bool = False,
    ) -> Any:
        if lhs.__class__ in no_number and rhs.__class__ in no_number and not div_or_mod and is_own_rule(self):
            scalar = lhs.type.scalar
            if scalar is rhs.type.scalar and scalar.__class__ is scalars and scalar.name != "void":
                return self.broadcast_impl_value(lhs, rhs)
        return base(self, lhs, rhs, allow_lhs_ptr, allow_rhs_ptr, arithmetic_check, div_or_mod)

    return binary_op_type_checking_impl


@fast_path(ON)
def cast(base: AnyFunction) -> AnyFunction:
    """Find a scalar type equal to itself."""
    scalars = base.__globals__["tl"].dtype

    def cast(self: Any, input: Any, dst_ty: Any, fp_downcast_rounding: Any = None) -> Any:  # noqa: A002 (the base's name)
        scalar = input.type.scalar
        if scalar.__class__ is scalars and scalar is dst_ty.scalar:
            return input
        return base(self, input, dst_ty, fp_downcast_rounding)

    return cast


@fast_path(ON)
def bool_like(base: AnyFunction) -> AnyFunction:
    """Take the shape of a comparison's result as it is."""
    language = base.__globals__["tl"]

    def _bool_like(self: Any, v: Any) -> Any:
        type_ = v.type
        return _with_element(type_, language.int1) if type_.is_block() else base(self, v)

    return _bool_like


@fast_path(ON)
def binary_broadcast(base: AnyFunction) -> AnyFunction:
    """Leave blocks of one shape as they are, and take the shape of a block for a scalar as it is."""

    def broadcast_impl_value(self: Any, lhs: Any, rhs: Any) -> Any:
        left, right = lhs.type, rhs.type
        if left.is_block():
            if not right.is_block():
                return lhs, _splat(self, rhs, _with_element(left, right.scalar))
            if left.get_block_shapes().values == right.get_block_shapes().values:
                return lhs, rhs
        elif right.is_block():
            return _splat(self, lhs, _with_element(right, left.scalar)), rhs
        else:
            return lhs, rhs
        return base(self, lhs, rhs)

    return broadcast_impl_value


def _splat(semantic: Any, value: Any, type_: Any) -> Any:
    builder = semantic.builder
    return semantic.tensor(builder.create_splat(type_.to_ir(builder), value.handle), type_)


class _Prefix:
    """What names the locations of an assignment's value; an error leaves the name in place, as in the base."""

    def __init__(self, generator: Any, prefix: str) -> None:
        self._generator, self._prefix = generator, prefix

    def __enter__(self) -> None:
        self._generator.name_loc_as_prefix = self._prefix

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self._generator.name_loc_as_prefix = None


@fast_path(ON)
def name_prefix(base: AnyFunction) -> AnyFunction:
    """Enter and leave without a generator."""
    del base

    def _name_loc_prefix(self: Any, prefix: str) -> _Prefix:
        return _Prefix(self, prefix)

    return _name_loc_prefix


@fast_path(ON)
def lookup(base: AnyFunction) -> AnyFunction:
    """Find local variables, and globals that are what kernels mostly use, before the base goes through its 13 conditions."""
    jitted = base.__globals__["JITCallable"]
    absent = object()

    def _define_name_lookup(self: Any) -> Callable[[str], Any]:
        look_up = base(self)

        def name_lookup(name: str) -> Any:
            # Fetched every time, because it gets switched occasionally
            value = self.lscope.get(name, absent)
            if value is not absent:
                return value
            value = self.gscope.get(name, absent)
            if value.__class__ is ModuleType or isinstance(value, jitted):
                return value
            return look_up(name)

        return name_lookup

    return _define_name_lookup


def scope(names: dict[str, Any], module_map: dict[str, Any]) -> tuple[dict[str, Any], Iterable[tuple[str, Any]]]:
    """Copy the names that a function sees, with modules and what comes from them exchanged for those of the backend.

    :param names: The names, which another thread may be adding to.
    :param module_map: Name of a module -> the module to take in its place.
    :returns: The copy, and what is left for the base to copy.
    """
    if not ON:
        return {}, names.copy().items()
    copied = names.copy()
    if not module_map:
        return copied, ()
    # The functions of a kernel mostly see the same values; these are held, so that no other has the identity of one.
    kernel = current()
    untouched: dict[int, Any] = {} if kernel is None else kernel.known.setdefault((_SCOPE, id(module_map)), {})
    for name, value in copied.items():
        if id(value) in untouched:
            continue
        if isinstance(value, ModuleType):
            copied[name] = module_map.get(value.__name__, value)
        elif (module := getattr(value, "__module__", "")) in module_map:
            copied[name] = getattr(module_map[module], value.__name__)
        else:
            untouched[id(value)] = value
    return copied, ()
