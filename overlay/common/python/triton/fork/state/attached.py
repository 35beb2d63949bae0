"""What the fork notes on Triton's own objects while it compiles: all of it in one attribute of the object.

For objects that only Triton itself looks at. What is known of a kernel, which users inspect, copy and pickle, stands beside it:
:mod:`triton.fork.state.beside`.
"""

from __future__ import annotations

from typing import Any

__all__ = ["STATE", "ForkState", "fork_state"]

#: Name of the attribute, for hot code that reads it from a ``__dict__`` itself.
STATE = "_fork_state"


class ForkState:
    """What is noted on one object; the class holds what counts where nothing was noted."""

    #: Node of a syntax tree: whether its location reaches an operation; see :mod:`triton.fork.codegen.locations`.
    location: int = 0
    #: Node: whether ``location`` has been set on its parts.
    parts_marked: bool = False
    #: Loop, a node: every name that its body may assign.
    names_assigned: frozenset[str] | None = None
    #: ``CodeGenerator``: the function that visits its nodes, while its outermost node is visited.
    visitor: Any = None
    #: Method of a ``CodeGenerator``: whether it takes over the body of a loop that was generated before.
    adopts_body: bool = False
    #: ``ASTFunction``: the IR types of its arguments.
    argument_types: list[Any] | None = None
    #: Type of an aggregate: the aggregate, if that is sealed; see :mod:`triton.fork.codegen.values`.
    sealed: Any = None
    #: ``FileCacheManager``: name of a file that it stored -> SHA-256 of the content, in hexadecimal.
    stored_digests: dict[str, str] | None = None


def fork_state(owner: object) -> ForkState:
    """Give what is noted on an object, to be read or changed.

    :param owner: An object with a ``__dict__``.
    """
    fields = owner.__dict__
    state: ForkState | None = fields.get(STATE)
    # Another thread may do the same, on a tree that both compile.
    return fields.setdefault(STATE, ForkState()) if state is None else state
