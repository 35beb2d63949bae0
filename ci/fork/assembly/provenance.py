"""``triton/fork/provenance.json``: what a wheel is made of, for people, for ``triton.fork.info()`` and for ``verify``."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from fork.assembly.version import Ingredients
from fork.config import Lane
from fork.queue.patch import Patch

__all__ = ["BASE_RECORD", "FORMAT", "PROVENANCE", "Origin", "describe", "dump"]

#: Where the provenance lies in the wheel.
PROVENANCE = "triton/fork/provenance.json"

#: Where the RECORD of the base lies in the wheel, so that what was added to a wheel is found without the base.
BASE_RECORD = "triton/fork/base_record.csv"

#: Number of the form that provenance.json and the files around it have; 1 had no ``fork`` and no :data:`BASE_RECORD`.
FORMAT = 2


@dataclass(frozen=True)
class Origin:
    """The base that a wheel was made from.

    :param kind: ``wheel`` or ``source``.
    :param name: File name of the base wheel, or the commit.
    :param sha256: SHA-256 of the base wheel; empty for a source base, whose compiled parts differ from build to build.
    """

    kind: str
    name: str
    sha256: str


def describe(
    *,
    lane: Lane,
    version: str,
    origin: Origin,
    ingredients: Ingredients,
    patches: tuple[Patch, ...],
    files: Mapping[str, Any],
) -> dict[str, Any]:
    """Put the provenance together.

    :param files: Wheel path of each file that differs from the base -> its SHA-256 and what put it there.
    :returns: A document for :func:`dump`; holds no date, folder or host name, so that two builds agree.
    """
    return {
        "format": FORMAT,
        "name": "triton",
        "version": version,
        "lane": lane.name,
        "label": lane.label,
        "revision": lane.revision,
        "fork": dict(asdict(lane.identity), **asdict(ingredients.source)),
        "upstream": {"url": lane.upstream, "commit": lane.commit, "version": lane.version},
        "base": {"kind": origin.kind, "name": origin.name, "sha256": origin.sha256},
        "patches": [
            {
                "name": patch.name,
                "sha256": ingredients.patches[patch.name],
                "subject": patch.subject,
                "reason": patch.body,
                "trailers": dict(patch.trailers),
                "files": list(patch.files),
            }
            for patch in patches
        ],
        "overlay": dict(ingredients.overlay),
        "native": dict(ingredients.native),
        "builder": {"name": "fork", "sources": dict(ingredients.builder)},
        "digest": ingredients.digest(),
        "files": dict(sorted(files.items())),
    }


def dump(document: Mapping[str, Any]) -> bytes:
    """Write a document as JSON, the same bytes for the same content."""
    return (json.dumps(document, indent=2, sort_keys=True, ensure_ascii=False) + "\n").encode()
