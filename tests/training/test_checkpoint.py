"""Checkpoints: what a run resumes from, and what it must refuse."""

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
from babywalk.modules.model import FORMAT as MODEL_FORMAT
from babywalk.modules.model import Model, load_model
from babywalk.training import imitation
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


def test_best_model_newer_than_the_checkpoint_is_ignored(
    segmented_dollhouse: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SDTW 0.5 at 3, a checkpoint at 4, 0.9 at 6, killed at 7; with another learning rate never above 0.4."""
    scores, calls, real = iter([0.5, 0.9]), iter(range(100)), imitation.imitation_loss

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
    monkeypatch.setattr(imitation, "imitation_loss", interrupted)
    with pytest.raises(KeyboardInterrupt):
        train(segmented_dollhouse, tmp_path / "run", **QUICK)
    monkeypatch.setattr(imitation, "imitation_loss", real)
    scores = iter([0.4, 0.3])
    done = train(segmented_dollhouse, tmp_path / "run", resume=True, imitation={"learning_rate": 1e-4})
    assert done.bests == {"imitation": 0.4}
    assert load_model(tmp_path / "run").facts["validation"] == {"SDTW": 0.4}


@pytest.fixture(scope="module")
def trained(segmented_dollhouse: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    run = tmp_path_factory.mktemp("trained") / "run"
    train(segmented_dollhouse, run, **QUICK)
    return run


def write_checkpoint(trained: Path, file: Path) -> Model:
    """Write a checkpoint of a trained model with the alignment "best"; returns the model."""
    model = load_model(trained)
    model.facts["alignment"] = "best"
    save_checkpoint(file, model, torch.optim.Adam(model.network.parameters()), None, Progress())
    return model


def test_checkpoint_of_other_data_is_refused(trained: Path, tmp_path: Path) -> None:
    file = tmp_path / "last.safetensors"
    model = write_checkpoint(trained, file)
    load_checkpoint(file, model)
    for other, what in (
        (replace(model, columns=tuple(reversed(model.columns))), "features"),
        (replace(model, facts={"alignment": "proportional"}), "alignment"),
    ):
        with pytest.raises(DataError, match=rf"last\.safetensors: .* data with different {what}\."):
            load_checkpoint(file, other)


def test_damaged_checkpoint_is_reported(trained: Path, tmp_path: Path) -> None:
    file = tmp_path / "last.safetensors"
    model = write_checkpoint(trained, file)
    tensors, about = read_tensors(file, "babywalk checkpoint 4")
    for damaged in ({**about, "progress": {"hour": 3}}, {**about, "progress": None}):
        write_tensors(file, tensors, damaged)
        with pytest.raises(DataError, match=r"last\.safetensors: is not a complete checkpoint \("):
            load_checkpoint(file, model)
    write_tensors(file, {**tensors, "more/x": torch.zeros(1)}, about)
    with pytest.raises(DataError, match=r"is not a complete checkpoint \('more/x' is neither a weight"):
        load_checkpoint(file, model)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("stage", "1"),
        ("stage", 1),  # without the best model of stage 0
        ("iteration", 10**400),
        ("iteration", 3),  # more than in total, and of no stage
        ("total", -1),
        ("total", None),
        ("best", "high"),
        ("best", float("nan")),
        ("bests", [0.5]),
        ("bests", {"imitation": "x"}),
        ("baseline", 10**400),
    ],
)
def test_progress_of_another_type_or_out_of_range_is_refused(
    trained: Path, tmp_path: Path, field: str, value: Any
) -> None:
    file = tmp_path / "last.safetensors"
    model = write_checkpoint(trained, file)
    tensors, about = read_tensors(file, "babywalk checkpoint 4")
    write_tensors(file, tensors, {**about, "progress": {**about["progress"], field: value}})
    with pytest.raises(DataError, match=r"last\.safetensors: is not a complete checkpoint \(.*progress"):
        load_checkpoint(file, model)


def test_state_of_the_optimiser_must_fit_the_weights(trained: Path, tmp_path: Path) -> None:
    file = tmp_path / "last.safetensors"
    model = load_model(trained)
    optimiser = torch.optim.Adam(model.network.parameters())
    for weight in model.network.parameters():
        weight.grad = torch.ones_like(weight)
    optimiser.step()
    save_checkpoint(file, model, optimiser, None, Progress())
    tensors, about = read_tensors(file, "babywalk checkpoint 4")
    name = next(name for name in tensors if name.startswith("optimiser/exp_avg/"))
    assert load_checkpoint(file, model)[2]
    for value, message in (
        (None, "the optimiser has no exp_avg of weight"),
        (torch.zeros(1, 2, 3), "has another shape or is not finite"),
        (torch.full_like(tensors[name], torch.nan), "has another shape or is not finite"),
    ):
        changed = {key: tensor for key, tensor in tensors.items() if key != name}
        write_tensors(file, changed if value is None else {**changed, name: value}, about)
        with pytest.raises(DataError, match=message):
            load_checkpoint(file, model)


def test_checkpoint_of_an_older_version_is_refused(trained: Path, tmp_path: Path) -> None:
    file = tmp_path / "last.safetensors"
    model = write_checkpoint(trained, file)
    tensors, about = read_tensors(file, "babywalk checkpoint 4")
    write_tensors(file, tensors, {**about, "format": "babywalk checkpoint 3"})
    with pytest.raises(DataError, match=r"expected 'babywalk checkpoint 4'\. It was written by another"):
        load_checkpoint(file, model)


def test_features_with_other_names_are_refused(trained: Path, segmented_dollhouse: Path) -> None:
    model = load_model(trained)
    reversed_columns = replace(model, columns=tuple(reversed(model.columns)))
    with pytest.raises(DataError, match=r"with the columns 'dollhouse \w+' \('dollhouse \w+' here\)"):
        LearnedAgent(reversed_columns, Dataset(segmented_dollhouse))


@pytest.mark.parametrize(
    ("field", "value"), [("word_width", 0), ("view_width", 10**12), ("action_width", -5), ("hidden", 10**9)]
)
def test_header_with_wrong_sizes_is_refused(trained: Path, tmp_path: Path, field: str, value: int) -> None:
    tensors, about = read_tensors(trained / "model.safetensors", MODEL_FORMAT)
    policy = about["policy"] | ({field: value} if field == "hidden" else {})
    write_tensors(tmp_path / "m.safetensors", tensors, {**about, field: value, "policy": policy})
    with pytest.raises(DataError, match=rf"{field} = {value}, but no weight has that size"):
        load_model(tmp_path / "m.safetensors")


def test_run_that_cannot_be_validated_is_not_started(segmented_dollhouse: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="r2r test has no goals to score against"):
        train(segmented_dollhouse, tmp_path / "run", task="r2r", **{**QUICK, "validate_on": "test"})
    assert not (tmp_path / "run").exists()
