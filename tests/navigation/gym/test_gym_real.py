from __future__ import annotations

from pathlib import Path

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

pytestmark = pytest.mark.real


@pytest.mark.parametrize("name", ["R2R", "R4R", "R6R", "R8R"])
def test_gymnasiums_environment_checker_passes(real_dataset: Path, name: str) -> None:
    check_env(gymnasium.make(f"babywalk/{name}-v0", data=real_dataset, split="val_unseen").unwrapped)


@pytest.mark.parametrize("name", ["R2R", "R4R", "R6R", "R8R"])
def test_the_teacher_follows_every_reference_before_truncation(real_dataset: Path, name: str) -> None:
    envs = gymnasium.make_vec(
        f"babywalk/{name}-v0", num_envs=500, data=real_dataset, split="val_unseen", reward="fidelity"
    )
    _, infos = envs.reset(seed=0)
    ended = 0
    for _ in range(60):
        _, rewards, terminated, truncated, infos = envs.step(infos["teacher_action"])
        assert not truncated.any()
        np.testing.assert_allclose(rewards, 2.0 * terminated)  # SR + CLS
        ended += terminated.sum()
    assert ended > 500
