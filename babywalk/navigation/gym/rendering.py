"""A walker's situation in a few lines of text; `babywalk draw` makes pictures of whole walks."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium.error import ResetNeeded

from babywalk.common.errors import unknown
from babywalk.navigation.gym.walkers import Walkers
from babywalk.navigation.world import STOP, angles

# Gymnasium asks for a pace even of text.
RENDERING: dict[str, Any] = {"render_modes": ["ansi"], "render_fps": 4}


def check_render_mode(mode: str | None) -> None:
    """Refuse what cannot be rendered."""
    if mode is not None and mode not in (modes := RENDERING["render_modes"]):
        raise unknown("Render mode", mode, modes)


def describe(walkers: Walkers, row: int) -> str:
    """Where one walker is, what it was told, and what it can do."""
    if not walkers.run_config:
        raise ResetNeeded("There is nothing to render yet. Call reset() before render().")
    arena = walkers.arena
    houses, episode = arena.houses, arena.task[int(walkers.episode[row])]
    pose = walkers.poses[np.array([row])]
    here, heading = int(pose.viewpoint[0]), np.degrees(angles(pose.view)[0][0])
    goal = "" if arena.teacher is None else f", {walkers.distance[row]:.1f} m from the goal"
    lines = [
        f"{episode.id} in {episode.scan}, step {walkers.steps[row]} of {arena.settings.steps}",
        episode.instruction,
        f"at {houses.names[here]}, heading {heading:.0f} degrees{goal}",
        f"{STOP:3}  STOP",
    ]
    turns = arena.world.directions(pose)[0]
    for action in np.flatnonzero(arena.world.possible[here]).tolist():
        if action != STOP:
            there = arena.world.target[here, action]
            turn = np.degrees(np.arctan2(turns[action, 0], turns[action, 1]))
            metres = houses.distance(np.array(here), there)
            lines.append(f"{action:3}  {houses.names[there]}, {metres:.1f} m, turn {turn:+.0f} degrees")
    return "\n".join(lines)
