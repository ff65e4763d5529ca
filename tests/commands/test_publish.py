"""Published weights: their scores, and what their card says."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch

import babywalk
from babywalk.agents.learned import LearnedAgent
from babywalk.cli import main
from babywalk.commands.data import make_dollhouse
from babywalk.commands.evaluate import evaluate_agent
from babywalk.commands.publish import publish, rounded
from babywalk.commands.train import train_agent
from babywalk.common.config import from_table
from babywalk.common.errors import ConfigError, DataError
from babywalk.common.files import read_toml
from babywalk.episodes.dataset import Dataset
from babywalk.evaluation.evaluate import evaluate, summarise, walk_all
from babywalk.modules.model import load_model, save_model
from babywalk.training.config import TrainingConfig
from babywalk.training.run_config import read_run_config


@pytest.fixture(scope="module")
def run(segmented_dollhouse: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "run"
    settings = {
        "imitation": {"iterations": 8, "batch": 8},
        "reinforce": {"lectures": 1, "iterations": 2, "batches": [3], "samples": 2},
        "validate_on": "val_seen:5",
        "threads": 1,
    }
    train_agent("babywalk", segmented_dollhouse, folder, preset="tiny", settings=settings)
    return folder


def test_published_weights_give_the_trajectories_of_the_rounded_original(
    run: Path, segmented_dollhouse: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "weights" / "tiny"
    publish(run, folder, precision="float16", tasks=["r2r", "r4r"], split="val_seen:20")
    assert (folder / "model.safetensors").stat().st_size < 0.7 * (run / "model.safetensors").stat().st_size
    model = load_model(folder)
    assert {tensor.dtype for tensor in model.network.state_dict().values()} == {torch.float32}
    original = load_model(run)
    weights = {name: tensor.half().float() for name, tensor in original.network.state_dict().items()}
    original.network.load_state_dict(weights)
    assert all(torch.equal(tensor, weights[name]) for name, tensor in model.network.state_dict().items())
    dataset = Dataset(segmented_dollhouse)
    task = dataset.task("r4r", "val_seen:20")
    walked = walk_all(LearnedAgent(original, dataset), task)
    again = walk_all(babywalk.load(folder, segmented_dollhouse), task)
    assert np.array_equal(walked.viewpoints.values, again.viewpoints.values)
    (_, report) = evaluate_agent(str(folder), segmented_dollhouse, ["r2r", "r4r"], "val_seen:20")
    assert report.measures == summarise(evaluate(task, walked))
    card = (folder / "README.md").read_text()
    row = next(line for line in card.splitlines() if line.startswith("| R4R val_seen, 20 instructions |"))
    assert f"| {report.measures['PL'].mean:.2f} (" in row
    low, high = report.measures["CLS"].low, report.measures["CLS"].high
    assert f"({100 * low:.1f} to {100 * high:.1f})" in row
    assert f"babywalk evaluate {folder} --data DATA --tasks r2r,r4r --split val_seen:20" in card


def test_the_card_shows_step_sizes_and_mixed_tasks(segmented_dollhouse: Path, tmp_path: Path) -> None:
    settings = {
        "policy": {"step_size": 90},
        "imitation": {"iterations": 4, "batch": 8, "mix": "r2r", "sizes": [200]},
        "reinforce": {"lectures": 0},
        "validate_on": "val_seen:5",
        "keep": "last",
        "threads": 1,
    }
    coarse = tmp_path / "run"
    train_agent("babywalk", segmented_dollhouse, coarse, preset="tiny", settings=settings)
    publish(coarse, tmp_path / "w")
    card = (tmp_path / "w" / "README.md").read_text()
    assert "Baby-Steps (`template`, of about 90 characters)" in card
    assert "iteration 4, the last one." in card
    assert "Imitation alternated between these tasks (split train unless given): r4r, r2r." in card
    assert "alternated between Baby-Steps of about 90, 200 characters" in card
    # A typed instruction is segmented with the step size of training.
    agent, task = (
        babywalk.load(tmp_path / "w", segmented_dollhouse),
        Dataset(segmented_dollhouse).task("r4r", "val_seen"),
    )
    episode = task[0]
    followed = agent.follow(episode.scan, episode.path[0], episode.heading, episode.instruction)
    assert len(followed.steps) == max(1, round(len(episode.instruction) / 90))


def test_the_card_of_averaged_weights_lists_their_runs(
    run: Path, segmented_dollhouse: Path, tmp_path: Path
) -> None:
    settings = {
        "init_from": f"{run},{run / 'best' / 'imitation.safetensors'}",
        "imitation": {"iterations": 0},
        "reinforce": {"lectures": 0},
        "validate_on": "val_seen:5",
    }
    mean = tmp_path / "mean"
    train_agent("babywalk", segmented_dollhouse, mean, preset="tiny", settings=settings)
    publish(mean, tmp_path / "w")
    card = (tmp_path / "w" / "README.md").read_text()
    assert "This run had no training iterations" in card
    assert "The weights were initialised from the mean of the weights of babywalk trained on" in card
    assert "It is the mean of the weights of 2 runs" in card


def test_float32_weights_are_unchanged(run: Path, tmp_path: Path) -> None:
    publish(run, tmp_path / "w")
    one, two = (load_model(path).network.state_dict() for path in (run, tmp_path / "w"))
    assert all(torch.equal(one[name], two[name]) for name in one)
    assert (
        "These weights were not evaluated when they were published."
        in (tmp_path / "w" / "README.md").read_text()
    )


def test_the_card_shows_data_settings_and_versions(
    run: Path, segmented_dollhouse: Path, tmp_path: Path
) -> None:
    publish(run, tmp_path / "w", precision="float16")
    card = (tmp_path / "w" / "README.md").read_text()
    assert str(segmented_dollhouse) not in card  # a local path
    assert "Made by BabyWalk's Dollhouse: free of any licence." in card
    assert "CC BY-SA 4.0" in card  # of the tagger
    assert f"torch {torch.__version__}" in card
    assert "Seed 0; 10 iterations in total." in card
    assert "| lecture 1 |" in card
    task = Dataset(segmented_dollhouse).task("r4r", "train")
    assert f"r4r train: {len(task):,} instructions" in card
    assert "rounded to float16" in card
    recipe = tmp_path / "recipe.toml"
    recipe.write_text(card.partition("```toml\n")[2].partition("```")[0])
    settings = read_toml(recipe)
    assert settings.pop("agent") == "babywalk"
    assert from_table(TrainingConfig, settings) == read_run_config(run).config()


def test_results_of_evaluate_are_added_to_the_card(
    run: Path, segmented_dollhouse: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    base = ["evaluate", str(run), "--data", str(segmented_dollhouse), "--tasks", "r2r"]
    assert main([*base, "--split", "val_seen:7", "--json"]) == 0
    results = tmp_path / "results.json"
    results.write_text(capsys.readouterr().out)
    folder = tmp_path / "w"
    assert main(["publish", str(run), str(folder), "--results", str(results)]) == 0
    assert "model.safetensors" in capsys.readouterr().out
    card = (folder / "README.md").read_text()
    assert "| R2R val_seen, 7 instructions |" in card
    assert f"Evaluated before publishing: `{run.name}`, from `results.json`." in card
    for spec, code in (("beam:size=2,known_map=true", 2), ("beam:size=2", 0)):
        assert main([*base, "--split", "val_seen:7", "--decode", spec, "--json"]) == 0
        results.write_text(capsys.readouterr().out)
        assert main(["publish", str(run), str(tmp_path / "other"), "--results", str(results)]) == code
        message = "is of an agent that had the map of the house. A card compares agents that walk all"
        assert (message in capsys.readouterr().err) == bool(code)
    assert "| R2R val_seen, 7 instructions, beam:size=2 |" in (tmp_path / "other" / "README.md").read_text()


def test_invalid_arguments_are_reported(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "x").touch()
    other = tmp_path / "other.json"
    other.write_text(json.dumps({"agent": [{"task": "r2r"}]}))
    for arguments, message in (
        ([str(tmp_path), "w"], "is not a run directory: it contains no config.json."),
        ([str(run), str(tmp_path / "full")], "is not empty. Give a new folder for the weights."),
        ([str(run), "w", "--precision", "float8"], "Precision 'float8' is not known. Did you mean"),
        ([str(run), "w", "--tasks", "r5r"], "Task 'r5r' is not known."),
        ([str(run), "w", "--results", str(other)], "is not the output of 'babywalk evaluate --json'."),
    ):
        placed = [str(tmp_path / "w") if one == "w" else one for one in arguments]
        assert main(["publish", *placed]) == 2
        assert message in capsys.readouterr().err
        assert not (tmp_path / "w").exists()


def test_data_with_another_vocabulary_are_rejected(run: Path, tmp_path: Path) -> None:
    from babywalk.assets.dollhouse import DollhouseConfig

    make_dollhouse(tmp_path / "other", DollhouseConfig(houses=3, seed=5))
    with pytest.raises(DataError, match="the vocabulary differs"):
        publish(run, tmp_path / "w", data=tmp_path / "other")


def test_published_weights_need_a_data_directory(run: Path, tmp_path: Path) -> None:
    publish(run, tmp_path / "w")
    with pytest.raises(ConfigError, match="does not name the data it was trained on"):
        babywalk.load(tmp_path / "w")


def test_loading_checks_names_types_and_range(run: Path, tmp_path: Path) -> None:
    model = load_model(run)
    weights = rounded(model, "float16")
    name = next(iter(weights))
    file = tmp_path / "m.safetensors"
    save_model(file, model, {**weights, name: weights[name].to(torch.int8)})
    with pytest.raises(DataError, match=r"is torch\.int8; expected torch\.float32"):
        load_model(file)
    save_model(file, model, {key: tensor for key, tensor in weights.items() if key != name})
    with pytest.raises(DataError, match="weights missing"):
        load_model(file)
    with torch.no_grad():
        next(model.network.parameters()).fill_(1e6)
    with pytest.raises(DataError, match=r"is NaN, infinite or too large for float16\. Use float32"):
        rounded(model, "float16")
