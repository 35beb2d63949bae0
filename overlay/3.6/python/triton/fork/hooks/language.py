"""``core.py`` of the languages: ``triton/language`` and ``triton/experimental/gluon/language``."""

from triton.fork.codegen import lazy, signatures, values
from triton.fork.codegen.lazy import ComputedOnce
from triton.fork.codegen.signatures import is_set_as_it_is

__all__ = ["ComputedOnce", "is_set_as_it_is", "lazy", "signatures", "values"]
