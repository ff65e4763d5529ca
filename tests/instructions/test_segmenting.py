from __future__ import annotations

import itertools
import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from babywalk.assets.data_directory import StoredComponent
from babywalk.common.errors import DataError
from babywalk.common.ragged import Ragged
from babywalk.episodes.dataset import Dataset
from babywalk.instructions import segmenting
from babywalk.instructions.babysteps import load_babysteps, save_babysteps
from babywalk.instructions.identification import IdentificationConfig
from babywalk.instructions.segmenting import segment, segment_texts
from babywalk.instructions.sentences import WordLists
from babywalk.instructions.store import (
    aligned_steps,
    identify_steps,
    load_aligned_steps,
    segment_splits,
    segmented_texts,
)


@pytest.mark.parametrize(
    "text",
    [
        "Walk past the couch, go up the stairs and stop by the bed.",
        "WALK PAST THE COUCH. GO UP THE STAIRS.",
        "go 1.5 m... then stop 😀 by the door",
        "stop",
        "...",
        "Gehe die Treppe hinauf. Warte vor der Tür.",
        "上楼。左转。",
        "walk to the chair. " * 1000,
        "  \n Exit the room.\n\n\tTurn left.  ",
    ],
)
def test_any_text_is_segmented_without_losing_letters(text: str) -> None:
    steps = segment(text)
    assert steps
    assert all(step.text == text[step.begin : step.end] and step.text.strip() for step in steps)
    letters = sum(map(str.isalnum, "".join(step.text for step in steps)))
    assert letters == sum(map(str.isalnum, text))


def test_an_empty_text_has_no_steps() -> None:
    assert segment("") == []
    assert segment(" \n ") == []


def test_landmarks_and_verbs_of_steps() -> None:
    first, second = segment(
        "Walk past the couches and go up the stairs. Enter the dining room. Stop by the table."
    )
    assert first.landmarks == ("couch", "stair")
    assert second.landmarks[-1] == "table"
    assert second.landmarks[0].endswith("room")
    assert second.verbs == ("enter", "stop")
    assert second.text == "Enter the dining room. Stop by the table."
    assert len(segment(first.text + " " + second.text, IdentificationConfig(mode="sentence"))) == 3


def test_words_beside_a_period_without_a_space_are_tagged_as_with_one() -> None:
    glued, spaced = "Walk up the stairs.turn to the bed.Stop.", "Walk up the stairs. turn to the bed. Stop."
    sentence = IdentificationConfig(mode="sentence")
    found = segment(glued, sentence)
    assert [step.text for step in found] == ["Walk up the stairs.", "turn to the bed.", "Stop."]
    assert [(step.landmarks, step.verbs) for step in found] == [
        (step.landmarks, step.verbs) for step in segment(spaced, sentence)
    ]
    assert found[0].landmarks == ("stair",)
    assert found[1].landmarks == ("bed",)


def test_one_process_two_processes_and_the_cache_give_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(segmenting, "_CHUNK", 2)
    texts = ["Go to the bed.", "Turn left. Exit the room.", "Wait.", "Climb the stairs. Stop.", ""]
    alone = segment_texts(texts, lists=WordLists(), workers=1)
    together = segment_texts(texts, lists=WordLists(), workers=2, cache=tmp_path)
    assert len(list(tmp_path.iterdir())) == 3
    monkeypatch.setattr(segmenting, "_tagger", None)  # fails if a text is tagged again
    again = segment_texts(texts, lists=WordLists(), workers=1, cache=tmp_path)
    for found in (together, again):
        assert found.phrases == alone.phrases
        assert found.landmarks.values.tolist() == alone.landmarks.values.tolist()
        assert found.table.first.tolist() == alone.table.first.tolist() == [0, 1, 3, 4, 6, 6]
        assert found.begin.tolist() == alone.begin.tolist()


def test_missing_and_damaged_cache_files_are_written_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(segmenting, "_CHUNK", 1)
    texts = ["Go to the bed.", "Exit the room.", "Climb the stairs."]
    whole = segment_texts(texts, lists=WordLists(), workers=1, cache=tmp_path)
    files = sorted(tmp_path.iterdir())
    files[0].unlink()
    files[1].write_text("[[")
    again = segment_texts(texts, lists=WordLists(), workers=1, cache=tmp_path)
    assert again.phrases == whole.phrases
    assert sorted(tmp_path.iterdir()) == files


