"""The speaker: its training, the instructions it generates, and splits made of them."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from babywalk.assets.data_directory import verify
from babywalk.assets.r2r import read_walks, write_walks
from babywalk.assets.tokens import tokenise
from babywalk.cli import main
from babywalk.commands.augment import augment
from babywalk.commands.segment import segment_data
from babywalk.commands.speaker import report_speaker
from babywalk.commands.train import train_agent
from babywalk.common.errors import ConfigError
from babywalk.episodes.dataset import Dataset
from babywalk.episodes.vocabulary import END
from babywalk.episodes.walks import Walks
from babywalk.modules.speaker import SpeakerConfig, detokenise, load_speaker
from babywalk.navigation.world import poses_at
from babywalk.training.speaker import SpeakerBatches, perplexity, train_speaker

QUICK = {"hidden": 64, "epochs": 60, "batch": 10, "dropout": 0.0, "feature_dropout": 0.0}


@pytest.fixture
def data(segmented_dollhouse: Path, tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    shutil.copytree(segmented_dollhouse, folder)
    return folder


def start_views(walks: Walks) -> NDArray[np.int64]:
    return poses_at(walks.paths.firsts, walks.headings).view


def test_detokenise_restores_spaces_and_capitals() -> None:
    text = "walk past the couch , go up the stairs . stop by the bed ."
    assert detokenise(text.split()) == "Walk past the couch, go up the stairs. Stop by the bed."
    assert tokenise(detokenise(text.split())) == text.split()
    assert detokenise([]) == ""


def test_it_reproduces_the_instructions_of_a_small_training_set(data: Path) -> None:
    file = data / "r2r" / "R2R_train.json"
    walks_read = [replace(walk, instructions=walk.instructions[:1] * 5) for walk in read_walks(file)[:30:3]]
    write_walks(file, walks_read)
    (data / "r2r" / "manifest.json").unlink()  # else the changed file is rejected
    dataset = Dataset(data)
    speaker = train_speaker(dataset, "dollhouse", SpeakerConfig(**QUICK, mirror=0.0, learning_rate=5e-3))
    walks = dataset.walks("train")
    texts = speaker.describe(walks.paths, start_views(walks))
    correct = [
        tokenise(text) == tokenise(walk.instructions[0]) for text, walk in zip(texts, walks_read, strict=True)
    ]
    assert sum(correct) >= 8  # of ten; a speaker that ignores the walk gives the same text for all
    assert perplexity(speaker, dataset, "train") < 1.5


def test_scores_word_by_word_equal_those_of_teacher_forcing(data: Path) -> None:
    dataset = Dataset(data)
    speaker = train_speaker(dataset, "dollhouse", SpeakerConfig(**{**QUICK, "epochs": 1}))
    batches = SpeakerBatches.of(dataset, "val_seen", speaker.vocabulary, 80)
    walks = dataset.walks("val_seen")
    row, first = batches.texts[0].astype(np.int64), batches.walk[:1]
    with torch.inference_mode():
        encoded = speaker.encode(walks.paths.take(first), start_views(walks)[first])
        previous = torch.from_numpy(np.append(speaker.vocabulary.word_ids[END], row))
        at_once = speaker.network(encoded, previous, torch.tensor([len(previous)]))
        state, one_by_one = None, []
        for word in previous:
            scores, state = speaker.network.next(encoded, word[None], state)
            one_by_one.append(scores[0])
    torch.testing.assert_close(at_once, torch.stack(one_by_one), rtol=1e-4, atol=1e-5)


def test_a_saved_speaker_gives_the_same_texts(data: Path) -> None:
    quick = {**QUICK, "epochs": 1}
    made = augment(data, 30, "augmented", settings=quick, features="dollhouse")
    assert made.walks == 30
    first = (data / "r2r" / "R2R_augmented.json").read_text()
    weights = (data / "speaker" / "weights.safetensors").read_bytes()
    augment(data, 30, "again", settings=quick, features="dollhouse")
    assert (data / "speaker" / "weights.safetensors").read_bytes() == weights  # not trained again
    assert (data / "r2r" / "R2R_again.json").read_text() == first
    assert not verify(data).findings
    dataset = Dataset(data)
    speaker = load_speaker(data / "speaker", dataset)
    assert speaker.config.hidden == QUICK["hidden"]
    drawn = augment(data, 30, "drawn", temperature=1.0, settings=quick, features="dollhouse")
    assert drawn.walks == 30
    assert (data / "r2r" / "R2R_drawn.json").read_text() != first


def test_an_agent_trains_on_a_generated_split(data: Path) -> None:
    from babywalk.commands.train import train_agent

    assert (
        main(["data", "augment", "--data", str(data), "--walks", "40", "--set", "hidden=16", "epochs=1"]) == 0
    )
    dataset = Dataset(data)
    assert "augmented" in dataset.splits
    train = {tuple(path) for path in map(tuple, (dataset.walks("train").paths[row] for row in range(9)))}
    augmented = dataset.walks("augmented")
    assert not train & {tuple(augmented.paths[row]) for row in range(len(augmented))}
    segment_data(data, ["augmented"])
    settings = {
        "imitation": {"iterations": 3, "batch": 4, "mix": "r2r,r2r:augmented"},
        "reinforce": {"lectures": 0},
        "validate_on": "val_seen:5",
    }
    run = data.parent / "run"
    train_agent("babywalk", data, run, preset="tiny", settings=settings)
    assert (run / "model.safetensors").is_file()
    kept = augment(data, 40, "checked", retraced_by=run, min_ndtw=0.0)
    assert kept.walks == kept.sampled == 40
    (quality,) = report_speaker(data, splits=["val_seen"], follower=run)
    for measures in (quality.on_human_texts, quality.on_speaker_texts):
        assert measures is not None
        assert 0 <= measures["SDTW"] <= measures["SR"] <= 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--split", "train"], "has human instructions"),
        (["--split", "a b"], "is not valid"),
        (["--walks", "0"], "at least 1"),
        (["--temperature", "-1"], "Give 0, for the most likely words"),
        (["--temperature", "nan"], "Give 0, for the most likely words"),
        (["--min-ndtw", "1.5"], "min-ndtw = 1.5 is out of range"),
        (["--min-ndtw", "nan"], "min-ndtw = nan is out of range"),
        (["--retraced-by", "nowhere"], "nowhere: is neither a run nor a model"),
        (["--set", "hiden=3"], "Did you mean hidden"),
        (["--set", "epochs=0"], "epochs = 0 is out of range"),
        (["--set", "learning_rate=-1"], "learning_rate = -1.0 is out of range"),
        (["--set", "weight_decay=-1"], "weight_decay = -1.0 is out of range"),
        (["--set", "mirror=2"], "mirror = 2.0 is out of range"),
    ],
)
def test_invalid_options_are_refused_and_nothing_is_written(
    data: Path, arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    before = sorted(file.name for file in (data / "r2r").iterdir())
    assert main(["data", "augment", "--data", str(data), *arguments]) == 2
    assert message in capsys.readouterr().err
    assert sorted(file.name for file in (data / "r2r").iterdir()) == before
    assert not (data / "speaker").exists()


def test_a_missing_split_in_the_mix_is_named(data: Path, tmp_path: Path) -> None:
    settings = {"imitation": {"mix": "r2r:augmented"}}
    with pytest.raises(ConfigError, match="augmented"):
        train_agent("babywalk", data, tmp_path / "run", preset="tiny", settings=settings)


def test_a_split_without_goals_is_refused_in_the_mix(data: Path, tmp_path: Path) -> None:
    for stage in ("imitation", "reinforce"):
        with pytest.raises(ConfigError, match="r2r test has no goals to learn from"):
            train_agent(
                "babywalk", data, tmp_path / "run", preset="tiny", settings={stage: {"mix": "r2r:test"}}
            )


def test_a_task_without_episodes_is_refused_in_the_mix(data: Path, tmp_path: Path) -> None:
    augment(data, 1, "augmented", settings={"hidden": 8, "epochs": 1})
    assert not len(Dataset(data).build("r4r", "augmented"))  # one walk, and its end is far from its start
    settings = {"reinforce": {"mix": "r4r:augmented"}}
    with pytest.raises(ConfigError, match="r4r augmented has no episodes to learn from"):
        train_agent("babywalk", data, tmp_path / "run", preset="tiny", settings=settings)


def test_the_manifest_records_how_each_split_was_generated(data: Path) -> None:
    quick = {**QUICK, "epochs": 1}
    augment(data, 5, "augmented", settings=quick, features="dollhouse", seed=3)
    augment(data, 5, "drawn", settings=quick, features="dollhouse", temperature=0.5)
    assert json.loads((data / "r2r" / "manifest.json").read_text())["details"]["augmented"] == {
        "augmented": {"seed": 3, "temperature": 0.0, "features": "dollhouse"},
        "drawn": {"seed": 0, "temperature": 0.5, "features": "dollhouse"},
    }


def test_a_speaker_of_other_features_is_trained_again(data: Path) -> None:
    quick = {**QUICK, "hidden": 8, "epochs": 1}
    for features in ("dollhouse", "none"):
        augment(data, 5, "augmented", settings=quick, features=features)
        assert json.loads((data / "speaker" / "model.json").read_text())["features"] == features


def test_the_default_of_mirror_depends_on_the_features(data: Path) -> None:
    for features, mirror in ((None, 0.5), ("dollhouse", 0.0)):
        augment(data, 5, "augmented", settings={"hidden": 8, "epochs": 1}, features=features)
        kept = json.loads((data / "speaker" / "model.json").read_text())["config"]
        assert kept["mirror"] == mirror


def test_a_split_of_another_origin_is_not_overwritten(data: Path) -> None:
    other = data / "r2r" / "R2R_other.json"
    shutil.copyfile(data / "r2r" / "R2R_val_seen.json", other)
    with pytest.raises(ConfigError, match="'other' was not written by a speaker"):
        augment(data, 5, "other")


def test_missing_splits_are_skipped_or_named(data: Path) -> None:
    (data / "r2r" / "R2R_val_seen.json").unlink()
    assert augment(data, 5, "augmented", settings={"hidden": 8, "epochs": 1}).walks == 5
    assert [quality.split for quality in report_speaker(data)] == ["val_unseen"]
    (data / "r2r" / "R2R_train.json").unlink()
    with pytest.raises(ConfigError, match="Split 'train' is not known"):
        augment(data, 5, "augmented", settings={"hidden": 8, "epochs": 1})


def test_every_instruction_has_at_least_one_word(data: Path) -> None:
    dataset = Dataset(data)
    speaker = train_speaker(dataset, "none", SpeakerConfig(hidden=8, epochs=1))
    speaker.network.word.bias.data[speaker.vocabulary.word_ids[END]] = 1e3  # END becomes the likeliest word
    walks = dataset.walks("val_seen")
    for temperature in (0.0, 1.0):
        texts = speaker.describe(walks.paths, start_views(walks), temperature=temperature)
        assert all(len(tokenise(text)) == 1 for text in texts)
