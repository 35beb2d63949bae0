"""Prints what each dotted name, given one a line in a file, is in this environment: its kind and its signatures."""
# mypy: ignore-errors

import importlib
import inspect
import json
import re
import sys
from pathlib import Path

from tests.fake_driver.nvidia import install


def resolve(name):
    """Import as much of the name as is a module and take the rest as attributes."""
    parts = name.split(".")
    found, depth = None, 0
    for end in range(1, len(parts) + 1):
        try:
            found, depth = importlib.import_module(".".join(parts[:end])), end
        except ImportError:
            break
    for part in parts[depth:]:
        found = getattr(found, part)
    return found


def signature(value):
    try:
        text = str(inspect.signature(value))
    except (TypeError, ValueError):
        return None
    return re.sub(r"0x[0-9a-f]+", "0x...", text)


def describe(name):
    try:
        value = resolve(name)
    except AttributeError:
        return None
    methods = {}
    if inspect.isclass(value):
        for attribute in sorted(vars(value)):
            if callable(getattr(value, attribute, None)) and (not attribute.startswith("_") or attribute == "__init__"):
                methods[attribute] = signature(getattr(value, attribute))
    wrapped = getattr(value, "fn", None)
    return {
        "kind": type(value).__name__,
        "signature": signature(value),
        "wrapped": signature(wrapped) if callable(wrapped) else None,
        "methods": methods,
    }


if __name__ == "__main__":
    install()  # `triton.runtime.driver.active` is one of the names
    json.dump({name: describe(name) for name in Path(sys.argv[1]).read_text().split()}, sys.stdout)
