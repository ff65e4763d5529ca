from __future__ import annotations

import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.utils.env_checker import check_env

from babywalk.assets.tokens import tokenise
from babywalk.common.errors import BabyWalkError, ConfigError
from babywalk.navigation.measures import MEASURES, score_one
from babywalk.navigation.rewards import REWARDS

TASKS = ["R2R", "R4R", "R6R", "R8R"]


def walk(env, actions, **reset):
    """Take actions, from a list or a function of the info, until the episode ends."""
    observation, info = env.reset(**reset)
    rewards, visited, number = [], [info["viewpoint"]], 0
    while True:
        action = actions(info) if callable(actions) else actions[number]
        observation, reward, terminated, truncated, info = env.step(action)
        rewards.append(reward)
        visited.append(info["viewpoint"])
        number += 1
        if terminated or truncated:
            return rewards, visited, terminated, truncated, info, observation


def teacher(info):
    return info["teacher_action"]


def random_actions(seed: int):
    rng = np.random.default_rng(seed)
    return lambda info: int(rng.choice(np.flatnonzero(info["action_mask"])))


@pytest.mark.parametrize("features", ["none", "objects", "objects:rooms+dollhouse", "objects+lookahead"])
def test_gymnasiums_environment_checker_passes_for_all_features(make, features: str) -> None:
    check_env(make(features=features))


@pytest.mark.parametrize("name", TASKS)
def test_gymnasiums_environment_checker_passes_for_all_tasks(make, name: str) -> None:
    check_env(make(name))


@pytest.mark.parametrize("reward", REWARDS)
def test_gymnasiums_environment_checker_passes_for_all_rewards(make, reward: str) -> None:
    check_env(make(reward=reward))


def test_gymnasiums_environment_checker_passes_without_goals(make) -> None:
    check_env(make(split="test"))


@pytest.mark.parametrize("name", TASKS)
def test_the_teacher_follows_the_reference(make, name: str) -> None:
    env = make(name)
    for episode in range(0, len(env.data.task), 37):
        *_, terminated, truncated, info, _ = walk(env, teacher, options={"episode": episode})
        assert terminated
        assert not truncated
        assert [info["measures"][measure] for measure in ("SR", "CLS", "nDTW")] == [1.0, 1.0, 1.0]


def test_an_episode_without_stop_is_truncated(make) -> None:
    def moving(info):
        return int(np.flatnonzero(info["action_mask"])[1])

    rewards, _, terminated, truncated, info, _ = walk(make(max_steps=4), moving, seed=1)
    assert (len(rewards), terminated, truncated) == (4, False, True)
    assert set(info["measures"]) == set(MEASURES)


def test_stop_in_the_last_step_terminates_and_does_not_truncate(make) -> None:
    env = make(max_steps=2)
    _, _, terminated, truncated, _, _ = walk(env, [1, 0], seed=1)
    assert (terminated, truncated) == (True, False)


def test_an_impossible_action_changes_nothing_but_uses_a_step(make) -> None:
    env = make(max_steps=2)
    before, info = env.reset(seed=0)
    impossible = int(np.flatnonzero(info["action_mask"] == 0)[0])
    after, reward, *_, later = env.step(impossible)
    assert later["viewpoint"] == info["viewpoint"]
    assert reward == 0.0
    np.testing.assert_array_equal(after["views"], before["views"])
    *_, truncated, _ = env.step(impossible)
    assert truncated


def test_standing_still_is_not_part_of_the_measured_path(make) -> None:
    def measures(impossible: int) -> dict[str, float]:
        """Of three random moves, each after the given number of impossible actions."""
        env, rng = make(max_steps=20), np.random.default_rng(0)
        _, info = env.reset(seed=0)
        for _ in range(3):
            for _ in range(impossible):
                env.step(int(np.flatnonzero(info["action_mask"] == 0)[0]))
            *_, info = env.step(int(rng.choice(np.flatnonzero(info["action_mask"])[1:])))
        return env.step(0)[4]["measures"]

    assert measures(impossible=2) == measures(impossible=0)
    assert measures(impossible=0)["nDTW"] < 1.0  # off the reference, where repeated viewpoints would count


@pytest.mark.parametrize("action", [-1, 99])
def test_an_action_outside_the_action_space_is_refused(make, action: int) -> None:
    env = make()
    env.reset()
    with pytest.raises(ConfigError, match=rf"Action {action} is out of range; expected an integer from 0"):
        env.step(action)


def test_a_seed_fixes_the_order_and_an_epoch_has_no_repeats(make) -> None:
    env = make()
    count = len(env.data.task)

    def ids(seed: int) -> list[str]:
        first = env.reset(seed=seed)[1]["id"]
        return [first, *(env.reset()[1]["id"] for _ in range(2 * count - 1))]

    order = ids(7)
    assert order == ids(7)
    assert order != ids(8)
    assert len(set(order[:count])) == len(set(order[count:])) == count
    assert order[:count] != order[count:]


