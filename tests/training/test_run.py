"""Whole runs on the built-in data: training, failures, and resuming."""

from __future__ import annotations

import csv
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from babywalk.agents.learned import LearnedAgent
from babywalk.cli import main
from babywalk.commands import train
from babywalk.commands.evaluate import evaluate_agent, score_results
from babywalk.commands.follow import load_agent
from babywalk.commands.train import train_agent
from babywalk.common.config import from_table
from babywalk.common.errors import ConfigError, DataError
from babywalk.common.files import exclusive_lock
from babywalk.decoding.decoders import Sample
from babywalk.decoding.episode_batch import EpisodeBatches
from babywalk.decoding.rollout import Walkers
from babywalk.episodes.dataset import Dataset
from babywalk.episodes.vocabulary import Vocabulary
from babywalk.modules.config import DECODERS
from babywalk.modules.decoder import Decision
from babywalk.modules.memory import SUMMARIES
from babywalk.modules.model import load_model
from babywalk.training import imitation, loop, reinforcement
from babywalk.training.checkpoint import Progress
from babywalk.training.config import TrainingConfig
from babywalk.training.loop import DivergedError

QUICK: dict[str, Any] = {
    "imitation": {"iterations": 6, "batch": 8},
    "reinforce": {"lectures": 2, "iterations": 3, "batches": [3, 3], "samples": 2, "imitation": 0.1},
    "validate_every": 3,
    "checkpoint_every": 2,
    "validate_on": "val_seen:6",
    "threads": 1,
}


def quick_training(data: Path, run: Path, settings: dict[str, Any] = QUICK) -> list[str]:
    """The arguments of the command that trains quickly."""
    flat = [f"{name}={json.dumps(value)}" for name, value in settings.items() if not isinstance(value, dict)]
    for table in ("imitation", "reinforce"):
        flat += [f"{table}.{name}={json.dumps(value)}" for name, value in settings[table].items()]
    return ["train", "babywalk", "--data", str(data), "--run", str(run), "--preset", "tiny", "--set", *flat]


def rows(run: Path) -> list[dict[str, str]]:
    with (run / "metrics.csv").open() as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("decoder", DECODERS)
@pytest.mark.parametrize("memory", SUMMARIES)
def test_every_memory_and_decoder_trains(
    segmented_dollhouse: Path, tmp_path: Path, decoder: str, memory: str
) -> None:
    settings = {**QUICK, "policy": {"decoder": decoder, "memory": memory}, "averaging": 0.9}
    done = train_agent("babywalk", segmented_dollhouse, tmp_path / "run", preset="tiny", settings=settings)
    assert list(done.bests) == ["imitation", "lecture 1", "lecture 2"]
    assert done.total == 6 + 3 + 3
    model = load_model(tmp_path / "run")
    assert (model.config.decoder, model.config.memory) == (decoder, memory)
    assert model.facts["stage"] == "lecture 2"


