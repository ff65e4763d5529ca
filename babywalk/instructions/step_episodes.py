"""Single Baby-Steps: each aligned step of a task as an episode of its own."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from babywalk.common.ragged import Ragged, ranges, starts
from babywalk.episodes.task import Task
from babywalk.episodes.walks import Walks
from babywalk.instructions.babysteps import BabySteps


@dataclass(frozen=True, slots=True, eq=False)
class StepEpisodes:
    """Each step starts at the expert's position and heading at its start. Shapes: S steps."""

    steps: BabySteps
    task: Task  # S episodes, those of one instruction consecutive and in order
    episode: NDArray[np.int64]  # (S,) of `steps.task`
    number: NDArray[np.int64]  # (S,) the position of the step in its episode, from 0

    @classmethod
    def of(cls, steps: BabySteps) -> StepEpisodes:
        """Every step of every episode."""
        ends = steps.known_ends
        count = ends.lengths
        episode = np.repeat(np.arange(len(steps)), count)
        number = np.arange(len(episode)) - np.repeat(ends.start[:-1], count)
        end = ends.values.astype(np.int64)
        begin = np.where(number > 0, np.roll(end, 1), 0)
        chain = steps.task.chain_of(episode)
        first = steps.task.paths.start[chain] + begin  # viewpoint, in the flat array of all paths
        length = end - begin + 1
        walks = Walks(
            path_ids=np.arange(len(episode)),
            headings=steps.task.start_headings(chain, begin),
            paths=Ragged(steps.task.paths.values[ranges(first, length)], starts(length)),
            texts=tuple(text for number in range(len(steps)) for text in steps.texts(number)),
            first_text=np.arange(len(episode) + 1),
            has_goals=steps.task.walks.has_goals,
            distances=np.full(len(episode), np.nan),
        )
        alone = np.arange(len(episode), dtype=np.int32)[:, None]
        task = Task(steps.task.name, steps.task.split, steps.task.houses, walks, alone)
        return cls(steps, task, episode, number)

    @property
    def paths(self) -> NDArray[np.int64]:
        """(S,) the whole path of each step: steps of one path are not independent samples."""
        return self.steps.task.chain_of(self.episode)
