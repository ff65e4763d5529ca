"""Downloads from a local server: interruptions, changed files, dead links."""

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


def test_a_file_is_downloaded(site: Any, tmp_path: Path) -> None:
    get(site, tmp_path / "new" / "data.bin", checksum=hashlib.sha256(DATA).hexdigest())
    assert (tmp_path / "new" / "data.bin").read_bytes() == DATA
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["data.bin"]


def test_an_empty_file_is_downloaded(site: Any, tmp_path: Path) -> None:
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
        f"{site.address}/data.bin: connection lost after 700,000 of 2,048,000 bytes; "
        "gave up after 1 attempts. Partial data is kept; run the same command again to resume."
    )
    with pytest.raises(DataError, match="^" + re.escape(message) + "$"):
        get(site, tmp_path / "data.bin", attempts=1)
    assert not (tmp_path / "data.bin").exists()
    get(site, tmp_path / "data.bin")
    assert (tmp_path / "data.bin").read_bytes() == DATA
    assert site.ranges == [None, "bytes=700000-"]


def test_the_date_is_the_version_without_a_strong_etag(site: Any, tmp_path: Path) -> None:
    site.tag = 'W/"weak"'
    site.cuts = [500_000]
    get(site, tmp_path / "data.bin")
    assert (tmp_path / "data.bin").read_bytes() == DATA
    assert site.ranges == [None, "bytes=500000-"]


def test_without_a_version_the_download_restarts(site: Any, tmp_path: Path) -> None:
    site.tag = site.date = ""
    site.cuts = [500_000]
    get(site, tmp_path / "data.bin")
    assert (tmp_path / "data.bin").read_bytes() == DATA
    assert site.ranges == [None, None]


def test_without_range_support_the_download_restarts(site: Any, tmp_path: Path) -> None:
    site.resumes = False
    site.cuts = [500_000]
    get(site, tmp_path / "data.bin")
    assert (tmp_path / "data.bin").read_bytes() == DATA
    assert site.ranges == [None, "bytes=500000-"]


def test_a_wrong_range_restarts_the_download(site: Any, tmp_path: Path) -> None:
    site.cuts = [500_000]
    site.range_error = 7
    get(site, tmp_path / "data.bin")
    assert (tmp_path / "data.bin").read_bytes() == DATA
    assert site.ranges == [None, "bytes=500000-", None]


def test_a_changed_file_is_downloaded_from_the_beginning(site: Any, tmp_path: Path) -> None:
    site.cuts = [500_000]
    with pytest.raises(DataError, match="connection lost"):
        get(site, tmp_path / "data.bin", attempts=1)
    site.files["/data.bin"], site.tag = DATA[::-1], '"second"'
    get(site, tmp_path / "data.bin")
    assert (tmp_path / "data.bin").read_bytes() == DATA[::-1]


def test_partial_data_of_another_address_is_discarded(site: Any, tmp_path: Path) -> None:
    site.files["/other.bin"] = DATA[::-1]
    site.cuts = [500_000]
    with pytest.raises(DataError, match="connection lost"):
        get(site, tmp_path / "data.bin", attempts=1)
    get(site, tmp_path / "data.bin", name="/other.bin")
    assert (tmp_path / "data.bin").read_bytes() == DATA[::-1]


@pytest.mark.parametrize("record", ["", "{", "[]", '{"address": 1}'])
def test_partial_data_with_an_invalid_record_is_discarded(site: Any, tmp_path: Path, record: str) -> None:
    (tmp_path / "data.bin.part").write_bytes(b"invalid")
    (tmp_path / "data.bin.part.json").write_text(record)
    get(site, tmp_path / "data.bin")
    assert (tmp_path / "data.bin").read_bytes() == DATA


@pytest.mark.parametrize("extra", [b"", b"too much"])
def test_partial_data_of_the_full_size_or_more_is_discarded(site: Any, tmp_path: Path, extra: bytes) -> None:
    (tmp_path / "data.bin.part").write_bytes(DATA + extra)
    record = {"address": f"{site.address}/data.bin", "version": site.tag}
    (tmp_path / "data.bin.part.json").write_text(json.dumps(record))
    get(site, tmp_path / "data.bin")
    assert (tmp_path / "data.bin").read_bytes() == DATA


def test_a_wrong_checksum_removes_the_data(site: Any, tmp_path: Path) -> None:
    found = hashlib.sha256(DATA).hexdigest()
    message = f"has SHA-256 {found}; expected {'0' * 64}. The downloaded data was removed."
    with pytest.raises(DataError, match=re.escape(message)):
        get(site, tmp_path / "data.bin", checksum="0" * 64)
    assert not list(tmp_path.iterdir())


