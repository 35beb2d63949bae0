"""What this Triton is: the fork's patches, their reasons, and the switches that turn parts of it off.

``python -m triton.fork`` prints it for a bug report.

>>> import triton.fork
>>> triton.fork.info()["upstream"]["version"]
'3.6.0'
"""

from __future__ import annotations

from typing import Any

__all__ = ["info", "switches"]


def info() -> dict[str, Any]:
    """Describe this installation.

    :returns: The content of ``provenance.json``: ``version``, ``upstream`` (``url``, ``commit``, ``version``), ``base``,
        ``patches`` (each with ``name``, ``subject``, ``reason`` and ``trailers``), digests, builder; and ``switches``, see
        :func:`switches`.
    :raises FileNotFoundError: The installation has no ``provenance.json``, as in a development tree.
    """
    import json
    from importlib.resources import files

    document: dict[str, Any] = json.loads(files(__name__).joinpath("provenance.json").read_text("utf-8"))
    return {**document, "switches": switches()}


def switches() -> dict[str, bool]:
    """Tell for each environment variable that switches a part of the fork off whether the part is on in this process.

    A part is off as well where another one is that it needs, and a variable that is read once counts as it was read.
    """
    from triton.fork.settings import SWITCHES, in_force

    return {name: in_force(name) for name in SWITCHES}
