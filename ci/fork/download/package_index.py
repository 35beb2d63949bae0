"""The client's side of a package index: which index to ask, and where it has a file.

Pages are read with ``pypi-simple`` (HTML of PEP 503 or JSON of PEP 691) and fetched with ``requests``, so proxies, certificates
(``REQUESTS_CA_BUNDLE``) and ``~/.netrc`` count as they do there. ``file://`` indexes, which pip's configuration may name, work too.
"""

from __future__ import annotations

import ast
import logging
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Collection, Iterable, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO, TypeVar
from urllib.parse import unquote, urlsplit, urlunsplit

import requests
from packaging.tags import Tag
from packaging.utils import InvalidWheelFilename, parse_wheel_filename
from packaging.version import Version
from pypi_simple import (
    PYPI_SIMPLE_ENDPOINT,
    DistributionPackage,
    NoSuchProjectError,
    ProjectPage,
    PyPISimple,
    UnsupportedContentTypeError,
)
from requests.adapters import BaseAdapter, HTTPAdapter
from urllib3 import HTTPResponse

from fork.config import BaseWheel
from fork.errors import ForkError

__all__ = [
    "IndexLacksFileError",
    "NetworkError",
    "find_file",
    "find_release",
    "index_urls",
    "list_release",
    "open_session",
    "redact",
    "transient",
]

Result = TypeVar("Result")

TIMEOUT = (15, 60)
"""Seconds to wait for a connection, and for the next bytes on it."""

ATTEMPTS = 4
"""How often a page is asked for before its index counts as unreachable."""

RETRIED_STATUSES = frozenset({408, 425, 429, 500, 502, 503, 504})

log = logging.getLogger(__name__)


class NetworkError(ForkError):
    """A package index cannot be reached."""

    exit_code = 30


class IndexLacksFileError(ForkError):
    """No package index has the pinned file."""

    exit_code = 31


def index_urls(argument: str | None = None) -> tuple[str, ...]:
    """Say which package indexes to ask, in order.

    :param argument: What the command line says. Else ``TRITON_FORK_INDEX_URL`` counts, else what pip is configured to use; either
        may name several, separated by blanks.
    :returns: Base URLs; empty where pip is told to use no index.
    :raises NetworkError: pip's configuration cannot be read.
    """
    chosen = (argument or os.environ.get("TRITON_FORK_INDEX_URL", "")).split()
    return tuple(chosen) or _pip_index_urls(_pip_settings())


def _pip_settings() -> dict[str, str]:
    """Read pip's merged configuration; keys are ``section.name``, and ``:env:.name`` for environment variables."""
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "config", "list"]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    if run.returncode:
        reason = (run.stderr.strip() or f"exit code {run.returncode}").splitlines()[-1]
        raise NetworkError(
            f"pip's configuration cannot be read: {reason}", "mend it, or name an index with --index-url"
        )
    return {
        key: str(ast.literal_eval(value))
        for key, separator, value in (line.partition("=") for line in run.stdout.splitlines())
        if separator
    }


def _pip_index_urls(settings: dict[str, str]) -> tuple[str, ...]:
    def setting(name: str) -> str:
        sections = (":env:", "install", "download", "global")  # the order in which pip lets them override each other
        return next((settings[f"{place}.{name}"] for place in sections if f"{place}.{name}" in settings), "")

    if setting("no-index").lower() in {"1", "true", "yes", "on", "y", "t"}:
        return ()
    return tuple(dict.fromkeys([setting("index-url") or PYPI_SIMPLE_ENDPOINT, *setting("extra-index-url").split()]))


def redact(url: str) -> str:
    """Take credentials out of a URL, for messages."""
    parts = urlsplit(url)
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))


def open_session() -> requests.Session:
    """Open an HTTP session that can also read ``file://`` URLs."""
    session = requests.Session()
    session.mount("file://", _FileAdapter())
    return session


