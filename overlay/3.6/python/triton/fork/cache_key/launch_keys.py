"""Tell constants of launches apart that are equal but mean other code.

A launch finds its kernel in dictionaries, so equality decides which constants are one, and a class with an ``__eq__`` of its own
says what that means. But ``1``, ``1.0`` and ``True`` are equal too, ``0.0`` and ``-0.0``, a named tuple and a plain one, a member
of an ``IntEnum`` and its value, numbers of NumPy and of Python: whichever came first decided which code the others got. The
entry of such a constant carries what equality leaves out: its type, and the sign of a zero. What an object holds is not looked
at. Objects that are compared by identity are one constant where they have one text, as in the base. The text of a key, which hooks
see, stays the base's wherever that says which constant it is.

Mirrors python/triton/runtime/jit.py: compute_cache_key, create_function_from_signature
"""

from __future__ import annotations

import itertools
import math
import weakref
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from triton.fork.cache_key.rebound_cells import variant
from triton.fork.python.interruptions import is_from_outside, pass_on
from triton.fork.python.static_look import attributes_of, found_in, is_numpy_scalar, members_of, mro_of, name_of
from triton.fork.settings import at_import

__all__ = ["SWITCH", "belongs", "constant", "kernel_of_equal", "text"]

#: The environment variable that leaves it to equality alone which constants are the same; read when this module is imported.
SWITCH = "TRITON_FORK_FIX_EQUAL_CONSTANTS"

_ON = at_import(SWITCH)

_ATOMS = frozenset(map(id, (bool, int, float, complex, str, bytes, type(None), type(Ellipsis))))
_NONE = type(None)
_MOST_KNOWN = 1024
# id of a dictionary of keys -> whose it is, and for each text the constants that have it
_owners: dict[int, tuple[weakref.ref[Any], dict[str, _Numbered]]] = {}
Look = Callable[[Any], Any]


class _Known(NamedTuple):
    """What is known of a type."""

    type: type  # held, so that no other one gets its id
    mark: Any  # what stands for it
    text: str  # of the mark
    look: Look | None  # what else tells a value of it from others that equal it
    is_clear: Callable[[Any], bool] | bool  # whether the base's text of a value says which constant it is
    decides: Callable[[Any], bool] | bool  # whether an __eq__ of its own does
    may_hold_functions: bool  # whether the base looks for functions of kernels in a value, or takes it for one


class _Told(NamedTuple):
    """What the kind of a constant tells of it."""

    is_clear: bool  # whether the base's text of the constant says which one it is
    text: str  # of the kind
    may_hold_functions: bool
    wraps_functions: bool  # in a constexpr, where the base does not look for them


class _Numbered:
    """Different lists of constants of one text, by a number for each."""

    def __init__(self) -> None:
        self.lists: dict[int, list[Any]] = {}
        self.numbers = itertools.count()


# id of a type -> what is known of it
_known: dict[int, _Known] = {}
# kind of a constant -> what it tells of it
_told: dict[Any, _Told] = {}


def constant(value: Any) -> tuple[Any, ...]:
    """Give the entry of a constant in a specialisation.

    :param value: What was passed, or is the default, for a parameter marked ``constexpr``.
    :returns: ``("constexpr", value)``, as in the base, and the kind of values that equality could mistake for others.
    """
    return ("constexpr", value, _kind(value)) if _ON else ("constexpr", value)


def belongs(keys: dict[Any, str], function: Any) -> dict[Any, str]:
    """Note that launches of a function are looked up in a dictionary, so that it is known which texts it holds.

    :param keys: The dictionary of a device, as it is made.
    :param function: The ``JITFunction``.
    :returns: The dictionary.
    """
    place = id(keys)

    def remove(gone: weakref.ref[Any]) -> None:
        # Another dictionary may have the identity by now.
        if place in _owners and _owners[place][0] is gone:
            del _owners[place]

    _owners[place] = weakref.ref(function, remove), {}
    return keys


def text(specialization: Sequence[Any], options: str, keys: dict[Any, str], replaced: Look) -> str:
    """Give the text of a launch that was not found, so that no two lists of constants share it.

    It is what the base takes for the key where all constants are numbers, words, functions, data types, or tuples of these. Else
    their types follow; and where a class says by an ``__eq__`` of its own that this is another constant than one of the same
    text, a number.

    :param specialization: The entries of all parameters, with kinds.
    :param options: The text of the options.
    :param keys: The dictionary in which the launch was looked up.
    :param replaced: The base's function that gives a value with the keys of functions in place of functions. It is asked about
        the entries alone that may hold functions: it takes a while for values of many parts.
    """
    entries, kinds, deciding = [], [], []
    for place, entry in enumerate(specialization):
        if len(entry) == 2:
            entries.append(replaced(entry) if any(map(_may_hold_functions, entry)) else entry)
            continue
        _, value, kind = entry
        told = _told_by(kind, value)
        entries.append(replaced(entry[:2]) if told.may_hold_functions else entry[:2])
        if not told.is_clear:
            inner = f" {replaced(value.value)}" if told.wraps_functions else ""
            kinds.append(f"{place} {told.text}{inner}")
            if _decides_itself(value):
                deciding.append(value)
    if not kinds:
        return str(entries) + options
    found = f"{entries}{options}; {'; '.join(kinds)}"
    number = _number_of(deciding, found, keys) if deciding else 0
    return f"{found}; {number}" if number else found


