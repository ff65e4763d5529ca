"""Fine-Grained R2R: which part of an instruction describes which part of the path, `FGR2R_<split>.json`.

An R2R record with two more fields: `new_instructions`, a Python literal in a string (per instruction its
sub-instructions, each a list of lower-case words), and `chunk_view` (per instruction and sub-instruction, the
[first, last] viewpoint, counted from 1). Where fewer instructions are annotated than the record has
(val_seen: path 757, three of four), both fields omit the last ones; these have no sub-instructions here.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from babywalk.assets.r2r import Walk, read_walk, walk_fields
from babywalk.assets.records import Record, records
from babywalk.common.files import read_json, write_json

WORDS, CHUNKS = "new_instructions", "chunk_view"

_MAX_LITERAL = 100_000  # characters; the longest in val_seen has 1,309
_NESTED = "a Python literal: per instruction a list of sub-instructions, each a list of words"


@dataclass(frozen=True, slots=True)
class SubInstruction:
    """A part of an instruction and the stretch of path it describes."""

    words: tuple[str, ...]  # never empty
    first: int  # index into the walk's path, from 0
    last: int  # the same, inclusive; first <= last


@dataclass(frozen=True, slots=True)
class FineGrainedWalk:
    """A walk with the sub-instructions of each instruction.

    In the published val_seen, sub-instructions are contiguous and cover the path; this is not required.
    """

    walk: Walk
    steps: tuple[tuple[SubInstruction, ...], ...]  # one per instruction; empty where it is not annotated


def fine_grained_file(folder: Path, split: str) -> Path:
    """The file of a split in a folder of raw Fine-Grained R2R files."""
    return folder / f"FGR2R_{split}.json"


def read_fine_grained(file: Path) -> list[FineGrainedWalk]:
    """Read and check one split."""
    return [_read(record) for record in records(file, read_json(file))]


def write_fine_grained(file: Path, walks: Iterable[FineGrainedWalk]) -> None:
    """Write one split in the raw format."""
    write_json(
        file,
        [
            walk_fields(item.walk)
            | {
                WORDS: repr([[list(part.words) for part in parts] for parts in item.steps]),
                CHUNKS: [[[part.first + 1, part.last + 1] for part in parts] for parts in item.steps],
            }
            for item in walks
        ],
    )


def _read(record: Record) -> FineGrainedWalk:
    walk = read_walk(record)
    words = _words(record)
    chunks = record.items(CHUNKS, "a list with the chunks of each instruction")
    missing = len(walk.instructions) - len(words)
    if missing < 0:
        raise record.wrong(WORDS, f"at most {len(walk.instructions)} lists, one per instruction")
    if len(chunks) != len(words):
        raise record.wrong(CHUNKS, f"{len(words)} lists, as many as in {WORDS!r}")
    steps = [_steps(record, *both, len(walk.path)) for both in zip(words, chunks, strict=True)]
    return FineGrainedWalk(walk, (*steps, *[()] * missing))


def _steps(record: Record, words: list[list[str]], chunks: Any, length: int) -> tuple[SubInstruction, ...]:
    if not isinstance(chunks, list) or len(chunks) != len(words):
        raise record.wrong(CHUNKS, f"a chunk for every sub-instruction of {WORDS!r}")
    for chunk in chunks:
        numbers = isinstance(chunk, list) and len(chunk) == 2 and set(map(type, chunk)) == {int}
        if not numbers or not 1 <= chunk[0] <= chunk[1] <= length:
            raise record.wrong(CHUNKS, f"chunks [first, last] within 1 to {length}; one is {chunk!r:.40}")
    return tuple(
        SubInstruction(tuple(part), first - 1, last - 1)
        for part, (first, last) in zip(words, chunks, strict=True)
    )


def _words(record: Record) -> list[list[list[str]]]:
    text = record.string(WORDS)
    if len(text) > _MAX_LITERAL:
        raise record.wrong(WORDS, f"a literal of at most {_MAX_LITERAL:,} characters")
    try:
        value: Any = ast.literal_eval(text)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        raise record.wrong(WORDS, _NESTED) from None
    parts = [part for parts in _lists(value, record) for part in _lists(parts, record)]
    if not all(
        part and all(isinstance(word, str) and word for word in _lists(part, record)) for part in parts
    ):
        raise record.wrong(WORDS, f"{_NESTED}, none of them empty")
    return list(value)


def _lists(value: Any, record: Record) -> list[Any]:
    if not isinstance(value, list):
        raise record.wrong(WORDS, _NESTED)
    return value
