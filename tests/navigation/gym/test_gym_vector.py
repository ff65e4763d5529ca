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
    """The observation or info of one walker, as a single environment returns it."""
    found = {}
    for key, values in batch.items():
        if key.startswith("_") or (f"_{key}" in batch and not batch[f"_{key}"][number]):
            continue
        found[key] = row(values, number) if isinstance(values, dict) else values[number]
    return found


def arrays(returned: object) -> Iterator[np.ndarray]:
    """Every array in a returned value."""
    if isinstance(returned, np.ndarray):
        yield returned
    elif isinstance(returned, dict | tuple):
        for part in returned.values() if isinstance(returned, dict) else returned:
            yield from arrays(part)


def random_actions(rng: np.random.Generator, mask: np.ndarray) -> np.ndarray:
    """A possible action for each walker."""
    return (rng.random(mask.shape) * mask).argmax(axis=1)


@pytest.mark.parametrize(("name", "split"), [("R2R", "val_unseen"), ("R4R", "val_unseen"), ("R2R", "test")])
@pytest.mark.parametrize("reward", ["goal", "fidelity"])
def test_a_walker_of_a_batch_equals_a_single_environment(
    make, make_vec, name: str, split: str, reward: str
) -> None:
    chosen = {"split": split, "reward": reward, "features": "objects:rooms", "max_steps": 4}
    envs = make_vec(name, num_envs=WALKERS, **chosen)
    singles = [make(name, **chosen) for _ in range(WALKERS)]

    # Any action of the space, possible or not.
    actions = st.lists(
        st.tuples(*[st.integers(0, int(envs.single_action_space.n) - 1)] * WALKERS),
        min_size=1,
        max_size=8,
    )

    @settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(seed=st.integers(0, 2**31), actions=actions)
    def check(seed: int, actions: list[tuple[int, ...]]) -> None:
        observations, infos = envs.reset(seed=seed)
        ended = [True] * WALKERS
        for taken in [None, *actions]:
            rewards = terminated = truncated = np.zeros(WALKERS)
            if taken is not None:
                observations, rewards, terminated, truncated, infos = envs.step(np.array(taken))
            for number, env in enumerate(singles):
                info = row(infos, number)
                if ended[number]:
                    observation, first_info = env.reset(options={"episode": info["id"]})
                    expected = (observation, 0.0, False, False, first_info)
                else:
                    expected = env.step(taken[number])
                assert data_equivalence(row(observations, number), expected[0], exact=True)
                assert rewards[number] == pytest.approx(expected[1])
                assert (terminated[number], truncated[number]) == expected[2:4]
                # Sums over a batch are rounded differently.
                assert info.pop("measures", {}) == pytest.approx(expected[4].pop("measures", {}))
                assert data_equivalence(info, expected[4])
                ended[number] = bool(expected[2] or expected[3])

    check()


def test_the_vector_environment_equals_gymnasiums_sync_vectorization(make_vec) -> None:
    """With one episode, so that the order cannot differ."""
    ours = make_vec(num_envs=WALKERS, split="train:1")
    theirs = make_vec(num_envs=WALKERS, split="train:1", vectorization_mode="sync")
    assert ours.observation_space == theirs.observation_space
    assert ours.action_space == theirs.action_space
    assert ours.metadata["autoreset_mode"] is theirs.metadata["autoreset_mode"] is AutoresetMode.NEXT_STEP
    assert data_equivalence(ours.reset(seed=0), theirs.reset(seed=0))
    rng = np.random.default_rng(0)
    for _ in range(15):
        actions = rng.integers(ours.single_action_space.n, size=WALKERS)
        assert data_equivalence(ours.step(actions), theirs.step(actions))


def test_observations_are_in_the_observation_space(make_vec) -> None:
    envs = make_vec("R4R", num_envs=5, features="objects+lookahead")
    observations, infos = envs.reset(seed=0)
    rng = np.random.default_rng(0)
    for _ in range(8):
        assert observations in envs.observation_space
        actions = random_actions(rng, infos["action_mask"])
        assert actions in envs.action_space
        observations, *_, infos = envs.step(actions)


def test_all_walkers_share_one_epoch(make_vec) -> None:
    envs = make_vec(num_envs=7)
    count = len(envs.data.task)
    _, infos = envs.reset(seed=1)
    ids = list(infos["id"])
    while len(ids) < count:
        envs.step(np.zeros(7, dtype=int))  # all STOP
        *_, infos = envs.step(np.zeros(7, dtype=int))  # all start again
        ids += list(infos["id"])
    assert len(set(ids[:count])) == count


