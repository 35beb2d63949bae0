"""Tell constants of launches apart that are equal but mean other code.

A launch finds its kernel in dictionaries, so equality decides which constants are one, and a class with an ``__eq__`` of its own
says what that means. But ``1``, ``1.0`` and ``True`` are equal too, ``0.0`` and ``-0.0``, a named tuple and a plain one, a member
of an ``IntEnum`` and its value, numbers of NumPy and of Python: whichever came first decided which code the others got. The
entry of such a constant carries what equality leaves out: its type, and the sign of a zero. What an object holds is not looked
at. The text of a key, which hooks see, stays the base's wherever that says which constant it is.
"""

from __future__ import annotations

import math
import weakref
from collections.abc import Callable, Sequence
from typing import Any

from ._interruptions import is_from_outside
from ._names_asked import Names, names_asked
from ._rebound_cells import variant
from ._static_look import attributes_of, found_in, is_made_in_python, members_of, mro_of, name_of
from ._switches import enabled
from ._value_texts import describe

__all__ = ["SWITCH", "belongs", "constant", "distinction", "kernel_of_equal", "without_kinds"]

#: The environment variable that leaves it to equality alone which constants are the same; read when this module is imported.
SWITCH = "TRITON_FORK_FIX_EQUAL_CONSTANTS"

_ON = enabled(SWITCH)

_ATOMS = frozenset(map(id, (bool, int, float, complex, str, bytes, type(None), type(Ellipsis))))
_MOST_KNOWN = 1024
# id of a dictionary of keys -> whose it is, and what its code may ask constants of some shape for
_owners: dict[int, tuple[weakref.ref[Any], dict[Any, frozenset[str] | None]]] = {}
Look = Callable[[Any], Any]
# id -> a type, held so that no other one gets its id; what stands for it; what else to look at in a value of it
_known: dict[int, tuple[type, Any, Look | None]] = {}


def constant(value: Any) -> tuple[Any, ...]:
    """Give the entry of a constant in a specialisation.

    :param value: What was passed, or is the default, for a parameter marked ``constexpr``.
    :returns: ``("constexpr", value)``, as in the base, and the kind of values that equality could mistake for others.
    """
    return ("constexpr", value, _kind(value)) if _ON else ("constexpr", value)


def without_kinds(specialization: Sequence[Any]) -> list[Any]:
    """Give the specialisation as the base has it.

    :param specialization: The entries of all parameters.
    """
    return [entry[:2] if len(entry) == 3 else entry for entry in specialization]


def belongs(keys: dict[Any, str], function: Any) -> dict[Any, str]:
    """Note whose launches are looked up in a dictionary, so that it is known what its code may ask of constants.

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


def distinction(specialization: Sequence[Any], keys: dict[Any, str]) -> str:
    """Give what has to follow the text of a specialisation so that it means one list of constants.

    :param specialization: The entries of all parameters, with kinds.
    :param keys: The dictionary in which the launch is looked up.
    :returns: Nothing where all constants are numbers, words, functions, data types, or tuples of these.
    """
    places = [place for place, entry in enumerate(specialization) if len(entry) == 3 and not _is_clear(entry[1])]
    if not places:
        return ""
    names = _names(keys, [entry[1] for entry in specialization if entry[0] == "constexpr"])
    unclear = [f"{place} {describe(specialization[place][1], names=names, bodies=False)}" for place in places]
    return f"; {'; '.join(unclear)}"


def _names(keys: dict[Any, str], constants: list[Any]) -> Names | None:
    """Give what the code of a kernel may ask its constants for; ``None`` where the kernel is not known."""
    reference, known = _owners.get(id(keys), (None, {}))
    function = None if reference is None else reference()
    if function is None or not any(caches[1] is keys for caches in list(function.device_caches.values())):
        return None

    def find() -> frozenset[str] | None:
        shapes = tuple(map(_shape, constants))
        if None in shapes:
            return names_asked([function, *constants])
        if shapes not in known and len(known) < _MOST_KNOWN:
            known[shapes] = names_asked([function, *constants])
        return known.get(shapes)

    return Names(find)


def _shape(value: Any) -> Any:
    """Give what decides which code a constant brings along; ``None`` where that takes a closer look."""
    kind = type(value)
    if id(kind) in _ATOMS:
        return ""
    attributes = attributes_of(value)
    if attributes is None or not _ATOMS.issuperset(map(id, map(type, attributes.values()))):
        return None
    if not is_made_in_python(kind):
        return None
    _kind(value)
    return _known[id(kind)][1], tuple(attributes)


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
    wanted = without_kinds(specialization)
    for (other, other_options), text in entries:
        if text != key and other_options == options and text in kernels and without_kinds(other) == wanted:
            return kernels[text]
    return None


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


def _is_clear(value: Any) -> bool:
    from triton.language.core import constexpr, dtype
    from triton.runtime.jit import JITCallable

    kind = type(value)
    if kind is tuple:
        return all(map(_is_clear, value))
    if kind is constexpr:
        return _is_clear(value.value)
    return id(kind) in _ATOMS or kind is dtype or issubclass(kind, JITCallable)


def _kind(value: Any) -> Any:
    """Give what tells a value from others that equal it."""
    kind = type(value)
    known = _known.get(id(kind))
    if known is None:
        known = _learn(kind)
    _, mark, look = known
    return mark if look is None else (mark, look(value))


def _learn(kind: type) -> tuple[type, Any, Look | None]:
    if len(_known) >= _MOST_KNOWN:
        _known.clear()
    # A metaclass may have a hash of its own, or none.
    mark = kind if found_in(type(kind), "__hash__") is members_of(object)["__hash__"] else (*name_of(kind), id(kind))
    known = _known[id(kind)] = kind, mark, _look_of(kind)
    return known


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
    if ("numpy", "generic") in map(name_of, bases):
        return lambda value: None if value else str(value)
    equality = found_in(kind, "__eq__")
    if equality is members_of(tuple)["__eq__"]:
        return lambda value: tuple(map(_kind, tuple.__iter__(value)))
    if equality is members_of(frozenset)["__eq__"]:
        return lambda value: frozenset((item, _kind(item)) for item in frozenset.__iter__(value))
    return None


_real: Look = members_of(complex)["real"].__get__
_imaginary: Look = members_of(complex)["imag"].__get__


def _sign(number: float) -> float | None:
    """Give the sign of a zero."""
    return None if number else math.copysign(1.0, number)
