"""Generate the body of a loop once, where the base generates it once to see what it carries and once more to keep it.

The base finds the loop-carried variables by generating the body into a block that it throws away, so the innermost of ``n`` nested
loops is generated ``2**n`` times.  Here the body is generated once, with placeholders for the variables that it may carry, and is
moved into the loop when that has been made.

Why the result is the base's: which variables a body changes is told by comparing handles (by identity).  When no two live
variables share a handle, exchanging the handles of some variables for placeholders renames handles one to one, and everything that
is decided while the body is generated comes out the same.  Where this does not hold (shared handles, several blocks,
values of unknown kinds), or where the outcome shows that it did not (a variable changed that no statement assigns), the attempt is
thrown away and the base's path is taken.  Placeholders are exchanged twice, since each exchange reverses the order of the uses.

Mirrors python/triton/compiler/code_generator.py: CodeGenerator.visit_For, CodeGenerator.visit_While
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterable
from typing import Any, TypeVar

from triton.fork.codegen.handles import Handles, flatten, is_known, is_value, share_handles, with_handles
from triton.fork.codegen.kernels import enabled
from triton.fork.state.attached import STATE, fork_state

__all__ = ["SWITCH", "LoopBodies", "adopts_body"]

#: The environment variable that restores the dry run of the base.
SWITCH = "TRITON_FORK_LOOPS"

Scope = dict[str, Any]
Method = TypeVar("Method", bound=Callable[..., Any])

_BINDING_EXPRESSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.NamedExpr, ast.Lambda)


def adopts_body(visit: Method) -> Method:
    """Mark a ``visit_For`` or ``visit_While`` that takes over a body generated beforehand.

    A class that overrides these methods without calling the marked ones never gets such a body.
    """
    fork_state(visit).adopts_body = True
    return visit


def _adopts(method: Any) -> bool:
    state = getattr(method, STATE, None)
    return state is not None and state.adopts_body


def names_assigned(statements: list[ast.stmt]) -> frozenset[str]:
    """Give every name that some part of the statements may assign."""
    names = set()
    rest: list[ast.AST] = [*statements]
    while rest:
        node = rest.pop()
        if isinstance(node, ast.Name):
            if not isinstance(node.ctx, ast.Load):
                names.add(node.id)
        elif not isinstance(node, ast.Constant):
            rest.extend(ast.iter_child_nodes(node))
    return frozenset(names)


def _names_assigned_in(loop: Any) -> frozenset[str]:
    """Give what :func:`names_assigned` does for the body of a loop; kept with the loop, as trees are shared."""
    state = fork_state(loop)
    if state.names_assigned is None:
        state.names_assigned = names_assigned(loop.body)
    return state.names_assigned


class _Body:
    """A generated body that waits for its loop.

    :param block: The block it was generated into.
    :param stub: The block whose arguments are the placeholders.
    :param placeholders: The placeholders of each variable that may be carried.
    :param named_before: How many names had been given before.
    """

    def __init__(self, block: Any, stub: Any, placeholders: dict[str, Handles], named_before: int) -> None:
        self.named_before = named_before
        self.block = block
        self.stub = stub
        self.placeholders = placeholders
        self.names: dict[Any, list[str]] = {}
        self.locations: list[tuple[Any, Any]] = []
        self.scope: Scope = {}
        self.definitions: Scope = {}
        self.location: Any = None


class LoopBodies:
    """The loops of one function that is being generated.

    :param generator: The code generator of the function.
    """

    def __init__(self, generator: Any) -> None:
        self._generator = generator
        self._enabled = enabled(SWITCH)
        self._waiting: dict[ast.AST, _Body] = {}
        self._carried: dict[ast.AST, tuple[str, ...]] = {}
        self._unsuitable: set[ast.AST] = set()
        # What was given a name while bodies were being generated: pairs of a handle and a name, in order.
        self._named: list[tuple[Any, str]] = []
        self._depth = 0

    def generate(
        self, node: Any, liveins: Scope, ignore: Collection[str]
    ) -> tuple[list[str], Handles, list[Any]] | None:
        """Generate the body of a loop and find what it carries.

        :param node: The ``ast.For`` or ``ast.While``.
        :param liveins: The variables alive before the loop, as ``enter_sub_region`` gives them.
        :param ignore: The variables that are never carried.
        :returns: What ``CodeGenerator._find_carries`` returns, or nothing when it has to find out in its own way.
        """
        if not self._is_suitable(node, liveins):
            return None
        live = {name: flatten(value) for name, value in liveins.items() if is_value(value)}
        assigned = _names_assigned_in(node)
        possible = tuple(name for name in live if name in assigned and name not in ignore)
        if share_handles(live, possible):
            return None
        start = self._generator.builder.get_insertion_point()
        guess = self._carried.get(node, possible)
        # A second guess is right unless the base's own two runs would differ; then it is left to the base.
        for _ in range(2):
            if any(name not in possible for name in guess):
                break
            body = self._generate_with(node, liveins, live, guess)
            changed = self._changed(body, liveins, live, ignore) if self._is_one_block(body) else None
            if changed == guess:
                return self._keep(node, body, liveins, live)
            self._discard(body)
            self._reset(liveins)
            self._generator.builder.restore_insertion_point(start)
            if changed is None:
                break
            guess = self._carried[node] = changed
        self._unsuitable.add(node)
        return None

    def adopt(self, node: Any, handles: Handles, block: Any) -> bool:
        """Move the body of a loop into it, if it was generated beforehand.

        :param node: The loop.
        :param handles: The arguments of the loop's block, in the order of the carried variables.
        :param block: The loop's block.
        :returns: Whether there was such a body.
        """
        body = self._waiting.pop(node, None)
        if body is None:
            return False
        generator = self._generator
        placeholders = [handle for handles_ in body.placeholders.values() for handle in handles_]
        for index, (placeholder, handle) in enumerate(zip(placeholders, handles, strict=True)):
            self._rename(handle, body.names.get(placeholder, ()))
            between = body.stub.arg(len(placeholders) + index)
            placeholder.replace_all_uses_with(between)
            between.replace_all_uses_with(handle)
        body.block.merge_block_before(block)
        generator.builder.set_insertion_point_to_end(block)
        generator.builder.set_loc(body.location)
        generator.lscope = body.scope
        generator.local_defs.update(body.definitions)
        replaced = dict(zip(placeholders, handles, strict=True))
        for name in body.placeholders:
            body.scope[name] = with_handles(body.scope[name], replaced)
        body.stub.erase()
        return True

    def note_name(self, handle: Any, name: str) -> None:
        """Remember that the location of a handle was given a name, for as long as a body is being generated."""
        if self._depth:
            self._named.append((handle, name))

    def _is_suitable(self, node: Any, liveins: Scope) -> bool:
        kind = type(self._generator)
        if not self._enabled or node in self._unsuitable:
            return False
        if not (_adopts(kind.visit_For) and _adopts(kind.visit_While)):
            return False
        if isinstance(node, ast.While) and any(isinstance(part, _BINDING_EXPRESSIONS) for part in ast.walk(node.test)):
            return False
        return all(is_known(value) for value in liveins.values())

    def _generate_with(self, node: Any, liveins: Scope, live: dict[str, Handles], guess: tuple[str, ...]) -> _Body:
        """Generate the body with placeholders for the variables of a guess."""
        generator = self._generator
        builder = generator.builder
        stub = builder.create_block()
        handles = [handle for name in guess for handle in live[name]]
        for handle in handles + handles:
            stub.add_argument(handle.get_type())
        arguments = iter([stub.arg(index) for index in range(len(handles))])
        placeholders = {name: [next(arguments) for _ in live[name]] for name in guess}
        block = builder.create_block()
        builder.set_insertion_point_to_start(block)
        self._reset(liveins)
        for name in guess:
            value, _ = liveins[name].type._unflatten_ir(placeholders[name], 0)
            generator.lscope[name] = value
            for placeholder, handle in zip(placeholders[name], live[name], strict=True):
                if isinstance(node, ast.For):
                    placeholder.set_loc(handle.get_loc())
            generator._maybe_set_loc_to_name(value, name)
        body = _Body(block, stub, placeholders, len(self._named))
        body.locations = [(handle, handle.get_loc()) for handles in live.values() for handle in handles]
        self._depth += 1
        generator.scf_stack.append(node)
        generator.visit_compound_statement(node.body)
        generator.scf_stack.pop()
        self._depth -= 1
        return body

    def _discard(self, body: _Body) -> None:
        """Undo what an attempt did: values from before the loop have the names that they had."""
        for handle, location in body.locations:
            handle.set_loc(location)
        del self._named[body.named_before :]
        body.block.erase()
        body.stub.erase()

    def _is_one_block(self, body: _Body) -> bool:
        end: Any = self._generator.builder.get_insertion_block()
        return bool(end.id() == body.block.id()) and not body.block.has_terminator()

    def _changed(
        self, body: _Body, liveins: Scope, live: dict[str, Handles], ignore: Collection[str]
    ) -> tuple[str, ...] | None:
        """Give the variables whose values the body changed, checking them as the base does."""
        generator = self._generator
        changed = []
        for name, live_value in liveins.items():
            if name in ignore:
                continue
            if not is_value(live_value):
                assert name not in generator.local_defs, f"Loop carried variable {name} is not a triton value"  # noqa: S101 - as the base does
                continue
            loop_value = generator.lscope[name]
            generator._verify_loop_carried_variable(name, loop_value, live_value)
            if flatten(loop_value) != body.placeholders.get(name, live[name]):
                changed.append(name)
        return tuple(changed)

    def _keep(
        self, node: Any, body: _Body, liveins: Scope, live: dict[str, Handles]
    ) -> tuple[list[str], Handles, list[Any]]:
        """Set a body aside for its loop and give what the loop carries."""
        generator = self._generator
        body.scope, body.definitions = generator.lscope, generator.local_defs
        body.location = generator.builder.get_loc()
        self._waiting[node] = body
        self._reset(liveins)
        names = list(body.placeholders)
        self._repeat_names(body, live)
        return names, [handle for name in names for handle in live[name]], [liveins[name].type for name in names]

    def _repeat_names(self, body: _Body, live: dict[str, Handles]) -> None:
        """Give the values from before the loop the names that two runs of the base give them, in the same order.

        The order matters for results of one operation: they share one location.
        """
        values = {handle: handle for handles in live.values() for handle in handles}
        originals = dict(values)
        for name, placeholders in body.placeholders.items():
            originals.update(zip(placeholders, live[name], strict=True))
        second_run = self._named[body.named_before :]
        first_run = [(originals[handle], name) for handle, name in second_run if handle in originals]
        for handle, location in body.locations if first_run else ():
            handle.set_loc(location)
        for handle, name in first_run + [(handle, name) for handle, name in second_run if handle in values]:
            self._rename(handle, [name])
        for handle, name in second_run:
            body.names.setdefault(handle, []).append(name)
        self._named[body.named_before :] = first_run + second_run if self._depth else []

    def _rename(self, handle: Any, names: Iterable[str]) -> None:
        for name in names:
            handle.set_loc(self._generator.builder.create_name_loc(name, handle.get_loc()))

    def _reset(self, liveins: Scope) -> None:
        self._generator.lscope = liveins.copy()
        self._generator.local_defs = {}
