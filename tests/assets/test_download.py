"""Downloads from a real server on this machine: breaks, changes, dead links."""

from __future__ import annotations

import hashlib
import io
import json
import re
import socket
from http.client import HTTPMessage
from pathlib import Path
from typing import Any
from urllib import request

import pytest

from babywalk.assets.download import _Redirects, download
from babywalk.common.errors import DataError

DATA = bytes(range(256)) * 8_000  # 2 MB
PAGE = b"<!DOCTYPE html><html><title>File not found</title></html>"


@pytest.fixture(autouse=True)
def _data(site: Any) -> None:
    site.files["/data.bin"] = DATA


def get(
    site: Any, file: Path, *, name: str = "/data.bin", attempts: int = 3, checksum: str | None = None
) -> None:
    download(site.address + name, file, attempts=attempts, pause=0.0, timeout=5.0, checksum=checksum)


def test_a_file(site: Any, tmp_path: Path) -> None:
    get(site, tmp_path / "new" / "data.bin", checksum=hashlib.sha256(DATA).hexdigest())
    assert (tmp_path / "new" / "data.bin").read_bytes() == DATA
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["data.bin"]


def test_an_empty_file(site: Any, tmp_path: Path) -> None:
    site.files["/data.bin"] = b""
    get(site, tmp_path / "data.bin")
    assert (tmp_path / "data.bin").read_bytes() == b""


def test_a_broken_connection_is_resumed_where_it_broke(site: Any, tmp_path: Path) -> None:
    site.cuts = [500_000, 600_000]
    get(site, tmp_path / "data.bin")
    assert (tmp_path / "data.bin").read_bytes() == DATA
    assert site.ranges == [None, "bytes=500000-", "bytes=1100000-"]


def test_an_interrupted_command_is_resumed_by_the_next(site: Any, tmp_path: Path) -> None:
    site.cuts = [700_000]
    message = (
        f"{site.address}/data.bin: the connection broke after 700,000 of 2,048,000 bytes; "
        "gave up after 1 attempts. What has arrived is kept: the same command goes on from there."
    )
    with pytest.raises(DataError, match="^" + re.escape(message) + "$"):
        get(site, tmp_path / "data.bin", attempts=1)
    assert not (tmp_path / "data.bin").exists()
    get(site, tmp_path / "data.bin")
    assert (tmp_path / "data.bin").read_bytes() == DATA
    assert site.ranges == [None, "bytes=700000-"]


def test_a_date_serves_where_there_is_no_strong_tag(site: Any, tmp_path: Path) -> None:
    site.tag = 'W/"weak"'
    site.cuts = [500_000]
    get(site, tmp_path / "data.bin")
    assert (tmp_path / "data.bin").read_bytes() == DATA
    assert site.ranges == [None, "bytes=500000-"]


def test_a_server_that_names_no_version_is_asked_afresh(site: Any, tmp_path: Path) -> None:
    site.tag = site.date = ""
    site.cuts = [500_000]
    get(site, tmp_path / "data.bin")
    assert (tmp_path / "data.bin").read_bytes() == DATA
    assert site.ranges == [None, None]


def test_a_server_that_cannot_resume(site: Any, tmp_path: Path) -> None:
    site.resumes = False
    site.cuts = [500_000]
    get(site, tmp_path / "data.bin")
    assert (tmp_path / "data.bin").read_bytes() == DATA
    assert site.ranges == [None, "bytes=500000-"]


def test_a_server_that_sends_another_range(site: Any, tmp_path: Path) -> None:
    site.cuts = [500_000]
    site.range_error = 7
    get(site, tmp_path / "data.bin")
    assert (tmp_path / "data.bin").read_bytes() == DATA
    assert site.ranges == [None, "bytes=500000-", None]


def test_a_file_that_changed_meanwhile_is_fetched_whole(site: Any, tmp_path: Path) -> None:
    site.cuts = [500_000]
    with pytest.raises(DataError, match="the connection broke"):
        get(site, tmp_path / "data.bin", attempts=1)
    site.files["/data.bin"], site.tag = DATA[::-1], '"second"'
    get(site, tmp_path / "data.bin")
    assert (tmp_path / "data.bin").read_bytes() == DATA[::-1]


def test_the_part_of_another_address_is_not_continued(site: Any, tmp_path: Path) -> None:
    site.files["/other.bin"] = DATA[::-1]
    site.cuts = [500_000]
    with pytest.raises(DataError, match="the connection broke"):
        get(site, tmp_path / "data.bin", attempts=1)
    get(site, tmp_path / "data.bin", name="/other.bin")
    assert (tmp_path / "data.bin").read_bytes() == DATA[::-1]


@pytest.mark.parametrize("note", ["", "{", "[]", '{"address": 1}'])
def test_a_part_with_a_spoilt_note_is_not_continued(site: Any, tmp_path: Path, note: str) -> None:
    (tmp_path / "data.bin.part").write_bytes(b"rubbish")
    (tmp_path / "data.bin.part.json").write_text(note)
    get(site, tmp_path / "data.bin")
    assert (tmp_path / "data.bin").read_bytes() == DATA


