"""Visit AST nodes without entering ``warnings.catch_warnings`` for each, and without asking the builder for known locations.

The base filters deprecation warnings anew around every node, asks the builder for the location that it has just set, and
dispatches through :meth:`ast.NodeVisitor.visit`.  Here the filters are set once around the outermost node of a function, the
location is set where an operation can get it, names and constants are looked up without a call, and the dispatch is done in
place, which also saves a stack frame per nesting level.

Mirrors python/triton/compiler/code_generator.py: CodeGenerator.visit, CodeGenerator.visit_Name, CodeGenerator.visit_Constant
"""

from __future__ import annotations

import ast
import functools
import types
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

from triton.compiler.errors import CompilationError
from triton.fork.codegen import plain
from triton.fork.codegen.kernels import enabled
from triton.fork.codegen.locations import ALWAYS, BUILDS_LATE, MARKERS, RELIED_ON
from triton.fork.state.attached import STATE, fork_state
from triton.fork.state.current_kernel import current

from triton import knobs  # type: ignore[attr-defined]

__all__ = ["SWITCH", "visit_in_place"]

#: The environment variable that restores the base's ``CodeGenerator.visit``.
SWITCH = "TRITON_FORK_VISIT"

Visit = Callable[[Any, Any], Any]
Visitor = Callable[[Any], Any]


def _ignore_deprecations() -> None:
    """Put the filters of the base in front, for code of any Python version that the visit runs through."""
    warnings.simplefilter("ignore", DeprecationWarning)
    warnings.simplefilter("ignore", PendingDeprecationWarning)


# The base changes the filters around every node, which makes Python forget which warnings it has shown: a warning is shown
# each time that it is raised.  Up to Python 3.13 the function that says "filters changed" can be called alone.
_forget_shown_warnings: Callable[[], None] = getattr(warnings, "_filters_mutated", _ignore_deprecations)

_method_names = {
    kind: "visit_" + name for name, kind in vars(ast).items() if isinstance(kind, type) and issubclass(kind, ast.AST)
}

#: Nodes that neither call functions nor raise warnings of their own.
_SILENT = frozenset(
    {ast.Name, ast.Constant, ast.Attribute, ast.Tuple, ast.Expr, ast.keyword, ast.Pass, ast.Return, ast.Assign}
)


def _dispatches_like_the_base(generator: Any, owner: type) -> bool:
    """Tell whether nothing stands between the code generator and :meth:`ast.NodeVisitor.visit`."""
    classes = type(generator).__mro__
    after = classes[classes.index(owner) + 1 :]
    return next(kind.__dict__["visit"] for kind in after if "visit" in kind.__dict__) is ast.NodeVisitor.visit


class Methods(NamedTuple):
    """Which methods of a code generator are the base's.

    :param finds_names: ``visit_Name``, and what it looks names up with.
    :param makes_constants: ``visit_Constant``.
    :param order_is_known: All of those that tell in which order nodes are visited and operations built.
    """

    finds_names: bool
    makes_constants: bool
    order_is_known: bool


def visit_in_place(base_visit: Visit) -> Visit:
    """Replace ``CodeGenerator.visit``.

    :param base_visit: The base's method, used when the switch is off or a class of the user's comes in between.
    :returns: The method of the fork, with the same results, errors and warnings.
    """

    @functools.wraps(base_visit)
    def visit(self: Any, node: Any) -> Any:
        visitor = fork_state(self).visitor
        return _visit_outermost(self, node, visit, base_visit) if visitor is None else visitor(node)

    return visit


