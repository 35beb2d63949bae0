"""What a value is described by: its type and content.

Values of others are looked at without running their code, except for ``repr``, which the base calls too.
"""

from __future__ import annotations

import enum
import hashlib
import re
import weakref
from collections import OrderedDict
from collections.abc import Callable
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import TYPE_CHECKING, Any

from triton.fork.cache_key.definition_texts import (
    SIMPLE,
    class_parts,
    code_parts,
    function_parts,
    is_installed,
    method_parts,
)
from triton.fork.cache_key.descriptions import FORGET, Description, Parts, TooMuchError
from triton.fork.cache_key.object_texts import counting_attributes
from triton.fork.python.interruptions import pass_on
from triton.fork.python.static_look import attributes_of, found_in, is_made_in_python, members_of, mro_of, name_of

if TYPE_CHECKING:
    from triton.fork.cache_key.names_asked import Names

__all__ = ["describe"]

# Types whose values have no parts, by identity: a metaclass may have a hash of its own, or none.
_ATOMS = frozenset(id(kind) for kind in SIMPLE if kind is not slice)
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
_first_of_name: dict[tuple[str, str], weakref.ref[type]] = {}
_CONTAINERS = (tuple, list, set, frozenset, dict)


def describe(
    value: Any,
    beyond: Callable[[Any], str] = str,
    names: Names | None = None,
    bodies: bool = True,
    addresses: bool = True,
) -> str:
    """Describe a value by its type and content.

    :param value: Anything.
    :param beyond: What gives the text of a value that consists of too much: as the base does.
    :param names: What the code that gets the value may ask it for; ``None`` where that is not known.
    :param bodies: Whether the classes of objects are described. For a text that does not leave the process the name of a
        class is enough, if it is the first of its name.
    :param addresses: Whether the address of a value says which one it is where nothing else does.
    :returns: The text. A value of which Python can see nothing but the address is described by ``repr``, as in the base:
        its key differs in every process, which costs a compilation and serves no wrong code.
    """
    content = _Content(names, bodies, addresses)
    try:
        return Description(_short, content.parts).text(value)
    except TooMuchError:
        return beyond(value)


def _short(value: Any) -> str | None:
    """Give the text of a value without parts, or of a container of nothing but numbers and words, which repr tells apart."""
    kind = type(value)
    if id(kind) in _ATOMS:
        return f"{kind.__name__} {value!r}"
    if kind is list or kind is tuple:
        return f"{kind.__name__} {value!r}" if _ATOMS.issuperset(map(id, map(type, value))) else None
    if kind is dict:
        plain = _ATOMS.issuperset(map(id, map(type, value))) and _ATOMS.issuperset(map(id, map(type, value.values())))
        return f"dict {value!r}" if plain else None
    from triton.runtime.jit import JITCallable

    if issubclass(kind, JITCallable):
        return f"kernel {_key_of(value)}{'noinline' if value.__dict__.get('noinline') else ''}"
    if issubclass(kind, ModuleType):
        return f"module {value.__name__}"
    return None


def _key_of(function: Any) -> str:
    """Give the key of a function of a kernel, which something holds that may not call it."""
    try:
        return str(function.cache_key)
    except Exception as error:  # it cannot be compiled, and whoever calls it is told so
        pass_on(error)
        return "without a key"


class _Content:
    """Begins to describe values that have parts.

    :param names: As for :func:`describe`.
    :param bodies: As for :func:`describe`.
    :param addresses: As for :func:`describe`.
    """

    def __init__(self, names: Names | None, bodies: bool, addresses: bool) -> None:
        self._names, self._bodies, self._addresses = names, bodies, addresses

    def parts(self, value: Any) -> Parts:
        """Begin with a value.

        :param value: Anything that has no short text.
        """
        from triton.language.core import constexpr
        from triton.language.core import tuple as language_tuple

        kind = type(value)
        if issubclass(kind, type):
            return _class_itself(value)
        if (define := _DEFINITIONS.get(id(kind))) is not None:
            return define(value)
        if issubclass(kind, constexpr):
            return _wrapped(kind, value.value)
        if kind is language_tuple:
            return _wrapped(kind, value.values)
        if issubclass(kind, enum.Enum):
            return _member(value)
        for container in _CONTAINERS:
            if issubclass(kind, container):
                return self._container(value, container)
        return self._object(value)

    def _container(self, value: Any, container: type) -> Parts:
        text = yield from _items(value, container)
        return text if type(value) is container else f"{text} {(yield from self._instance(value))}"

    def _instance(self, value: Any) -> Parts:
        kind = type(value)
        names = None if _extends_triton(kind) else self._names
        body = ""
        if self._bodies or not _is_first(kind):
            body = yield from class_parts(kind, None if names is None else names.get())
        return f"{body} {(yield counting_attributes(value, names))}"

    def _object(self, value: Any) -> Parts:
        kind = type(value)
        name = ".".join(name_of(kind))
        if (text := _buffer_text(value)) is not None:
            return f"{name} {text}"
        state = attributes_of(value)
        if name.startswith("triton.") and not (state and type(found_in(kind, "__eq__")) is FunctionType):
            text = repr(value)
            if _ADDRESS.search(text) is None:
                return f"{name} {text}"
        texts = [name]
        if state is None or not is_made_in_python(kind):
            inside = yield from _inside(value, kind, state)
            texts.append(inside if self._addresses else _ADDRESS.sub("", inside))
        if state is not None:
            texts.append((yield from self._instance(value)))
        return " ".join(texts)


