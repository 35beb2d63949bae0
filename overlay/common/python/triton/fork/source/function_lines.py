"""The lines of a function, found by its indentation and checked with Python's parser where something might hide the indentation.

``inspect.getblock`` gives the same lines from Python's tokenizer written in Python, whose regular expression alone takes
milliseconds to compile. Whatever the indentation does not settle is left to it.
"""

from __future__ import annotations

import ast
import inspect
import re

from triton.fork.source.trees import parse
from triton.fork.startup.lazy_import import lazy_module

__all__ = ["function_source", "text_from_definition"]

textwrap = lazy_module("textwrap")

_CLOSING = (")", "]", "}")
_DEFINITION = re.compile(r"^def\s+\w+\s*\(", re.MULTILINE)
_HIDING = ("\t", "\\", "\f", "\r")
_QUOTES = ("'", '"')
_BRACKETS = (("(", ")"), ("[", "]"), ("{", "}"))
_STRING_OR_COMMENT = re.compile(r"""#[^\n]*|'[^'\n]*'|"[^"\n]*\"""")
_PARSER_GIVES_UP = (SyntaxError, ValueError, RecursionError, MemoryError)

# Lines of decorators, often the same ones -> whether they are nothing else.
_known_decorators: dict[str, bool] = {}
_MOST_KNOWN = 256


def function_source(lines: list[str], first: int) -> tuple[list[str], str, ast.Module | None]:
    """Return the source of the function whose decorators or definition start at a line.

    :param lines: The lines of the file.
    :param first: The index of the first line.
    :returns: Its lines, with decorators, as ``inspect.getblock`` gives them; the dedented text from ``def`` on; and the syntax
        tree of that text, where it was made to check the lines.
    :raises ValueError: There is no function defined with ``def``.
    """
    definition, end = _extent(lines, first)
    if end:
        block = lines[first:end]
        text = text_from_definition(block)
        if _is_dedented(block, definition - first, text):
            if _indentation_decides(text):
                return block, text, None
            if tree := _tree_of_one_function(text):
                return block, text, tree
    block = inspect.getblock(lines[first:])
    text = text_from_definition(block)
    if not text:
        raise ValueError("@jit functions should be defined with def")
    return block, text, None


def _extent(lines: list[str], first: int) -> tuple[int, int]:
    """Return the index of the line with ``def``, and the one after the last line.

    The latter is 0 where comments behind the function may belong to it.
    """
    margin = _indentation(lines[first])
    definition, end, comments = -1, 0, False
    for index in range(first, len(lines)):
        text = lines[index].strip()
        if not text:
            continue
        indentation = _indentation(lines[index])
        if text.startswith("#"):
            comments = comments or (definition >= 0 and indentation > margin)
            continue
        if indentation <= margin and not text.startswith(_CLOSING):
            if definition >= 0:
                break
            if text.startswith("def "):
                definition = index
        end, comments = index + 1, False
    return definition, 0 if comments or definition < 0 else end


def _indentation(line: str) -> int:
    """Count the blanks in front; a tab makes the parser's check fail where it would not count as one."""
    return len(line) - len(line.lstrip())


def text_from_definition(block: list[str]) -> str:
    """Return the dedented text from ``def`` on, nothing where there is none.

    :param block: The lines of a function, with decorators.
    """
    text = "".join(block)
    # A text that starts at the margin stays as it is, but for lines of blanks.
    plain = block[0][:1] not in {" ", "\t"} and all(line in {"\n", "\r\n"} or line.strip() for line in block)
    source = text if plain else textwrap.dedent(text)
    start = _DEFINITION.search(source)
    return source[start.start() :] if start else ""


def _is_dedented(block: list[str], definition: int, text: str) -> bool:
    """Tell whether a text begins at the line with ``def``, with decorators before it.

    :param block: The lines.
    :param definition: Index of the line with ``def``.
    :param text: The dedented text from ``def`` on.
    """
    # Where a line of a string lies further left than ``def``, the text was not dedented to that.
    return _count_lines(text) == len(block) - definition and _are_decorators(block[:definition], block[definition])


def _count_lines(text: str) -> int:
    return text.count("\n", 0, -1) + 1


def _indentation_decides(text: str) -> bool:
    """Tell whether nothing in a function can hide where it ends: a string or an expression over lines that are not indented."""
    if any(character in text for character in _HIDING):
        return False
    bare = _STRING_OR_COMMENT.sub("", text)
    # A quote that is left belongs to a string of several lines; a cut inside of brackets leaves one of them without the other.
    return not any(quote in bare for quote in _QUOTES) and all(
        bare.count(opening) == bare.count(closing) for opening, closing in _BRACKETS
    )


def _tree_of_one_function(text: str) -> ast.Module | None:
    """Return the syntax tree where a text is one function definition from its first to its last line."""
    try:
        tree = parse(text)
    except _PARSER_GIVES_UP:
        return None
    body = tree.body
    one = len(body) == 1 and isinstance(body[0], ast.FunctionDef) and body[0].end_lineno == _count_lines(text)
    return tree if one else None


def _are_decorators(lines: list[str], definition: str) -> bool:
    """Tell whether lines are nothing but decorators of what is defined in the line after them."""
    if not lines:
        return True
    margin = definition[: _indentation(definition)]
    text = "".join([*lines, margin, "def f(): ...\n"])
    known = _known_decorators.get(text)
    if known is None:
        if len(_known_decorators) >= _MOST_KNOWN:
            _known_decorators.clear()
        known = _known_decorators[text] = _is_one_function(
            "if True:\n" + text if margin else text, bool(margin), len(lines) + 1
        )
    return known


def _is_one_function(text: str, indented: bool, count: int) -> bool:
    try:
        tree = parse(text)
    except _PARSER_GIVES_UP:
        return False
    node = tree.body[0]
    body = node.body if indented and isinstance(node, ast.If) else tree.body
    return len(body) == 1 and isinstance(body[0], ast.FunctionDef) and body[0].end_lineno == count + indented