class _FileAdapter(BaseAdapter):
    """Answers requests for ``file://`` URLs as a web server for static files would."""

    def send(self, request: requests.PreparedRequest, *_: Any, **__: Any) -> requests.Response:
        path = Path(unquote(urlsplit(request.url or "").path))
        path = path / "index.html" if path.is_dir() else path
        body: BinaryIO
        try:
            body, status, size = path.open("rb"), 200, path.stat().st_size
        except OSError:
            body, status, size = BytesIO(), 404, 0
        headers = {"Content-Length": str(size), "Content-Type": "text/html" if path.suffix == ".html" else "binary"}
        response = HTTPResponse(body, headers=headers, status=status, preload_content=False)
        return HTTPAdapter().build_response(request, response)

    def close(self) -> None:
        pass


def transient(error: requests.RequestException) -> bool:
    """Say whether a request that failed so may work when it is made again."""
    if isinstance(error, requests.HTTPError):
        return error.response is not None and error.response.status_code in RETRIED_STATUSES
    passing = (requests.ConnectionError, requests.Timeout, requests.exceptions.ChunkedEncodingError)
    return isinstance(error, passing) and not isinstance(error, requests.exceptions.SSLError)


def _retry(action: Callable[[], Result]) -> Result:
    for attempt in range(1, ATTEMPTS):
        try:
            return action()
        except requests.RequestException as error:
            if not transient(error):
                raise
            time.sleep(0.5 * 2**attempt)
    return action()


def _project_page(session: requests.Session, index_url: str, project: str) -> ProjectPage | None:
    """Fetch a project's page, or ``None`` where the index does not know the project."""
    client = PyPISimple(index_url, session=session)
    try:
        return _retry(lambda: client.get_project_page(project, timeout=TIMEOUT))
    except NoSuchProjectError:
        return None


def _packages(project: str, urls: Sequence[str]) -> Iterable[tuple[str, DistributionPackage]]:
    """Go through what the indexes have of a project; complain about those that failed only once all have been asked.

    :raises NetworkError: An index failed. The caller stops early where an index that works has what it looks for.
    """
    failures = []
    with open_session() as session:
        for url in urls:
            try:
                page = _project_page(session, url, project)
            except (requests.RequestException, UnsupportedContentTypeError, ValueError) as error:
                log.warning("%s cannot be read: %s", redact(url), type(error).__name__)
                failures.append(f"{redact(url)} ({_reason(error, url)})")
            else:
                yield from ((url, package) for package in (page.packages if page else ()))
    if failures:
        raise NetworkError(
            f"the package index cannot be reached: {'; '.join(failures)}",
            "check the network, the proxy and REQUESTS_CA_BUNDLE, name another index with --index-url, or a folder that has "
            "the wheel with --find-links",
        )


def _reason(error: Exception, url: str) -> str:
    """Shorten an error of requests to its kind and its innermost cause, without credentials."""
    text = str(error).replace(url, redact(url))
    netloc = urlsplit(url).netloc
    if "@" in netloc:
        text = text.replace(netloc.rpartition("@")[0] + "@", "")
    return f"{type(error).__name__}: {text}"[:300]


def find_file(project: str, filename: str, index_urls: Sequence[str]) -> str:
    """Find the URL of a file.

    :param project: Name of the project that the file belongs to.
    :param filename: Its exact file name.
    :param index_urls: Base URLs of the indexes, asked in order.
    :raises NetworkError: It was found nowhere, and at least one index could not be asked.
    :raises IndexLacksFileError: All indexes answered, and none has it.
    """
    for index_url, package in _packages(project, index_urls):
        if package.filename == filename:
            return _with_credentials(package.url, index_url)
    raise IndexLacksFileError(
        f"no package index has '{filename}'; asked: {', '.join(map(redact, index_urls)) or 'none (pip is set to no-index)'}",
        "name an index that has it with --index-url, or a folder with --find-links",
    )


