"""Checkpoints: what a run goes on from, and what it must not go on from."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from babywalk.agents.learned import LearnedAgent
from babywalk.commands import train as train_command
from babywalk.commands.train import train_agent
from babywalk.common.errors import ConfigError, DataError
from babywalk.common.weights import read_tensors, write_tensors
from babywalk.episodes.dataset import Dataset
from babywalk.modules.model import Model, load_model
from babywalk.training import stages
from babywalk.training.checkpoint import Progress, load_checkpoint, save_checkpoint

QUICK: dict[str, Any] = {
    "imitation": {"iterations": 8, "batch": 4},
    "reinforce": {"lectures": 0},
    "validate_every": 3,
    "checkpoint_every": 4,
    "validate_on": "val_seen:4",
    "threads": 1,
}


def train(data: Path, run: Path, *, resume: bool = False, **settings: Any) -> Progress:
    return train_agent("babywalk", data, run, preset="tiny", settings=settings, resume=resume)


def test_a_best_model_of_a_way_that_was_left_is_not_handed_on(
    segmented_dollhouse: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SDTW 0.5 at 3, a checkpoint at 4, 0.9 at 6, stopped at 7; with another rate never above 0.4 again."""
    scores, calls, real = iter([0.5, 0.9]), iter(range(100)), stages.imitation_loss

    def interrupted(logits: torch.Tensor, teacher: torch.Tensor) -> torch.Tensor:
        if next(calls) == 7:
            raise KeyboardInterrupt
        return real(logits, teacher)

    class Scored:
        def __init__(self, *_: object) -> None:
            self.scores = self

        def means(self) -> dict[str, float]:
            return {"SDTW": next(scores)}

    monkeypatch.setattr(train_command, "evaluate", Scored)
    monkeypatch.setattr(stages, "imitation_loss", interrupted)
    with pytest.raises(KeyboardInterrupt):
        train(segmented_dollhouse, tmp_path / "run", **QUICK)
    monkeypatch.setattr(stages, "imitation_loss", real)
    scores = iter([0.4, 0.3])
    done = train(segmented_dollhouse, tmp_path / "run", resume=True, imitation={"learning_rate": 1e-4})
    assert done.bests == {"imitation": 0.4}
    assert load_model(tmp_path / "run").facts["validation"] == {"SDTW": 0.4}


@pytest.fixture(scope="module")
def trained(segmented_dollhouse: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    run = tmp_path_factory.mktemp("trained") / "run"
    train(segmented_dollhouse, run, **QUICK)
    return run


def kept(trained: Path, file: Path) -> Model:
    """A checkpoint of a trained model, whose steps were aligned by "best"."""
    model = load_model(trained)
    model.facts["alignment"] = "best"
    save_checkpoint(file, model, torch.optim.Adam(model.network.parameters()), None, Progress())
    return model


def test_what_was_learned_from_something_else_is_refused(trained: Path, tmp_path: Path) -> None:
    file = tmp_path / "last.safetensors"
    model = kept(trained, file)
    load_checkpoint(file, model)
    for other, what in (
        (replace(model, columns=tuple(reversed(model.columns))), "features"),
        (replace(model, facts={"alignment": "proportional"}), "alignment"),
    ):
        with pytest.raises(DataError, match=rf"last\.safetensors: was written with other {what} than"):
            load_checkpoint(file, other)


def test_a_damaged_checkpoint_is_told(trained: Path, tmp_path: Path) -> None:
    file = tmp_path / "last.safetensors"
    model = kept(trained, file)
    tensors, about = read_tensors(file, "babywalk checkpoint 3")
    for spoiled in ({**about, "progress": {"hour": 3}}, {**about, "progress": None}):
        write_tensors(file, tensors, spoiled)
        with pytest.raises(DataError, match=r"last\.safetensors: is no whole checkpoint \("):
            load_checkpoint(file, model)
    write_tensors(file, {**tensors, "more/x": torch.zeros(1)}, about)
    with pytest.raises(DataError, match=r"is no whole checkpoint \('more'\)"):
        load_checkpoint(file, model)


def test_features_of_other_names_are_refused(trained: Path, segmented_dollhouse: Path) -> None:
    model = load_model(trained)
    turned = replace(model, columns=tuple(reversed(model.columns)))
    with pytest.raises(DataError, match=r"with the columns 'dollhouse \w+' \('dollhouse \w+' here\)"):
        LearnedAgent(turned, Dataset(segmented_dollhouse))


@pytest.mark.parametrize(
    ("field", "value"), [("word_width", 0), ("view_width", 10**12), ("action_width", -5), ("hidden", 10**9)]
)
def test_a_header_that_asks_for_more_than_there_is(
    trained: Path, tmp_path: Path, field: str, value: int
) -> None:
    tensors, about = read_tensors(trained / "model.safetensors", "babywalk model 1")
    policy = about["policy"] | ({field: value} if field == "hidden" else {})
    write_tensors(tmp_path / "m.safetensors", tensors, {**about, field: value, "policy": policy})
    with pytest.raises(DataError, match=rf"{field} = {value}, and no weight is of that size"):
        load_model(tmp_path / "m.safetensors")


def test_what_cannot_be_validated_is_not_begun(segmented_dollhouse: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="r2r test has no goals to measure against"):
        train(segmented_dollhouse, tmp_path / "run", task="r2r", **{**QUICK, "validate_on": "test"})
    assert not (tmp_path / "run").exists()
