"""``triton/compiler/code_generator.py``."""

from triton.fork.cache_key.rebound_cells import as_keyed
from triton.fork.codegen import calls, plain, signatures, values
from triton.fork.codegen.function_names import ReturnTypes, disambiguate
from triton.fork.codegen.loops import LoopBodies, adopts_body
from triton.fork.codegen.sources import shared_tree
from triton.fork.codegen.type_names import mangled
from triton.fork.codegen.visiting import visit_in_place

__all__ = [
    "LoopBodies",
    "ReturnTypes",
    "adopts_body",
    "as_keyed",
    "calls",
    "disambiguate",
    "mangled",
    "plain",
    "shared_tree",
    "signatures",
    "values",
    "visit_in_place",
]