def _told_by(kind: Any, value: Any) -> _Told:
    """Give what the kind of a constant tells of it.

    :param value: A constant of the kind.
    """
    told = _told.get(kind)
    if told is None:
        told = _Told(_is_clear(value), _kind_text(kind), _may_hold_functions(value), _wraps_functions(value))
        if len(_told) >= _MOST_KNOWN:
            _told.clear()
        _told[kind] = told
    return told


def _number_of(constants: list[Any], text: str, keys: dict[Any, str]) -> int:
    """Give the number that constants have among the different ones of one text; zero where it is not known whose they are.

    That a launch was not found does not say that its constants equal no others: a class may go by identity for its hash alone.
    """
    reference, texts = _owners.get(id(keys), (None, {}))
    function = None if reference is None else reference()
    if function is None or not any(caches[1] is keys for caches in list(function.device_caches.values())):
        return 0
    known = texts.setdefault(text, _Numbered())
    for number, others in list(known.lists.items()):
        if _are_equal(constants, others):
            return number
    number = next(known.numbers)
    known.lists[number] = constants
    return number


def _are_equal(constants: list[Any], others: list[Any]) -> bool:
    try:
        return constants == others
    except Exception as error:  # of anybody's code; looking for the launch has asked the same
        pass_on(error)
        return False


def _kind_text(kind: Any) -> str:
    if isinstance(kind, type):
        return _known_of(kind).text
    if type(kind) is frozenset:
        return f"{{{', '.join(sorted(_kind_text(each) for _, each in kind))}}}"
    return f"({', '.join(map(_kind_text, kind))})" if type(kind) is tuple else str(kind)


def kernel_of_equal(error: Exception, kernels: dict[str, Any], keys: dict[Any, str], key: str) -> Any:
    """Find the kernel that the base takes for constants for which none can be compiled: that of equal ones.

    A ``numpy.bool_`` that a kernel cannot use works in the base after a launch with the ``bool`` that it equals.

    :param error: Why there is none. What could end otherwise the next time (memory, files, programs, hooks, signals) is no reason.
    :param kernels: Text of a key -> kernel.
    :param keys: Specialisation and options -> text of the key.
    :param key: The text of the key for which there is no kernel.
    :returns: The kernel, ``None`` where there was no such launch.
    """
    if not _is_of_the_program(error):
        return None
    entries = list(keys.items())
    for (specialization, options), text in entries:  # noqa: B007 - what it stopped at is used
        if text == key and any(len(entry) == 3 for entry in specialization):
            break
    else:
        return None
    wanted = _without_kinds(specialization)
    for (other, other_options), text in entries:
        if text != key and other_options == options and text in kernels and _without_kinds(other) == wanted:
            return kernels[text]
    return None


def _without_kinds(specialization: Sequence[Any]) -> list[Any]:
    """Give a specialisation as the base has it."""
    return [entry[:2] if len(entry) == 3 else entry for entry in specialization]


def _is_of_the_program(error: BaseException | None) -> bool:
    """Tell whether code cannot be generated from a program, whenever that is tried."""
    from triton.compiler.errors import CompilationError

    if not isinstance(error, CompilationError):
        return False
    while error is not None:
        if isinstance(error, (MemoryError, OSError, RecursionError)) or is_from_outside(error):
            return False
        error = error.__cause__ or error.__context__
    return True


def _wraps_functions(value: Any) -> bool:
    from triton.language.core import constexpr

    return type(value) is constexpr and _may_hold_functions(value.value)


def _may_hold_functions(value: Any) -> bool:
    kind = type(value)
    if kind is tuple:
        return any(map(_may_hold_functions, value))
    return _known_of(kind).may_hold_functions


def _is_clear(value: Any) -> bool:
    """Tell whether the base's text of a constant says which one it is."""
    clear = _known_of(type(value)).is_clear
    return clear if isinstance(clear, bool) else clear(value)


def _decides_itself(value: Any) -> bool:
    """Tell whether a class has an ``__eq__`` of its own that takes a constant, or an item of it, for what it is."""
    decides = _known_of(type(value)).decides
    return decides if isinstance(decides, bool) else decides(value)


