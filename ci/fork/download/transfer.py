"""One file on its way from a package index into a folder, with retries, resumption and a check of size and SHA-256."""

from __future__ import annotations

import errno
import hashlib
import logging
import re
import shutil
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import requests
import urllib3
from packaging.utils import parse_wheel_filename
from rich.progress import Progress, TaskID

from fork.config import BaseWheel
from fork.download.package_index import (
    TIMEOUT,
    IndexLacksFileError,
    NetworkError,
    find_file,
    open_session,
    redact,
    transient,
)
from fork.errors import DiskFullError, ForkError

__all__ = ["Transfer", "WrongFileError", "disk_full", "mismatch", "say"]

FRUITLESS_ATTEMPTS = 5
"""How many attempts in a row may bring no new byte before a download is given up."""

CHUNK = 1 << 18
"""How many bytes are read from a connection or a file at a time."""

log = logging.getLogger(__name__)


class WrongFileError(ForkError):
    """A file is not of the pinned size or SHA-256."""

    exit_code = 32


def mismatch(path: Path, wheel: BaseWheel) -> str | None:
    """Say how a file differs from a pinned one, or ``None`` where it is the same."""
    size = path.stat().st_size
    if size != wheel.size:
        return f"it has {size} bytes instead of {wheel.size}"
    with path.open("rb") as file:
        sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    return None if sha256 == wheel.sha256 else f"its SHA-256 is {sha256} instead of {wheel.sha256}"


def say(progress: Progress | None, text: str) -> None:
    """Tell the user something, above the display if there is one, else in the log."""
    if progress is None:
        log.warning(text)
    else:
        progress.console.print(text, markup=False, highlight=False, soft_wrap=True)


def disk_full(cache: Path, needed: int) -> DiskFullError:
    """Word the error of a cache that has no room for a number of bytes."""
    return DiskFullError(
        f"no room in {cache}: {needed / 1e6:.0f} MB are needed, {shutil.disk_usage(cache).free / 1e6:.0f} MB are free",
        "make room, or name a folder on another disk with --cache or TRITON_FORK_CACHE",
    )


