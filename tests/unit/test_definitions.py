"""Digests of upstream definitions: what must not change them, and what must."""

from __future__ import annotations

import pytest

from fork.queue.definitions import decorated, definition_digests

PYTHON = '''
class Runner:
    """Runs."""

    @property
    def size(self):
        return 1

    def run(self, grid):
        """Launch."""
        # A comment.
        def extents():
            return (grid, 1)
        return extents() if grid else None


def alone(): return "text"
'''

C = """
#define CHECK(x) do { if (x) { return NULL; } } while (0)
static int count; /* { */
static struct { int a; } both = {1};

static PyObject *launch(PyObject *self,
                        PyObject *arguments) {
  const char *text = "} {";
  if (count) { return NULL; } // }
  return self;
}
int other(void) { return 1; }
"""


def test_every_definition_has_a_name() -> None:
    assert list(definition_digests("a.py", PYTHON)) == [
        "Runner",
        "Runner.size",
        "Runner.run",
        "Runner.run.extents",
        "alone",
    ]
    assert list(definition_digests("a.c", C)) == ["CHECK", "launch", "other"]


@pytest.mark.parametrize(
    ("path", "text", "old", "new"),
    [
        ("a.py", PYTHON, "# A comment.", "# Another one,\n        # longer."),
        ("a.py", PYTHON, '"""Launch."""', '"""Launch it."""'),
        ("a.py", PYTHON, "(grid, 1)", "(\n                grid,\n                1,\n            )"),
        ("a.py", PYTHON, 'def alone(): return "text"', "def alone():\n    return 'text'"),
        ("a.c", C, "/* { */", "/* nothing } */"),
        ("a.c", C, "  return self;", "\n    return   self;"),
    ],
)
def test_form_does_not_count(path: str, text: str, old: str, new: str) -> None:
    assert old in text
    assert definition_digests(path, text) == definition_digests(path, text.replace(old, new))


@pytest.mark.parametrize(
    ("path", "text", "old", "new", "changed"),
    [
        ("a.py", PYTHON, "(grid, 1)", "(grid, 2)", {"Runner", "Runner.run", "Runner.run.extents"}),
        ("a.py", PYTHON, "@property", "@cached", {"Runner", "Runner.size"}),
        ("a.py", PYTHON, '"text"', "None", {"alone"}),
        ("a.py", PYTHON, "self, grid", "self, grid=None", {"Runner", "Runner.run"}),
        ("a.c", C, "return self;", "return NULL;", {"launch"}),
        ("a.c", C, '"} {"', '"} { "', {"launch"}),
        ("a.c", C, "PyObject *arguments", "PyObject *values", {"launch"}),
        ("a.c", C, "while (0)", "while (1)", {"CHECK"}),
    ],
)
def test_every_change_of_meaning_counts(path: str, text: str, old: str, new: str, changed: set[str]) -> None:
    before, after = definition_digests(path, text), definition_digests(path, text.replace(old, new))
    assert {name for name in before if before[name] != after[name]} == changed


def test_definitions_of_one_name_count_together() -> None:
    text = "@overload\ndef jit(fn): ...\n\ndef jit(fn): return fn\n"
    before, after = (
        definition_digests("a.py", text),
        definition_digests("a.py", text.replace("(fn): ...", "(fn, *, x): ...")),
    )
    assert list(before) == ["jit"]
    assert before != after


def test_decorators_of_a_package_are_found() -> None:
    text = (
        "from ..fork.codegen import plain, values as shared\nfrom .. import fork\nfrom ..other import wrap\n"
        "class A:\n    @plain.short\n    def one(self): ...\n    @wrap\n    def two(self): ...\n"
        "@shared.once(3)\ndef three(): ...\n@fork.four\ndef four(): ...\n"
    )
    assert decorated(text, "fork") == ["A.one", "three", "four"]
