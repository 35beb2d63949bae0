"""The description of a wheel or an installation as text for people. Imports nothing of Triton: the fork's tool uses it too."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["describe"]


def describe(document: Mapping[str, Any], parts: Mapping[str, str]) -> str:
    """Write a description for people.

    :param document: The content of ``provenance.json``, with or without ``switches``.
    :param parts: Name of each switch -> what its part does, printed where the document says whether they are on.
    :returns: Lines of text without a line end after the last.
    """
    upstream, base, builder = document["upstream"], document["base"], document["builder"]
    lines = [
        f"triton {document['version']}",
        *([f"  fork      {_fork(document['fork'])}"] if "fork" in document else []),
        f"  upstream  {upstream['version']}, commit {upstream['commit']}",
        f"  base      {base['kind']} {base['name']}",
        *([f"            sha256 {base['sha256']}"] if base["sha256"] else []),
        f"  digest    {document['digest']}",
        f"  builder   {builder['name']}, {len(builder['sources'])} sources covered by the digest",
        "  patches",
    ]
    for patch in document["patches"]:
        reason = " ".join(patch["reason"].partition("\n\n")[0].split())
        lines += [f"    {patch['name']}: {patch['subject']}", f"      {reason}"]
    if "switches" in document:
        lines.append("  switches (set to 0 to turn a part off)")
        lines += [f"    {name}={int(on)}  {parts[name]}" for name, on in document["switches"].items()]
    return "\n".join(lines)


def _fork(fork: Mapping[str, Any]) -> str:
    commit = f"commit {fork['commit']}" if fork["commit"] else "no commit known"
    return f"{fork['repository']}, {commit}{', modified' * fork['modified']}"
