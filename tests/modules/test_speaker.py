"""The speaker: it learns to say what was walked, and what it says is a split like any other."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from babywalk.agents.learned import observer_for
from babywalk.assets.manifest import verify
from babywalk.assets.r2r import read_walks, write_walks
from babywalk.assets.tokens import tokenise
from babywalk.cli import main
from babywalk.commands.augment import augment
from babywalk.commands.data import segment_data
from babywalk.commands.train import train_agent
from babywalk.common.errors import ConfigError
from babywalk.episodes.dataset import Dataset
from babywalk.episodes.vocabulary import END
from babywalk.modules.speaker import SpeakerConfig, load_speaker, written
from babywalk.training.speaker import SpeakerBatches, perplexity, train_speaker

QUICK = {"hidden": 64, "epochs": 60, "batch": 10, "dropout": 0.0, "feature_dropout": 0.0}


@pytest.fixture
def data(segmented_dollhouse: Path, tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    shutil.copytree(segmented_dollhouse, folder)
    return folder


def test_words_are_written_as_one_writes_them() -> None:
    text = "walk past the couch , go up the stairs . stop by the bed ."
    assert written(text.split()) == "Walk past the couch, go up the stairs. Stop by the bed."
    assert tokenise(written(text.split())) == text.split()
    assert written([]) == ""


def test_it_says_of_each_walk_what_was_said_of_it(data: Path) -> None:
    file = data / "r2r" / "R2R_train.json"
    shortlist = [replace(walk, instructions=walk.instructions[:1] * 5) for walk in read_walks(file)[:30:3]]
    write_walks(file, shortlist)
    dataset = Dataset(data)
    observer = observer_for("dollhouse", dataset)
    speaker = train_speaker(
        dataset, "dollhouse", observer, SpeakerConfig(**QUICK, mirror=0.0, learning_rate=5e-3)
    )
    walks = dataset.walks("train")
    told = speaker.tell(walks.paths, walks.headings, dataset.houses, observer)
    right = [
        tokenise(text) == tokenise(walk.instructions[0]) for text, walk in zip(told, shortlist, strict=True)
    ]
    assert sum(right) >= 8  # of ten; who does not look at the walk says the same of all
    assert perplexity(speaker, dataset, "train", observer) < 1.5


def test_what_is_said_word_by_word_is_scored_as_it_is_read_at_once(data: Path) -> None:
    dataset = Dataset(data)
    observer = observer_for("dollhouse", dataset)
    speaker = train_speaker(dataset, "dollhouse", observer, SpeakerConfig(**{**QUICK, "epochs": 1}))
    told = SpeakerBatches.of(dataset, "val_seen", speaker.vocabulary, 80)
    walks = dataset.walks("val_seen")
    row, first = told.texts[0].astype(np.int64), told.walk[:1]
    with torch.inference_mode():
        walked = speaker.walked(
            walks.paths.take(first), walks.headings[first], dataset.houses, told.world, observer
        )
        before = torch.from_numpy(np.append(told.end, row))
        at_once = speaker.network(walked, before, torch.tensor([len(before)]))
        state, one_by_one = None, []
        for word in before:
            scores, state = speaker.network.next(walked, word[None], state)
            one_by_one.append(scores[0])
    torch.testing.assert_close(at_once, torch.stack(one_by_one), rtol=1e-4, atol=1e-5)


def test_a_speaker_that_was_kept_says_the_same(data: Path) -> None:
    quick = {**QUICK, "epochs": 1}
    made = augment(data, 30, "spoken", settings=quick, features="dollhouse")
    assert made.walks == 30
    first = (data / "r2r" / "R2R_spoken.json").read_text()
    weights = (data / "speaker" / "weights.safetensors").read_bytes()
    augment(data, 30, "again", settings=quick, features="dollhouse")
    assert (data / "speaker" / "weights.safetensors").read_bytes() == weights  # not trained anew
    assert (data / "r2r" / "R2R_again.json").read_text() == first
    assert not verify(data).findings
    dataset = Dataset(data)
    speaker = load_speaker(data / "speaker", observer_for("dollhouse", dataset))
    assert speaker.config.hidden == QUICK["hidden"]
    drawn = augment(data, 30, "drawn", temperature=1.0, settings=quick, features="dollhouse")
    assert drawn.walks == 30
    assert (data / "r2r" / "R2R_drawn.json").read_text() != first


def test_an_agent_learns_from_what_was_spoken(data: Path) -> None:
    from babywalk.commands.train import train_agent

    assert (
        main(["data", "speak", "--data", str(data), "--walks", "40", "--set", "hidden=16", "epochs=1"]) == 0
    )
    dataset = Dataset(data)
    assert "spoken" in dataset.splits
    train = {tuple(path) for path in map(tuple, (dataset.walks("train").paths[row] for row in range(9)))}
    spoken = dataset.walks("spoken")
    assert not train & {tuple(spoken.paths[row]) for row in range(len(spoken))}
    segment_data(data, ["spoken"])
    settings = {
        "imitation": {"iterations": 3, "batch": 4, "mix": "r2r,r2r:spoken"},
        "reinforce": {"lectures": 0},
        "validate_on": "val_seen:5",
    }
    run = data.parent / "run"
    train_agent("babywalk", data, run, preset="tiny", settings=settings)
    assert (run / "model.safetensors").is_file()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--split", "train"], "people described"),
        (["--split", "a b"], "no name"),
        (["--walks", "0"], "at least 1"),
        (["--temperature", "-1"], "Give 0 for the likeliest"),
        (["--temperature", "nan"], "Give 0 for the likeliest"),
        (["--set", "hiden=3"], "Did you mean hidden"),
        (["--set", "epochs=0"], "epochs = 0 cannot work"),
        (["--set", "learning_rate=-1"], "learning_rate = -1.0 teaches nothing"),
        (["--set", "weight_decay=-1"], "weight_decay = -1.0 cannot work"),
        (["--set", "mirror=2"], "mirror = 2.0 is no share"),
    ],
)
def test_mistakes_are_answered_and_nothing_is_written(
    data: Path, arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    before = sorted(file.name for file in (data / "r2r").iterdir())
    assert main(["data", "speak", "--data", str(data), *arguments]) == 2
    assert said in capsys.readouterr().err
    assert sorted(file.name for file in (data / "r2r").iterdir()) == before
    assert not (data / "speaker").exists()


def test_a_mixed_task_that_is_not_there_is_named(data: Path, tmp_path: Path) -> None:
    settings = {"imitation": {"mix": "r2r:spoken"}}
    with pytest.raises(ConfigError, match="spoken"):
        train_agent("babywalk", data, tmp_path / "run", preset="tiny", settings=settings)


def test_walks_without_goals_are_not_mixed_in(data: Path, tmp_path: Path) -> None:
    for stage in ("imitation", "reinforce"):
        with pytest.raises(ConfigError, match="r2r test has no goals to learn from"):
            train_agent(
                "babywalk", data, tmp_path / "run", preset="tiny", settings={stage: {"mix": "r2r:test"}}
            )


def test_a_task_without_episodes_is_not_mixed_in(data: Path, tmp_path: Path) -> None:
    augment(data, 1, "spoken", settings={"hidden": 8, "epochs": 1})
    assert not len(Dataset(data).build("r4r", "spoken"))  # one walk, and its end is far from its start
    settings = {"reinforce": {"mix": "r4r:spoken"}}
    with pytest.raises(ConfigError, match="r4r spoken has no episodes to learn from"):
        train_agent("babywalk", data, tmp_path / "run", preset="tiny", settings=settings)


def test_the_manifest_tells_how_each_split_was_spoken(data: Path) -> None:
    quick = {**QUICK, "epochs": 1}
    augment(data, 5, "spoken", settings=quick, features="dollhouse", seed=3)
    augment(data, 5, "drawn", settings=quick, features="dollhouse", temperature=0.5)
    assert json.loads((data / "r2r" / "manifest.json").read_text())["details"]["spoken"] == {
        "spoken": {"seed": 3, "temperature": 0.0, "features": "dollhouse"},
        "drawn": {"seed": 0, "temperature": 0.5, "features": "dollhouse"},
    }


def test_a_speaker_of_other_features_is_learned_anew(data: Path) -> None:
    quick = {**QUICK, "hidden": 8, "epochs": 1}
    for features in ("dollhouse", "none"):
        augment(data, 5, "spoken", settings=quick, features=features)
        assert json.loads((data / "speaker" / "model.json").read_text())["features"] == features


def test_what_is_seen_decides_on_mirrors(data: Path) -> None:
    for features, mirror in ((None, 0.5), ("dollhouse", 0.0)):
        augment(data, 5, "spoken", settings={"hidden": 8, "epochs": 1}, features=features)
        kept = json.loads((data / "speaker" / "model.json").read_text())["config"]
        assert kept["mirror"] == mirror


def test_a_split_of_another_origin_is_not_written_over(data: Path) -> None:
    other = data / "r2r" / "R2R_other.json"
    shutil.copyfile(data / "r2r" / "R2R_val_seen.json", other)
    with pytest.raises(ConfigError, match="'other' has walks that no speaker described here"):
        augment(data, 5, "other")


def test_walks_are_missed_by_their_split(data: Path) -> None:
    (data / "r2r" / "R2R_val_seen.json").unlink()
    made = augment(data, 5, "spoken", settings={"hidden": 8, "epochs": 1})
    assert list(made.perplexity) == ["val_unseen"]
    (data / "r2r" / "R2R_train.json").unlink()
    with pytest.raises(ConfigError, match="Split 'train' is not known"):
        augment(data, 5, "spoken", settings={"hidden": 8, "epochs": 1})


def test_something_is_said_of_every_walk(data: Path) -> None:
    dataset = Dataset(data)
    observer = observer_for("none", dataset)
    speaker = train_speaker(dataset, "none", observer, SpeakerConfig(hidden=8, epochs=1))
    speaker.network.word.bias.data[speaker.vocabulary.numbers[END]] = 1e3  # one that would rather be silent
    walks = dataset.walks("val_seen")
    for temperature in (0.0, 1.0):
        told = speaker.tell(walks.paths, walks.headings, dataset.houses, observer, temperature=temperature)
        assert all(len(tokenise(text)) == 1 for text in told)
