"""Visit AST nodes without entering ``warnings.catch_warnings`` for each, and without asking the builder for known locations.

The base filters deprecation warnings anew around every node, asks the builder for the location that it has just set, and
dispatches through :meth:`ast.NodeVisitor.visit`.  Here the filters are set once around the outermost node of a function, the
location is remembered, and the dispatch is done in place, which also saves a stack frame per nesting level.
"""

from __future__ import annotations

import ast
import functools
import types
import warnings
from collections.abc import Callable
from typing import Any

from triton.compiler.errors import CompilationError
from triton.fork._switches import enabled

from triton import knobs  # type: ignore[attr-defined]

__all__ = ["SWITCH", "visit_in_place"]

#: The environment variable that restores the base's ``CodeGenerator.visit``.
SWITCH = "TRITON_FORK_VISIT"

Visit = Callable[[Any, Any], Any]

#: Set in the ``__dict__`` of a code generator while its outermost node is visited.
_ACTIVE = "_fork_visiting"


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


def visit_in_place(base_visit: Visit) -> Visit:
    """Replace ``CodeGenerator.visit``.

    :param base_visit: The base's method, used when the switch is off or a class of the user's comes in between.
    :returns: The method of the fork, with the same results, errors and warnings.
    """

    @functools.wraps(base_visit)
    def visit(self: Any, node: Any) -> Any:
        leaves = self.__dict__.get(_ACTIVE)
        if leaves is None:
            return _visit_outermost(self, node, visit, base_visit)
        if node is None:
            return None
        last_node, self.cur_node = self.cur_node, node
        builder = self.builder
        kind = node.__class__
        is_leaf = kind in leaves
        try:
            line, column = self.begin_line + node.lineno, node.col_offset
        except AttributeError:
            location = builder.get_loc()
        else:
            prefix = self.name_loc_as_prefix
            if prefix is None and is_leaf:
                location = None
                builder.set_loc(self.file_name, line, column)
            else:
                location = builder.create_loc(self.file_name, line, column)
                if prefix is not None:
                    location = builder.create_name_loc(prefix, location)
                builder.set_loc(location)
        try:
            if is_leaf:
                result = leaves[kind](self, node)
                self.cur_node = last_node
                return result
            if kind not in _SILENT:
                _forget_shown_warnings()
            method = getattr(self, _method_names.get(kind) or "visit_" + kind.__name__, None)
            result = self.generic_visit(node) if method is None else method(node)
        except CompilationError:
            raise
        except Exception as error:
            if knobs.compilation.front_end_debugging:
                raise
            raise CompilationError(self.jit_fn.src, self.cur_node, repr(error)) from None
        self.cur_node = last_node
        builder.set_loc(location)
        return result

    return visit


def _leaves(generator: Any, base_visit: Visit) -> dict[type, Callable[[Any, Any], Any]]:
    """Give the methods for nodes without children, where they are the base's, which leave the location as it is."""
    own = getattr(base_visit, "__globals__", None)
    methods = {kind: getattr(type(generator), "visit_" + kind.__name__, None) for kind in (ast.Name, ast.Constant)}
    return {
        kind: method
        for kind, method in methods.items()
        if type(method) is types.FunctionType
        and method.__globals__ is own
        and method.__module__ == base_visit.__module__
    }


def _visit_outermost(generator: Any, node: Any, visit: Visit, base_visit: Visit) -> Any:
    """Choose the path for a whole function and visit its outermost node."""
    owner = next(kind for kind in type(generator).__mro__ if kind.__dict__.get("visit") is visit)
    if not enabled(SWITCH) or not _dispatches_like_the_base(generator, owner):
        if type(generator).visit is visit:
            generator.visit = types.MethodType(base_visit, generator)
        return base_visit(generator, node)
    generator.__dict__[_ACTIVE] = _leaves(generator, base_visit)
    try:
        with warnings.catch_warnings():
            _ignore_deprecations()
            return visit(generator, node)
    finally:
        del generator.__dict__[_ACTIVE]
