"""Whether an installation is the fork that a job or an image requires: ``python -m triton.fork --require 3.6.0+fork.2``."""

from __future__ import annotations

import re

__all__ = ["EXAMPLES", "parse", "unmet"]

EXAMPLES = """examples:
  --require 3.6.0+fork.2             the fork of Triton 3.6.0, revision 2 or a later one
  --require 3.6.0+fork.2.q3fa94c21   exactly this build

Exit code: 0 where the requirement is met; 1 where it is not, also where this Triton is not the fork or there is none; 2 where the
requirement cannot be read. In a container file: RUN python -m triton.fork --require 3.6.0+fork.2
"""

_VERSION = re.compile(r"(?P<release>\d+(?:\.\d+)*)\+(?P<label>[a-z0-9]+)\.(?P<revision>\d+)(?P<digest>\.q[0-9a-f]{8})?")


def parse(text: str) -> re.Match[str]:
    """Read a requirement.

    :param text: A version of the fork with or without the digest at its end.
    :raises ValueError: It is neither.
    """
    match = _VERSION.fullmatch(text)
    if match is None:
        raise ValueError(f"'{text}' is not a version of the fork, such as 3.6.0+fork.2 or 3.6.0+fork.2.q3fa94c21")
    return match


def unmet(required: re.Match[str], recorded: str, imported: str) -> str | None:
    """Say why an installation does not meet a requirement.

    A version with a digest asks for exactly that build. One without asks for that revision or a later one, of the same upstream
    version: digests have no order, and another upstream version is another Triton.

    :param required: From :func:`parse`.
    :param recorded: The version in ``provenance.json``.
    :param imported: ``triton.__version__``, which differs where another wheel was installed over the fork's files.
    :returns: ``None`` where it does.
    """
    if recorded != imported:
        return f"triton is {imported}, but the fork's files in it are of {recorded}"
    found = _VERSION.fullmatch(recorded)
    wanted = required.group()
    if required["digest"] or found is None:
        return None if recorded == wanted else f"triton is {recorded}, required is exactly {wanted}"
    same = (found["release"], found["label"]) == (required["release"], required["label"])
    if same and int(found["revision"]) >= int(required["revision"]):
        return None
    return f"triton is {recorded}, required is {wanted} or a later revision of it"