def test_a_dead_link_is_not_retried(site: Any, tmp_path: Path) -> None:
    message = f"{site.address}/gone: returned status 404 (Not Found); the link may be dead."
    with pytest.raises(DataError, match="^" + re.escape(message) + "$"):
        get(site, tmp_path / "data.bin", name="/gone")
    assert site.ranges == [None]  # no retry
    assert not list(tmp_path.iterdir())


def test_server_errors_are_retried(site: Any, tmp_path: Path) -> None:
    site.statuses = [503, 500]
    get(site, tmp_path / "data.bin")
    assert (tmp_path / "data.bin").read_bytes() == DATA
    site.statuses = [500] * 9
    with pytest.raises(DataError, match=r"status 500 \(Internal Server Error\); gave up after 3 attempts"):
        get(site, tmp_path / "data.bin")
    assert len(site.statuses) == 6


@pytest.mark.parametrize("content_type", ["text/html; charset=utf-8", "application/octet-stream"])
def test_a_web_page_instead_of_the_file_is_rejected(site: Any, tmp_path: Path, content_type: str) -> None:
    site.files["/data.bin"], site.content_type = PAGE, content_type
    with pytest.raises(DataError, match=r"returned a web page instead of the file; the link may be dead\.$"):
        get(site, tmp_path / "data.bin")
    assert not list(tmp_path.iterdir())


def test_a_web_page_keeps_the_partial_data(site: Any, tmp_path: Path) -> None:
    site.cuts = [500_000]
    with pytest.raises(DataError, match="connection lost"):
        get(site, tmp_path / "data.bin", attempts=1)
    first, site.files["/data.bin"], site.tag = site.tag, PAGE, ""
    with pytest.raises(DataError, match="returned a web page"):
        get(site, tmp_path / "data.bin")
    site.files["/data.bin"], site.tag = DATA, first
    get(site, tmp_path / "data.bin")
    assert (tmp_path / "data.bin").read_bytes() == DATA
    assert site.ranges[-1] == "bytes=500000-"


def test_a_response_without_content_is_an_error(site: Any, tmp_path: Path) -> None:
    site.statuses = [204]
    with pytest.raises(DataError, match=r"returned status 204 \(No Content\); expected a file\.$"):
        get(site, tmp_path / "data.bin")


def test_redirects_are_followed(site: Any, tmp_path: Path) -> None:
    site.redirects["/moved"] = f"{site.address}/data.bin"
    get(site, tmp_path / "data.bin", name="/moved")
    assert (tmp_path / "data.bin").read_bytes() == DATA


@pytest.mark.parametrize("address", ["file:///etc/passwd", "ftp://127.0.0.1/x", "data:,x", "/etc/passwd"])
def test_only_http_and_https_are_supported(tmp_path: Path, address: str) -> None:
    message = f"{address}: unsupported URL; expected http or https."
    with pytest.raises(DataError, match="^" + re.escape(message) + "$"):
        download(address, tmp_path / "x")


@pytest.mark.parametrize("address", ["file:///etc/passwd", "ftp://127.0.0.1/x", "data:,x"])
def test_a_redirect_to_another_scheme_is_rejected(site: Any, tmp_path: Path, address: str) -> None:
    site.redirects["/moved"] = address
    with pytest.raises(DataError, match=r"unsupported URL; expected http or https|returned status 302"):
        get(site, tmp_path / "x", name="/moved", attempts=1)
    assert not list(tmp_path.iterdir())


def test_a_redirect_from_https_to_http_is_rejected() -> None:
    asked = request.Request("https://example.org/a")
    message = r"^https://example\.org/a: redirects to http://example\.org/b, which is not https\.$"
    with pytest.raises(DataError, match=message):
        _Redirects().redirect_request(asked, io.BytesIO(), 302, "", HTTPMessage(), "http://example.org/b")


def test_an_unreachable_server_is_reported(site: Any, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"http://127.0.0.1:{taken.getsockname()[1]}/x"
    with pytest.raises(DataError, match=r"no connection \(.*\); gave up after 2 attempts\.$"):
        download(address, tmp_path / "x", attempts=2, pause=0.0, timeout=2.0)


def test_a_silent_server_times_out(site: Any, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"http://127.0.0.1:{silent.getsockname()[1]}/x"
        with pytest.raises(DataError, match=r"no connection \(timed out\); gave up after 2 attempts\.$"):
            download(address, tmp_path / "x", attempts=2, pause=0.0, timeout=0.1)


def test_an_unwritable_target_is_reported(site: Any, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(DataError, match=r"data\.bin: cannot be written"):
        get(site, tmp_path / "file" / "data.bin")
