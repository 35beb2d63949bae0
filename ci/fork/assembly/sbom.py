"""The software bill of materials in the wheel: CycloneDX 1.6 in ``.dist-info/sboms/`` (PEP 770)."""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from fnmatch import fnmatchcase

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
from cyclonedx.model.contact import OrganizationalContact, OrganizationalEntity
from cyclonedx.model.issue import IssueClassification, IssueType, IssueTypeSource
from cyclonedx.model.license import DisjunctiveLicense, License, LicenseExpression
from cyclonedx.output.json import JsonV1Dot6
from packageurl import PackageURL

from fork.assembly.provenance import Origin
from fork.config import Identity, Lane
from fork.queue.patch import Patch

__all__ = ["SBOM", "write_sbom"]

#: Path of the bill below the ``.dist-info`` folder.
SBOM = "sboms/triton.cdx.json"

_CUDA_LICENSE = "NVIDIA CUDA Toolkit End User License Agreement"

#: Path of a compiled file -> who supplies it and under which license: an SPDX expression, or a name where SPDX has none. The
#: first pattern that fits counts. From the notices in upstream's sources: what LLVM, the CUDA Toolkit and ROCm ship with.
_BINARIES = (
    ("triton/_C/fork_native*", "", "MIT"),
    ("triton/_C/libtriton*", "Triton", "MIT AND Apache-2.0 WITH LLVM-exception"),
    ("triton/FileCheck", "LLVM", "Apache-2.0 WITH LLVM-exception"),
    ("triton/backends/nvidia/*", "NVIDIA", _CUDA_LICENSE),
    ("triton/backends/amd/lib/*.bc", "AMD", "NCSA"),
    ("*", "Triton", "MIT"),
)

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
        supplier=_supplier(lane.identity),
        licenses=[_license("MIT")],
        pedigree=Pedigree(
            ancestors=[_ancestor(lane, origin)],
            commits=[Commit(uid=lane.commit, url=XsUri(lane.upstream))],
            patches=[_patch_record(patch) for patch in patches],
        ),
    )
    bom.metadata.component = root
    bom.metadata.supplier = _supplier(lane.identity)
    for path, digest in sorted(binaries.items()):
        name, license_text = next((who, terms) for pattern, who, terms in _BINARIES if fnmatchcase(path, pattern))
        component = Component(
            name=path,
            type=ComponentType.FILE,
            supplier=OrganizationalEntity(name=name) if name else _supplier(lane.identity),
            licenses=[_license(license_text)],
            bom_ref=f"file:{path}",
            hashes=[HashType(alg=HashAlgorithm.SHA_256, content=digest)],
        )
        bom.components.add(component)
        bom.register_dependency(root, [component])
    return (JsonV1Dot6(bom).output_as_string(indent=2) + "\n").encode()


def _supplier(identity: Identity) -> OrganizationalEntity:
    contacts = [OrganizationalContact(name=identity.maintainer, email=identity.email)] if identity.email else []
    return OrganizationalEntity(name=identity.maintainer, urls=[XsUri(identity.repository)], contacts=contacts)


def _license(text: str) -> License:
    if text == _CUDA_LICENSE:
        return DisjunctiveLicense(name=text)
    return LicenseExpression(text) if " " in text else DisjunctiveLicense(id=text)


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
        supplier=OrganizationalEntity(name="Triton", urls=[XsUri(lane.upstream)]),
        licenses=[_license("MIT")],
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
