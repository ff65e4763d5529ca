"""Gymnasium environments: one walker, or a batch of walkers, over the pure step on arrays.

Importing this package registers the ids of `ENVIRONMENTS` if Gymnasium is installed.
`gymnasium.make("babywalk.navigation.gym:babywalk/R2R-v0")` relies on that: Gymnasium 1.0 does not search for
plugins any more.
"""

from __future__ import annotations

from importlib.util import find_spec

from babywalk.common.errors import ConfigError

# The task of each id. A change of what an id means to an agent needs a new version.
ENVIRONMENTS = {
    "babywalk/R2R-v0": "r2r",
    "babywalk/R4R-v0": "r4r",
    "babywalk/R6R-v0": "r6r",
    "babywalk/R8R-v0": "r8r",
}

__all__ = ["ENVIRONMENTS", "register"]


def register() -> None:
    """Register the ids with Gymnasium, except those that are registered already."""
    try:
        from gymnasium.envs import registration
    except ImportError:
        raise ConfigError("Gymnasium is not installed. Run 'pip install \"babywalk[gym]\"'.") from None
    for name, task in ENVIRONMENTS.items():
        if name not in registration.registry:
            registration.register(
                id=name,
                entry_point="babywalk.navigation.gym.env:WalkEnv",
                vector_entry_point="babywalk.navigation.gym.vector:WalkVectorEnv",
                kwargs={"task": task},
            )


if find_spec("gymnasium"):
    register()
