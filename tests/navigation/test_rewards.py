from __future__ import annotations

import numpy as np
import pytest
from builders import corridor

from babywalk.buildings.houses import Houses
from babywalk.common.errors import ConfigError
from babywalk.common.ragged import Ragged
from babywalk.navigation.measures import MEASURES, score
from babywalk.navigation.rewards import REWARDS, episode_rewards, step_rewards

HOUSES = Houses.of([corridor("a", 6)])  # viewpoints 2 m apart
REFERENCES = Ragged.of([[0, 1, 2, 3]] * 3)
TRAJECTORIES = Ragged.of([[0, 1, 2, 3], [0, 1, 2], [0]])  # ends at the goal, 2 m and 6 m from it


def rewards(kind: str) -> np.ndarray:
    return episode_rewards(kind, HOUSES, TRAJECTORIES, REFERENCES)


def test_goal_is_the_distance_reduction_and_success() -> None:
    assert rewards("goal").tolist() == pytest.approx([6 + 1, 4 + 1, 0])


@pytest.mark.parametrize(
    ("kind", "fields"),
    [
        ("fidelity", ["success", "cls"]),
        ("success_ndtw", ["success", "ndtw"]),
        ("ndtw", ["ndtw"]),
        ("sdtw", ["sdtw"]),
        ("none", []),
    ],
)
def test_the_other_rewards_are_sums_of_measures(kind: str, fields: list[str]) -> None:
    scores = score(HOUSES, TRAJECTORIES, REFERENCES)
    expected = np.sum([getattr(scores, field) for field in fields], axis=0) + np.zeros(3)
    assert rewards(kind).tolist() == pytest.approx(expected.tolist())


def test_the_rewards_differ_from_each_other() -> None:
    assert len({tuple(rewards(kind)) for kind in REWARDS}) == len(REWARDS)


def test_the_measures_of_a_reward_exist() -> None:
    assert {name for reward in REWARDS.values() for name in reward.measures} <= set(MEASURES)


@pytest.mark.parametrize(("kind", "truncated"), [("goal", 2.0), ("fidelity", 1.5), ("ndtw", 0.25)])
def test_only_the_goal_reward_requires_stop(kind: str, truncated: float) -> None:
    measures = {name: np.zeros(1) for name in MEASURES} | {
        "SR": np.ones(1),
        "CLS": np.full(1, 0.5),
        "nDTW": np.full(1, 0.25),
    }
    progress = np.full(1, 2.0)
    assert step_rewards(kind, progress, np.array([False]), measures).tolist() == [truncated]
    stopped = step_rewards(kind, progress, np.array([True]), measures)
    assert stopped.tolist() == [truncated + (kind == "goal")]
    assert progress.tolist() == [2.0]


def test_an_unknown_reward_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"Reward 'fidelty' is not known\. Did you mean 'fidelity'\?"):
        rewards("fidelty")
