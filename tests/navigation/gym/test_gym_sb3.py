"""The environments with stable-baselines3 and sb3-contrib."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.wrappers import FilterObservation, FlattenObservation

from babywalk.episodes.dataset import Dataset

torch = pytest.importorskip("torch")
MaskablePPO = pytest.importorskip("sb3_contrib").MaskablePPO
masking = pytest.importorskip("sb3_contrib.common.maskable.utils")
PPO = pytest.importorskip("stable_baselines3").PPO
env_checker = pytest.importorskip("stable_baselines3.common.env_checker")
env_util = pytest.importorskip("stable_baselines3.common.env_util")

pytestmark = pytest.mark.sb3

ENV = "babywalk.navigation.gym:babywalk/R2R-v0"
WITHOUT_TEXT = ["views", "candidates", "mask", "tokens", "length"]
SMALL = {"n_steps": 64, "batch_size": 64, "n_epochs": 4, "learning_rate": 1e-3, "gamma": 0.95}


@pytest.fixture(autouse=True)
def one_thread() -> Any:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture
def make_sb3(dataset: Dataset) -> Callable[..., Any]:
    """Make a vector environment as stable-baselines3 does, with the given keys of the observation."""

    def made(keys: list[str], **keywords: Any) -> Any:
        chosen = {"data": dataset, "split": "train", "features": "none"} | keywords
        return env_util.make_vec_env(
            ENV,
            n_envs=4,
            seed=0,
            env_kwargs=chosen,
            wrapper_class=FilterObservation,
            wrapper_kwargs={"filter_keys": keys},
        )

    return made


def mean_return(env: Any, act: Callable[[Any, np.ndarray], np.ndarray], episodes: int = 60) -> float:
    """The mean return of a policy, which is asked for possible actions only."""
    env.seed(1)
    observations, returns = env.reset(), []
    while len(returns) < episodes:
        masks = masking.get_action_masks(env)
        actions = act(observations, masks)
        assert masks[np.arange(len(actions)), actions].all()
        observations, _, _, infos = env.step(actions)
        returns += [info["episode"]["r"] for info in infos if "episode" in info]
    return float(np.mean(returns))


def test_make_vec_env_renders_pictures_by_default(make_sb3: Callable[..., Any]) -> None:
    env = make_sb3(WITHOUT_TEXT)
    assert env.render_mode == "rgb_array"
    env.reset()
    picture = env.render()  # two rows of two walkers
    assert picture.dtype == np.uint8
    assert picture.shape == (1024, 1024, 3)
    np.testing.assert_array_equal(picture[:512, :512], env.get_images()[0])


def test_the_environment_checker_of_sb3_passes_without_the_text(dataset: Dataset) -> None:
    env = gymnasium.make(ENV, data=dataset, features="none")
    chosen = FilterObservation(env, filter_keys=WITHOUT_TEXT)
    with pytest.warns(UserWarning, match="unconventional shape"):  # views and candidates are matrices
        env_checker.check_env(chosen)
    env_checker.check_env(FlattenObservation(chosen))  # any warning is an error


def test_masks_are_found_through_the_wrappers_and_hold_exactly_the_possible_actions(
    make_sb3: Callable[..., Any],
) -> None:
    env = make_sb3(["candidates", "mask"])
    assert masking.is_masking_supported(env)
    rng = np.random.default_rng(0)
    observations = env.reset()
    for _ in range(50):
        masks = masking.get_action_masks(env)
        np.testing.assert_array_equal(masks, observations["mask"].astype(bool))
        for number, walker in enumerate(env.envs):
            env_data, viewpoint = walker.unwrapped.data, walker.unwrapped._walkers.poses.viewpoint[0]
            neighbours = env_data.houses.neighbours[viewpoint]
            assert masks[number].sum() == 1 + (neighbours >= 0).sum()  # STOP and the neighbours
        observations, *_ = env.step((rng.random(masks.shape) * masks).argmax(axis=1))


def test_maskable_ppo_takes_only_possible_actions(
    make_sb3: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    env = make_sb3(WITHOUT_TEXT)
    model = MaskablePPO("MultiInputPolicy", env, seed=0, device="cpu", **SMALL)
    step_async, taken = env.step_async, []

    def checked(actions: np.ndarray) -> None:
        taken.append(masking.get_action_masks(env)[np.arange(len(actions)), actions])
        step_async(actions)

    monkeypatch.setattr(env, "step_async", checked)
    model.learn(256)
    assert np.concatenate(taken).tolist() == [True] * 256


def test_plain_ppo_runs_without_masks(make_sb3: Callable[..., Any]) -> None:
    model = PPO("MultiInputPolicy", make_sb3(WITHOUT_TEXT), seed=0, device="cpu", **SMALL)
    assert model.learn(256).num_timesteps == 256


def test_maskable_ppo_learns_a_few_episodes(make_sb3: Callable[..., Any]) -> None:
    """Ten episodes without the instruction: the policy memorises the ways to their goals."""
    env = make_sb3(["candidates", "mask"], split="train:10")
    rng = np.random.default_rng(0)
    model = MaskablePPO("MultiInputPolicy", env, seed=0, device="cpu", **SMALL)
    random = mean_return(env, lambda _, masks: (rng.random(masks.shape) * masks).argmax(axis=1))
    model.learn(4096)
    learned = mean_return(env, lambda observations, masks: model.predict(observations, action_masks=masks)[0])
    assert learned > random + 2.0  # metres nearer to the goal, or successes