@dataclass
class Transfer:
    """One file on its way from an index into the cache.

    :param wheel: What is wanted.
    :param target: Where it goes.
    :param progress: Display that it shows up in.
    """

    wheel: BaseWheel
    target: Path
    progress: Progress | None

    def __post_init__(self) -> None:
        self.part = self.target.with_name(self.target.name + ".part")
        self.validator = self.target.with_name(self.target.name + ".part.validator")
        self.task: TaskID | None = None

    def run(self, index_urls: Sequence[str]) -> None:
        """Get the file: continue what an earlier attempt left, or else begin."""
        left_over = self.have()
        if left_over > self.wheel.size:
            left_over = self.discard()
        url = find_file(parse_wheel_filename(self.wheel.filename)[0], self.wheel.filename, index_urls)
        if shutil.disk_usage(self.target.parent).free < self.wheel.size - left_over:
            raise disk_full(self.target.parent.parent, self.wheel.size - left_over)
        if self.progress is not None:
            self.task = self.progress.add_task(self.wheel.filename, total=self.wheel.size, completed=left_over)
        fault = self.receive_and_check(url)
        if fault and left_over:
            say(
                self.progress,
                f"what was left of an earlier download of {self.wheel.filename} was wrong; getting it anew",
            )
            fault = self.receive_and_check(url)
        if fault:
            raise self.wrong(url, fault)

    def receive_and_check(self, url: str) -> str | None:
        """Receive the file and give it its name if it is right; throw it away and say what is wrong if it is not."""
        try:
            self.receive(url)
        except OSError as error:
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                self.discard()
            raise
        fault = mismatch(self.part, self.wheel)
        if fault:
            self.discard()
            return fault
        self.part.replace(self.target)
        self.validator.unlink(missing_ok=True)
        return None

    def have(self) -> int:
        """Count the bytes received so far."""
        return self.part.stat().st_size if self.part.exists() else 0

    def discard(self) -> int:
        """Throw away what was received; gives the number of bytes there are then."""
        self.part.unlink(missing_ok=True)
        self.validator.unlink(missing_ok=True)
        return 0

    def receive(self, url: str) -> None:
        """Receive until the part has the full size or more, going on after a broken connection."""
        fruitless, furthest = 0, self.have()
        with open_session() as session:
            while self.have() < self.wheel.size:
                try:
                    self.attempt(session, url)
                    reason = "the connection ended early"
                except requests.RequestException as error:
                    reason = f"{type(error).__name__}"
                    if not transient(error):
                        raise self.refused(error, url) from None
                # Measured against the furthest point, or a server that makes us start over each time would never end this.
                fruitless = 0 if self.have() > furthest else fruitless + 1
                furthest = max(furthest, self.have())
                if fruitless >= FRUITLESS_ATTEMPTS:
                    raise NetworkError(
                        f"the download of {redact(url)} broke {fruitless} times in a row at byte {self.have()}: {reason}",
                        "check the network and run the command again: it goes on where it stopped",
                    )
                if self.have() < self.wheel.size:
                    time.sleep(min(0.5 * 2**fruitless, 15))

    def refused(self, error: requests.RequestException, url: str) -> ForkError:
        """Name an error that another attempt would not get past."""
        status = error.response.status_code if error.response is not None else None
        if status in (404, 410):
            return IndexLacksFileError(
                f"the index lists {redact(url)} but does not have it (status {status})",
                "name another index with --index-url",
            )
        return NetworkError(
            f"{redact(url)} cannot be downloaded: {f'status {status}' if status else type(error).__name__}",
            "check credentials (~/.netrc), the proxy and REQUESTS_CA_BUNDLE, or name another index with --index-url",
        )

    def attempt(self, session: requests.Session, url: str) -> None:
        """Make one request and write what it brings."""
        offset = self.have()
        headers = {"Accept-Encoding": "identity"}
        if offset:
            headers["Range"] = f"bytes={offset}-"
            if self.validator.exists():
                headers["If-Range"] = self.validator.read_text("utf-8")
        with session.get(url, headers=headers, stream=True, timeout=TIMEOUT) as response:
            self.compare_size(response, url)
            if response.status_code == 416:  # the server will not continue from here
                self.discard()
                return
            response.raise_for_status()
            continued = response.status_code == 206
            if continued and not response.headers.get("Content-Range", "").startswith(f"bytes {offset}-"):
                self.discard()
                return
            if not continued:
                self.remember_validator(response)
            with self.part.open("ab" if continued else "wb") as file:
                self.show(file.tell())
                self.write(response, file)

    def compare_size(self, response: requests.Response, url: str) -> None:
        """Give up before the first byte where the server says that its file is of another size.

        :raises WrongFileError: It says so.
        """
        match = re.search(r"/(\d+)$", response.headers.get("Content-Range", ""))
        plain = response.status_code == 200 and "Content-Encoding" not in response.headers
        declared = match[1] if match else response.headers.get("Content-Length") if plain else None
        if declared is not None and int(declared) != self.wheel.size:
            self.discard()
            raise self.wrong(url, f"it has {declared} bytes instead of {self.wheel.size}")

    def wrong(self, url: str, fault: str) -> WrongFileError:
        """Word the error of a file that is not the pinned one."""
        return WrongFileError(
            f"'{self.wheel.filename}' from {redact(url)} is not the pinned file: {fault}",
            "a proxy or a mirror may have changed it: name another index with --index-url; it was not used",
        )

    def remember_validator(self, response: requests.Response) -> None:
        """Keep what ``If-Range`` needs: a strong entity tag, else the date of the last change."""
        tag = response.headers.get("ETag", "")
        text = tag if tag.startswith('"') else response.headers.get("Last-Modified")
        if text:
            self.validator.write_text(text, "utf-8")
        else:
            self.validator.unlink(missing_ok=True)

    def write(self, response: requests.Response, file: BinaryIO) -> None:
        """Append a body, and stop at the first byte too many: it cannot be the pinned file any more."""
        try:
            # As the bytes arrive: iter_content() would lose those of a last, incomplete chunk.
            while chunk := response.raw.read1(CHUNK, decode_content=True):
                file.write(chunk)
                self.show(file.tell())
                if file.tell() > self.wheel.size:
                    return
        except urllib3.exceptions.HTTPError as error:
            raise requests.exceptions.ChunkedEncodingError(error) from None

    def show(self, completed: int) -> None:
        """Tell the display how many bytes are there."""
        if self.progress is not None and self.task is not None:
            self.progress.update(self.task, completed=completed)
