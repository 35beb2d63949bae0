"""The configuration of nginx in docs/publishing.md, as it stands there, served to real clients."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
import textwrap
import time
import urllib.request
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from fork.index.writing import promote, write_index
from tests.support.environments import repository
from tests.support.tiny_wheel import make_wheel

FIRST, SECOND = "3.6.0+fork.1.q11111111", "3.6.0+fork.2.q22222222"
JSON = "application/vnd.pypi.simple.v1+json"

pytestmark = pytest.mark.skipif(shutil.which("nginx") is None, reason="nginx is not installed")


@pytest.fixture(scope="module")
def wheelhouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two revisions, published on two days."""
    folder = tmp_path_factory.mktemp("site") / "wheelhouse"
    for day, version in ((1, FIRST), (20, SECOND)):
        make_wheel(folder, version)
        write_index(folder, now=lambda day=day: datetime(2026, 11, day, tzinfo=UTC))
        promote(folder, version)
    return folder


@pytest.fixture(scope="module")
def url(wheelhouse: Path) -> Iterator[str]:
    """The wheelhouse, served by nginx as the documentation says."""
    text = (repository / "docs" / "publishing.md").read_text("utf-8")
    block = re.search(r"^### nginx\n\n((?:    .*\n|\n)+)", text, flags=re.MULTILINE)
    assert block
    work = wheelhouse.parent
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    site = textwrap.dedent(block[1]).replace("/srv/wheelhouse", str(wheelhouse))
    site = site.replace("server {", f"server {{\n    listen 127.0.0.1:{port};")
    user = "user root;\n" if os.geteuid() == 0 else ""
    config = work / "nginx.conf"
    temporary = "".join(
        f"{kind}_temp_path {work}/{kind};\n" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    config.write_text(
        f"{user}daemon off;\npid {work}/pid;\nerror_log {work}/error.log;\nevents {{}}\n"
        f"http {{\naccess_log off;\n{temporary}{site}}}\n"
    )
    with subprocess.Popen(["nginx", "-c", str(config)], stderr=subprocess.PIPE) as process:
        for _ in range(100):
            with socket.socket() as probe:
                if process.poll() is not None or probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.05)
        yield f"http://127.0.0.1:{port}/simple/"
        process.terminate()


@pytest.mark.parametrize(
    ("accept", "kind"), [(f"{JSON}, text/html;q=0.1", JSON), ("text/html", "text/html"), ("*/*", "text/html")]
)
def test_each_client_gets_what_it_asks_for(url: str, accept: str, kind: str) -> None:
    request = urllib.request.Request(f"{url}triton/", headers={"Accept": accept})
    with urllib.request.urlopen(request) as answer:
        assert (answer.headers["Content-Type"], answer.headers["Vary"]) == (kind, "Accept")
        assert (b"upload-time" in answer.read()) == (kind == JSON)


@pytest.mark.parametrize(("day", "version"), [("2026-11-10", FIRST), ("2026-11-25", SECOND)])
def test_uv_resolves_as_of_a_date(url: str, tmp_path: Path, day: str, version: str) -> None:
    (tmp_path / "requirements.in").write_text("triton==3.6.0\n")
    command = [sys.executable, "-m", "uv", "pip", "compile", "-q", "--no-header", "--no-cache", "--no-config"]
    command += ["--default-index", url, "--exclude-newer", f"{day}T00:00:00Z", str(tmp_path / "requirements.in")]
    kept = {name: value for name, value in os.environ.items() if not name.startswith("UV_")}
    done = subprocess.run(command, capture_output=True, text=True, env=kept, check=False)
    assert f"triton=={version}" in done.stdout.splitlines(), done.stderr
