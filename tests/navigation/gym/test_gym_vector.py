from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import gymnasium
import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.utils.env_checker import data_equivalence
from gymnasium.vector import AutoresetMode
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from babywalk.common.errors import ConfigError
from babywalk.navigation.measures import MEASURES

WALKERS = 3


def row(batch: dict, number: int) -> dict:
    """What a vector environment says of one walker, in the form of a single environment."""
    told = {}
    for key, values in batch.items():
        if key.startswith("_") or (f"_{key}" in batch and not batch[f"_{key}"][number]):
            continue
        told[key] = row(values, number) if isinstance(values, dict) else values[number]
    return told


def arrays(returned: object) -> Iterator[np.ndarray]:
    """Every array in what was returned."""
    if isinstance(returned, np.ndarray):
        yield returned
    elif isinstance(returned, dict | tuple):
        for part in returned.values() if isinstance(returned, dict) else returned:
            yield from arrays(part)


def drawn(draw: np.random.Generator, mask: np.ndarray) -> np.ndarray:
    """A possible action for each walker."""
    return (draw.random(mask.shape) * mask).argmax(axis=1)


@pytest.mark.parametrize(("name", "split"), [("R2R", "val_unseen"), ("R4R", "val_unseen"), ("R2R", "test")])
@pytest.mark.parametrize("reward", ["goal", "fidelity"])
def test_a_walker_sees_and_earns_what_it_would_alone(
    make, make_vec, name: str, split: str, reward: str
) -> None:
    chosen = {"split": split, "reward": reward, "features": "objects:rooms", "max_steps": 4}
    together = make_vec(name, num_envs=WALKERS, **chosen)
    alone = [make(name, **chosen) for _ in range(WALKERS)]

    # Any action, possible or not, as long as it is in the space.
    actions = st.lists(
        st.tuples(*[st.integers(0, int(together.single_action_space.n) - 1)] * WALKERS),
        min_size=1,
        max_size=8,
    )

    @settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(seed=st.integers(0, 2**31), actions=actions)
    def check(seed: int, actions: list[tuple[int, ...]]) -> None:
        observations, infos = together.reset(seed=seed)
        over = [True] * WALKERS
        for taken in [None, *actions]:
            rewards = terminated = truncated = np.zeros(WALKERS)
            if taken is not None:
                observations, rewards, terminated, truncated, infos = together.step(np.array(taken))
            for number, environment in enumerate(alone):
                told = row(infos, number)
                if over[number]:
                    observation, info = environment.reset(options={"episode": told["id"]})
                    expected = (observation, 0.0, False, False, info)
                else:
                    expected = environment.step(taken[number])
                assert data_equivalence(row(observations, number), expected[0], exact=True)
                assert rewards[number] == pytest.approx(expected[1])
                assert (terminated[number], truncated[number]) == expected[2:4]
                # Sums over a batch are rounded otherwise than sums over one walk.
                assert told.pop("measures", {}) == pytest.approx(expected[4].pop("measures", {}))
                assert data_equivalence(told, expected[4])
                over[number] = bool(expected[2] or expected[3])

    check()


def test_everything_has_the_form_of_gymnasiums_own_vectors(make_vec) -> None:
    """On a split of one episode, whose order cannot differ."""
    ours = make_vec(num_envs=WALKERS, split="train:1")
    theirs = make_vec(num_envs=WALKERS, split="train:1", vectorization_mode="sync")
    assert ours.observation_space == theirs.observation_space
    assert ours.action_space == theirs.action_space
    assert ours.metadata["autoreset_mode"] is theirs.metadata["autoreset_mode"] is AutoresetMode.NEXT_STEP
    assert data_equivalence(ours.reset(seed=0), theirs.reset(seed=0))
    draw = np.random.default_rng(0)
    for _ in range(15):
        actions = draw.integers(ours.single_action_space.n, size=WALKERS)
        assert data_equivalence(ours.step(actions), theirs.step(actions))


def test_observations_lie_in_the_declared_space(make_vec) -> None:
    together = make_vec("R4R", num_envs=5, features="objects+lookahead")
    observations, infos = together.reset(seed=0)
    draw = np.random.default_rng(0)
    for _ in range(8):
        assert observations in together.observation_space
        actions = drawn(draw, infos["action_mask"])
        assert actions in together.action_space
        observations, *_, infos = together.step(actions)


