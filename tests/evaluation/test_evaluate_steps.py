"""Evaluation of single Baby-Steps: equal start poses for all agents, the expert's history for memory."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from babywalk.agents.agent import Index
from babywalk.agents.baselines import StopAgent
from babywalk.commands.evaluate import evaluate_single_steps
from babywalk.commands.follow import load_agent
from babywalk.commands.train import train_agent
from babywalk.decoding.episode_batch import EpisodeBatches
from babywalk.episodes.dataset import Dataset
from babywalk.evaluation.evaluate import evaluate, summarise, walk_steps
from babywalk.instructions.babysteps import BabySteps
from babywalk.instructions.step_episodes import StepEpisodes
from babywalk.instructions.store import load_aligned_steps
from babywalk.navigation.trajectories import Trajectories, TrajectoryRecorder
from babywalk.navigation.world import Poses, World, start_poses


@pytest.fixture(scope="module")
def step_episodes(aligned_dollhouse: Path) -> StepEpisodes:
    dataset = Dataset(aligned_dollhouse)
    return StepEpisodes.of(load_aligned_steps(dataset, dataset.task("r4r", "val_seen:300")))


@pytest.fixture(scope="module")
def agents(segmented_dollhouse: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A BABYWALK and a SEQ2SEQ run of two iterations."""
    folder = tmp_path_factory.mktemp("runs")
    settings = {
        "imitation": {"iterations": 2},
        "reinforce": {"lectures": 0},
        "validate_on": "val_seen:2",
        "threads": 1,
    }
    for name in ("babywalk", "seq2seq"):
        train_agent(name, segmented_dollhouse, folder / name, preset="tiny", settings=settings)
    return {name: folder / name for name in ("babywalk", "seq2seq")}


def test_all_agents_start_from_the_same_poses(
    step_episodes: StepEpisodes, agents: dict[str, Path], aligned_dollhouse: Path
) -> None:
    agent = load_agent(agents["babywalk"], aligned_dollhouse)
    world = World.of(step_episodes.task.houses)
    batches = EpisodeBatches.of(step_episodes.steps, world, agent.model.vocabulary, agent.model.config)
    batch = batches.batch(step_episodes.episode, step_episodes.number, step_episodes.number + 1)
    plain = start_poses(step_episodes.task, np.arange(len(step_episodes.task)))
    assert np.array_equal(batch.start.viewpoint, plain.viewpoint)
    assert np.array_equal(batch.start.view, plain.view)
    walked = walk_steps(agent, step_episodes)
    assert np.array_equal(walked.viewpoints.firsts, plain.viewpoint)
    assert np.array_equal(walked.views.firsts, plain.view)


def test_step_agents_are_called_step_by_step_and_others_are_not(step_episodes: StepEpisodes) -> None:
    calls: list[tuple[int, int]] = []

    class Teleporter:
        """A step agent whose trajectory is the end of the step."""

        def walk_steps(self, steps: BabySteps, episodes: Index, numbers: Index) -> Trajectories:
            calls.extend(zip(episodes.tolist(), numbers.tolist(), strict=True))
            chain = steps.task.chain_of(episodes)
            assert steps.ends is not None
            place = steps.ends.values[steps.ends.start[episodes] + numbers]
            at = steps.task.paths.values[steps.task.paths.start[chain] + place]
            return TrajectoryRecorder(Poses(at, np.zeros_like(at))).trajectories()

        def walk(self, *_: object) -> Trajectories:
            raise AssertionError("walk_steps is to be called instead")

    found = evaluate(step_episodes.task, walk_steps(Teleporter(), step_episodes))
    assert summarise(found)["SR"].mean == 1
    assert calls == list(zip(step_episodes.episode.tolist(), step_episodes.number.tolist(), strict=True))
    assert summarise(evaluate(step_episodes.task, walk_steps(StopAgent(), step_episodes)))["PL"].mean == 0


def test_the_interval_resamples_whole_paths_of_steps(step_episodes: StepEpisodes) -> None:
    found = evaluate(step_episodes.task, walk_steps(StopAgent(), step_episodes))
    alone, together = summarise(found)["NE"], summarise(found, paths=step_episodes.paths)["NE"]
    assert together.mean == alone.mean
    assert (together.low, together.high) != (alone.low, alone.high)
    per_path = summarise(found, paths=step_episodes.paths, per_path=True)["NE"].mean
    errors = found.scores.navigation_error
    expected = np.mean(
        [errors[step_episodes.paths == path].mean() for path in np.unique(step_episodes.paths)]
    )
    assert per_path == pytest.approx(float(expected))


@pytest.mark.parametrize("name", ["babywalk", "seq2seq"])
def test_learned_agents_are_evaluated_on_single_steps(
    agents: dict[str, Path], aligned_dollhouse: Path, name: str
) -> None:
    (report,) = evaluate_single_steps(str(agents[name]), aligned_dollhouse, ["r2r"], "val_seen:20")
    assert (report.task, report.unit) == ("r2r", "Baby-Steps")
    assert report.episodes > 20
    assert 0 <= report.measures["SR"].mean <= 1
