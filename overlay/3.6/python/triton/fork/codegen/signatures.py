"""Find out once per function, instead of once per call, which builder arguments it wants to be given.

The code generator passes ``_semantic`` and ``_generator`` to the builtins that have parameters of these names, and asks
:func:`inspect.signature` about it at every call.

Mirrors python/triton/compiler/code_generator.py: CodeGenerator.call_Function

Mirrors python/triton/language/core.py: _tensor_member_fn
"""

from __future__ import annotations

import inspect
import types
import weakref
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from triton.fork.codegen.kernels import enabled

__all__ = ["SWITCH", "bind", "binder", "is_set_as_it_is", "parameter_names", "reader"]

#: The environment variable that makes every call inspect the signature, as the base does.
SWITCH = "TRITON_FORK_SIGNATURES"


class _Entry(NamedTuple):
    """The names of the parameters of a function or class, and what they were read from.

    That is the code and ``__wrapped__`` of a function, ``__new__`` and ``__init__`` of a class, ``__signature__`` of both.
    """

    first: Any
    second: Any
    signature: Any
    names: frozenset[str]


#: Attributes of functions of which :mod:`inspect` knows more.
_UNUSUAL = frozenset({"__signature__", "__text_signature__", "_partialmethod", "__partialmethod__"})

_MOST_WRAPPERS = 16

_STAR_FLAGS = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS

# Keyed weakly by the function itself: an entry goes with its function, and no other function can have its key.
_known: weakref.WeakKeyDictionary[Any, _Entry] = weakref.WeakKeyDictionary()


def parameter_names(function: Any) -> frozenset[str]:
    """Give the names of the parameters that a call of ``function`` can name.

    :param function: Anything that :func:`inspect.signature` accepts.
    :raises TypeError: As :func:`inspect.signature` does.
    :raises ValueError: As :func:`inspect.signature` does.
    """
    plain = function.__func__ if type(function) is types.MethodType else function
    attributes = getattr(plain, "__dict__", {})
    first: Any
    second: Any
    if type(plain) is types.FunctionType:
        first, second = plain.__code__, attributes.get("__wrapped__")
    elif type(plain) is type:
        first, second = plain.__new__, getattr(plain, "__init__")  # noqa: B009 - mypy takes the class for an instance
    else:
        return _inspect(function)
    signature = attributes.get("__signature__")
    entry = _known.get(plain)
    if entry is None or entry.first is not first or entry.second is not second or entry.signature is not signature:
        # The first parameter of a bound method is left in: it is its ``self``, which no call passes by name.
        entry = _Entry(first, second, signature, _names(plain))
        _known[plain] = entry
    return entry.names


def bind(function: Any, args: Iterable[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """Give what :func:`inspect.getcallargs` gives.

    Plain functions without star or keyword-only parameters, called with arguments that fit, are bound here; everything
    else, also every wrong call, is left to :mod:`inspect`.

    :raises TypeError: As :func:`inspect.getcallargs` does.
    """
    args = tuple(args)
    if type(function) is not types.FunctionType or "__signature__" in function.__dict__:
        return inspect.getcallargs(function, *args, **kwargs)
    code = function.__code__
    if code.co_flags & _STAR_FLAGS or code.co_kwonlyargcount:
        return inspect.getcallargs(function, *args, **kwargs)
    names = code.co_varnames[: code.co_argcount]
    if not kwargs and len(args) == len(names):
        return dict(zip(names, args, strict=True))
    defaults = function.__defaults__ or ()
    bound = dict(zip(names[len(names) - len(defaults) :], defaults, strict=True))
    bound.update(zip(names, args, strict=False))
    bound.update(kwargs)
    fits = len(args) <= len(names) and len(bound) == len(names) and not kwargs.keys() & set(names[: len(args)])
    if not fits or any(name not in bound for name in names):
        return inspect.getcallargs(function, *args, **kwargs)
    return bound


def is_set_as_it_is(function: Any) -> bool:
    """Tell whether a member function of tensors is a jitted one, for which no wrapper with a signature is to be made."""
    from triton.runtime.jit import JITCallable

    return isinstance(function, JITCallable) and enabled(SWITCH)


def reader() -> Callable[[Any], frozenset[str]]:
    """Give the function to find parameter names with: :func:`parameter_names`, or the base's way if that is switched off."""
    return parameter_names if enabled(SWITCH) else _inspect


def binder() -> Callable[[Any, Iterable[Any], Mapping[str, Any]], dict[str, Any]]:
    """Give the function to bind arguments with: :func:`bind`, or the base's way if that is switched off."""
    return bind if enabled(SWITCH) else _bind_as_the_base


def _bind_as_the_base(function: Any, args: Iterable[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
    return inspect.getcallargs(function, *args, **kwargs)


def _inspect(function: Any) -> frozenset[str]:
    return frozenset(inspect.signature(function).parameters)


def _names(function: Any) -> frozenset[str]:
    """Read the names off the code of a plain function, or of the one that it wraps; leave anything else to :mod:`inspect`."""
    inner, seen = function, 0
    while type(inner) is types.FunctionType and not _UNUSUAL & inner.__dict__.keys() and seen < _MOST_WRAPPERS:
        if "__wrapped__" not in inner.__dict__:
            code = inner.__code__
            stars = bool(code.co_flags & inspect.CO_VARARGS) + bool(code.co_flags & inspect.CO_VARKEYWORDS)
            return frozenset(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount + stars])
        inner, seen = inner.__dict__["__wrapped__"], seen + 1
    return _inspect(function)
