"""The table of agents: every definition is complete, and trains the same with and without kernels."""

from __future__ import annotations

import csv
import re
from pathlib import Path
from typing import Any

import pytest

from babywalk.agents.definition import AgentDefinition
from babywalk.agents.recipe import Recipe
from babywalk.agents.table import AGENTS
from babywalk.cli import main
from babywalk.commands import train
from babywalk.commands.train import train_agent
from babywalk.common.config import merged
from babywalk.decoding.rollout import Rollout
from babywalk.decoding.search import Search
from babywalk.modules.kernels import Backend
from babywalk.modules.model import load_model
from babywalk.modules.network import Network

PACKAGE = Path(train.__file__).parents[1]
SETTINGS: dict[str, Any] = {
    "policy": {"dropout": 0.0},
    "augmented": {"iterations": 2, "batch": 6, "split": "train", "mix": ""},
    "imitation": {"iterations": 4, "batch": 6, "teacher_share": 0.5},
    "reinforce": {"lectures": 1, "iterations": 3, "batches": [3], "samples": 2, "imitation": 0.1},
    "validate_on": "val_seen:6",
    "threads": 1,
}
FILES = {"rcm-goal": "rcm.py", "rcm-fidelity": "rcm.py", "babywalk-plus": "babywalk.py"}
STAGES = {
    "seq2seq": ["imitation", "lecture 1"],
    "speaker-follower": ["augmented", "imitation"],
    "rcm-goal": ["augmented", "imitation", "reinforce"],
    "rcm-fidelity": ["augmented", "imitation", "reinforce"],
    "regretful": ["augmented", "imitation"],
    "fast": ["augmented", "imitation"],
    "babywalk": ["imitation", "lecture 1"],
    "babywalk-plus": ["augmented", "imitation", "lecture 1"],
}


@pytest.mark.parametrize(("name", "agent"), AGENTS.items(), ids=list(AGENTS))
def test_definition_is_complete(name: str, agent: AgentDefinition) -> None:
    assert agent.name == name
    assert re.fullmatch(r"[a-z0-9-]+", name)
    assert agent.summary.endswith(".")
    assert "\n" not in agent.summary
    assert len(agent.summary) <= 100
    assert re.fullmatch(r"[A-Z].* (19|20)\d\d, https://\S+", agent.citation)
    assert agent.stages
    assert all(callable(stages) for stages in agent.stages)
    assert callable(agent.decoder.decode)
    assert issubclass(agent.network, Network)
    Recipe(name).config()  # its settings are known


@pytest.mark.parametrize("name", AGENTS)
def test_module_of_an_agent_cites_its_paper(name: str) -> None:
    """One file per agent, whose docstring says what it is and what differs from its paper."""
    text = (PACKAGE / "agents" / FILES.get(name, f"{name.replace('-', '_')}.py")).read_text()
    docstring = text.split('"""')[1]
    assert AGENTS[name].citation.rpartition(" ")[2] in docstring
    assert re.search(r"Differences from (the|its) paper", docstring)


def test_command_lists_every_agent_with_its_summary(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["agents"]) == 0
    output = " ".join(capsys.readouterr().out.split())
    for name, agent in AGENTS.items():
        assert name in output
        assert agent.summary in output


@pytest.mark.parametrize("name", AGENTS)
def test_every_command_works_with_every_agent(
    name: str, segmented_dollhouse: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run, data = tmp_path / "run", ["--data", str(segmented_dollhouse)]
    stages: dict[str, Any] = {"augmented": {"iterations": 1}, "imitation": {"iterations": 1}}
    settings = merged(SETTINGS, {**stages, "reinforce": {"iterations": 1}})
    train_agent(name, segmented_dollhouse, run, preset="tiny", settings=settings)
    split = ["--split", "val_unseen:4"]
    start = ["--house", "dollhouse_000", "--viewpoint", "d000-v006"]
    for command in (
        ["evaluate", str(run), *data, "--tasks", "r2r,r4r", *split],
        ["diagnose", str(run), *data, "--task", "r2r", *split],
        ["follow", str(run), *data, *start, "Walk to the kitchen. Stop at the door."],
        ["publish", str(run), str(tmp_path / "published"), *data, "--tasks", "r2r", *split],
        ["evaluate", str(tmp_path / "published"), *data, *split],
    ):
        assert main(command) == 0, capsys.readouterr().err
    card = (tmp_path / "published" / "README.md").read_text()
    assert name in card
    assert ("texts by a speaker model; its tasks: r2r:train" in card) == ("augmented" in STAGES[name])


def logged(run: Path) -> dict[tuple[str, str, str], float]:
    """The logged values of a run, by stage, iteration and name."""
    with (run / "metrics.csv").open() as file:
        return {
            (row["stage"], row["iteration"], row["name"]): float(row["value"]) for row in csv.DictReader(file)
        }


@pytest.mark.parametrize("name", AGENTS)
def test_training_gives_the_same_values_with_and_without_kernels(
    name: str, segmented_dollhouse: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    backends: list[type[Backend]] = []

    class RecordedRollout(Rollout):
        def __init__(self, *given: Any, **options: Any) -> None:
            super().__init__(*given, **options)
            backends.append(type(self.backend))

    monkeypatch.setattr(train, "Rollout", RecordedRollout)
    values = {}
    for kernels in ("plain", "auto"):
        settings = {**SETTINGS, "kernels": kernels, "device": "cpu"}
        run = tmp_path / kernels
        done = train_agent(name, segmented_dollhouse, run, preset="tiny", settings=settings)
        assert list(done.bests) == STAGES[name]
        assert load_model(run).facts["agent"] == name
        values[kernels] = logged(run)
    plain, kernel = backends
    assert plain is Backend
    assert kernel is not Backend
    iterations = {"augmented": 2, "imitation": 4, "lecture 1": 3, "reinforce": 3}
    logged_losses = sum(what == "loss" for _, _, what in values["plain"])
    assert logged_losses == sum(iterations[stage] for stage in STAGES[name])
    if isinstance(AGENTS[name].decoder, Search):
        # An almost untrained agent has scores that are nearly equal: which of them is searched first is a
        # matter of rounding. Losses and gradients are not.
        for found in values.values():
            validated = [key for key in found if key[2].startswith("val ")]
            assert validated
            for key in validated:
                del found[key]
    assert values["plain"] == pytest.approx(values["auto"], rel=1e-4, abs=1e-6)