@pytest.fixture(scope="module")
def segmented_dataset(dollhouse: Path, tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    """A copy of the built-in data with val_seen segmented."""
    import shutil

    folder = tmp_path_factory.mktemp("segmented") / "data"
    shutil.copytree(dollhouse, folder, ignore=shutil.ignore_patterns("raw", "features"))
    dataset = Dataset(folder)
    segment_splits(dataset, ["val_seen"], workers=1)
    return dataset


def test_steps_of_joined_tasks_have_the_words_of_their_instructions(segmented_dataset: Dataset) -> None:
    steps = identify_steps(segmented_dataset, segmented_dataset.task("r4r", "val_seen"))
    for episode in (0, len(steps) // 2, len(steps) - 1):
        text = " ".join(steps.texts(episode))
        assert text.split() == segmented_dataset.task("r4r", "val_seen")[episode].instruction.split()
    short = identify_steps(segmented_dataset, segmented_dataset.task("r2r", "val_seen"))
    assert 1.5 < steps.mean / short.mean < 2.5


def test_sentences_are_stored_with_the_data(segmented_dataset: Dataset) -> None:
    found = segmented_texts(segmented_dataset, "val_seen")
    segment_splits(segmented_dataset, ["val_seen"], workers=1)
    assert segmented_texts(segmented_dataset, "val_seen").phrases == found.phrases
    with pytest.raises(
        DataError, match=r"the instructions of train are not segmented\. Run 'babywalk data segment"
    ):
        segmented_texts(segmented_dataset, "train")


def test_sentences_found_by_older_rules_are_rejected(segmented_dataset: Dataset, tmp_path: Path) -> None:
    folder = tmp_path / "data"
    shutil.copytree(segmented_dataset.folder, folder)
    manifest = folder / "sentences" / "val_seen" / "manifest.json"
    fields = json.loads(manifest.read_text())
    assert fields["details"].pop("rules") == 2
    del fields["sha256"]  # else the changed file itself is rejected
    manifest.write_text(json.dumps(fields))
    with pytest.raises(
        DataError, match=r"by another version of BabyWalk.* Run 'babywalk data segment .* val_seen' again\."
    ):
        segmented_texts(Dataset(folder), "val_seen")


@pytest.mark.parametrize("stale", ["rules", "task"])
def test_steps_of_another_version_or_draw_are_rejected(
    aligned_dollhouse: Path, tmp_path: Path, stale: str
) -> None:
    folder = tmp_path / "data"
    shutil.copytree(aligned_dollhouse, folder)
    dataset, config = Dataset(folder), IdentificationConfig()
    task = dataset.task("r4r", "val_seen")
    assert aligned_steps(dataset, task, config)[1] == "proportional"
    manifest = folder / "babysteps" / "r4r" / "val_seen" / "manifest.json"
    fields = json.loads(manifest.read_text())
    fields["details"][stale] = None
    del fields["sha256"]
    manifest.write_text(json.dumps(fields))
    for read in (aligned_steps, lambda *of: load_aligned_steps(*of[:2])):
        with pytest.raises(
            DataError, match=r"for other episodes or .* Run 'babywalk data align r4r .*again\."
        ):
            read(dataset, task, config)


def test_saved_steps_load_with_their_ends(segmented_dataset: Dataset, tmp_path: Path) -> None:
    from dataclasses import replace

    steps = identify_steps(segmented_dataset, segmented_dataset.task("r2r", "val_seen"))
    with pytest.raises(DataError, match="These Baby-Steps are not aligned with paths"):
        steps.steps(0)
    last = np.diff(steps.task.paths.start)[steps.task.chain_of(np.arange(len(steps)))] - 1
    ends = Ragged(np.repeat(last, steps.sentences.lengths).astype(np.int32), steps.sentences.start)
    save_babysteps(tmp_path / "steps", replace(steps, ends=ends), facts={})
    read = load_babysteps(StoredComponent(tmp_path / "steps", ""), steps.task, steps.segmented)
    first = read.steps(0)
    assert [step.text for step in first] == steps.texts(0)
    assert first[0].path == steps.task[0].path
    assert all(step.path == steps.task[0].path[-1:] for step in first[1:])


def test_steps_are_exported_with_sub_instructions_and_sub_paths(
    segmented_dataset: Dataset, tmp_path: Path
) -> None:
    import json

    from babywalk.commands.data import export_task

    export_task(segmented_dataset.folder, "r4r", "val_seen", tmp_path / "steps.json", steps=True)
    for walk in json.loads((tmp_path / "steps.json").read_text()):
        texts, paths = walk["sub_instructions"], walk["sub_paths"]
        assert len(texts) == len(paths) == len(walk["headings"]) == len(walk["instructions"])
        for instruction, steps, parts, headings in zip(
            walk["instructions"], texts, paths, walk["headings"], strict=True
        ):
            assert " ".join(steps).split() == instruction.split()
            assert len(steps) == len(parts) == len(headings)
            assert headings[0] == walk["heading"]
            assert all(one[-1] == other[0] for one, other in itertools.pairwise(parts))
            joined = parts[0] + [viewpoint for part in parts[1:] for viewpoint in part[1:]]
            assert joined == walk["path"]


@pytest.mark.real
def test_no_real_instruction_has_an_empty_step(real_data: Path) -> None:
    from babywalk.assets.r2r import r2r_file, read_walks
    from babywalk.instructions.sentences import missing_spaces, spans

    texts = [
        text
        for split in ("train", "val_seen", "val_unseen", "test")
        for walk in read_walks(r2r_file(real_data / "R2R", split))
        for text in walk.instructions
    ]
    assert len(texts) == 21_582
    assert sum(bool(missing_spaces(text)) for text in texts) == 253
    for text in texts:
        assert all(any(map(str.isalnum, text[begin:end])) for begin, end in spans(text))
