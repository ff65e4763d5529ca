"""`babywalk data speaker` and `babywalk describe`."""

from __future__ import annotations

import json
import math
import shutil
from pathlib import Path

import numpy as np
import pytest

from babywalk.cli import main
from babywalk.commands.speaker import describe_path, prepared_speaker
from babywalk.common.errors import ConfigError
from babywalk.common.ragged import Ragged
from babywalk.episodes.dataset import Dataset
from babywalk.episodes.vocabulary import END
from babywalk.modules.speaker import open_speaker

QUICK = ["--set", "hidden=8", "epochs=1", "max_words=12", "--features", "dollhouse"]


@pytest.fixture(scope="module")
def data(segmented_dollhouse: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("speaker") / "data"
    shutil.copytree(segmented_dollhouse, folder)
    assert main(["data", "speaker", "--data", str(folder), *QUICK]) == 0
    return folder


@pytest.fixture(scope="module")
def walk(data: Path) -> tuple[str, list[str]]:
    """The house and the viewpoints of a human path."""
    episode = Dataset(data).task("r2r", "val_unseen")[0]
    return episode.scan, list(episode.path)


def test_the_speaker_is_stored_and_measured(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    weights = (data / "speaker" / "weights.safetensors").read_bytes()
    assert main(["data", "speaker", "--data", str(data), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [quality["split"] for quality in found] == ["val_seen", "val_unseen"]
    assert all(1 < quality["perplexity"] < 1000 and quality["words"] <= 12 for quality in found)
    assert all(quality["on_human_texts"] is None for quality in found)
    assert (data / "speaker" / "weights.safetensors").read_bytes() == weights  # not trained again
    assert main(["data", "speaker", "--data", str(data), "--splits", "val_unseen", *QUICK]) == 0
    header, row, *_ = capsys.readouterr().out.splitlines()
    assert header.split() == ["split", "paths", "perplexity", "BLEU-4", "words", "human", "words"]
    assert row.split()[0] == "val_unseen"
    assert (data / "speaker" / "weights.safetensors").read_bytes() == weights


def test_a_path_is_described(
    data: Path, walk: tuple[str, list[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    house, path = walk
    command = ["describe", "--data", str(data), "--house", house, "--path", *path, "--heading", "90"]
    assert main(command) == 0
    text = capsys.readouterr().out.strip()
    assert main([*command, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["house"], found["path"], found["text"]) == (house, path, text)
    assert found["words"][-1][0] == END
    total = sum(math.log(probability) for _, probability in found["words"])
    assert found["log_probability"] == pytest.approx(total, rel=1e-5)
    speaker = open_speaker(Dataset(data))
    numbers = [speaker.houses.viewpoints(house)[name] for name in path]
    ids = [speaker.vocabulary.word_ids[word] for word, _ in found["words"][:-1]]
    scores = speaker.log_probabilities(Ragged.of([numbers]), np.array([15]), Ragged.of([ids]))
    assert found["log_probability"] == pytest.approx(scores.log_probability[0], rel=1e-5)


def test_paths_that_cannot_be_walked_are_refused(data: Path, walk: tuple[str, list[str]]) -> None:
    house, path = walk
    with pytest.raises(ConfigError, match="House 'nowhere' is not known"):
        describe_path(data, "nowhere", path)
    with pytest.raises(ConfigError, match=f"Viewpoint of {house} 'x' is not known"):
        describe_path(data, house, [*path, "x"])
    wanted = f"goes from '{path[0]}' to '{path[-1]}', which are not neighbours. Neighbours of '{path[0]}': "
    with pytest.raises(ConfigError, match=f"{wanted}.*{path[1]}"):
        describe_path(data, house, [path[0], path[-1]])
    with pytest.raises(ConfigError, match="The path has no viewpoints"):
        describe_path(data, house, [])


def test_a_missing_speaker_is_reported_with_the_command_that_trains_one(
    segmented_dollhouse: Path, walk: tuple[str, list[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    house, path = walk
    command = ["describe", "--data", str(segmented_dollhouse), "--house", house, "--path", *path]
    assert main(command) == 2
    error = capsys.readouterr().err
    assert f"has no speaker. Train it with 'babywalk data speaker --data {segmented_dollhouse}'" in error


def test_a_speaker_of_other_features_is_not_opened(data: Path) -> None:
    dataset = Dataset(data)
    assert open_speaker(dataset, "dollhouse").features == "dollhouse"
    with pytest.raises(ConfigError, match=r"on features 'dollhouse', not 'none'.*--features none"):
        open_speaker(dataset, "none")


def test_any_stored_speaker_is_used_unless_settings_are_given(data: Path) -> None:
    assert prepared_speaker(Dataset(data)).config.hidden == 8


def test_splits_are_checked_before_the_speaker_is_trained(
    segmented_dollhouse: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for split, message in (("nothing", "is not known"), ("test", "has no goals")):
        assert main(["data", "speaker", "--data", str(segmented_dollhouse), "--splits", split]) == 2
        assert message in capsys.readouterr().err
    assert not (segmented_dollhouse / "speaker").exists()
