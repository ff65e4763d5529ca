"""Agents without learning, in corridors where their trajectories can be checked by hand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from builders import connectivity, corridor, placed, walk

from babywalk.agents.baselines import OracleAgent, RandomAgent, StopAgent
from babywalk.buildings.houses import Houses
from babywalk.common.errors import ConfigError
from babywalk.episodes.dataset import Dataset
from babywalk.episodes.joining import JoinRule
from babywalk.episodes.task import Task, join_task
from babywalk.navigation.measures import score


def task(houses: Houses, *walks: object) -> Task:
    return join_task("r2r", "val", houses, placed(houses, *walks), JoinRule(1, 0, {}), seed=None)


@pytest.fixture
def corridors() -> Task:
    houses = Houses.of([corridor("a", 8), corridor("b", 4)])
    return task(houses, walk("a", [0, 1, 2, 3], 1, ["x", "y"]), walk("b", [3, 2], 2))


def test_stop_agent_stays_at_the_start(corridors: Task) -> None:
    walked = StopAgent().walk(corridors, np.arange(3))
    assert walked.viewpoints.padded().tolist() == [[0], [0], [11]]
    assert walked.views.padded().tolist() == [[13], [13], [13]]  # heading 0.5 is nearest to 30 degrees


def test_oracle_walks_the_shortest_path_to_the_goal(corridors: Task) -> None:
    walked = OracleAgent().walk(corridors, np.array([2, 0]))
    assert walked.viewpoints.padded().tolist() == [[11, 10, -1, -1], [0, 1, 2, 3]]
    assert walked.views.padded().tolist() == [[13, 18, -1, -1], [13, 12, 12, 12]]


def test_oracle_needs_goals(corridors: Task) -> None:
    walks = replace(corridors.walks, has_goals=False)
    with pytest.raises(ConfigError, match="The 'oracle' agent needs goals; val has none"):
        OracleAgent().walk(replace(corridors, walks=walks), np.arange(3))


def test_random_agent_moves_forward_five_times() -> None:
    """Of twelve headings three lead north and three south; at the others the agent turns right."""
    houses = Houses.of([corridor("a", 20)])
    middle = task(houses, walk("a", [10, 11], 1, ["x"] * 200))
    walked = RandomAgent(seed=3).walk(middle, np.arange(200))
    assert set(walked.viewpoints.lengths.tolist()) == {6}
    ends = walked.viewpoints.lasts
    assert set(ends.tolist()) == {5, 15}
    # 330, 0 and 30 degrees lead north, and 240, 270 and 300 turn right to 330; the other six lead south.
    assert abs((ends == 15).mean() - 0.5) < 0.12


def test_random_agent_stops_after_thirty_actions() -> None:
    alone = connectivity("a", [(0, 0, 0), (9, 9, 9), (9, 8, 9)], [(1, 2)])
    walked = RandomAgent().walk(task(Houses.of([alone]), walk("a", [0], 1)), np.arange(1))
    assert walked.viewpoints.padded().tolist() == [[0]]


def test_random_trajectory_depends_on_seed_and_episode_alone(corridors: Task) -> None:
    whole = RandomAgent(1).walk(corridors, np.arange(3))
    part = RandomAgent(1).walk(corridors, np.array([2]))
    assert part.viewpoints[0].tolist() == whole.viewpoints[2].tolist()
    sample = corridors.sampled(2, seed=0)
    chosen = sample.full_indices(np.arange(2))
    again = RandomAgent(1).walk(sample, np.arange(2))
    assert [again.viewpoints[row].tolist() for row in range(2)] == [
        whole.viewpoints[int(row)].tolist() for row in chosen
    ]


@pytest.mark.real
def test_random_agent_has_the_published_scores_on_real_data(real_dataset: Path) -> None:
    loaded = Dataset(real_dataset).task("r2r", "val_unseen")
    episodes = np.arange(len(loaded))
    references = loaded.paths.take(loaded.chain_of(episodes))
    runs = [
        score(loaded.houses, RandomAgent(seed).walk(loaded, episodes).viewpoints, references).means()
        for seed in range(10)
    ]
    assert 0.150 < np.mean([run["SR"] for run in runs]) < 0.175
    assert 9.0 < np.mean([run["NE"] for run in runs]) < 9.5