def _with_credentials(url: str, index_url: str) -> str:
    """Carry the index's own credentials over to a file that the same server has, and to no other."""
    file, index = urlsplit(url), urlsplit(index_url)
    credentials, separator, server = index.netloc.rpartition("@")
    if separator and file.scheme == index.scheme and file.netloc == server:
        return urlunsplit(file._replace(netloc=f"{credentials}@{server}"))
    return url


def find_release(project: str, version: str, tags: Iterable[Tag], index_urls: Sequence[str]) -> BaseWheel:
    """Find the wheel of another version that fits the same interpreter and processor as a known wheel.

    :param project: Name of the project.
    :param version: The version.
    :param tags: Tags of the known wheel; the age of the C library may differ.
    :param index_urls: Base URLs of the indexes, asked in order.
    :raises NetworkError: It was found nowhere, and at least one index could not be asked.
    :raises IndexLacksFileError: All indexes answered, and none has such a wheel with its hash.
    """
    wanted = {_kind(tag) for tag in tags}
    for index_url, package in _packages(project, index_urls):
        if wheel := _base_wheel(package, index_url, version, wanted):
            return wheel
    raise IndexLacksFileError(
        f"no package index has a wheel of {project} {version} for {', '.join(sorted('-'.join(kind) for kind in wanted))}; "
        f"asked: {', '.join(map(redact, index_urls)) or 'none (pip is set to no-index)'}",
        "check the version, or name an index that has it with --index-url",
    )


def list_release(project: str, version: str, index_urls: Sequence[str]) -> list[BaseWheel]:
    """List all wheels of a version, by file name; of those that several indexes have, the first one's.

    :param project: Name of the project.
    :param version: The version.
    :param index_urls: Base URLs of the indexes, asked in order.
    :raises NetworkError: At least one index could not be asked.
    :raises IndexLacksFileError: All indexes answered, and none has a wheel with its hash.
    """
    found: dict[str, BaseWheel] = {}
    for index_url, package in _packages(project, index_urls):
        if package.filename not in found and (wheel := _base_wheel(package, index_url, version)):
            found[wheel.filename] = wheel
    if not found:
        raise IndexLacksFileError(
            f"no package index has a wheel of {project} {version}; asked: {', '.join(map(redact, index_urls))}",
            "check the version, or name an index that has it with --index-url",
        )
    return [found[name] for name in sorted(found)]


def _base_wheel(
    package: DistributionPackage, index_url: str, version: str, wanted: Collection[tuple[str, str, str]] | None = None
) -> BaseWheel | None:
    """Describe what an index has, where it is a wheel of a version with its hash, and of one of the wanted kinds."""
    sha256 = package.digests.get("sha256", "")
    if not package.filename.endswith(".whl") or "/" in package.filename or not re.fullmatch(r"[0-9a-f]{64}", sha256):
        return None
    if not _fits(package.filename, Version(version), wanted):
        return None
    size = package.size or _content_length(_with_credentials(package.url, index_url))
    return BaseWheel(package.filename, size, sha256)


def _kind(tag: Tag) -> tuple[str, str, str]:
    return tag.interpreter, tag.abi, re.sub(r"^manylinux(_\d+_\d+|\d+)_", "linux_", tag.platform)


def _fits(filename: str, version: Version, wanted: Collection[tuple[str, str, str]] | None) -> bool:
    try:
        _, found, _, tags = parse_wheel_filename(filename)
    except InvalidWheelFilename:
        return False
    return found == version and (wanted is None or any(_kind(tag) in wanted for tag in tags))


def _content_length(url: str) -> int:
    def ask() -> int:
        response = session.head(url, allow_redirects=True, timeout=TIMEOUT, headers={"Accept-Encoding": "identity"})
        response.raise_for_status()
        return int(response.headers["Content-Length"])

    with open_session() as session:
        try:
            return _retry(ask)
        except (requests.RequestException, KeyError) as error:
            raise NetworkError(f"the size of {redact(url)} cannot be learnt: {_reason(error, url)}") from None
