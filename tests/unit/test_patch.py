from __future__ import annotations

import pytest

from fork.queue.patch import Patch, PatchFormatError

GOOD = b"""From 0000000000000000000000000000000000000000 Mon Sep 17 00:00:00 2001
From: A Person <a@example.invalid>
Date: Thu, 1 Jan 2026 00:00:00 +0000
Subject: A subject that is folded over two lines
 of the header

The reason.

Patch-Name: fix/a.patch
Origin: own
Forwarded: no
Bug: https://example.invalid/1
Applied-Upstream: no
Last-Update: 2026-01-01

diff --git a/python/a.py b/python/a.py
index 1111111111111111111111111111111111111111..2222222222222222222222222222222222222222 100644
--- a/python/a.py
+++ b/python/a.py
@@ -1,2 +1,2 @@
-old
+new
 same
"""


def test_headers_reason_trailers_and_files_are_read() -> None:
    patch = Patch.parse("fix/a.patch", GOOD)
    assert patch.subject == "A subject that is folded over two lines of the header"
    assert patch.body == "The reason."
    assert dict(patch.trailers)["Bug"] == "https://example.invalid/1"
    assert patch.files == ("python/a.py",)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (b"The reason.\n\n", b"", "has no body that says why"),
        (b"Origin: own\n", b"", "has no 'Origin:' trailer"),
        (b"Last-Update: 2026-01-01\n", b"", "has no 'Last-Update:' trailer"),
        (b"Patch-Name: fix/a.patch", b"Patch-Name: fix/b.patch", "its 'Patch-Name:' trailer says 'fix/b.patch'"),
        (b"From: A Person <a@example.invalid>\n", b"", "has no 'From' header"),
        (b"b/python/a.py\n", b"b/../a.py\n", "outside the tree"),
        (b"@@ -1,2 +1,2 @@", b"@@ -1,3 +1,3 @@", "the diff cannot be read"),
        (
            b"Forwarded: no\n",
            b"Forwarded: maybe\n",
            "its 'Forwarded:' trailer says 'maybe', not no, not-needed, or where",
        ),
        (b"Forwarded: no\n", b"Forwarded: https://\n", "its 'Forwarded:' trailer says 'https://'"),
        (
            b"Last-Update: 2026-01-01",
            b"Last-Update: 2026-13-45",
            "its 'Last-Update:' trailer says '2026-13-45', not a date",
        ),
        (b"Last-Update: 2026-01-01", b"Last-Update: 2026-02-30", "not a date"),
        (b"Last-Update: 2026-01-01", b"Last-Update: yesterday", "not a date"),
        (b"Last-Update: 2026-01-01", b"Last-Update: 20260101", "not a date"),
        (
            b"Applied-Upstream: no",
            b"Applied-Upstream: soon",
            "its 'Applied-Upstream:' trailer says 'soon', not no, or the versions",
        ),
        (b"Applied-Upstream: no", b"Applied-Upstream: 3.8.0 a part", "'3.8.0 a part', not no, or the versions"),
        (b"Bug: https://example.invalid/1", b"Bug: 1234", "its 'Bug:' trailer says '1234', not a URL"),
        (b"Bug: https://example.invalid/1", b"Bug: owner/project#7", "'owner/project#7', not a URL"),
        (b"Bug: https://example.invalid/1", b"Bug: https://", "'https://', not a URL"),
        (b"From: A P", b"From: B <b@example.invalid>\nFrom: A P", "names more than one author"),
        (b"The reason.", b"From: B <b@example.invalid>\n\nThe reason.", "names more than one author"),
        (b" <a@example.invalid>", b"", "not a name and an address"),
        (b"Subject: A", b"Subject: A much longer" + b"r" * 20, "its subject has 8"),
        (b"The reason.", b"The reason. " + b"x" * 61, "a line of its message has 73 columns, not 72 at most: 'The"),
        (b"Origin: own", b"Origin: own, and " + b"x" * 60, "a line of its message has 77 columns"),
        (b"Origin: own\n", b"Origin: own\nOrigin: theirs\n", "has 2 'Origin:' trailers"),
    ],
)
def test_each_fault_is_said(old: bytes, new: bytes, said: str) -> None:
    assert old in GOOD
    with pytest.raises(PatchFormatError) as caught:
        Patch.parse("fix/a.patch", GOOD.replace(old, new))
    assert any(said in fault for fault in caught.value.faults)


@pytest.mark.parametrize(
    "trailer",
    [
        "Forwarded: not-needed",
        "Forwarded: https://example.invalid/pull/7",
        "Forwarded: triton-lang/triton#8831",
        "Bug: https://example.invalid/issues/7 (a part)",
        "Applied-Upstream: 3.7.0 (one hunk)",
        "Applied-Upstream: 3.7.0 (one hunk), 3.8.0 (another)",
        "Applied-Upstream: 3.9.0",
        "Last-Update: 2028-02-29",
    ],
)
def test_what_trailers_may_say(trailer: str) -> None:
    key = trailer.partition(":")[0].encode()
    lines = [trailer.encode() if line.startswith(key + b":") else line for line in GOOD.split(b"\n")]
    assert trailer.partition(": ")[2] in dict(Patch.parse("fix/a.patch", b"\n".join(lines)).trailers).values()


def test_everything_is_said_at_once() -> None:
    data = GOOD.replace(b"The reason.", b"x " * 40).replace(b"Bug: https://example.invalid/1", b"Bug: 1")
    data = data.replace(b"Applied-Upstream: no", b"Applied-Upstream: soon").replace(b"From: A P", b"From: B\nFrom: A P")
    with pytest.raises(PatchFormatError) as caught:
        Patch.parse("fix/a.patch", data)
    assert len(caught.value.faults) == 4


def test_a_line_with_an_address_may_be_wide() -> None:
    address = b"https://example.invalid/" + b"x" * 80
    data = GOOD.replace(b"The reason.", b"The reason:\n" + address).replace(b"https://example.invalid/1", address)
    assert Patch.parse("fix/a.patch", data).body.endswith("x" * 80)


def test_a_patch_without_a_diff_is_refused() -> None:
    with pytest.raises(PatchFormatError, match="has no diff"):
        Patch.parse("fix/a.patch", GOOD.partition(b"diff --git")[0])


def test_the_group_must_be_known() -> None:
    data = GOOD.replace(b"fix/a.patch", b"misc/a.patch")
    with pytest.raises(PatchFormatError, match="not in one of the groups"):
        Patch.parse("misc/a.patch", data)
