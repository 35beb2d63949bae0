"""What the code of a Python function asks for by name."""

from __future__ import annotations

import functools
import itertools
import sys
from types import CodeType
from typing import NamedTuple

__all__ = ["READ_ANYTHING", "Uses", "uses_of"]

#: Code that uses one of these names may read any attribute.
READ_ANYTHING = frozenset(
    [
        "__dict__",
        "__slots__",
        "__getattribute__",
        "__getstate__",
        "__reduce__",
        "__reduce_ex__",
        "vars",
        "getattr",
        "dir",
        "eval",
        "exec",
        "globals",
        "locals",
        "asdict",
        "astuple",
        "fields",
        "attrgetter",
        "deepcopy",
        "replace",
    ]
)


_TESTS = frozenset(["isinstance", "issubclass", "type", "hash", "id", "len", "bool"])


class Uses(NamedTuple):
    """What code uses, the functions inside included."""

    #: Names of attributes that are read.
    attributes: frozenset[str]
    #: Names of attributes that are set.
    stored: frozenset[str]
    #: Names of globals and builtins.
    variables: frozenset[str]
    #: Texts, which may be names of attributes.
    words: frozenset[str]
    #: Names of globals that are only compared with, or given to ``isinstance``.
    tested: frozenset[str]
    #: Whether a module is imported, of which nothing is known here.
    imports: bool


@functools.lru_cache(maxsize=1024)
def uses_of(code: CodeType) -> Uses:
    """Find out what code uses.

    :param code: The code of a function.
    """
    import dis  # takes a while, and few kernels have constants with code of their own

    attributes, stored, variables, words = set[str](), set[str](), set[str](), set[str]()
    imports = False
    left = [code]
    while left:
        one = left.pop()
        for constant in one.co_consts:
            if type(constant) is CodeType:
                left.append(constant)
            elif type(constant) is str:
                words.add(constant)
            elif type(constant) in (tuple, frozenset):
                words.update(item for item in constant if type(item) is str)
        for step in dis.get_instructions(one):
            if step.opname.startswith("IMPORT"):
                imports = True
            elif step.opname == "STORE_ATTR":
                stored.add(step.argval)
            elif step.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
                variables.add(step.argval)
            elif type(step.argval) is str and step.argval in one.co_names:
                attributes.add(step.argval)  # LOAD_ATTR, LOAD_METHOD, LOAD_SUPER_ATTR, ...
    tested = _only_tested(code) if variables else frozenset()
    return Uses(frozenset(attributes), frozenset(stored), frozenset(variables), frozenset(words), tested, imports)


def _only_tested(code: CodeType) -> frozenset[str]:
    """Find the globals of which code asks nothing but whether something is, or belongs to, one of them."""
    if sys.version_info < (3, 11):  # noqa: UP036 - the wheel runs there
        return frozenset()  # what is called cannot be told from what is given to it
    import dis

    steps = list(dis.get_instructions(code))
    tested, used = set[str](), set[str]()
    calls = sum(step.opname.startswith("CALL") for step in steps)
    for step, following in itertools.pairwise(steps):
        if step.opname != "LOAD_GLOBAL":
            continue
        if step.arg is not None and step.arg & 1:  # to be called
            if step.argval not in _TESTS:
                return frozenset()
            calls -= 1
        elif following.opname in ("PRECALL", "CALL", "IS_OP", "COMPARE_OP", "BUILD_TUPLE", "LOAD_GLOBAL"):
            tested.add(step.argval)
            continue
        used.add(step.argval)
    return frozenset(tested - used) if calls == 0 else frozenset()
