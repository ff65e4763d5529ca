"""Downloading one file over HTTP: resumed after an interruption, checked, and moved into place when complete.

Partial data is in `<file>.part`; `<file>.part.json` records its URL and version, so that parts of two
versions are never joined.
"""

from __future__ import annotations

import re
import ssl
import time
from dataclasses import dataclass
from http.client import HTTPException, HTTPMessage
from pathlib import Path
from typing import IO, Any
from urllib import request
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit

import babywalk
from babywalk.common.errors import DataError
from babywalk.common.files import read_json, sha256, write_json
from babywalk.common.progress import byte_progress

_BLOCK = 1 << 18
_TRANSIENT = frozenset({408, 425, 429, 500, 502, 503, 504})  # statuses worth a retry
_PAGE = re.compile(rb"\s*<(!doctype\s+html|html)", re.IGNORECASE)


class _TransientError(Exception):
    """A failure worth a retry; partial data is kept."""


def download(
    address: str,
    file: Path,
    *,
    checksum: str | None = None,
    timeout: float = 30.0,  # seconds without data
    attempts: int = 5,
    pause: float = 1.0,  # seconds before the second attempt, doubled before each further one
) -> None:
    """Download `address` to `file`, resuming an earlier partial download; `checksum` is a SHA-256."""
    _check_scheme(address)
    part = _Part.of(address, file)
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        for attempt in range(1, attempts + 1):
            try:
                _fetch(part, timeout)
                break
            except _TransientError as why:
                if attempt == attempts:
                    kept = " Partial data is kept; run the same command again to resume."
                    hint = kept if part.state()[0] else ""
                    raise DataError(f"{address}: {why}; gave up after {attempts} attempts.{hint}") from None
                time.sleep(pause * 2 ** (attempt - 1))
        if checksum is not None and (found := sha256(part.data)) != checksum:
            part.remove()
            raise DataError(
                f"{address}: has SHA-256 {found}; expected {checksum}. The downloaded data was removed."
            )
        part.data.replace(file)
        part.remove()
    except OSError as error:
        raise DataError(f"{file}: cannot be written ({error.strerror or error}).") from None


@dataclass(frozen=True, slots=True)
class _Part:
    """A partial download and the record of its URL and version."""

    address: str
    data: Path
    record: Path

    @classmethod
    def of(cls, address: str, file: Path) -> _Part:
        return cls(address, file.with_name(file.name + ".part"), file.with_name(file.name + ".part.json"))

    def state(self) -> tuple[int, str]:
        """The number of bytes present and their version; (0, "") if they cannot be resumed."""
        try:
            record = read_json(self.record)
            size = self.data.stat().st_size
        except (DataError, OSError):
            return 0, ""
        if not isinstance(record, dict) or record.get("address") != self.address:
            return 0, ""
        version = record.get("version")
        return (size, version) if isinstance(version, str) and version else (0, "")

    def start(self, version: str) -> None:
        """Discard partial data and record the version that is about to be downloaded."""
        self.remove()
        write_json(self.record, {"address": self.address, "version": version})

    def remove(self) -> None:
        """Remove partial data and its record."""
        self.data.unlink(missing_ok=True)
        self.record.unlink(missing_ok=True)


def _fetch(part: _Part, timeout: float) -> None:
    """One attempt: append to the partial file until it is complete."""
    have, version = part.state()
    with _open(part, have, version, timeout) as response:
        block = _read(response)
        if have and response.status == 206:
            total = _continues(response.headers, have)
            if total is None:
                part.remove()
                raise _TransientError("the server sent a different range than requested")
        elif response.status == 200:
            # The whole file: nothing was present, the file has changed, or the server cannot resume.
            if response.headers.get_content_type() == "text/html" or _PAGE.match(block):
                raise DataError(
                    f"{part.address}: returned a web page instead of the file; the link may be dead."
                )
            have, total = 0, _length(response.headers)
            part.start(_version(response.headers))
        else:
            raise DataError(
                f"{part.address}: returned status {response.status} ({response.reason}); expected a file."
            )
        _receive(part, response, block, have, total)


def _open(part: _Part, have: int, version: str, timeout: float) -> Any:
    headers = {"User-Agent": f"babywalk/{babywalk.__version__}", "Accept-Encoding": "identity"}
    if have:
        headers |= {"Range": f"bytes={have}-", "If-Range": version}
    try:
        return _opener().open(request.Request(part.address, headers=headers), timeout=timeout)
    except HTTPError as error:
        with error:
            answer = f"returned status {error.code} ({error.reason})"
            if error.code == 416:  # the requested range starts after the end of the file
                part.remove()
            if error.code in _TRANSIENT or error.code == 416:
                raise _TransientError(answer) from None
            raise DataError(f"{part.address}: {answer}; the link may be dead.") from None
    except URLError as error:
        if isinstance(error.reason, ssl.SSLCertVerificationError):
            raise DataError(f"{part.address}: the certificate is not trusted ({error.reason}).") from None
        raise _TransientError(f"no connection ({error.reason})") from None
    except (HTTPException, OSError) as error:
        raise _TransientError(f"no connection ({_why(error)})") from None


def _receive(part: _Part, response: Any, block: bytes, have: int, total: int | None) -> None:
    with part.data.open("ab") as out, byte_progress(part.data.stem, total=total, done=have) as bar:
        while block:
            out.write(block)
            have += len(block)
            bar.update(len(block))
            block = _read(response)
    if total is not None and have != total:
        raise _TransientError(f"connection lost after {have:,} of {total:,} bytes")


def _read(response: Any) -> bytes:
    try:
        return bytes(response.read(_BLOCK))
    except (HTTPException, OSError) as error:
        raise _TransientError(f"connection lost ({_why(error)})") from None


def _opener() -> request.OpenerDirector:
    """An opener for http and https only; urllib's default one also opens files and FTP."""
    opener = request.OpenerDirector()
    for handler in (
        request.ProxyHandler(),
        request.UnknownHandler(),
        request.HTTPHandler(),
        request.HTTPSHandler(),
        request.HTTPDefaultErrorHandler(),
        request.HTTPErrorProcessor(),
        _Redirects(),
    ):
        opener.add_handler(handler)
    return opener


class _Redirects(request.HTTPRedirectHandler):
    """Follows redirects, but never from https to http."""

    def redirect_request(
        self, req: request.Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage, newurl: str
    ) -> request.Request | None:
        _check_scheme(newurl)
        if req.type == "https" and urlsplit(newurl).scheme != "https":
            raise DataError(f"{req.full_url}: redirects to {newurl}, which is not https.")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _check_scheme(address: str) -> None:
    if urlsplit(address).scheme not in ("http", "https"):
        raise DataError(f"{address}: unsupported URL; expected http or https.")


def _version(headers: HTTPMessage) -> str:
    """The version for If-Range: a strong ETag or a date, or empty."""
    tag = str(headers.get("ETag", ""))
    return tag if tag.startswith('"') else str(headers.get("Last-Modified", ""))


def _length(headers: HTTPMessage) -> int | None:
    text = headers.get("Content-Length") or ""
    return int(text) if text.isdecimal() and len(text) < 19 else None


def _continues(headers: HTTPMessage, have: int) -> int | None:
    """The size of the whole file, if the sent range starts where the partial data ends."""
    match = re.fullmatch(r"bytes (\d{1,18})-(\d{1,18})/(\d{1,18})", headers.get("Content-Range", ""))
    if match is None:
        return None
    first, last, total = map(int, match.groups())
    return total if first == have and last == total - 1 else None


def _why(error: Exception) -> str:
    return str(error) or type(error).__name__
