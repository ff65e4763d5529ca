"""Fine-Grained R2R: the raw format round-trips, and an invalid record is rejected with the reason."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from babywalk.assets.fine_grained import (
    FineGrainedWalk,
    SubInstruction,
    fine_grained_file,
    read_fine_grained,
    write_fine_grained,
)
from babywalk.assets.r2r import Walk, r2r_file, read_walks
from babywalk.common.errors import DataError

WORD = st.text(st.characters(codec="utf-8"), min_size=1)


def row(**fields: Any) -> dict[str, Any]:
    return {
        "scan": "s",
        "path_id": 7,
        "path": ["a", "b", "c"],
        "heading": 0.5,
        "distance": 3.25,
        "instructions": ["Go left. Stop.", "Move."],
        "new_instructions": "[[['go', 'left'], ['stop']], [['move']]]",
        "chunk_view": [[[1, 3], [3, 3]], [[1, 3]]],
    } | fields


def written(folder: Path, *rows: object) -> Path:
    file = fine_grained_file(folder, "val_seen")
    file.write_text(json.dumps(rows))
    return file


@st.composite
def fine_grained_walks(draw: st.DrawFn) -> FineGrainedWalk:
    length = draw(st.integers(1, 6))
    ends = st.lists(st.integers(0, length - 1), min_size=2, max_size=2).map(sorted)
    part = st.builds(
        lambda words, pair: SubInstruction(tuple(words), pair[0], pair[1]),
        st.lists(WORD, min_size=1, max_size=4),
        ends,
    )
    steps = draw(st.lists(st.lists(part, max_size=3).map(tuple), min_size=1, max_size=4))
    walk = Walk("s", 1, tuple(map(str, range(length))), 0.0, ("Go.",) * len(steps))
    return FineGrainedWalk(walk, tuple(steps))


@settings(max_examples=50, deadline=None)
@given(walks=st.lists(fine_grained_walks(), max_size=3))
def test_round_trip(tmp_path_factory: pytest.TempPathFactory, walks: list[FineGrainedWalk]) -> None:
    file = fine_grained_file(tmp_path_factory.mktemp("round"), "val_seen")
    assert file.name == "FGR2R_val_seen.json"
    write_fine_grained(file, walks)
    assert read_fine_grained(file) == walks


def test_indices_count_from_zero(tmp_path: Path) -> None:
    (item,) = read_fine_grained(written(tmp_path, row()))
    assert item.steps == (
        (SubInstruction(("go", "left"), 0, 2), SubInstruction(("stop",), 2, 2)),
        (SubInstruction(("move",), 0, 2),),
    )


def test_an_instruction_without_annotation_has_no_steps(tmp_path: Path) -> None:
    file = written(tmp_path, row(new_instructions="[[['go']]]", chunk_view=[[[1, 3]]]))
    assert read_fine_grained(file)[0].steps == ((SubInstruction(("go",), 0, 2),), ())


NESTED = "expected a Python literal: per instruction a list of sub-instructions, each a list of words"


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"new_instructions": "[[['go'"}, f"field 'new_instructions' is \"[[['go'\"; {NESTED}."),
        ({"new_instructions": "[[__import__('os')]]"}, NESTED + "."),
        ({"new_instructions": "['go']"}, NESTED + "."),
        ({"new_instructions": "[['go']]"}, NESTED + "."),
        ({"new_instructions": "3"}, NESTED + "."),
        ({"new_instructions": "[" * 5_000}, NESTED + "."),
        ({"new_instructions": "-" * 50_000 + "1"}, NESTED + "."),
        ({"new_instructions": "'a\0b'"}, NESTED + "."),
        ({"new_instructions": "[" * 200_000}, "expected a literal of at most 100,000 characters."),
        ({"new_instructions": "[[[]]]"}, NESTED + ", none of them empty."),
        ({"new_instructions": "[[['']]]"}, NESTED + ", none of them empty."),
        ({"new_instructions": "[[[1]]]"}, NESTED + ", none of them empty."),
        ({"new_instructions": ["go"]}, "field 'new_instructions' is a list of 1; expected a string."),
        ({"new_instructions": "[[], [], []]"}, "expected at most 2 lists, one per instruction."),
        (
            {"chunk_view": "x"},
            "field 'chunk_view' is 'x'; expected a list with the chunks of each instruction.",
        ),
        (
            {"chunk_view": [[[1, 3], [3, 3]]]},
            "field 'chunk_view' is a list of 1; expected 2 lists, as many as in 'new_instructions'.",
        ),
        (
            {"chunk_view": [[[1, 3]], [[1, 3]]]},
            "expected a chunk for every sub-instruction of 'new_instructions'.",
        ),
        ({"chunk_view": [[[1, 3], [3, 4]], [[1, 3]]]}, "chunks [first, last] within 1 to 3; one is [3, 4]."),
        ({"chunk_view": [[[0, 3], [3, 3]], [[1, 3]]]}, "chunks [first, last] within 1 to 3; one is [0, 3]."),
        ({"chunk_view": [[[3, 1], [3, 3]], [[1, 3]]]}, "chunks [first, last] within 1 to 3; one is [3, 1]."),
        ({"chunk_view": [["x", [3, 3]], [[1, 3]]]}, "chunks [first, last] within 1 to 3; one is 'x'."),
        ({"path": []}, "field 'path' is a list of 0"),
    ],
)
def test_an_invalid_record_is_rejected(tmp_path: Path, fields: dict[str, Any], message: str) -> None:
    file = written(tmp_path, row(), row(**fields))
    with pytest.raises(DataError, match=re.escape(message)) as caught:
        read_fine_grained(file)
    assert str(caught.value).startswith(f"{file}: record 1: field ")


@pytest.mark.real
def test_the_real_annotations(real_data: Path) -> None:
    fine = read_fine_grained(fine_grained_file(real_data / "fgr2r", "val_seen"))
    walks = {walk.path_id: walk for walk in read_walks(r2r_file(real_data / "R2R", "val_seen"))}
    assert [item.walk for item in fine] == [walks[item.walk.path_id] for item in fine]
    assert len(fine) == 340
    annotated = [(item.walk, parts) for item in fine for parts in item.steps if parts]
    assert len(annotated) == 1_020
    for walk, parts in annotated:
        assert parts[0].first == 0
        assert parts[-1].last == len(walk.path) - 1
        assert all(one.last == other.first for one, other in pairwise(parts))
    (left_out,) = [item.walk.path_id for item in fine if not all(item.steps)]
    assert left_out == 757
