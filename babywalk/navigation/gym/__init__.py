"""Gymnasium environments: one walker, or many at once, over the pure step on arrays.

Importing this package registers the ids of `ENVIRONMENTS` where Gymnasium is installed. That is an effect
on import, and Gymnasium's convention: `gymnasium.make("babywalk.navigation.gym:babywalk/R2R-v0")` rests on
it, since Gymnasium 1.0 no longer looks for plugins.
"""

from __future__ import annotations

from importlib.util import find_spec

from babywalk.navigation.gym.registration import ENVIRONMENTS, register

if find_spec("gymnasium"):
    register()

__all__ = ["ENVIRONMENTS", "register"]