@pytest.mark.parametrize("extra", [b"", b"too much"])
def test_a_part_that_is_whole_or_longer_is_fetched_again(site: Any, tmp_path: Path, extra: bytes) -> None:
    (tmp_path / "data.bin.part").write_bytes(DATA + extra)
    note = {"address": f"{site.address}/data.bin", "version": site.tag}
    (tmp_path / "data.bin.part.json").write_text(json.dumps(note))
    get(site, tmp_path / "data.bin")
    assert (tmp_path / "data.bin").read_bytes() == DATA


def test_a_wrong_checksum_removes_what_was_downloaded(site: Any, tmp_path: Path) -> None:
    found = hashlib.sha256(DATA).hexdigest()
    message = f"has SHA-256 {found}; expected {'0' * 64}. What was downloaded has been removed."
    with pytest.raises(DataError, match=re.escape(message)):
        get(site, tmp_path / "data.bin", checksum="0" * 64)
    assert not list(tmp_path.iterdir())


def test_a_dead_link(site: Any, tmp_path: Path) -> None:
    message = f"{site.address}/gone: answered 404 (Not Found); the link may be dead."
    with pytest.raises(DataError, match="^" + re.escape(message) + "$"):
        get(site, tmp_path / "data.bin", name="/gone")
    assert site.ranges == [None]  # not asked again: it will not come back
    assert not list(tmp_path.iterdir())


def test_a_server_in_trouble_is_asked_again(site: Any, tmp_path: Path) -> None:
    site.statuses = [503, 500]
    get(site, tmp_path / "data.bin")
    assert (tmp_path / "data.bin").read_bytes() == DATA
    site.statuses = [500] * 9
    with pytest.raises(DataError, match=r"answered 500 \(Internal Server Error\); gave up after 3 attempts"):
        get(site, tmp_path / "data.bin")
    assert len(site.statuses) == 6


@pytest.mark.parametrize("content_type", ["text/html; charset=utf-8", "application/octet-stream"])
def test_a_web_page_in_place_of_the_file(site: Any, tmp_path: Path, content_type: str) -> None:
    site.files["/data.bin"], site.content_type = PAGE, content_type
    with pytest.raises(
        DataError, match=r"answered with a web page in place of the file; the link may be dead\.$"
    ):
        get(site, tmp_path / "data.bin")
    assert not list(tmp_path.iterdir())


def test_a_web_page_does_not_cost_what_has_arrived(site: Any, tmp_path: Path) -> None:
    site.cuts = [500_000]
    with pytest.raises(DataError, match="the connection broke"):
        get(site, tmp_path / "data.bin", attempts=1)
    first, site.files["/data.bin"], site.tag = site.tag, PAGE, ""
    with pytest.raises(DataError, match="answered with a web page"):
        get(site, tmp_path / "data.bin")
    site.files["/data.bin"], site.tag = DATA, first
    get(site, tmp_path / "data.bin")
    assert (tmp_path / "data.bin").read_bytes() == DATA
    assert site.ranges[-1] == "bytes=500000-"


def test_an_answer_that_is_no_file(site: Any, tmp_path: Path) -> None:
    site.statuses = [204]
    with pytest.raises(DataError, match=r"answered 204 \(No Content\); expected a file\.$"):
        get(site, tmp_path / "data.bin")


def test_redirects(site: Any, tmp_path: Path) -> None:
    site.redirects["/moved"] = f"{site.address}/data.bin"
    get(site, tmp_path / "data.bin", name="/moved")
    assert (tmp_path / "data.bin").read_bytes() == DATA


@pytest.mark.parametrize("address", ["file:///etc/passwd", "ftp://127.0.0.1/x", "data:,x", "/etc/passwd"])
def test_only_http(tmp_path: Path, address: str) -> None:
    message = f"{address}: only http and https addresses can be downloaded."
    with pytest.raises(DataError, match="^" + re.escape(message) + "$"):
        download(address, tmp_path / "x")


@pytest.mark.parametrize("address", ["file:///etc/passwd", "ftp://127.0.0.1/x", "data:,x"])
def test_a_redirect_to_anything_else(site: Any, tmp_path: Path, address: str) -> None:
    site.redirects["/moved"] = address
    with pytest.raises(DataError, match=r"only http and https addresses can be downloaded|answered 302"):
        get(site, tmp_path / "x", name="/moved", attempts=1)
    assert not list(tmp_path.iterdir())


def test_a_redirect_from_a_safe_connection_to_an_open_one() -> None:
    asked = request.Request("https://example.org/a")
    message = r"^https://example\.org/a: leads to http://example\.org/b, which is not a safe connection\.$"
    with pytest.raises(DataError, match=message):
        _Redirects().redirect_request(asked, io.BytesIO(), 302, "", HTTPMessage(), "http://example.org/b")


def test_no_server(site: Any, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"http://127.0.0.1:{taken.getsockname()[1]}/x"
    with pytest.raises(DataError, match=r"no connection \(.*\); gave up after 2 attempts\.$"):
        download(address, tmp_path / "x", attempts=2, pause=0.0, timeout=2.0)


def test_a_server_that_says_nothing(site: Any, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"http://127.0.0.1:{silent.getsockname()[1]}/x"
        with pytest.raises(DataError, match=r"no connection \(timed out\); gave up after 2 attempts\.$"):
            download(address, tmp_path / "x", attempts=2, pause=0.0, timeout=0.1)


def test_a_place_that_cannot_be_written(site: Any, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(DataError, match=r"data\.bin: cannot be written"):
        get(site, tmp_path / "file" / "data.bin")
