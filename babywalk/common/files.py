"""Reading files with clear errors, writing them atomically, and locking folders."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from babywalk.common.errors import ConfigError, DataError

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]  # stands for the missing module

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


CAN_LOCK = fcntl is not None
_CHECKSUM = "sha256"  # the field of a signed JSON object; files of earlier versions have none
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")  # an escaped character that must be half of a pair


def read_text(path: Path) -> str:
    """The text of a UTF-8 file."""
    return decoded(read_bytes(path), path)


def decoded(content: bytes, path: Path) -> str:
    """The UTF-8 text of bytes that were read from `path`."""
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise DataError(
            f"{path}: byte {error.start} is not UTF-8 text. Save the file with UTF-8 encoding."
        ) from None


def read_bytes(path: Path) -> bytes:
    """The bytes of a file that must exist."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise DataError(f"{path}: file not found.") from None
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror}).") from None


def read_json(path: Path) -> Any:
    """The value in a JSON file."""
    return parse_json(read_text(path), str(path))


def parse_json(text: str, where: str) -> Any:
    """The value of a JSON text; `where` is for error messages."""
    try:
        value = json.loads(text)
        if _SURROGATE.search(text):
            _as_json(value).encode("utf-8")
    except json.JSONDecodeError as error:
        whole = text.rstrip().endswith(("]", "}"))
        why = error.msg if whole else "the file ends too early; copy it again"
        raise DataError(f"{where}: line {error.lineno} is not valid JSON ({why}).") from None
    except UnicodeEncodeError as error:
        near = error.object[max(0, error.start - 20) : error.start]
        raise DataError(
            f"{where}: a text has half of a surrogate pair, which is not a character, after {near!r}."
        ) from None
    except ValueError as error:  # an integer of thousands of digits
        raise DataError(f"{where}: is not valid JSON ({error}).") from None
    except RecursionError:
        raise DataError(f"{where}: the JSON is nested too deeply to be any known format.") from None
    return value


def read_toml(path: Path) -> dict[str, Any]:
    """The table in a TOML file."""
    try:
        return tomllib.loads(read_text(path))
    except ValueError as error:  # also an integer of thousands of digits
        raise ConfigError(f"{path}: is not valid TOML ({str(error).rstrip('.')}).") from None
    except RecursionError:
        raise ConfigError(f"{path}: the TOML is nested too deeply to be a recipe.") from None


def toml_text(table: Mapping[str, Any]) -> str:
    """A nested table of numbers, strings and lists as TOML."""
    plain = {name: value for name, value in table.items() if not isinstance(value, Mapping)}
    # JSON and TOML write such values in the same way.
    lines = [f"{name} = {json.dumps(value)}" for name, value in plain.items()]
    for name, value in table.items():
        if isinstance(value, Mapping):
            lines += ["", f"[{name}]", toml_text(value)]
    return "\n".join(lines)


@contextmanager
def atomic_write(path: Path) -> Iterator[Path]:
    """A temporary file to write; it replaces `path` only if the block succeeds."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.is_dir():
        raise ConfigError(f"{path}: is a folder. Give the name of a file.")
    try:
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    except OSError as error:
        error.filename = str(path)  # instead of the temporary name
        raise
    os.close(handle)
    temporary = Path(name)
    try:
        with naming_file_errors(path, temporary):
            yield temporary
        temporary.chmod(0o666 & ~_umask())  # mkstemp creates private files
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


@contextmanager
def atomic_folder(path: Path) -> Iterator[Path]:
    """An empty temporary folder to fill; it replaces `path` only if the block succeeds."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = Path(tempfile.mkdtemp(prefix=f".{path.name}.", dir=path.parent))
    try:
        temporary.chmod(0o777 & ~_umask())
        with naming_file_errors(path, temporary):
            yield temporary
        if path.exists():
            old = Path(tempfile.mkdtemp(prefix=f".{path.name}.", dir=path.parent))
            path.rename(old / path.name)
            temporary.rename(path)
            shutil.rmtree(old)
        else:
            temporary.rename(path)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def check_folder(folder: Path, hint: str) -> None:
    """Raise if a folder cannot be created, because it or one of its parents is a file."""
    existing = next(place for place in (folder, *folder.parents) if place.exists())
    if not existing.is_dir():
        raise ConfigError(f"{existing}: is a file. {hint}")


@contextmanager
def exclusive_lock(folder: Path, *, wait: bool = False) -> Iterator[None]:
    """Lock a folder, created if needed, against other processes for the duration of the block.

    If another process has it, that is an error, or with `wait` the block starts when it ends. The system
    releases the lock when the process ends, even if it is killed. On Windows nothing is locked (`CAN_LOCK`).
    """
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".lock").open("a") as lock:
        if fcntl is not None:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
            except BlockingIOError:
                raise ConfigError(
                    f"{folder}: another process is using it. Wait until it ends, or choose another folder."
                ) from None
        yield


@contextmanager
def naming_file_errors(path: Path, temporary: Path | None = None) -> Iterator[None]:
    """Make errors of writing name `path`, instead of a temporary file or, as for a full disk, no file."""
    try:
        yield
    except OSError as error:
        if error.filename is None:
            error.filename = str(path)
        elif temporary is not None and Path(error.filename).is_relative_to(temporary):
            error.filename = str(path / Path(error.filename).relative_to(temporary))
        raise


def write_text(path: Path, text: str) -> None:
    """Write UTF-8 text atomically."""
    try:
        content = text.encode("utf-8")
    except UnicodeEncodeError:
        raise DataError(
            f"{path}: cannot be written: a text or a file name in it is not valid Unicode. Rename the file."
        ) from None
    with atomic_write(path) as temporary:
        temporary.write_bytes(content)


def write_json(path: Path, value: object, *, indent: int | None = 1) -> None:
    """Write a JSON value atomically."""
    write_text(path, _as_json(value, indent=indent) + "\n")


def signed(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a JSON object, and as one more the SHA-256 of all of them."""
    return {**fields, _CHECKSUM: _digest(fields)}


def check_signed(path: Path, fields: Mapping[str, Any], advice: str) -> dict[str, Any]:
    """The fields without their SHA-256, which must be right if there is one."""
    found = dict(fields)
    if not found:
        raise DataError(f"{path}: is an empty object. {advice}".rstrip())
    if _CHECKSUM in found and found.pop(_CHECKSUM) != _digest(found):
        raise DataError(
            f"{path}: does not match its own SHA-256: it was damaged or edited. {advice}".rstrip()
        )
    return found


def _digest(fields: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(fields).encode()).hexdigest()


def matching_files(folder: Path, pattern: str) -> list[Path]:
    """The files of a folder whose names match a pattern, sorted; an error for a name that is not UTF-8."""
    files = sorted(folder.glob(pattern))
    for file in files:
        if not is_unicode(file.name):
            raise DataError(f"{folder}: the file name {file.name!r} is not UTF-8. Rename or remove the file.")
    return files


def is_unicode(text: str) -> bool:
    """Whether a text can be encoded: not so file names that are not UTF-8."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _as_json(value: object, *, indent: int | None = None) -> str:
    return json.dumps(value, indent=indent, ensure_ascii=False)


def sha256(path: Path) -> str:
    """The SHA-256 of a file's bytes, in hex."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
