"""Walking single Baby-Steps: the same poses for every agent, and the expert's history for who remembers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from babywalk.agents.baselines import StopAgent, starts
from babywalk.commands.evaluate import evaluate_single_steps
from babywalk.commands.follow import load_agent
from babywalk.commands.train import train_agent
from babywalk.decoding.episode_batch import EpisodeBatches
from babywalk.episodes.dataset import Dataset
from babywalk.evaluation.evaluation import evaluate, summarise, walk_steps
from babywalk.instructions.babysteps import BabySteps
from babywalk.instructions.step_episodes import StepEpisodes
from babywalk.instructions.store import kept_aligned
from babywalk.navigation.trajectories import Index, Trajectories, TrajectoryRecorder
from babywalk.navigation.world import Poses, World


@pytest.fixture(scope="module")
def single(aligned_dollhouse: Path) -> StepEpisodes:
    dataset = Dataset(aligned_dollhouse)
    return StepEpisodes.of(kept_aligned(dataset, dataset.task("r4r", "val_seen:300")))


@pytest.fixture(scope="module")
def agents(segmented_dollhouse: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """One of each, hardly trained."""
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


def test_all_agents_begin_alike(
    single: StepEpisodes, agents: dict[str, Path], aligned_dollhouse: Path
) -> None:
    agent = load_agent(agents["babywalk"], aligned_dollhouse)
    world = World.of(single.task.houses)
    lessons = EpisodeBatches.of(single.steps, world, agent.model.vocabulary, agent.model.config)
    lesson = lessons.lesson(single.episode, single.number, single.number + 1)
    plain = starts(single.task, np.arange(len(single.task)))
    assert np.array_equal(lesson.start.viewpoint, plain.viewpoint)
    assert np.array_equal(lesson.start.view, plain.view)
    walked = walk_steps(agent, single)
    assert np.array_equal(walked.viewpoints.firsts, plain.viewpoint)
    assert np.array_equal(walked.views.firsts, plain.view)


def test_who_remembers_is_asked_step_by_step_and_others_are_not(single: StepEpisodes) -> None:
    asked: list[tuple[int, int]] = []

    class Teleporter:
        """Stands at the end of each step at once."""

        def walk_steps(self, steps: BabySteps, episodes: Index, numbers: Index) -> Trajectories:
            asked.extend(zip(episodes.tolist(), numbers.tolist(), strict=True))
            chain = steps.task.chain_of(episodes)
            assert steps.ends is not None
            place = steps.ends.values[steps.ends.start[episodes] + numbers]
            at = steps.task.paths.values[steps.task.paths.start[chain] + place]
            return TrajectoryRecorder(Poses(at, np.zeros_like(at))).trajectories()

        def walk(self, *_: object) -> Trajectories:
            raise AssertionError("has a history to be told")

    found = evaluate(single.task, walk_steps(Teleporter(), single))
    assert summarise(found)["SR"].mean == 1
    assert asked == list(zip(single.episode.tolist(), single.number.tolist(), strict=True))
    assert summarise(evaluate(single.task, walk_steps(StopAgent(), single)))["PL"].mean == 0


def test_steps_of_one_path_are_drawn_together(single: StepEpisodes) -> None:
    found = evaluate(single.task, walk_steps(StopAgent(), single))
    alone, together = summarise(found)["NE"], summarise(found, paths=single.paths)["NE"]
    assert together.mean == alone.mean
    assert (together.low, together.high) != (alone.low, alone.high)
    per_path = summarise(found, paths=single.paths, per_path=True)["NE"].mean
    errors = found.scores.navigation_error
    expected = np.mean([errors[single.paths == path].mean() for path in np.unique(single.paths)])
    assert per_path == pytest.approx(float(expected))


@pytest.mark.parametrize("name", ["babywalk", "seq2seq"])
def test_learned_agents_walk_single_steps(
    agents: dict[str, Path], aligned_dollhouse: Path, name: str
) -> None:
    (report,) = evaluate_single_steps(str(agents[name]), aligned_dollhouse, ["r2r"], "val_seen:20")
    assert (report.task, report.unit) == ("r2r", "Baby-Steps")
    assert report.episodes > 20
    assert 0 <= report.measures["SR"].mean <= 1