def test_all_walkers_share_one_epoch(make_vec) -> None:
    together = make_vec(num_envs=7)
    count = len(together.arena.task)
    _, infos = together.reset(seed=1)
    run_config = list(infos["id"])
    while len(run_config) < count:
        together.step(np.zeros(7, dtype=int))  # all STOP
        *_, infos = together.step(np.zeros(7, dtype=int))  # all begin again
        run_config += list(infos["id"])
    assert len(set(run_config[:count])) == count


def test_one_seed_gives_one_walk_of_the_whole_batch(make_vec) -> None:
    first, second = make_vec(num_envs=4), make_vec(num_envs=4)
    assert data_equivalence(first.reset(seed=5), second.reset(seed=5), exact=True)
    draw = np.random.default_rng(5)
    for _ in range(12):
        actions = draw.integers(first.single_action_space.n, size=4)
        assert data_equivalence(first.step(actions), second.step(actions), exact=True)


def test_what_was_returned_is_not_touched_again(make_vec) -> None:
    together = make_vec(num_envs=4)
    returned = [list(arrays(together.reset(seed=0)))]
    returned += [list(arrays(together.step(np.zeros(4, dtype=int)))) for _ in range(3)]
    for earlier, later in pairwise(returned):
        assert not any(np.shares_memory(one, other) for one in earlier for other in later)


def test_rewards_can_be_changed_without_changing_the_measures(make_vec) -> None:
    together = make_vec(num_envs=2, reward="ndtw")
    together.reset(seed=0)
    _, rewards, *_, infos = together.step(np.zeros(2, dtype=int))
    measured = infos["measures"]["nDTW"].copy()
    np.testing.assert_array_equal(rewards, measured)
    rewards -= 1.0
    np.testing.assert_array_equal(infos["measures"]["nDTW"], measured)


def test_episodes_can_be_chosen(make_vec) -> None:
    together = make_vec(num_envs=3)
    ids = together.arena.task.ids(np.array([4, 4, 0]))
    assert together.reset(options={"episode": [4, 4, 0]})[1]["id"].tolist() == ids
    assert together.reset(options={"episode": ids})[1]["id"].tolist() == ids
    with pytest.raises(ConfigError, match="names 1 episodes; expected 3"):
        together.reset(options={"episode": 4})


def test_gymnasiums_wrappers_understand_the_infos(make_vec) -> None:
    counted = gymnasium.wrappers.vector.RecordEpisodeStatistics(make_vec(num_envs=2))
    counted.reset(seed=0)
    *_, infos = counted.step(np.array([0, 1]))
    assert infos["episode"]["l"].tolist() == [1, 0]
    listed = gymnasium.wrappers.vector.DictInfoToList(make_vec(num_envs=2))
    listed.reset(seed=0)
    *_, infos = listed.step(np.array([0, 1]))
    assert set(infos[0]["measures"]) == set(MEASURES)
    assert "measures" not in infos[1]


def test_text_is_rendered_of_each_walker(make, make_vec) -> None:
    together, alone = make_vec(num_envs=2, render_mode="ansi"), make(render_mode="ansi")
    together.reset(options={"episode": [3, 8]})
    alone.reset(options={"episode": 8})
    assert together.render()[1] == alone.render()
    assert make_vec(num_envs=2).render() is None


def test_there_is_no_step_before_a_reset(make_vec) -> None:
    together = make_vec(num_envs=2, render_mode="ansi")
    with pytest.raises(ResetNeeded, match="Call reset"):
        together.step(np.zeros(2, dtype=int))
    with pytest.raises(ResetNeeded, match="nothing to render yet"):
        together.render()


def test_actions_for_some_walkers_only_are_refused(make_vec) -> None:
    together = make_vec(num_envs=2)
    together.reset()
    with pytest.raises(ConfigError, match=r"The actions have the shape \(1,\); expected \(2,\)"):
        together.step(np.zeros(1, dtype=int))


def test_a_batch_of_nobody_is_refused(make_vec) -> None:
    with pytest.raises(ConfigError, match="num_envs = 0 cannot work; expected 1 or more"):
        make_vec(num_envs=0)
