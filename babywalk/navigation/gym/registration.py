"""The ids under which Gymnasium knows the environments."""

from __future__ import annotations

from babywalk.common.errors import ConfigError

# The task behind each id. A change of what an id means to an agent needs a new version.
ENVIRONMENTS = {
    "babywalk/R2R-v0": "r2r",
    "babywalk/R4R-v0": "r4r",
    "babywalk/R6R-v0": "r6r",
    "babywalk/R8R-v0": "r8r",
}


def register() -> None:
    """Make the ids known to Gymnasium; what is known already is left as it is."""
    try:
        from gymnasium.envs import registration
    except ImportError:
        raise ConfigError("Gymnasium is not installed. Run 'pip install \"babywalk[gym]\"'.") from None
    for name, task in ENVIRONMENTS.items():
        if name not in registration.registry:
            registration.register(
                id=name,
                entry_point="babywalk.navigation.gym.single:WalkEnv",
                vector_entry_point="babywalk.navigation.gym.vector:WalkVectorEnv",
                kwargs={"task": task},
            )