def test_the_same_seed_and_actions_give_the_same_episodes(make_vec) -> None:
    first, second = make_vec(num_envs=4), make_vec(num_envs=4)
    assert data_equivalence(first.reset(seed=5), second.reset(seed=5), exact=True)
    rng = np.random.default_rng(5)
    for _ in range(12):
        actions = rng.integers(first.single_action_space.n, size=4)
        assert data_equivalence(first.step(actions), second.step(actions), exact=True)


def test_returned_arrays_are_not_changed_by_later_steps(make_vec) -> None:
    envs = make_vec(num_envs=4)
    returned = [list(arrays(envs.reset(seed=0)))]
    returned += [list(arrays(envs.step(np.zeros(4, dtype=int)))) for _ in range(3)]
    for earlier, later in pairwise(returned):
        assert not any(np.shares_memory(one, other) for one in earlier for other in later)


def test_changing_the_rewards_does_not_change_the_measures(make_vec) -> None:
    envs = make_vec(num_envs=2, reward="ndtw")
    envs.reset(seed=0)
    _, rewards, *_, infos = envs.step(np.zeros(2, dtype=int))
    measured = infos["measures"]["nDTW"].copy()
    np.testing.assert_array_equal(rewards, measured)
    rewards -= 1.0
    np.testing.assert_array_equal(infos["measures"]["nDTW"], measured)


def test_episodes_can_be_selected(make_vec) -> None:
    envs = make_vec(num_envs=3)
    ids = envs.data.task.ids(np.array([4, 4, 0]))
    assert envs.reset(options={"episode": [4, 4, 0]})[1]["id"].tolist() == ids
    assert envs.reset(options={"episode": ids})[1]["id"].tolist() == ids
    with pytest.raises(ConfigError, match="names 1 episodes; expected 3"):
        envs.reset(options={"episode": 4})


def test_gymnasiums_wrappers_accept_the_infos(make_vec) -> None:
    counted = gymnasium.wrappers.vector.RecordEpisodeStatistics(make_vec(num_envs=2))
    counted.reset(seed=0)
    *_, infos = counted.step(np.array([0, 1]))
    assert infos["episode"]["l"].tolist() == [1, 0]
    listed = gymnasium.wrappers.vector.DictInfoToList(make_vec(num_envs=2))
    listed.reset(seed=0)
    *_, infos = listed.step(np.array([0, 1]))
    assert set(infos[0]["measures"]) == set(MEASURES)
    assert "measures" not in infos[1]


def test_render_returns_one_text_per_walker(make, make_vec) -> None:
    envs, single = make_vec(num_envs=2, render_mode="ansi"), make(render_mode="ansi")
    envs.reset(options={"episode": [3, 8]})
    single.reset(options={"episode": 8})
    assert envs.render()[1] == single.render()
    assert make_vec(num_envs=2).render() is None


def test_render_returns_one_picture_per_walker(make, make_vec) -> None:
    envs, single = make_vec(num_envs=2, render_mode="rgb_array"), make(render_mode="rgb_array")
    envs.reset(options={"episode": [3, 8]})
    single.reset(options={"episode": 8})
    np.testing.assert_array_equal(envs.render()[1], single.render())


def test_action_masks_have_a_row_per_walker(make_vec) -> None:
    envs = make_vec(num_envs=4)
    observations, _ = envs.reset(seed=0)
    rng = np.random.default_rng(0)
    for _ in range(15):
        masks = envs.action_masks()
        assert (masks.dtype, masks.shape) == (np.dtype(bool), (4, envs.single_action_space.n))
        np.testing.assert_array_equal(masks, observations["mask"] == 1)
        observations, *_ = envs.step(random_actions(rng, masks))


def test_step_and_render_before_reset_are_refused(make_vec) -> None:
    envs = make_vec(num_envs=2, render_mode="ansi")
    with pytest.raises(ResetNeeded, match="Call reset"):
        envs.step(np.zeros(2, dtype=int))
    with pytest.raises(ResetNeeded, match="nothing to render yet"):
        envs.render()


def test_a_wrong_number_of_actions_is_refused(make_vec) -> None:
    envs = make_vec(num_envs=2)
    envs.reset()
    with pytest.raises(ConfigError, match=r"The actions have the shape \(1,\); expected \(2,\)"):
        envs.step(np.zeros(1, dtype=int))


def test_a_batch_of_size_zero_is_refused(make_vec) -> None:
    with pytest.raises(ConfigError, match="num_envs = 0 is out of range; expected 1 or more"):
        make_vec(num_envs=0)