def _extends_triton(kind: type) -> bool:
    """Tell whether Triton asks instances of a class for what it asks its own."""
    return any(name_of(base)[0].startswith("triton.") for base in mro_of(kind))


def _is_first(kind: type) -> bool:
    """Tell whether a class is the first one of its name that was met in this process."""
    return _first_of_name.setdefault(name_of(kind), weakref.ref(kind))() is kind


def _class_itself(value: type) -> Parts:
    name = f"class {'.'.join(name_of(value))}"
    if is_installed(name_of(value)[0]):
        return name
    text = yield from class_parts(value)
    return f"{name} {text}"


_DEFINITIONS: dict[int, Callable[[Any], Parts]] = {
    id(FunctionType): function_parts,
    id(MethodType): method_parts,
    id(CodeType): code_parts,
}


def _wrapped(kind: type, inner: Any) -> Parts:
    text = yield inner
    return f"{'.'.join(name_of(kind))} {text}"


def _member(value: enum.Enum) -> Parts:
    attributes = attributes_of(value) or {}
    text = yield attributes.get("_value_")
    methods = yield from class_parts(type(value), siblings=False)
    return f"{'.'.join(name_of(type(value)))} {attributes.get('_name_')} {text} {methods}"


def _items(value: Any, container: Any) -> Parts:
    texts = []
    if container is dict:
        items = OrderedDict.items(value) if issubclass(type(value), OrderedDict) else dict.items(value)
        for key, held in list(items):
            texts.append(f"{(yield key)}: {(yield held)}")
    elif container is tuple or container is list:
        for item in list(container.__iter__(value)):
            texts.append((yield item))  # noqa: PERF401 - the texts are sent
    else:
        for item in list(container.__iter__(value)):
            yield FORGET  # in a set nothing comes first
            texts.append((yield item))
        yield FORGET
        texts.sort()
    return f"{'.'.join(name_of(type(value)))} {container.__name__}({', '.join(texts)})"


def _inside(value: Any, kind: type, state: dict[str, Any] | None) -> Parts:
    """Describe what a class made in C keeps to itself."""
    texts = [base.__repr__(value) for base in (int, float, complex, str, bytes) if issubclass(kind, base)]
    text = repr(value)
    if _ADDRESS.search(text) is None or issubclass(kind, BuiltinFunctionType):
        texts.append(text)
    elif any("__reduce__" in members_of(base) for base in mro_of(kind)[:-1]):
        texts.append((yield _reduced(value)))  # functools.partial, say
    elif state is None:
        texts.append(text)
    return " ".join(texts)


def _reduced(value: Any) -> Any:
    """Give what pickling would keep of an object, or where the object lies."""
    try:
        return value.__reduce__()
    except Exception as error:  # it may be anybody's code; such a value has another key in every process
        pass_on(error)
        return repr(value)


def _buffer_text(value: Any) -> str | None:
    """Give the text of an array, whose own text leaves out what lies in the middle."""
    if type(found_in(type(value), "__buffer__")) is FunctionType:
        return None
    try:
        view = memoryview(value)
    except (TypeError, ValueError, BufferError):
        return None
    if "O" in view.format or "g" in view.format:  # addresses; long doubles, with bytes that nobody sets
        return None
    data = view if view.c_contiguous else view.tobytes()
    # The format of times leaves out their unit.
    numbers = f"{view.format} {value.dtype}" if name_of(type(value))[0] == "numpy" else view.format
    return f"{numbers} {view.shape} {hashlib.sha256(data).hexdigest()}"
