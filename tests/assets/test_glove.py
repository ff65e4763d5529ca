"""Word vectors: words match rows, and nothing is unpickled."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from babywalk.assets.glove import WordVectors, read_glove, write_glove
from babywalk.common.errors import DataError

WORD = st.text(st.characters(codec="utf-8", exclude_characters="\r\n"), min_size=1).filter(str.strip)


class RaisesWhenUnpickled:
    """Unpickling it raises."""

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return exec, ("raise SystemExit('unpickled')",)


@settings(max_examples=50, deadline=None)
@given(words=st.lists(WORD, unique=True, min_size=1), width=st.integers(1, 5))
def test_round_trip(tmp_path_factory: pytest.TempPathFactory, words: list[str], width: int) -> None:
    folder = tmp_path_factory.mktemp("round")
    vectors = np.random.default_rng(0).normal(size=(len(words), width)).astype(np.float32)
    write_glove(folder / "vocab.txt", folder / "glove.npy", WordVectors(tuple(words), vectors))
    again = read_glove(folder / "vocab.txt", folder / "glove.npy")
    assert again.words == tuple(words)
    assert type(again.vectors) is np.ndarray  # in memory, so the file may go
    np.testing.assert_array_equal(again.vectors, vectors)


@pytest.mark.parametrize(
    ("vocab", "message"),
    [
        ("a\n\n", "expected a word on every line; empty: line 2."),
        ("a\na\n", "words must be unique; found more than once: 'a'."),
    ],
)
def test_an_invalid_vocabulary_is_rejected(tmp_path: Path, vocab: str, message: str) -> None:
    file = tmp_path / "vocab.txt"
    file.write_text(vocab)
    with pytest.raises(DataError, match="^" + re.escape(f"{file}: {message}") + "$"):
        read_glove(file, tmp_path / "glove.npy")


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.ones((3, 4), np.float32), "has 3 rows; expected 2, one per line of vocab.txt."),
        (np.ones((2, 4)), "contains float64 of shape (2, 4); expected float32 with one row per word."),
        (np.ones(2, np.float32), "contains float32 of shape (2,); expected floats of shape (any, any)."),
        (
            np.array([[1, 2], [np.nan, 0]], np.float32),
            "row 1 contains NaN or infinity.",
        ),
        (np.array([[RaisesWhenUnpickled()], [1]], object), "is not a NumPy file of numbers ("),
    ],
)
def test_an_invalid_array_is_rejected(tmp_path: Path, array: np.ndarray, message: str) -> None:
    file = tmp_path / "glove.npy"
    (tmp_path / "vocab.txt").write_text("a\nb\n")
    np.save(file, array, allow_pickle=True)
    with pytest.raises(DataError, match="^" + re.escape(f"{file}: {message}")):
        read_glove(tmp_path / "vocab.txt", file)


@pytest.mark.parametrize(
    "corrupt", [lambda raw: raw[:0], lambda raw: raw[:-1], lambda raw: raw[:30], lambda raw: b"PK\3\4" + raw]
)
def test_a_file_that_is_not_an_array_is_rejected(tmp_path: Path, corrupt: object) -> None:
    file = tmp_path / "glove.npy"
    (tmp_path / "vocab.txt").write_text("a\nb\n")
    np.save(file, np.ones((2, 4), np.float32))
    file.write_bytes(corrupt(file.read_bytes()))
    with pytest.raises(DataError, match="is not a NumPy file of numbers"):
        read_glove(tmp_path / "vocab.txt", file)


def test_a_header_larger_than_the_file_is_rejected(tmp_path: Path) -> None:
    file = tmp_path / "glove.npy"
    (tmp_path / "vocab.txt").write_text("a\nb\n")
    with file.open("wb") as stream:
        header = {"descr": "<f4", "fortran_order": False, "shape": (2, 10**15)}
        np.lib.format.write_array_header_1_0(stream, header)
        stream.write(bytes(100))
    with pytest.raises(DataError, match="is not a NumPy file of numbers"):
        read_glove(tmp_path / "vocab.txt", file)


def test_missing_files_are_reported(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"vocab.txt: file not found."):
        read_glove(tmp_path / "vocab.txt", tmp_path / "glove.npy")
    (tmp_path / "vocab.txt").write_text("a\n")
    with pytest.raises(DataError, match=r"glove.npy: file not found."):
        read_glove(tmp_path / "vocab.txt", tmp_path / "glove.npy")


@pytest.mark.real
def test_the_real_vectors(real_data: Path) -> None:
    glove = read_glove(real_data / "train_vocab.txt", real_data / "train_glove.npy")
    assert glove.words[:4] == ("<PAD>", "<UNK>", "<EOS>", "the")
    assert glove.words[831] == ". ."
    assert glove.vectors.shape == (991, 300)
    # Rows belong to their words: alike words have alike vectors, which a shift by one would undo.
    unit = glove.vectors / np.linalg.norm(glove.vectors, axis=1, keepdims=True)
    of = {word: unit[index] for index, word in enumerate(glove.words)}
    assert of["kitchen"] @ of["bedroom"] > 0.5
    assert of["walk"] @ of["walking"] > 0.7
