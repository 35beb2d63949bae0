"""Take frontend values apart, copy them and put them together again without asking each part for its type.

A Gluon kernel passes aggregates of some twenty fields, most of them constants, to every function that it calls, and copies all of
them at every loop and branch.  The base makes the types of all fields for each copy, and checks each field as if it came
from outside.

Mirrors python/triton/compiler/code_generator.py: _clone_triton_value

Mirrors python/triton/language/core.py: _aggregate, _aggregate_type._unflatten_ir
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from triton.fork.codegen.kernels import Changed, Kernel
from triton.fork.codegen.plain import fast_path
from triton.fork.settings import at_import
from triton.fork.state import current_kernel
from triton.fork.state.attached import STATE, fork_state

__all__ = [
    "ON",
    "SWITCH",
    "aggregate",
    "clone",
    "once",
    "text_of",
    "unflatten_aggregate",
    "unflatten_descriptor",
]

#: The environment variable that leaves every value to the base; read when ``triton.language`` is imported.
SWITCH = "TRITON_FORK_VALUES"

#: Whether the ways of this module are taken.
ON = at_import(SWITCH)

AnyFunction = Callable[..., Any]

#: Name of a field -> its annotation, and the class of a value that was found to fit it.
Fitting = dict[str, tuple[Any, type]]


class _Seal:
    """What is known of an aggregate of constants, for one kernel that is being generated.

    These are taken apart, copied and put together at every call, loop and branch, but hardly ever changed, so they are
    shared instead.  When one is changed after all, the kernel is generated once more without sharing.

    The kernel knows it by the identity of the aggregate, which it holds; the aggregate itself shows nothing of it.

    :param kernel: The kernel.
    :param value: The aggregate.
    :param fields: The fields and their types.
    """

    __slots__ = ("exact", "fields", "kernel", "text", "value")

    def __init__(self, kernel: Kernel, value: Any, fields: list[tuple[str, Any]]) -> None:
        self.kernel, self.value, self.fields = kernel, value, fields
        self.text: str | None = None
        self.exact: Any = None


def text_of(type_: Any, write: Callable[[Any], str]) -> str:
    """Give the text of the type of an aggregate, written once where the aggregate is sealed."""
    seal = _seal_of_type(type_)
    if seal is None:
        return write(type_)
    if seal.text is None:
        seal.text = write(type_)
    return seal.text


def once(type_: Any, look: Callable[[], Any]) -> Any:
    """Give what tells the type of an aggregate apart from others with its text, looked at once where the aggregate is sealed."""
    seal = _seal_of_type(type_)
    if seal is None:
        return look()
    if seal.exact is None:
        seal.exact = look()
    return seal.exact


def _seal_of_type(type_: Any) -> _Seal | None:
    state = type_.__dict__.get(STATE)
    return None if state is None else _seal_of(state.sealed)


def _seal_of(value: Any) -> _Seal | None:
    """Give the seal of an aggregate, if it has one for the kernel that is being generated."""
    kernel = current_kernel.state.kernel
    return None if kernel is None else kernel.seals.get(id(value))


def _seal(value: Any, names: Iterable[str], constant: type) -> _Seal | None:
    """Seal an aggregate if it consists of constants."""
    fields = value.__dict__
    for name in names:
        if name not in fields or fields[name].__class__ is not constant:
            return None
    kernel = current_kernel.state.kernel
    if kernel is None or not kernel.shares:
        return None
    seal = kernel.seals[id(value)] = _Seal(kernel, value, [(name, fields[name].type) for name in names])
    return seal


@fast_path(ON)
def aggregate(base: AnyFunction) -> AnyFunction:
    """Give the classes of aggregates quicker methods, except where a class has methods of these names itself."""
    names = base.__globals__

    def _aggregate(cls: type) -> Any:
        made = base(cls)
        own = vars(made)
        type_ = own.get("type")
        methods: list[Any] = [
            own.get("__setattr__"),
            own.get("_flatten_ir"),
            type_.fget if isinstance(type_, property) else None,
        ]
        expected = [f"_aggregate.<locals>.aggregate_value.{name}" for name in ("__setattr__", "_flatten_ir", "type")]
        if [getattr(method, "__qualname__", None) for method in methods] == expected:
            made.__setattr__ = _setter(cls, methods[0])
            made._flatten_ir = _flattener(cls, names["constexpr"])
            made.type = property(_type_reader(cls, made, names))
        return made

    return _aggregate


def _setter(cls: type, base: AnyFunction) -> AnyFunction:
    """Make a ``__setattr__`` that does not check again what fitted before."""
    fitting: Fitting = {}

    def set_field(self: Any, name: str, value: Any) -> None:
        fields = self.__dict__
        seal = _seal_of(self)
        if seal is not None:
            seal.kernel.changed = True
            raise Changed
        known = fitting.get(name)
        kind = value.__class__
        if known is not None and known[1] is kind and cls.__annotations__.get(name) is known[0]:
            fields[name] = value
            return
        base(self, name, value)
        annotation = cls.__annotations__[name]
        # Only where the class alone decides, and where no descriptor has taken the value.
        if type(annotation) is type and type(value) is kind and fields.get(name) is value:
            fitting[name] = (annotation, kind)

    set_field.fitting = fitting  # type: ignore[attr-defined]
    return set_field


def _flattener(cls: type, constant: type) -> AnyFunction:
    def _flatten_ir(self: Any, handles: list[Any]) -> None:
        fields = self.__dict__
        if _seal_of(self) is not None:
            return
        for name in cls.__annotations__:
            value = fields[name] if name in fields else getattr(self, name)
            # Constants have no handles.
            if value.__class__ is not constant:
                value._flatten_ir(handles)

    return _flatten_ir


def _type_reader(cls: type, made: type, names: dict[str, Any]) -> AnyFunction:
    constant, aggregate_type = names["constexpr"], names["_aggregate_type"]

    def read_type(self: Any) -> Any:
        fields = self.__dict__
        type_ = aggregate_type.__new__(aggregate_type)
        seal = _seal_of(self) or _seal(self, cls.__annotations__, constant)
        # A frozen dataclass: its own __init__ goes through object.__setattr__ for each field.
        if seal is not None:
            type_.__dict__.update(base_cls=made, fields=seal.fields)
            fork_state(type_).sealed = self
            return type_
        read = [(name, (fields[name] if name in fields else getattr(self, name)).type) for name in cls.__annotations__]
        type_.__dict__.update(base_cls=made, fields=read)
        return type_

    return read_type


@fast_path(ON)
def unflatten_aggregate(base: AnyFunction) -> AnyFunction:
    """Set the fields of a new aggregate in place, and give constants the types that they are made of."""
    language = base.__globals__
    constant, constant_type = language["constexpr"], language["constexpr_type"]

    def _unflatten_ir(self: Any, handles: list[Any], cursor: int) -> tuple[Any, int]:
        state = self.__dict__.get(STATE)
        if state is not None and _seal_of(state.sealed) is not None:
            return state.sealed, cursor
        cls = self.base_cls
        fitting: Fitting | None = getattr(cls.__setattr__, "fitting", None)
        if fitting is None:
            return base(self, handles, cursor)  # type: ignore[no-any-return]
        annotations = cls.hash_class.__annotations__
        made = object.__new__(cls)
        fields = made.__dict__
        for name, type_ in self.fields:
            if type_.__class__ is constant_type and type_.value.__class__ is not constant:
                value = constant.__new__(constant)
                value.value, value.type = type_.value, type_
            else:
                value, cursor = type_._unflatten_ir(handles, cursor)
            known = fitting.get(name)
            if known is not None and known[1] is value.__class__ and annotations.get(name) is known[0]:
                fields[name] = value
            else:
                setattr(made, name, value)
        return made, cursor

    return _unflatten_ir


@fast_path(ON)
def clone(base: AnyFunction) -> AnyFunction:
    """Copy values of Triton's own classes part by part; what has parts unknown here is copied by the base."""
    from triton.language import core

    constant, tensor = core.constexpr, core.tensor

    def _clone_triton_value(val: Any) -> Any:
        kind = val.__class__
        if kind is constant:  # which a builtin of the user's may set to something else
            made = constant.__new__(constant)
            made.value, made.type = val.value, val.type
            return made
        if kind is tensor:
            made = tensor.__new__(tensor)
            made.handle, made.type, made.dtype = val.handle, val.type, val.dtype
        elif getattr(kind.__setattr__, "fitting", None) is not None:
            names = kind.hash_class.__annotations__
            if _seal_of(val) or _seal(val, names, constant):
                return val
            made = object.__new__(kind)
            fields, copied = val.__dict__, made.__dict__
            for name in names:
                part = fields[name] if name in fields else getattr(val, name)
                copied[name] = part if part.__class__ is constant else _clone_triton_value(part)
        elif _is_memory_descriptor(val):
            made = object.__new__(kind)
            made.handle, made.type = val.handle, val.type
        else:
            return base(val)
        return made

    return _clone_triton_value


@fast_path(ON)
def unflatten_descriptor(base: AnyFunction) -> AnyFunction:
    """Give a memory descriptor that is made of its type that type."""
    name = base.__qualname__.removesuffix("_type._unflatten_ir")
    names = base.__globals__

    def _unflatten_ir(self: Any, handles: list[Any], cursor: int) -> tuple[Any, int]:
        if self.__class__ is not names[f"{name}_type"]:
            return base(self, handles, cursor)  # type: ignore[no-any-return]
        made = object.__new__(names[name])
        made.handle, made.type = handles[cursor], self
        return made, cursor + 1

    return _unflatten_ir


def _is_memory_descriptor(value: Any) -> bool:
    """Tell whether a value is one of Gluon's own that consist of a handle and a type."""
    kind = value.__class__
    return (
        kind.__name__ in ("shared_memory_descriptor", "tensor_memory_descriptor")
        and kind.__module__.startswith("triton.experimental.gluon.language.")
        and value.__dict__.keys() == {"handle", "type"}
    )
