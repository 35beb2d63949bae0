"""The software bill of materials in the wheel: CycloneDX 1.6 in ``.dist-info/sboms/`` (PEP 770)."""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime

from cyclonedx.model import AttachedText, HashAlgorithm, HashType, XsUri
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import (
    Commit,
    Component,
    ComponentType,
    Diff,
    PatchClassification,
    Pedigree,
)
from cyclonedx.model.component import (
    Patch as PatchRecord,
)
from cyclonedx.model.issue import IssueClassification, IssueType, IssueTypeSource
from cyclonedx.output.json import JsonV1Dot6
from packageurl import PackageURL

from fork.assembly.provenance import Origin
from fork.config import Lane
from fork.queue.patch import Patch

__all__ = ["SBOM", "write_sbom"]

#: Path of the bill below the ``.dist-info`` folder.
SBOM = "sboms/triton.cdx.json"

_NAMESPACE = uuid.UUID("6f8d0c2e-3b0f-5c55-9f2a-6a1d7f0c8831")


def write_sbom(
    lane: Lane, version: str, origin: Origin, patches: Iterable[Patch], binaries: Mapping[str, str], date: datetime
) -> bytes:
    """Write the bill of a wheel.

    The fork is the main component; its pedigree names upstream's release or commit as ancestor and every patch. The compiled
    files that are carried over from upstream are listed with their hashes.

    :param binaries: Path in the wheel -> SHA-256, of the compiled files.
    :param date: Time stamp, which must not be that of the build, or no two builds would agree.
    """
    bom = Bom(serial_number=uuid.uuid5(_NAMESPACE, f"{version} {origin.name}"))
    bom.metadata.timestamp = date.astimezone(UTC)
    root = Component(
        name="triton",
        version=version,
        type=ComponentType.LIBRARY,
        bom_ref=f"triton@{version}",
        purl=PackageURL("pypi", name="triton", version=version),
        pedigree=Pedigree(
            ancestors=[_ancestor(lane, origin)],
            commits=[Commit(uid=lane.commit, url=XsUri(lane.upstream))],
            patches=[_patch_record(patch) for patch in patches],
        ),
    )
    bom.metadata.component = root
    for path, digest in sorted(binaries.items()):
        component = Component(
            name=path,
            type=ComponentType.FILE,
            bom_ref=f"file:{path}",
            hashes=[HashType(alg=HashAlgorithm.SHA_256, content=digest)],
        )
        bom.components.add(component)
        bom.register_dependency(root, [component])
    return (JsonV1Dot6(bom).output_as_string(indent=2) + "\n").encode()


def _ancestor(lane: Lane, origin: Origin) -> Component:
    hashes = [HashType(alg=HashAlgorithm.SHA_256, content=origin.sha256)] if origin.sha256 else []
    return Component(
        name="triton",
        version=lane.version,
        type=ComponentType.LIBRARY,
        bom_ref=f"upstream:{origin.name}",
        purl=PackageURL("pypi", name="triton", version=lane.version, qualifiers={"file_name": origin.name})
        if origin.kind == "wheel"
        else PackageURL("github", "triton-lang", "triton", lane.commit),
        hashes=hashes,
    )


def _patch_record(patch: Patch) -> PatchRecord:
    backport = patch.name.startswith("backport/")
    bugs = [value for key, value in patch.trailers if key == "Bug"]
    return PatchRecord(
        type=PatchClassification.BACKPORT if backport else PatchClassification.UNOFFICIAL,
        diff=Diff(text=AttachedText(content=patch.data.decode("utf-8", errors="replace"), content_type="text/x-patch")),
        resolves=[
            IssueType(
                type=IssueClassification.DEFECT if patch.name.startswith("fix/") else IssueClassification.ENHANCEMENT,
                id=re.sub(r"^.*github\.com/([^/]+/[^/]+)/\w+/", r"\1#", bug),
                name=patch.subject,
                source=IssueTypeSource(name=bug),
            )
            for bug in bugs
        ],
    )
