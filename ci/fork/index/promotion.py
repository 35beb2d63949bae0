"""Which of several builds an index offers.

Two builds of one revision differ in the digest at the end of their versions, which says nothing of their order, and an installer
would take the one that sorts last. So one build of a release is *promoted*, and changes only by ``ci/fork.sh index --promote``:

- The first build in a wheelhouse is promoted by itself: there is nothing that it could take the place of.
- A build that was never promoted is listed as yanked (PEP 592): who names exactly its version gets it, nobody else.
- A promotion withdraws the other builds of the same revision and those of later revisions. Earlier revisions stay, for those who
  resolve as of a date; an installer prefers the later one by itself.

>>> yanked(["3.6.0+fork.1.q00000000", "3.6.0+fork.1.q11111111"], ["3.6.0+fork.1.q00000000"])
{'3.6.0+fork.1.q11111111': 'not promoted'}
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from fork.errors import ForkError

__all__ = ["Build", "PromotionError", "choose", "first_promotions", "lacking", "latest", "yanked"]

NOT_PROMOTED = "not promoted"
_BUILD = re.compile(r"([^+]+\+[a-z0-9]+)\.(\d+)\.q[0-9a-f]{8}")


class PromotionError(ForkError):
    """A build cannot be promoted: it is not there, it lacks wheels, or nobody said which of several is meant."""

    exit_code = 37


@dataclass(frozen=True, order=True)
class Build:
    """A build of the fork.

    :param release: Upstream's version and the fork's label, ``3.6.0+fork``.
    :param revision: The fork's revision.
    :param version: The whole version.
    """

    release: str
    revision: int
    version: str

    @classmethod
    def parse(cls, version: str) -> Build | None:
        """Read a version; ``None`` where it is not one that the fork's tool gives."""
        match = _BUILD.fullmatch(version)
        return cls(match[1], int(match[2]), version) if match else None

    @classmethod
    def release_of(cls, version: str) -> str:
        """Name the release of a version; empty where it is not one that the fork's tool gives."""
        build = cls.parse(version)
        return build.release if build else ""

    @classmethod
    def parse_all(cls, versions: Iterable[str]) -> list[Build]:
        """Read those versions that the fork's tool gives, each once, sorted by release and revision."""
        return sorted({build for version in versions if (build := cls.parse(version))})


def latest(promoted: Iterable[str]) -> dict[str, str]:
    """Give the version of each release that installers take.

    :param promoted: The promoted versions, the latest promotion last.
    """
    return {build.release: version for version in promoted if (build := Build.parse(version))}


def yanked(versions: Iterable[str], promoted: Sequence[str]) -> dict[str, str]:
    """Say which versions are to be listed as yanked, and why.

    :param versions: Those that an index lists. One that is not a build of the fork is never yanked.
    :param promoted: The promoted versions, the latest promotion last.
    """
    last = {build.release: build for version in latest(promoted).values() if (build := Build.parse(version))}
    last_of_revision = {
        (build.release, build.revision): build for version in promoted if (build := Build.parse(version))
    }
    reasons = {}
    for build in Build.parse_all(versions):
        current = last.get(build.release)
        of_revision = last_of_revision.get((build.release, build.revision))
        if build.version not in promoted or current is None or of_revision is None:
            reasons[build.version] = NOT_PROMOTED
        elif build.revision > current.revision:
            reasons[build.version] = f"superseded by {current.version}"
        elif build != of_revision:
            reasons[build.version] = f"superseded by {of_revision.version}"
    return reasons


def first_promotions(
    versions: Iterable[str], promoted: Collection[str], withheld: Collection[str], wanted: str | None
) -> list[str]:
    """Say which builds are promoted by themselves: those of releases of which nothing was promoted so far.

    :param versions: Those in the wheelhouse.
    :param promoted: The promoted versions.
    :param withheld: Versions that an older index lists as yanked.
    :param wanted: The version that is about to be promoted, if one is.
    :raises PromotionError: Several builds of one revision are there, and none of them is wanted.
    """
    known = {build.release for build in Build.parse_all(promoted)}
    first = []
    for (release, revision), group in groupby(
        Build.parse_all(versions), key=lambda build: (build.release, build.revision)
    ):
        builds = [build.version for build in group]
        if release in known:
            continue
        open_ones = [version for version in builds if version not in withheld] or builds
        if wanted in builds:
            open_ones = [str(wanted)]
        if len(open_ones) > 1:
            raise PromotionError(
                f"there are {len(open_ones)} builds of {release}.{revision}, and none was promoted: {', '.join(open_ones)}",
                f"say which one installers are to take: `ci/fork.sh index --promote {open_ones[0]}`",
            )
        first += open_ones
    return first


def choose(wanted: str, versions: Iterable[str], promoted: Collection[str]) -> str:
    """Find the version that a person means.

    :param wanted: A version, the last part of one, or nothing: then the only build that was never promoted.
    :raises PromotionError: There is no such build, or more than one.
    """
    builds = [build.version for build in Build.parse_all(versions)]
    if wanted:
        found = [version for version in builds if version == wanted or version.endswith(f".{wanted}")]
    else:
        found = [version for version in builds if version not in promoted]
    if len(found) != 1:
        if wanted:
            what = f"{len(found) or 'no'} builds in the wheelhouse are named '{wanted}'"
        else:
            what = f"{len(found) or 'no'} builds in the wheelhouse were never promoted"
        listed = ", ".join(f"{version} (promoted before)" if version in promoted else version for version in builds)
        raise PromotionError(what, f"name one of: {listed}" if builds else "build one first")
    return found[0]


def lacking(
    version: str, files: Mapping[str, Collection[str]], offered: Collection[str], without: Collection[str]
) -> list[str]:
    """List the wheels that a build lacks, so that promoting it would take the fork away from somebody.

    :param version: The build.
    :param files: Version -> tags of its wheels, as file names have them: ``cp312-cp312-manylinux_2_28_x86_64``.
    :param offered: The versions that installers get without naming them.
    :param without: Parts of tags that may be lacking: ``cp310``, ``aarch64``.
    """
    build = Build.parse(version)
    needed = {
        tag
        for other in offered
        if build and (each := Build.parse(other)) and each.release == build.release
        for tag in files.get(other, ())
        if not any(part == word or part.endswith(f"_{word}") for word in without for part in re.split(r"[-.]", tag))
    }
    return sorted(needed - set(files.get(version, ())))