def _visitor(generator: Any, methods: Methods) -> Visitor:
    """Make the function that visits the nodes of one function.

    It is one function, long as it is, since Python's limit to the depth of calls is one to the depth of expressions.
    """
    from triton.language.core import constexpr

    builder, file_name, begin_line = generator.builder, generator.file_name, generator.begin_line
    set_location, create_location = builder.set_loc, builder.create_loc
    finds_names, makes_constants, knows_order = methods
    late: frozenset[type] = BUILDS_LATE if knows_order else frozenset()
    markers = MARKERS if knows_order else {}
    absent = object()

    def locate(node: Any, prefix: str | None) -> None:
        if prefix is None:
            set_location(file_name, begin_line + node.lineno, node.col_offset)
        else:
            location = create_location(file_name, begin_line + node.lineno, node.col_offset)
            set_location(builder.create_name_loc(prefix, location))

    def visit(node: Any) -> Any:
        if node is None:
            return None
        kind = node.__class__
        last_node, generator.cur_node = generator.cur_node, node
        prefix = generator.name_loc_as_prefix
        # After a node that has no place in the source, the location is again what it was before.
        before = None if "lineno" in node.__dict__ else builder.get_loc()
        try:
            if kind is ast.Name and finds_names:
                if node.ctx.__class__ is ast.Store:
                    result = node.id
                else:
                    result = generator.lscope.get(node.id, absent)
                    if result is absent:
                        result = generator.dereference_name(node.id)
            elif kind is ast.Constant and makes_constants:
                result = constexpr(node.value)
            else:
                if before is None and (kind not in late or (kind is ast.Return and node.value is None)):
                    locate(node, prefix)
                mark_parts = markers.get(kind)
                if mark_parts is not None and not (state := fork_state(node)).parts_marked:
                    mark_parts(node)
                    state.parts_marked = True
                if kind not in _SILENT:
                    _forget_shown_warnings()
                method = getattr(generator, _method_names.get(kind) or "visit_" + kind.__name__, None)
                result = generator.generic_visit(node) if method is None else method(node)
        except CompilationError:
            raise
        except Exception as error:
            if knobs.compilation.front_end_debugging:
                raise
            raise CompilationError(generator.jit_fn.src, generator.cur_node, repr(error)) from None
        generator.cur_node = last_node
        if before is not None:
            set_location(before)
        elif (
            not knows_order
            or not (state := node.__dict__.get(STATE))
            or not state.location
            or not (state.location == ALWAYS or _builds_nothing(result))
        ):
            locate(node, prefix)
        return result

    return visit


def _builds_nothing(value: Any) -> bool:
    """Tell whether taking an attribute of a value, other than ``T``, builds no operation."""
    kind = value.__class__
    return kind is types.ModuleType or getattr(kind, "__triton_aggregate__", False) is True


def _methods(kind: type, base_visit: Visit, has_own_visit: bool) -> Methods:
    """Tell which methods of a class of code generators are the base's."""

    def is_base(name: str) -> bool:
        method = getattr(kind, name, None)
        return (
            type(method) is types.FunctionType
            and method.__globals__ is getattr(base_visit, "__globals__", None)
            and method.__module__ == base_visit.__module__
        )

    looked_up_with = getattr(getattr(kind, "_define_name_lookup", None), "__globals__", None)
    has_own_look_up = looked_up_with is not vars(plain) and looked_up_with is not getattr(
        base_visit, "__globals__", None
    )
    knows_order = not has_own_visit and all(map(is_base, RELIED_ON))
    static: dict[object, Any] = getattr(kind, "statically_implemented_functions", {})
    knows_order = knows_order and all(function.__module__ == base_visit.__module__ for function in static.values())
    return Methods(is_base("visit_Name") and not has_own_look_up, is_base("visit_Constant"), knows_order)


def _visit_outermost(generator: Any, node: Any, visit: Visit, base_visit: Visit) -> Any:
    """Choose the path for a whole function and visit its outermost node."""
    kind = type(generator)
    owner = next((class_ for class_ in kind.__mro__ if class_.__dict__.get("visit") is visit), None)
    if owner is None or not enabled(SWITCH) or not _dispatches_like_the_base(generator, owner):
        if kind.visit is visit:
            generator.visit = types.MethodType(base_visit, generator)
        return base_visit(generator, node)
    # Another visit may build operations of its own after this one's.
    has_own_visit = kind.visit is not visit or "visit" in generator.__dict__
    kernel = current()
    methods = kernel.known.get((kind, has_own_visit)) if kernel is not None else None
    if methods is None:
        methods = _methods(kind, base_visit, has_own_visit)
        if kernel is not None:
            kernel.known[kind, has_own_visit] = methods
    visitor = fork_state(generator).visitor = _visitor(generator, methods)
    if not has_own_visit:
        generator.__dict__["visit"] = visitor
    try:
        with warnings.catch_warnings():
            _ignore_deprecations()
            return visitor(node)
    finally:
        fork_state(generator).visitor = None
        if not has_own_visit:
            del generator.__dict__["visit"]