def _kind(value: Any) -> Any:
    """Give what tells a value from others that equal it."""
    known = _known.get(id(type(value))) or _learn(type(value))
    return known.mark if known.look is None else (known.mark, known.look(value))


def _known_of(kind: type) -> _Known:
    return _known.get(id(kind)) or _learn(kind)


def _learn(kind: type) -> _Known:
    if len(_known) >= _MOST_KNOWN:
        _known.clear()
    # A metaclass may have a hash of its own, or none.
    mark = kind if found_in(type(kind), "__hash__") is members_of(object)["__hash__"] else (*name_of(kind), id(kind))
    known = _Known(
        kind,
        mark,
        ".".join(name_of(kind)),
        _look_of(kind),
        _clear_of(kind),
        _decides_of(kind),
        _may_be_function(kind),
    )
    _known[id(kind)] = known
    return known


def _clear_of(kind: type) -> Callable[[Any], bool] | bool:
    from triton.language.core import constexpr, dtype
    from triton.runtime.jit import JITCallable

    if kind is tuple:
        return lambda value: all(map(_is_clear, value))
    if kind is constexpr:  # in which the base looks for no functions
        return lambda value: _is_clear(value.value) and not _wraps_functions(value)
    return id(kind) in _ATOMS or kind is dtype or JITCallable in mro_of(kind)


def _may_be_function(kind: type) -> bool:
    """Tell whether the base's ``isinstance`` takes values of a type for functions of kernels, lists or tuples."""
    from triton.runtime.jit import JITCallable

    if id(kind) in _ATOMS:
        return False
    bases = mro_of(kind)
    looked_into = {id(JITCallable), id(list), id(tuple)}
    members = set[str]().union(*map(members_of, bases[:-1]))
    told_by_itself = not members.isdisjoint(("__class__", "__getattribute__"))
    return told_by_itself or not looked_into.isdisjoint(map(id, bases))


def _decides_of(kind: type) -> Callable[[Any], bool] | bool:
    from triton.language.core import constexpr
    from triton.language.core import tuple as language_tuple

    if kind is constexpr:
        return lambda value: _decides_itself(value.value)
    if kind is language_tuple:
        return lambda value: any(map(_decides_itself, value.values))
    equality = found_in(kind, "__eq__")
    if equality is members_of(tuple)["__eq__"]:
        return lambda value: any(map(_decides_itself, tuple.__iter__(value)))
    by_text = id(kind) in _ATOMS or is_numpy_scalar(kind)
    return False if by_text or equality is members_of(object)["__eq__"] else _equals_itself


def _equals_itself(value: Any) -> bool:
    """Tell whether a value equals itself; what does not, or holds a NaN, is known by its text, as in the base."""
    try:
        return bool(value == value) and not _holds_nan(value)
    except Exception as error:  # of anybody's code; looking for the launch has asked the same
        pass_on(error)
        return False


def _holds_nan(value: Any) -> bool:
    """Tell whether an object has a NaN as an attribute: one made in the same way holds another NaN, and so does not equal it."""
    for held in (attributes_of(value) or {}).values():
        for item in held if type(held) is tuple else (held,):
            if isinstance(item, (float, complex)) and item != item:
                return True
    return False


def _look_of(kind: type) -> Look | None:
    """Give what to look at in values of a type, besides the type, to know which constant they are."""
    from triton.language.core import constexpr
    from triton.language.core import tuple as language_tuple
    from triton.runtime.jit import JITCallable

    if kind is constexpr:
        return lambda value: _kind(value.value)
    if kind is language_tuple:
        return lambda value: tuple(map(_kind, value.values))
    bases = mro_of(kind)
    if JITCallable in bases:
        return variant
    if float in bases:
        return lambda value: _sign(float.__float__(value))
    if complex in bases:
        return lambda value: (_sign(_real(value)), _sign(_imaginary(value)))
    if is_numpy_scalar(kind):
        return lambda value: None if value else str(value)
    equality = found_in(kind, "__eq__")
    if equality is members_of(tuple)["__eq__"]:
        return _kinds_of_items
    if equality is members_of(frozenset)["__eq__"]:
        return lambda value: frozenset((item, _kind(item)) for item in frozenset.__iter__(value))
    return None


_real: Look = members_of(complex)["real"].__get__
_imaginary: Look = members_of(complex)["imag"].__get__


def _sign(number: float) -> float | None:
    """Give the sign of a zero."""
    return None if number else math.copysign(1.0, number)


def _kinds_of_items(value: tuple[Any, ...]) -> Any:
    """Give the kinds of the items of a tuple; nothing where they are of types that equal no other."""
    for kind in map(type, tuple.__iter__(value)):
        if kind is not int and kind is not str and kind is not _NONE:
            return tuple(map(_kind, tuple.__iter__(value)))
    return None
