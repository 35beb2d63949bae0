"""The texts of types in the names of called functions, written once.

The name of a function in the IR holds the types of its arguments, so the base writes out every layout in every aggregate at every
call.  Code generation asks :func:`mangled` instead of a type's ``mangle``; the types themselves stay as they are in the base, for
whoever else asks them.

Mirrors python/triton/language/core.py: dtype.mangle, pointer_type.mangle, block_type.mangle
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

from triton.fork.codegen.values import text_of
from triton.fork.settings import at_import

__all__ = ["mangled"]

_ON = at_import("TRITON_FORK_CALLS")

_PLAIN = frozenset({int, bool, str, float, type(None)})
_GLUON = "triton.experimental.gluon.language."
_MOST_TEXTS = 512

Write = Callable[[Any], str]

#: Identity of a layout -> the layout, a copy of what it consisted of, its text. It is held, so that no other has its identity.
Texts = dict[int, tuple[Any, dict[str, Any], str]]

_constants: Texts = {}
_layouts: Texts = {}
_scalars: dict[str, str] = {}

# Class of a type -> its own ``mangle`` and what stands in for that.
_ways: dict[type, tuple[Any, Write]] = {}


def mangled(type_: Any) -> str:
    """Give what ``type_.mangle()`` gives.

    :param type_: The type of an argument. One of a class not known here, or whose ``mangle`` was replaced, is asked itself.
    """
    kind = type_.__class__
    own, write = _ways.get(kind) or _way_of(kind)
    return write(type_) if own is kind.mangle else type_.mangle()


def _way_of(kind: Any) -> tuple[Any, Write]:
    write = _writers().get((kind.__module__, kind.__qualname__)) if _ON else None
    if write is None:
        return None, str
    way = _ways[kind] = (kind.mangle, write)
    return way


def _writers() -> dict[tuple[str, str], Write]:
    core = "triton.language.core"
    return {
        (core, "constexpr_type"): lambda type_: _type_of_constant(type_.value),
        (core, "dtype"): _scalar,
        (core, "block_type"): _block,
        (core, "tuple_type"): lambda type_: f"T{'_'.join([mangled(part) for part in type_.types])}T",
        (core, "_aggregate_type"): lambda type_: text_of(type_, _aggregate),
        (f"{_GLUON}_core", "distributed_type"): lambda type_: f"{_block(type_)}L{_layout(type_.layout)}L",
        (f"{_GLUON}_core", "shared_memory_descriptor_type"): _descriptor,
        (f"{_GLUON}nvidia.blackwell", "tensor_memory_descriptor_type"): _descriptor,
    }


def _scalar(type_: Any) -> str:
    """Write the name of each scalar type once: it follows from its name in the language."""
    text = _scalars.get(type_.name)
    if text is None:
        text = _scalars[type_.name] = type_.mangle()
    return text


def _block(type_: Any) -> str:
    return f"{mangled(type_.element_ty)}S{'_'.join(map(str, type_.shape))}S"


def _descriptor(type_: Any) -> str:
    shape = "_".join(map(str, type_.shape))
    return f"MD{mangled(type_.element_ty)}S{shape}SL{_layout(type_.layout)}LAS{type_.alloc_shape}ASMD"


def _aggregate(type_: Any) -> str:
    """Write an aggregate with the constants among the fields, which are most, in place."""
    fields = [mangled(field) for _, field in type_.fields]
    return f"{type_.base_cls.__module__}.{type_.base_cls.__qualname__}<{', '.join(fields)}>"


def _layout(layout: Any) -> str:
    return _remembered(layout, _mangle, _layouts)


def _mangle(layout: Any) -> str:
    return layout.mangle()  # type: ignore[no-any-return]


def _type_of_constant(value: Any) -> str:
    """Give the ``repr`` of the type of a constant."""
    if value.__class__ not in _PLAIN:
        value = _remembered(value, str, _constants)
    return f"constexpr_type[{value}]"


def _remembered(value: Any, write: Write, texts: Texts) -> str:
    """Give a text of a layout, written once as long as the layout consists of what it did.

    Layouts are frozen but hold lists, which their makers may change, so what a layout consists of is compared each time.
    """
    known = texts.get(id(value))
    if known is not None and known[0] is value and known[1] == value.__dict__:
        return known[2]
    written = write(value)
    if not _is_layout(value.__class__):
        return written
    try:
        copied = _copied(value)
    except TypeError:
        return written
    if len(texts) >= _MOST_TEXTS:
        texts.clear()
    texts[id(value)] = (value, copied.__dict__, written)
    return written


def _is_layout(kind: type) -> bool:
    return kind.__module__.startswith(_GLUON) and dataclasses.is_dataclass(kind)


def _copied(value: Any) -> Any:
    """Copy a layout with all that it consists of.

    :raises TypeError: There is something in it of which nothing is known here.
    """
    from triton.language.core import tuple as triton_tuple

    kind: Any = value.__class__
    if kind in _PLAIN:
        return value
    if kind is list or kind is tuple or kind is triton_tuple:
        return kind([_copied(item) for item in value])
    if _is_layout(kind):
        copied = object.__new__(type(value))
        copied.__dict__.update((name, _copied(part)) for name, part in value.__dict__.items())
        return copied
    raise TypeError(kind)
