"""The lines of a function, found by its indentation and checked with Python's parser.

``inspect.getblock`` gives the same lines from Python's tokenizer written in Python, whose regular expression alone takes
milliseconds to compile. Whatever the indentation does not settle is left to it.
"""

from __future__ import annotations

import ast
import inspect

__all__ = ["function_lines"]

_CLOSING = (")", "]", "}")


def function_lines(lines: list[str], first: int) -> list[str]:
    """Return the lines of the function whose decorators or definition start at a line, as ``inspect.getblock`` does.

    :param lines: The lines of the file.
    :param first: The index of the first line.
    """
    end = _end_by_indentation(lines, first)
    if end and _is_one_function(lines[first:end]):
        return lines[first:end]
    return inspect.getblock(lines[first:])


def _end_by_indentation(lines: list[str], first: int) -> int:
    """Return the index after the last line; 0 where comments behind the function may belong to it."""
    margin = _indentation(lines[first])
    defined, end, comments = False, 0, False
    for index in range(first, len(lines)):
        text = lines[index].strip()
        if not text:
            continue
        indentation = _indentation(lines[index])
        if text.startswith("#"):
            comments = comments or (defined and indentation > margin)
            continue
        if indentation <= margin and not text.startswith(_CLOSING):
            if defined:
                break
            defined = text.startswith("def ")
        end, comments = index + 1, False
    return 0 if comments or not defined else end


def _indentation(line: str) -> int:
    """Count the blanks in front; a tab makes the parser's check fail where it would not count as one."""
    return len(line) - len(line.lstrip())


def _is_one_function(block: list[str]) -> bool:
    """Tell whether lines are one function definition from the first to the last line."""
    text = "".join(block)
    indented = block[0][:1] in {" ", "\t"}
    try:
        tree = ast.parse("if True:\n" + text if indented else text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    node = tree.body[0]
    body = node.body if indented and isinstance(node, ast.If) else tree.body
    return len(body) == 1 and isinstance(body[0], ast.FunctionDef) and body[0].end_lineno == len(block) + indented