def test_selecting_an_episode_does_not_advance_the_order(make) -> None:
    env, other = make(), make()
    id_ = env.data.task[5].id
    env.reset(seed=3)
    other.reset(seed=3)
    assert env.reset(options={"episode": 5})[1]["id"] == id_
    assert env.reset(options={"episode": id_})[1]["id"] == id_
    assert env.reset()[1]["id"] == other.reset()[1]["id"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"episode": "nobody_0"}, r"Episode of r2r val_unseen 'nobody_0' is not known"),
        ({"episode": 10**9}, r"Episode 1000000000 is out of range; expected 0 to \d+"),
        ({"episode": [1, 2]}, r"The option 'episode' names 2 episodes; expected 1"),
        ({"episodes": 1}, r"Option of reset 'episodes' is not known. Did you mean 'episode'\?"),
    ],
)
def test_an_invalid_reset_option_is_refused(make, options: dict, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        make().reset(options=options)


def test_a_step_before_reset_or_after_the_end_is_refused(make) -> None:
    env = make()
    with pytest.raises(ResetNeeded, match="Call reset"):
        env.step(0)
    env.reset()
    env.step(0)
    with pytest.raises(ResetNeeded, match="Call reset"):
        env.step(0)


@pytest.mark.parametrize("seed", range(5))
def test_the_goal_reward_sums_to_the_distance_reduction_and_success_at_stop(make, seed: int) -> None:
    env = make(max_steps=6)
    start = env.reset(seed=seed)[1]["distance"]
    rewards, _, terminated, _, info, _ = walk(env, random_actions(seed), seed=seed)
    bonus = info["measures"]["SR"] if terminated else 0.0
    assert sum(rewards) == pytest.approx(start - info["distance"] + bonus)


@pytest.mark.parametrize(
    ("reward", "measures"),
    [
        ("fidelity", ["CLS", "SR"]),
        ("success_ndtw", ["SR", "nDTW"]),
        ("ndtw", ["nDTW"]),
        ("sdtw", ["SDTW"]),
        ("none", []),
    ],
)
def test_the_other_rewards_are_given_at_the_end(make, reward: str, measures: list[str]) -> None:
    env = make("R4R", reward=reward)
    rewards, *_, info, _ = walk(env, random_actions(1), seed=1)
    assert set(rewards[:-1]) <= {0.0}
    assert rewards[-1] == pytest.approx(sum(info["measures"][name] for name in measures))


def test_the_measures_are_those_of_the_trajectory(make) -> None:
    env = make("R4R")
    _, visited, _, _, info, _ = walk(env, random_actions(4), seed=4)
    houses, task = env.data.houses, env.data.task
    episode = task[task.index_of(info["id"])]
    numbers = houses.viewpoints(episode.scan)
    prediction, reference = ([numbers[name] for name in path] for path in (visited, episode.path))
    assert info["measures"] == pytest.approx(score_one(houses, prediction, reference))


def test_a_test_split_has_no_rewards_no_measures_and_no_teacher(make) -> None:
    rewards, *_, info, _ = walk(make(split="test"), random_actions(0), seed=0)
    assert set(rewards) == {0.0}
    assert set(info) == {"action_mask", "id", "viewpoint"}


def test_the_instruction_is_observed_as_text_and_as_tokens(make) -> None:
    env = make("R4R")
    observation, info = env.reset(seed=2)
    task, words = env.data.task, env.data.vocabulary
    assert observation["instruction"] == task[task.index_of(info["id"])].instruction
    tokens = observation["tokens"][: observation["length"]]
    expected = tokenise(observation["instruction"])
    assert len(tokens) == len(expected)
    known = [word if word in words.word_ids else "<UNK>" for word in expected]
    assert [words.words[token] for token in tokens] == known
    assert not observation["tokens"][observation["length"] :].any()


def test_a_long_instruction_is_truncated(make) -> None:
    whole, _ = make().reset(seed=2)
    cut, _ = make(max_words=5).reset(seed=2)
    assert (cut["length"], cut["tokens"].shape) == (5, (5,))
    np.testing.assert_array_equal(cut["tokens"], whole["tokens"][:5])
    assert cut["instruction"] == whole["instruction"]


@pytest.mark.parametrize(("name", "rooms"), [("R2R", 2), ("R4R", 4), ("R6R", 6), ("R8R", 8)])
def test_limits_are_proportional_to_the_rooms(make, name: str, rooms: int) -> None:
    env = make(name)
    assert env.observation_space["tokens"].shape == (50 * rooms,)
    assert env.data.config.steps == 5 * rooms


def test_the_spaces_of_all_splits_are_equal(make) -> None:
    spaces = [make(split=split).observation_space for split in ("train", "val_unseen", "test")]
    assert spaces[0] == spaces[1] == spaces[2]


def test_the_default_features_are_the_first_source(make) -> None:
    assert make(features=None).observation_space == make(features="dollhouse").observation_space


def test_data_can_be_a_path_and_the_split_a_sample(make, dollhouse) -> None:
    env = make(data=str(dollhouse), split="train:7")
    assert len(env.data.task) == 7


def test_render_shows_the_pose_and_the_possible_actions(make) -> None:
    env = make(render_mode="ansi")
    observation, info = env.reset(seed=0)
    first, instruction, place, *actions = env.render().splitlines()
    assert first.startswith(f"{info['id']} in ")
    assert first.endswith("step 0 of 10")
    assert instruction == observation["instruction"]
    assert info["viewpoint"] in place
    assert place.endswith(f"{info['distance']:.1f} m from the goal")
    assert [int(line.split()[0]) for line in actions] == np.flatnonzero(info["action_mask"]).tolist()


@pytest.mark.parametrize("name", ["R2R", "R4R"])
def test_render_draws_the_walker_its_path_and_the_goal(make, name: str) -> None:
    env = make(name, render_mode="rgb_array")
    _, info = env.reset(seed=0)
    pictures = [env.render()]
    while info["teacher_action"] != 0:
        *_, info = env.step(info["teacher_action"])
        pictures.append(env.render())
    assert {(picture.shape, str(picture.dtype)) for picture in pictures} == {((512, 512, 3), "uint8")}
    blue = [count(picture, (0, 90, 160)) for picture in pictures]
    assert 0 < blue[0] < blue[-1]  # a ring at the start, and later a line
    assert all(count(picture, (213, 94, 0)) > 50 for picture in pictures)  # the walker
    green = [count(picture, (0, 158, 115)) for picture in pictures]
    assert green[0] > 200 > 150 > green[-1]  # the goal, until the walker stands on it


def test_the_picture_shows_north_up_and_east_right(make) -> None:
    env = make(render_mode="rgb_array")
    houses, world = env.data.houses, env.data.world
    _, info = env.reset(seed=0)

    def walker() -> np.ndarray:
        """The centre of the walker and of its heading: pixels right and down."""
        rows, columns = np.nonzero((env.render() == (213, 94, 0)).all(axis=2))
        return np.array([columns.mean(), rows.mean()])

    for _ in range(5):
        before, here = walker(), houses.names.index(info["viewpoint"])
        action = int(np.flatnonzero(info["action_mask"])[-1])
        moved = houses.positions[world.target[here, action]] - houses.positions[here]
        *_, info = env.step(action)
        right, down = walker() - before
        if np.abs(moved[:2]).min() > 1.0:
            assert np.sign([right, -down]).tolist() == np.sign(moved[:2]).tolist()


def test_the_picture_of_a_test_split_has_no_goal(make) -> None:
    env = make(split="test", render_mode="rgb_array")
    env.reset(seed=0)
    picture = env.render()
    assert count(picture, (0, 158, 115)) == 0
    assert count(picture, (213, 94, 0)) > 50


def count(picture: np.ndarray, colour: tuple[int, int, int]) -> int:
    """The number of pixels of a colour."""
    return int((picture == colour).all(axis=2).sum())


def test_action_masks_are_the_mask_of_the_observation_as_booleans(make) -> None:
    env = make()
    with pytest.raises(ResetNeeded, match=r"no episode in progress\. Call reset\(\) before action_masks\(\)"):
        env.action_masks()
    observation, _ = env.reset(seed=0)
    for _ in range(5):
        masks = env.action_masks()
        assert masks.dtype == np.bool_
        np.testing.assert_array_equal(masks, observation["mask"] == 1)
        observation, *_ = env.step(int(np.flatnonzero(masks)[-1]))


def test_render_without_a_mode_returns_none(make) -> None:
    env = make()
    env.reset()
    assert env.render() is None


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"rewards": "goal"}, r"Keyword 'rewards' is not known. Did you mean 'reward'\?"),
        ({"reward": "gaol"}, r"Reward 'gaol' is not known. Did you mean 'goal'\?"),
        ({"max_steps": 0}, r"max_steps = 0 is out of range; expected 1 or more"),
        ({"max_words": -3}, r"max_words = -3 is out of range; expected 1 or more"),
        ({"split": "unseen"}, r"Split 'unseen' is not known"),
        ({"task": "r3r"}, r"Task 'r3r' is not known"),
        ({"data": "nowhere"}, r"nowhere: is not a data directory"),
    ],
)
def test_an_invalid_keyword_is_refused(make, keywords: dict, message: str) -> None:
    with pytest.raises(BabyWalkError, match=message):
        make(**keywords)


@pytest.mark.filterwarnings("ignore:.*render_mode")
def test_an_unknown_render_mode_is_refused(make) -> None:
    with pytest.raises(ConfigError, match=r"Render mode 'depth' is not known\. Choose from: ansi, rgb_array"):
        make(render_mode="depth")


def test_missing_data_is_refused() -> None:
    from babywalk.navigation.gym.env import WalkEnv

    with pytest.raises(ConfigError, match="needs the keyword 'data'"):
        WalkEnv(split="train")
