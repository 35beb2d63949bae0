"""What the fork knows of an object of Triton, kept beside the object instead of in it.

``vars``, ``dir``, copies and pickles of a kernel show what they show in the base.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any, Generic, TypeVar

__all__ = ["Beside"]

Known = TypeVar("Known")


class Beside(Generic[Known]):
    """Something known of each of several objects, found by identity: asking for a kernel's hash would work out its key.

    An entry goes with its object.
    """

    def __init__(self) -> None:
        self._known: dict[int, tuple[weakref.ref[Any], Known]] = {}

    def get(self, owner: object) -> Known | None:
        """Give what is known of an object.

        :param owner: Any object.
        """
        entry = self._known.get(id(owner))
        return entry[1] if entry is not None and entry[0]() is owner else None

    def set(self, owner: object, known: Known) -> None:
        """Note something of an object, in the place of what was known before.

        :param owner: An object that can be referred to weakly.
        :param known: What is to be known of it; it must not hold the object.
        """
        self._known[id(owner)] = (weakref.ref(owner, self._remover(id(owner))), known)

    def forget(self, owner: object) -> None:
        """Know nothing of an object any more.

        :param owner: Any object.
        """
        if self.get(owner) is not None:
            self._known.pop(id(owner), None)

    def _remover(self, identity: int) -> Callable[[weakref.ref[Any]], None]:
        known = self._known

        def remove(gone: weakref.ref[Any]) -> None:
            # Another object may have the identity by now.
            entry = known.get(identity)
            if entry is not None and entry[0] is gone:
                del known[identity]

        return remove
