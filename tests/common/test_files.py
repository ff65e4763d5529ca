"""Reading with clear errors, and atomic writing."""

from __future__ import annotations

import errno
import hashlib
import os
import re
import stat
from pathlib import Path

import pytest

from babywalk.common.errors import ConfigError, DataError
from babywalk.common.files import (
    atomic_folder,
    atomic_write,
    check_signed,
    exclusive_lock,
    read_json,
    read_text,
    read_toml,
    sha256,
    signed,
    write_json,
    write_text,
)


def test_text_round_trip_creates_folders_and_keeps_line_ends(tmp_path: Path) -> None:
    file = tmp_path / "new" / "folder" / "é.txt"
    write_text(file, "Grüße\nzwei\r\n")
    assert read_text(file) == "Grüße\nzwei\r\n"
    assert [path.name for path in file.parent.iterdir()] == ["é.txt"]


def test_a_missing_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=re.escape(f"{tmp_path / 'no'}: file not found.")):
        read_text(tmp_path / "no")


def test_reading_a_folder_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=re.escape(f"{tmp_path}: cannot be read (")):
        read_text(tmp_path)


def test_text_that_is_not_utf8_is_an_error(tmp_path: Path) -> None:
    file = tmp_path / "latin.txt"
    file.write_bytes(b"caf\xe9")
    with pytest.raises(DataError, match=re.escape(f"{file}: byte 3 is not UTF-8 text.")):
        read_text(file)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[1,\n 2, {"a": ', "line 2 is not valid JSON (the file ends too early; copy it again)."),
        ("[1,\n oops]", "line 2 is not valid JSON (Expecting value)."),
        ("[" * 100_000, "the JSON is nested too deeply to be any known format."),
    ],
)
def test_invalid_json_is_reported_with_its_line(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "broken.json"
    file.write_text(text)
    with pytest.raises(DataError, match=re.escape(f"{file}: {message}")):
        read_json(file)


def test_json_round_trip(tmp_path: Path) -> None:
    write_json(tmp_path / "a.json", {"ü": [1, 2.5, None]})
    assert read_json(tmp_path / "a.json") == {"ü": [1, 2.5, None]}


def test_a_failed_write_keeps_the_old_file_and_leaves_no_other(tmp_path: Path) -> None:
    file = tmp_path / "kept.txt"
    write_text(file, "old")
    with pytest.raises(DataError, match="a text or a file name in it is not valid Unicode"):
        write_text(file, "new, and a lone surrogate: \ud800")
    assert file.read_text() == "old"
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.skipif(os.name == "nt", reason="Windows has no file modes")
def test_a_written_file_has_the_usual_permissions(tmp_path: Path) -> None:
    (tmp_path / "plain").touch()
    write_text(tmp_path / "ours", "")
    assert stat.S_IMODE((tmp_path / "ours").stat().st_mode) == stat.S_IMODE(
        (tmp_path / "plain").stat().st_mode
    )


def test_a_folder_is_replaced_as_a_whole(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    for name in ("first", "second"):
        with atomic_folder(folder) as temporary:
            (temporary / name).touch()
    assert [path.name for path in folder.iterdir()] == ["second"]
    assert list(tmp_path.iterdir()) == [folder]


def test_a_failed_folder_keeps_the_old_one_and_leaves_no_other(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "old").touch()
    with pytest.raises(FileNotFoundError), atomic_folder(folder) as temporary:
        (temporary / "no such folder" / "new").touch()
    assert [path.name for path in folder.iterdir()] == ["old"]
    assert list(tmp_path.iterdir()) == [folder]


def full_disk(file: Path | None = None) -> OSError:
    return OSError(errno.ENOSPC, "No space left on device", None if file is None else str(file))


def test_errors_of_writing_name_the_target(tmp_path: Path) -> None:
    path = tmp_path / "data"
    with pytest.raises(OSError, match="No space") as unnamed, atomic_write(path):
        raise full_disk()
    with pytest.raises(OSError, match="No space") as of_file, atomic_write(path) as temporary:
        raise full_disk(temporary)
    with pytest.raises(OSError, match="No space") as inside, atomic_folder(path) as temporary:
        raise full_disk(temporary / "inner")
    with pytest.raises(OSError, match="No space") as elsewhere, atomic_folder(path):
        raise full_disk(tmp_path / "other")
    assert [Path(caught.value.filename) for caught in (unnamed, of_file)] == [path, path]
    assert Path(inside.value.filename) == path / "inner"
    assert Path(elsewhere.value.filename) == tmp_path / "other"
    assert not path.exists()


def test_signed_fields_are_read_as_they_were_written_and_changed_ones_are_an_error(tmp_path: Path) -> None:
    file, fields = tmp_path / "a.json", {"n": 1, "of": {"é": [0.1, None]}}
    write_json(file, signed(fields))
    read = read_json(file)
    assert check_signed(file, read, "") == fields
    assert check_signed(file, fields, "") == fields  # of an earlier version
    for changed in ({"n": 2}, {"more": 0}, {"sha256": None}, {"of": {"é": [0.1]}}):
        with pytest.raises(
            DataError, match=r"a\.json: does not match its own SHA-256: .* edited\. Restore it\.$"
        ):
            check_signed(file, {**read, **changed}, "Restore it.")


def test_an_empty_object_is_not_what_was_signed(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"a\.json: is an empty object\. Restore it\.$"):
        check_signed(tmp_path / "a.json", {}, "Restore it.")


def test_a_lock_is_exclusive_until_its_block_ends(tmp_path: Path) -> None:
    busy = pytest.raises(ConfigError, match="another process is using it")
    with exclusive_lock(tmp_path), busy, exclusive_lock(tmp_path):
        pass
    with exclusive_lock(tmp_path, wait=True):
        pass


def test_sha256(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"x" * 3_000_000)
    assert sha256(tmp_path / "a") == hashlib.sha256(b"x" * 3_000_000).hexdigest()


@pytest.mark.parametrize("value", ["9" * 5000, "[" * 5000])
def test_toml_with_huge_numbers_or_deep_nesting_is_rejected(tmp_path: Path, value: str) -> None:
    (tmp_path / "a.toml").write_text(f"seed = {value}")
    with pytest.raises(ConfigError, match=r"a\.toml: (is not valid TOML|the TOML is nested too deeply)"):
        read_toml(tmp_path / "a.toml")


@pytest.mark.parametrize("value", ["9" * 5000, "[" * 100_000])
def test_json_with_huge_numbers_or_deep_nesting_is_rejected(tmp_path: Path, value: str) -> None:
    (tmp_path / "a.json").write_text(value)
    with pytest.raises(DataError, match=r"a\.json: (is not valid JSON|the JSON is nested too deeply)"):
        read_json(tmp_path / "a.json")
