"""Record in one pass what a function reads, for its key: what ``DependenciesFinder`` records, in the same order.

The finder goes through the syntax tree for every key, looks up each use of a name, and parses the source for itself. Here the
names come from :mod:`triton.fork.cache_key.source_reads`, found once for each tree, the tree is the one that is compiled, and a
read that left nothing behind is not repeated: nearly all are of modules and of Triton's own functions.

Mirrors python/triton/runtime/jit.py: DependenciesFinder.record_reference, DependenciesFinder._update_hash,
DependenciesFinder.ret, DependenciesFinder.visit_Name, DependenciesFinder.visit_Attribute,
DependenciesFinder.visit_FunctionDef
"""

from __future__ import annotations

from types import FunctionType, ModuleType
from typing import Any

from triton.fork.cache_key import free_variables, value_texts
from triton.fork.cache_key.source_reads import Read, Reads, reads_of
from triton.fork.settings import enabled
from triton.fork.source.trees import keep
from triton.fork.state.beside import Beside
from triton.language.core import constexpr, dtype
from triton.runtime.jit import GLUON_MODULE, TRITON_MODULE, DependenciesFinder, JITCallable

__all__ = ["SWITCH", "read_source"]

#: The environment variable that makes every key parse the source and visit the tree as the base does.
SWITCH = "TRITON_FORK_SOURCE_KEYS"

_STUBS = "triton.language.extra.libdevice"
# What is recorded of these a second time is what was recorded the first time.
_PLAIN = (bool, int, float, str, constexpr, dtype)
_FINDER = dict(vars(DependenciesFinder))
# Function -> a text and what it reads.
_known_reads: Beside[tuple[str, Reads]] = Beside()
_FILE = JITCallable.__init__.__code__.co_filename


def read_source(finder: Any, function: Any) -> None:
    """Let a finder record what the source of a function reads.

    :param finder: A ``DependenciesFinder``; one whose visit somebody changed visits a tree itself.
    :param function: A ``JITCallable``.
    """
    own = (
        free_variables.ON
        and enabled(SWITCH)
        and type(finder) is DependenciesFinder
        and vars(DependenciesFinder) == _FINDER
    )
    reads = _reads(function) if own and _parses_as_usual(function) else None
    if reads is None:
        finder.visit(function.parse())
        return
    distinct, order = reads
    settled = [False] * len(distinct)
    for number in order:
        if not settled[number]:
            settled[number] = _settle(finder, distinct[number])


def _parses_as_usual(function: Any) -> bool:
    parse = getattr(function.parse, "__func__", None)
    return type(parse) is FunctionType and parse.__code__.co_filename == _FILE


def _reads(function: Any) -> Reads | None:
    source = function._src
    known = _known_reads.get(function)
    # Compared by value: the text is all that this depends on, and it may be replaced.
    if known is not None and known[0] == source:
        return known[1]
    tree = function.parse()
    reads = reads_of(tree)
    keep(source, tree)
    if reads is not None:
        _known_reads.set(function, (source, reads))
    return reads


def _settle(finder: Any, read: Read) -> bool:
    """Record a read; tell whether doing so again would record nothing more."""
    name, attributes, hidden, in_default = read
    value, scope = free_variables.look_up(name, finder.nonlocals, finder.globals)
    if value is None or (type(value) is ModuleType and value.__name__ in finder.supported_modules):
        return True
    if hidden:
        if not value_texts.is_data(value):
            return True
        finder.record_text(value)
        return False
    finder.visiting_arg_default_value = in_default
    try:
        if name in finder.supported_python_builtins and not free_variables.is_key_part(value):
            finder.record_text(value)
            settled = False
        else:
            settled = _record(finder, value, scope, name, bool(attributes))
        return _settle_attributes(finder, value, attributes) and settled if attributes else settled
    finally:
        finder.visiting_arg_default_value = False


def _settle_attributes(finder: Any, value: Any, attributes: tuple[str, ...]) -> bool:
    settled = True
    last = len(attributes) - 1
    for number, attribute in enumerate(attributes):
        own_name = getattr(value, "__name__", "")
        if value is None or own_name in finder.supported_modules:
            break
        value = getattr(value, attribute)
        settled = _record(finder, value) and settled
        if not own_name.startswith((TRITON_MODULE, GLUON_MODULE)):
            finder.record_text(value, number < last)
            settled = False
    return settled


def _record(finder: Any, value: Any, scope: Any = None, name: str | None = None, passed_through: bool = False) -> bool:
    """Do what ``record_reference`` does, with short ways for what kernels read most."""
    kind = type(value)
    if value is None or kind is ModuleType:
        return True
    if kind is FunctionType:
        marks = value.__dict__
        if marks.get("__triton_builtin__") is True and "__triton_aggregate__" not in marks:
            return True
    elif isinstance(value, JITCallable):
        marks = value.__dict__
        if value.__module__ != _STUBS and "__triton_builtin__" not in marks and "__triton_aggregate__" not in marks:
            _record_called(finder, value, marks)
            return False
    elif kind is type and getattr(value, "__triton_aggregate__", False) is True:
        finder.unrecorded.append(value_texts.text_of_fields(value.hash_class.__annotations__))
        for attribute in value.hash_attrs:
            _record(finder, attribute)
        return False
    finder.record_reference(value, scope, name, passed_through)
    return kind in _PLAIN and not finder.visiting_arg_default_value


def _record_called(finder: Any, called: Any, attributes: dict[str, Any]) -> None:
    if called.used_global_vals:  # to be compared with the finder's own
        finder._update_hash(called)
        return
    key = called.cache_key + str(attributes.get("noinline", False))
    finder.hasher.update(key.encode("utf-8"))