def test_plain_reinforcement_learning_walks_all_steps(
    segmented_dollhouse: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One stage after imitation, with trajectories from the start of the path."""
    seen: list[tuple[int, int]] = []
    real = EpisodeBatches.batch

    def recorded(batches: EpisodeBatches, episodes: Any, first: Any, last: Any, **options: Any) -> Any:
        if batches.steps.task.split == "train":
            seen.append((len(episodes), int(first.sum())))
            assert len(seen) <= 2 or (last == batches.count[episodes]).all()
        return real(batches, episodes, first, last, **options)

    monkeypatch.setattr(EpisodeBatches, "batch", recorded)
    whole = {"whole": True, "lectures": 4, "iterations": 3, "batches": [5, 3], "samples": 2}
    settings = {**QUICK, "imitation": {"iterations": 2, "batch": 4}, "reinforce": whole}
    run = tmp_path / "run"
    done = train_agent("babywalk", segmented_dollhouse, run, preset="tiny", settings=settings)
    assert list(done.bests) == ["imitation", "reinforce"]
    assert done.total == 2 + 3
    assert seen[2:] == [(3, 0)] * 3  # the last batch size, and no history of the expert
    assert {"loss", "reward", "val SDTW"} <= {row["name"] for row in rows(run) if row["stage"] == "reinforce"}
    assert load_model(run).facts["stage"] == "reinforce"


@pytest.fixture(scope="module")
def trained(segmented_dollhouse: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A quick run without interruption."""
    run = tmp_path_factory.mktemp("runs") / "whole"
    train_agent("babywalk", segmented_dollhouse, run, preset="tiny", settings=QUICK)
    return run


def test_run_directory_contains_settings_log_and_models(trained: Path) -> None:
    config = json.loads((trained / "config.json").read_text())
    assert config["agent"] == "babywalk"
    assert config["imitation"]["iterations"] == 6
    assert json.loads((trained / "result.json").read_text())["total"] == 12
    assert "torch" in json.loads((trained / "versions.json").read_text())
    assert list((trained / "tensorboard").iterdir())
    assert {path.name for path in (trained / "best").iterdir()} == {
        "imitation.safetensors",
        "lecture_1.safetensors",
        "lecture_2.safetensors",
    }
    for stage, own in (("imitation", "accuracy"), ("lecture 1", "reward"), ("lecture 2", "reward")):
        names = {row["name"] for row in rows(trained) if row["stage"] == stage}
        assert {"loss", "gradient", own, "val SDTW", "val CLS"} <= names  # however short the stage


def test_progress_bar_shows_the_status_of_a_run(
    segmented_dollhouse: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown: list[tuple[str, str]] = []

    class Bar:
        def __init__(self, items: range, what: str, *, total: int, done: int, text_only: bool) -> None:
            self.items, self.what = items, what
            assert len(items) == total - done
            assert text_only  # a bar would leave no space for the status

        def __iter__(self) -> Iterator[int]:
            return iter(self.items)

        def set_postfix_str(self, text: str, *, refresh: bool) -> None:
            assert not refresh  # drawn a few times a second, not once per iteration
            shown.append((self.what, text))

    monkeypatch.setattr(loop, "progress_bar", Bar)
    train_agent("babywalk", segmented_dollhouse, tmp_path / "run", preset="tiny", settings=QUICK)
    number = r"-?\d+\.\d{2}"
    first, last = shown[0], shown[-1]
    assert first[0] == "imitation"
    assert re.fullmatch(rf"loss {number}, accuracy {number}", first[1])
    assert last[0] == "lecture 2"
    assert re.fullmatch(
        rf"loss {number}, reward {number}, best SDTW \d+\.\d, accuracy {number}, policy {number}, "
        rf"imitation {number}",
        last[1],
    )


def test_evaluation_of_a_run_equals_that_of_its_saved_trajectories(
    trained: Path, segmented_dollhouse: Path, tmp_path: Path
) -> None:
    reports = evaluate_agent(
        str(trained), segmented_dollhouse, ["r2r", "r4r"], "val_seen:10", trajectories=tmp_path
    )
    assert [report.task for report in reports] == ["r2r", "r4r"]
    again = score_results(tmp_path / "r4r_val_seen_10.json", segmented_dollhouse, "r4r", "val_seen:10")
    assert again.measures == reports[1].measures


def test_step_size_can_be_changed_for_evaluation(
    trained: Path, segmented_dollhouse: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Larger steps are fewer; agents that read no instruction have no step size."""
    dataset = Dataset(segmented_dollhouse)
    task = dataset.task("r4r", "val_seen:10")
    sizes = (None, 0, 100, 10_000)
    own, *counts = (
        load_agent(trained, segmented_dollhouse, step_size=size).batches(task).count.sum() for size in sizes
    )
    assert own == counts[0] > counts[1] > counts[2] == len(task)
    on = ["--data", str(segmented_dollhouse), "--tasks", "r4r", "--split", "val_seen:10"]
    assert main(["evaluate", str(trained), *on, "--step-size", "100"]) == 0
    for wrong, message in (
        (["random", "--step-size", "9"], "Agent 'random' does not read instructions"),
        ([str(trained), "--step-size", "-1"], "step_size = -1 is negative"),
        ([str(trained), "--step-size", "9", "--baby-steps"], "Give one of them"),
    ):
        assert main(["evaluate", *wrong, *on]) == 2
        assert message in capsys.readouterr().err


def test_lecture_without_improvement_keeps_its_initial_model(
    segmented_dollhouse: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every validation is worse than the one before: the result is the first model that was validated."""
    falling = iter(range(100, 0, -1))

    class Worsening(loop.Trainer):
        def __init__(self, *given: Any) -> None:
            super().__init__(*given[:-1], lambda: {"SDTW": next(falling) / 100})

    monkeypatch.setattr(train, "Trainer", Worsening)
    run = tmp_path / "run"
    reinforce = {**QUICK["reinforce"], "lectures": 1}
    settings = {**QUICK, "reinforce": reinforce, "imitation": {"iterations": 2, "batch": 4}}
    done = train_agent("babywalk", segmented_dollhouse, run, preset="tiny", settings=settings)
    assert done.bests == {"imitation": 1.0, "lecture 1": 0.99}
    kept = load_model(run)
    before = load_model(run / "best" / "imitation.safetensors").network.state_dict()
    assert kept.facts["iteration"] == 0
    assert all(torch.equal(before[name], weight) for name, weight in kept.network.state_dict().items())
    # The same holds for the first stage of a run that is initialised from this model.
    again = {**settings, "imitation": {"iterations": 0}, "init_from": str(run)}
    train_agent("babywalk", segmented_dollhouse, tmp_path / "again", preset="tiny", settings=again)
    weights = load_model(tmp_path / "again").network.state_dict()
    assert all(torch.equal(before[name], weight) for name, weight in weights.items())
    # With keep = "last" the last model is the result, however bad.
    last = {**again, "keep": "last"}
    train_agent("babywalk", segmented_dollhouse, tmp_path / "last", preset="tiny", settings=last)
    model = load_model(tmp_path / "last")
    assert model.facts["iteration"] == reinforce["iterations"]
    assert not torch.equal(before["first_hidden.weight"], model.network.state_dict()["first_hidden.weight"])


def test_lower_temperature_samples_the_best_action_more_often(
    trained: Path, segmented_dollhouse: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """At a very low temperature every sample is the best action; at a high one few are."""
    share: dict[float, list[float]] = {}

    class RecordedSample(Sample):
        def __call__(self, decision: Decision, walkers: Walkers) -> torch.Tensor:
            actions = super().__call__(decision, walkers)
            best = decision.logits.argmax(dim=1)
            share.setdefault(self.temperature, []).append(float((actions == best).float().mean()))
            return actions

    monkeypatch.setattr(reinforcement, "Sample", RecordedSample)
    for temperature in (1e-3, 1.0, 100.0):
        reinforce = {**QUICK["reinforce"], "temperature": temperature}
        train_agent(
            "babywalk", segmented_dollhouse, tmp_path / str(temperature), preset="tiny",
            settings={**QUICK, "reinforce": reinforce, "init_from": str(trained)},
        )  # fmt: skip
    cold, own, hot = (np.mean(share[temperature]) for temperature in (1e-3, 1.0, 100.0))
    assert cold > 0.99
    assert cold > own > hot
    with pytest.raises(ConfigError, match="temperature = 0"):
        train_agent(
            "babywalk", segmented_dollhouse, tmp_path / "no", preset="tiny",
            settings={"reinforce": {"temperature": 0.0}},
        )  # fmt: skip


def test_mirrored_batches_give_other_weights(segmented_dollhouse: Path, tmp_path: Path) -> None:
    """With all batches mirrored, or half of them, the weights differ from those without mirroring."""
    found = {}
    for share in (0.0, 0.5, 1.0):
        run = tmp_path / str(share)
        settings = {**QUICK, "mirror": share}
        train_agent("babywalk", segmented_dollhouse, run, preset="tiny", settings=settings)
        found[share] = load_model(run / "best" / "imitation.safetensors").network.state_dict()
    text = "text.lstm.weight_ih_l0"
    assert not any(torch.equal(found[0.0][text], found[share][text]) for share in (0.5, 1.0))
    with pytest.raises(ConfigError, match="mirror = 2"):
        train_agent("babywalk", segmented_dollhouse, tmp_path / "no", preset="tiny", settings={"mirror": 2.0})


def test_run_can_be_initialised_from_another_agent(
    trained: Path, segmented_dollhouse: Path, tmp_path: Path
) -> None:
    """An agent with a memory takes all weights of one without, and keeps its own memory."""
    plain, over = tmp_path / "plain", {**QUICK, "reinforce": {"lectures": 0}}
    train_agent("seq2seq", segmented_dollhouse, plain, preset="tiny", settings=over)
    frozen = {**over, "init_from": str(plain), "imitation": {"iterations": 3, "learning_rate": 0.0}}
    initialised = tmp_path / "initialised"
    train_agent("babywalk", segmented_dollhouse, initialised, preset="tiny", settings=frozen)
    before, after = (load_model(run).network.state_dict() for run in (plain, initialised))
    assert before.keys() < after.keys()
    assert all(torch.equal(after[name], weight) for name, weight in before.items())
    assert {name.split(".")[0] for name in after.keys() - before.keys()} == {"trajectory"}
    assert load_model(initialised).facts["init_from"][0]["agent"] == "seq2seq"
    # A trained memory is taken by an agent with a memory, and left out by one without.
    for agent in ("babywalk", "seq2seq"):
        run, again = tmp_path / agent, {**frozen, "init_from": str(trained)}
        train_agent(agent, segmented_dollhouse, run, preset="tiny", settings=again)
        loaded, learned = load_model(run).network.state_dict(), load_model(trained).network.state_dict()
        assert all(torch.equal(learned[name], weight) for name, weight in loaded.items())
    # An agent with another decoder takes the encoders and the memory, and nothing else.
    run, other = (
        tmp_path / "coground",
        {**frozen, "init_from": str(trained), "policy": {"decoder": "coground"}},
    )
    train_agent("babywalk", segmented_dollhouse, run, preset="tiny", settings=other)
    loaded = load_model(run).network.state_dict()
    equal = {name for name in loaded.keys() & learned.keys() if torch.equal(loaded[name], learned[name])}
    assert {name.split(".")[0] for name in loaded.keys() - equal} == {"decoder"}
    assert not any(name.startswith("decoder") for name in equal)


def test_run_can_be_initialised_from_the_mean_of_others(
    trained: Path, segmented_dollhouse: Path, tmp_path: Path
) -> None:
    """Without stages the mean is the result."""
    over = {**QUICK, "reinforce": {"lectures": 0}, "seed": 5, "init_from": str(trained), "keep": "last"}
    train_agent("babywalk", segmented_dollhouse, tmp_path / "on", preset="tiny", settings=over)
    mean = {**over, "imitation": {"iterations": 0}, "init_from": f"{trained},{tmp_path / 'on'}"}
    run = tmp_path / "mean"
    done = train_agent("babywalk", segmented_dollhouse, run, preset="tiny", settings=mean)
    one, two, found = (load_model(file).network.state_dict() for file in (trained, tmp_path / "on", run))
    assert not torch.equal(one["first_hidden.weight"], two["first_hidden.weight"])
    assert all(torch.allclose(found[name], (one[name] + two[name]) / 2, atol=1e-7) for name in found)
    assert [facts["seed"] for facts in load_model(run).facts["init_from"]] == [0, 5]
    assert done.bests.keys() == {"none"}
    with pytest.raises(ConfigError, match="The run has no stage and no initial model"):
        train_agent(
            "babywalk", segmented_dollhouse, tmp_path / "no", preset="tiny",
            settings={"reinforce": {"lectures": 0}, "imitation": {"iterations": 0}},
        )  # fmt: skip


def test_imitation_alternates_between_tasks_and_step_sizes(
    segmented_dollhouse: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run's task with its own step size, then the other task, then both with the next size, and again."""
    seen, real = [], imitation.imitate

    def recorded(rollout: Any, episodes: Any, *rest: Any, **options: Any) -> Any:
        seen.append((episodes.steps.task.name, float(episodes.count.mean())))
        return real(rollout, episodes, *rest, **options)

    monkeypatch.setattr(imitation, "imitate", recorded)
    chosen = {"iterations": 6, "batch": 4, "mix": "r2r", "sizes": [150]}
    over = {**QUICK, "imitation": chosen, "reinforce": {"lectures": 0}}
    train_agent("babywalk", segmented_dollhouse, tmp_path / "run", preset="tiny", settings=over)
    assert [task for task, _ in seen] == ["r4r", "r2r"] * 3
    counts = [count for _, count in seen]
    assert counts[:2] == counts[4:]
    assert counts[2] < counts[0]
    assert counts[3] < counts[1]
    with pytest.raises(ConfigError, match=r"imitation.sizes = \[-1\] has a negative size"):
        train_agent(
            "babywalk", segmented_dollhouse, tmp_path / "no", preset="tiny",
            settings={"imitation": {"sizes": [-1]}},
        )  # fmt: skip


def test_reinforcement_alternates_between_tasks(
    segmented_dollhouse: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lengths, real = [], reinforcement.episode_rewards

    def recorded(kind: str, houses: Any, walked: Any, references: Any) -> Any:
        lengths.append(float(references.lengths.mean()))
        return real(kind, houses, walked, references)

    monkeypatch.setattr(reinforcement, "episode_rewards", recorded)
    chosen = {"lectures": 1, "iterations": 4, "batches": [8], "mix": "r2r"}
    over = {**QUICK, "imitation": {"iterations": 0}, "reinforce": chosen}
    train_agent("babywalk", segmented_dollhouse, tmp_path / "run", preset="tiny", settings=over)
    long, short, long_again, short_again = lengths
    assert min(long, long_again) > max(short, short_again)


@pytest.mark.parametrize(
    ("change", "words"),
    [({"features": "none"}, "another set of features"), ({"policy": {"hidden": 16}}, "has the shape")],
)
def test_run_cannot_be_initialised_from_a_model_that_does_not_fit(
    trained: Path, segmented_dollhouse: Path, tmp_path: Path, change: dict[str, object], words: str
) -> None:
    with pytest.raises(DataError, match=words):
        train_agent(
            "babywalk", segmented_dollhouse, tmp_path / "run", preset="tiny",
            settings={**QUICK, "init_from": str(trained), **change},
        )  # fmt: skip
    assert not (tmp_path / "run").exists()


def test_chained_steps_are_walked_in_a_row(
    segmented_dollhouse: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With teacher forcing, chains of up to five steps have more decisions."""
    decisions = {}
    for chain in (1, 5):
        seen: list[int] = []

        def counted(logits: torch.Tensor, teacher: torch.Tensor, seen: list[int] = seen) -> torch.Tensor:
            seen.append(len(teacher))
            return torch.nn.functional.cross_entropy(logits, teacher)

        monkeypatch.setattr(imitation, "imitation_loss", counted)
        forced = {"iterations": 6, "batch": 16, "chain": chain, "teacher_share": 1.0}
        settings = {**QUICK, "imitation": forced, "reinforce": {"lectures": 0}}
        run = tmp_path / str(chain)
        train_agent("babywalk", segmented_dollhouse, run, preset="tiny", settings=settings)
        decisions[chain] = sum(seen)
    assert 1.3 * decisions[1] < decisions[5] < 4 * decisions[1]


def test_every_second_batch_is_of_the_mixed_task(
    segmented_dollhouse: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str] = []
    real = EpisodeBatches.batch

    def recorded(batches: EpisodeBatches, *steps: Any, **options: Any) -> Any:
        seen.append(f"{batches.steps.task.name} {batches.steps.task.split}")
        return real(batches, *steps, **options)

    monkeypatch.setattr(EpisodeBatches, "batch", recorded)
    settings = {
        **QUICK,
        "imitation": {"iterations": 4, "batch": 8, "mix": "r2r"},
        "reinforce": {"lectures": 0},
    }
    train_agent(
        "babywalk", segmented_dollhouse, tmp_path / "run", task="r4r", preset="tiny", settings=settings
    )
    assert [name for name in seen if "train" in name] == ["r4r train", "r2r train"] * 2


# Long enough to be killed in the middle of a stage, with everything that a checkpoint can contain.
LONGER: dict[str, Any] = {
    **QUICK,
    "imitation": {**QUICK["imitation"], "iterations": 10},
    "reinforce": {**QUICK["reinforce"], "iterations": 10},
    "averaging": 0.9,
}


@pytest.fixture(scope="module")
def uninterrupted(segmented_dollhouse: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The longer run without interruption."""
    run = tmp_path_factory.mktemp("runs") / "longer"
    train_agent("babywalk", segmented_dollhouse, run, preset="tiny", settings=LONGER)
    return run


def reached(run: Path) -> tuple[int, int]:
    """The stage and the iteration from which a run would resume."""
    from safetensors import safe_open

    if not (run / "last.safetensors").exists():
        return 0, 0
    with safe_open(run / "last.safetensors", framework="pt") as opened:
        progress = json.loads(opened.metadata()["babywalk"])["progress"]
    return progress["stage"], progress["iteration"]


@pytest.mark.slow
@pytest.mark.parametrize("stage", [0, 1], ids=["imitation", "lecture 1"])
def test_killed_and_resumed_run_gives_the_same_weights(
    uninterrupted: Path, segmented_dollhouse: Path, tmp_path: Path, stage: int
) -> None:
    """Killed within a stage: the optimiser, the averaged weights and the baseline are restored too."""
    run = tmp_path / "run"
    command = [sys.executable, "-m", "babywalk", *quick_training(segmented_dollhouse, run, LONGER)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 300
    while reached(run) <= (stage, 0) and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    at, iteration = reached(run)
    assert at == stage
    assert 0 < iteration < 10
    assert (run / "best" / "imitation.safetensors").exists() or not stage
    assert not (run / "best" / "lecture_2.safetensors").exists()
    subprocess.run([*command, "--resume"], check=True, stdout=subprocess.DEVNULL)
    one, two = load_model(uninterrupted).network.state_dict(), load_model(run).network.state_dict()
    assert all(torch.equal(one[name], two[name]) for name in one)
    assert [(row["total"], row["name"], row["value"]) for row in rows(run)] == [
        (row["total"], row["name"], row["value"]) for row in rows(uninterrupted)
    ]


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such limit")
def test_full_disk_is_reported_and_damages_nothing(
    trained: Path, segmented_dollhouse: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """There is space for a model but not for a checkpoint, which contains the optimiser's state."""
    import resource

    run, model = tmp_path / "run", trained / "model.safetensors"
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2 * model.stat().st_size, hard))
    try:
        assert main(quick_training(segmented_dollhouse, run)) == 2
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    message = f"babywalk: {run / 'unproven.safetensors'}: File too large.\n"
    assert capsys.readouterr().err.endswith(message)
    assert not [file for file in run.rglob("*safetensors*") if file.parent.name != "best"]
    assert main([*quick_training(segmented_dollhouse, run), "--resume"]) == 0
    assert (run / "model.safetensors").read_bytes() == model.read_bytes()


def test_nan_loss_stops_the_run(
    segmented_dollhouse: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = iter(range(100))

    def diverged(logits: torch.Tensor, teacher: torch.Tensor) -> torch.Tensor:
        loss = torch.nn.functional.cross_entropy(logits, teacher)
        return loss * torch.nan if next(calls) == 3 else loss

    monkeypatch.setattr(imitation, "imitation_loss", diverged)
    with pytest.raises(
        DivergedError,
        match=r"Imitation, iteration 3: the loss is NaN or infinite\. The last good checkpoint is .*last",
    ):
        train_agent("babywalk", segmented_dollhouse, tmp_path / "run", preset="tiny", settings=QUICK)
    monkeypatch.undo()
    done = train_agent("babywalk", segmented_dollhouse, tmp_path / "run", preset="tiny", resume=True)
    assert done.total == 12


def test_checkpoint_with_diverged_weights_does_not_replace_a_good_one(
    segmented_dollhouse: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The weights diverge in the first step of the lecture, and only the next iteration shows it."""
    run = tmp_path / "run"
    training = [*quick_training(segmented_dollhouse, run), "checkpoint_every=1", "validate_every=100"]
    assert main([*training, "reinforce.learning_rate=1e30"]) == 2
    assert "Lecture 1, iteration 1: the logits contain NaN. The last good" in capsys.readouterr().err
    assert main([*training, "reinforce.learning_rate=1e-3", "--resume"]) == 0
    assert not (run / "unproven.safetensors").exists()


def test_resume_refuses_settings_that_change_finished_stages(
    segmented_dollhouse: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = tmp_path / "run"

    def train(resume: bool = True, **settings: Any) -> Progress:
        return train_agent(
            "babywalk", segmented_dollhouse, run, preset="tiny", settings=settings, resume=resume
        )

    calls = iter(range(100))
    real = imitation.imitation_loss

    def interrupted(logits: torch.Tensor, teacher: torch.Tensor) -> torch.Tensor:
        if next(calls) == 5:
            raise KeyboardInterrupt
        return real(logits, teacher)

    monkeypatch.setattr(imitation, "imitation_loss", interrupted)
    with pytest.raises(KeyboardInterrupt):
        train(resume=False, **{**QUICK, "reinforce": {**QUICK["reinforce"], "lectures": 0}})
    monkeypatch.undo()
    before = (run / "config.json").read_text()
    with pytest.raises(ConfigError, match=r"run: imitation has made 4 iterations already\. Give it more,"):
        train(imitation={"iterations": 4})
    with pytest.raises(
        ConfigError, match=r"its stages so far are imitation; with .* they would be lecture 1\."
    ):
        train(imitation={"iterations": 0}, reinforce={"lectures": 1})
    assert (run / "config.json").read_text() == before
    assert list(train().bests) == ["imitation"]
    with pytest.raises(ConfigError, match=r"run: imitation\.batch can no longer be changed\."):
        train(imitation={"batch": 4})
    assert list(train(reinforce={"lectures": 1}).bests) == ["imitation", "lecture 1"]  # more may follow
    with pytest.raises(ConfigError, match=r"imitation\.batch can no longer be changed\."):
        train(imitation={"batch": 4}, reinforce={"lectures": 2})
    with pytest.raises(
        ConfigError, match=r"its stages so far are imitation, lecture 1; .* imitation, reinforce\."
    ):
        train(reinforce={"whole": True})
    with pytest.raises(ConfigError, match=r"run: reinforce\.learning_rate can no longer be changed\."):
        train(reinforce={"learning_rate": 1.0})


def test_two_processes_cannot_train_in_one_directory(trained: Path, segmented_dollhouse: Path) -> None:
    with (
        exclusive_lock(trained),
        pytest.raises(ConfigError, match=r"whole: another process is using it\. Wait until it ends"),
    ):
        train_agent("babywalk", segmented_dollhouse, trained, resume=True)


def test_missing_alignment_is_reported(
    segmented_dollhouse: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    short = ["reinforce.lectures=0", "imitation.iterations=1"]
    assert main([*quick_training(segmented_dollhouse, tmp_path / "steps"), *short]) == 0
    hint = f"Better: babywalk data align r4r --data {segmented_dollhouse}\n"
    assert hint in capsys.readouterr().err
    assert main([*quick_training(segmented_dollhouse, tmp_path / "whole"), *short, "policy.steps=whole"]) == 0
    assert hint not in capsys.readouterr().err


@pytest.mark.parametrize("stage", ["imitation", "reinforce"])
def test_diverged_weights_stop_the_run(
    segmented_dollhouse: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], stage: str
) -> None:
    """Their logits are NaN, and no action can be sampled."""
    training = quick_training(segmented_dollhouse, tmp_path / "run")
    often = ["checkpoint_every=100"] if stage == "imitation" else []
    assert main([*training, f"{stage}.learning_rate=1e30", *often]) == 2
    message = capsys.readouterr().err
    name, end = {
        "imitation": (
            "Imitation",
            "There is no checkpoint yet; lower the learning rate and start another run.",
        ),
        "reinforce": ("Lecture 1", "lower the learning rate and resume."),
    }[stage]
    assert re.search(
        rf"^babywalk: {name}, iteration \d: the (logits contain NaN|(loss|gradient) is NaN or infinite)\.",
        message,
        re.MULTILINE,
    )
    assert message.endswith(f"{end}\n")


def test_refused_resume_changes_no_file(
    trained: Path, segmented_dollhouse: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = tmp_path / "run"
    shutil.copytree(trained, run)
    before = {file: file.read_bytes() for file in run.rglob("*") if file.is_file()}
    for extra, message in (
        (
            ["--set", "policy.hidden=64"],
            "policy.hidden can no longer be changed. Leave it out, or start another run.",
        ),
        (["--preset", "tiny", "--set", "policy.gamma=0"], "policy.gamma can no longer be changed."),
        (["--preset", "smal"], "Preset 'smal' is not known. Did you mean 'small'?"),
        (
            ["--preset", "small"],
            "was started with preset 'tiny' and keeps its settings. Leave --preset out, or start",
        ),
        (["--task", "r2r"], "task can no longer be changed."),
        (["--seed", "5"], "seed can no longer be changed."),
        (["--set", "validate_every=0"], "validate_every = 0 is out of range. Give at least 1."),
    ):
        arguments = ["train", "babywalk", "--data", str(segmented_dollhouse), "--run", str(run), "--resume"]
        assert main([*arguments, *extra]) == 2
        assert message in capsys.readouterr().err
    # As many words as before, but one is another.
    vocabulary = Dataset(segmented_dollhouse).vocabulary()

    def renamed(_: Dataset) -> Vocabulary:
        return Vocabulary((*vocabulary.words[:-1], "zzz"))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Dataset, "vocabulary", renamed)
        with pytest.raises(DataError, match=r"last\.safetensors: was written for data with different words"):
            train_agent("babywalk", segmented_dollhouse, run, resume=True)
    with pytest.raises(ConfigError, match=r"nowhere: contains no run to resume\. Leave --resume out"):
        train_agent("babywalk", segmented_dollhouse, tmp_path / "nowhere", resume=True)
    assert {file: file.read_bytes() for file in run.rglob("*") if file.is_file()} == before


def test_settings_can_be_given_one_by_one_and_the_run_has_a_default_name(
    segmented_dollhouse: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    arguments = ["train", "seq2seq", "--data", str(segmented_dollhouse), "--task", "r2r", "--preset", "tiny"]
    settings = ["imitation.iterations=2", "imitation.batch=4", "validate_on=val_seen:4", "threads=1"]
    assert main([*arguments, *(word for setting in settings for word in ("--set", setting))]) == 0
    config = json.loads((tmp_path / "runs" / "seq2seq-r2r" / "config.json").read_text())
    assert config["imitation"]["iterations"] == 2
    assert config["validate_on"] == "val_seen:4"


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"checkpoint_every": 0}, "checkpoint_every = 0 is out of range. Give at least 1."),
        ({"imitation": {"batch": 0}}, "imitation.batch = 0 is out of range. Give at least 1."),
        ({"imitation": {"iterations": -1}}, "imitation.iterations = -1 is out of range. Give 0 or more."),
        ({"imitation": {"learning_rate": float("nan")}}, "imitation.learning_rate = nan is out of range."),
        (
            {"imitation": {"teacher_share": 5.0}},
            "imitation.teacher_share = 5.0 is out of range. Give a fraction",
        ),
        ({"imitation": {"clip": 0.0}}, "imitation.clip = 0.0 is out of range. Give more than 0."),
        ({"reinforce": {"samples": 0}}, "reinforce.samples = 0 is out of range."),
        ({"reinforce": {"batches": [0], "lectures": 1}}, "reinforce.batches = [0] is out of range."),
        ({"reinforce": {"batches": [], "whole": True}}, "reinforce.batches has 0 numbers for 1 lectures"),
        ({"reinforce": {"discount": 9.0}}, "reinforce.discount = 9.0 is out of range."),
        ({"averaging": 2.0}, "averaging = 2.0 is out of range. Give a fraction from 0 to below 1."),
        ({"threads": -1}, "threads = -1 is out of range. Give 0 or more."),
        ({"threads": 5000}, "threads = 5000 is out of range. Give 0 to 1024."),
        ({"imitation": {"teacher": "paths"}}, "imitation.teacher 'paths' is not known. Did you mean 'path'?"),
        ({"reinforce": {"baseline": "mean"}}, "reinforce.baseline 'mean' is not known."),
        (
            {"reinforce": {"reward": "none"}},
            "reinforce.reward = 'none' is 0 for every rollout, so there is nothing to learn from it. "
            "For imitation only, set reinforce.lectures = 0",
        ),
        ({"reinforce": {"reward": "gaol"}}, "reinforce.reward 'gaol' is not known. Did you mean 'goal'?"),
        ({"keep": "first"}, "keep 'first' is not known. Choose from: best, last."),
        ({"device": "gpu"}, "device 'gpu' is not known. Did you mean 'cpu'?"),
        ({"device": "cuda:x"}, "device 'cuda:x' is not known. Did you mean 'cuda'?"),
        ({"kernels": "fast"}, "kernels 'fast' is not known. Choose from: auto, plain."),
    ],
)
def test_invalid_settings_are_reported(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(message)):
        from_table(TrainingConfig, settings)


@pytest.mark.parametrize("device", ["auto", "cpu", "cuda", "cuda:1"])
def test_devices_are_accepted(device: str) -> None:
    assert from_table(TrainingConfig, {"device": device}).device == device


def test_invalid_arguments_are_reported_and_nothing_is_overwritten(
    trained: Path, segmented_dollhouse: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = (trained / "model.safetensors").read_bytes()
    with pytest.raises(
        ConfigError, match=r"already contains a run\. Give --resume to continue it, or another --run"
    ):
        train_agent("babywalk", segmented_dollhouse, trained, preset="tiny")
    with pytest.raises(ConfigError, match="is a run of 'babywalk', not of 'seq2seq'"):
        train_agent("seq2seq", segmented_dollhouse, trained, resume=True)
    assert (trained / "model.safetensors").read_bytes() == before
    arguments = ["train", "babywalk", "--data", str(segmented_dollhouse), "--run", str(tmp_path / "r")]
    for extra, message in (
        (["--preset", "huge"], "Preset 'huge' is not known. Choose from: paper, small, tiny, demo, objects."),
        (["--set", "imitation.bach=3"], "imitation.bach is not known. Did you mean imitation.batch?"),
        (["--set", "policy.gamma=fast"], "policy.gamma = 'fast' should be a number."),
        (["--set", "reinforce.reward=cls"], "reinforce.reward 'cls' is not known."),
        (["--set", "features=resnet"], "Feature source 'resnet' is not known."),
        (["--task", "r5r"], "Task 'r5r' is not known."),
        (["--set", "init_from=nowhere"], "init_from = 'nowhere' is not a run or a model."),
    ):
        assert main([*arguments, *extra]) == 2
        assert message in capsys.readouterr().err
        assert not (tmp_path / "r").exists()


def test_model_for_other_features_is_refused(trained: Path, segmented_dollhouse: Path) -> None:
    model = replace(load_model(trained), features="none")
    with pytest.raises(DataError, match=r"The model was trained on features 'none' of size 64 per view"):
        LearnedAgent(model, Dataset(segmented_dollhouse))


@pytest.mark.slow
def test_imitation_learns(segmented_dollhouse: Path, tmp_path: Path) -> None:
    """Within half a minute the agent agrees with the teacher far more often than at first."""
    settings = {
        "policy": {"hidden": 96, "action": 64, "words": 48},
        "imitation": {"iterations": 300, "batch": 32, "learning_rate": 2e-3, "teacher_share": 0.5},
        "reinforce": {"lectures": 0},
        "validate_every": 300,
        "validate_on": "val_seen:20",
        "threads": 1,
    }
    run = tmp_path / "run"
    train_agent("babywalk", segmented_dollhouse, run, task="r2r", preset="tiny", settings=settings)
    accuracy = [float(row["value"]) for row in rows(run) if row["name"] == "accuracy"]
    assert np.mean(accuracy[-3:]) > np.mean(accuracy[:3]) + 0.12
