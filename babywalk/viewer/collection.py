"""The episodes of one task and split for the page, with the walks and measures of several agents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from babywalk.episodes.dataset import Dataset
from babywalk.episodes.statistics import words_per_instruction
from babywalk.episodes.task import Task
from babywalk.evaluation.evaluate import Evaluation, evaluate
from babywalk.instructions.babysteps import BabySteps
from babywalk.instructions.identification import IdentificationConfig
from babywalk.instructions.store import UNALIGNED, aligned_steps, is_segmented
from babywalk.navigation.measures import MEASURES
from babywalk.viewer.texts import cut_episode
from babywalk.viewer.walks import Walker, Walks

EXPERT = "expert"  # the label of the reference path


@dataclass(frozen=True, slots=True, eq=False)
class Collection:
    """The episodes that the page shows of a task, and how agents walked them."""

    task: Task
    total: int  # episodes of the whole split
    steps: BabySteps | None  # None where the split is not segmented
    aligned: bool  # whether the ends of the steps are of an alignment
    walks: Mapping[str, Walks]  # by agent
    evaluations: Mapping[str, Evaluation]  # by agent; empty where goals are not published

    @classmethod
    def of(cls, dataset: Dataset, task: Task, total: int, walkers: Sequence[Walker]) -> Collection:
        """Run or read all agents."""
        steps, method = None, UNALIGNED
        if is_segmented(dataset, task.split):
            steps, method = aligned_steps(dataset, task, IdentificationConfig())
        walks = {walker.name: walker.walk(task) for walker in walkers}
        goals = task.walks.has_goals and len(task) > 0
        evaluations = {name: evaluate(task, one.trajectories) for name, one in walks.items() if goals}
        return cls(task, total, steps, method != UNALIGNED, walks, evaluations)

    def record(self) -> dict[str, Any]:
        """The table of episodes as JSON: what lists, plots and comparisons need."""
        task, every = self.task, np.arange(len(self.task))
        chains = task.chain_of(every)
        steps = [] if self.steps is None else self.steps.sentences.lengths.tolist()
        return {
            "task": task.name,
            "split": task.split,
            "total": self.total,
            "agents": list(self.walks),
            "ids": task.ids(every),
            "houses": task.houses.house_of[task.paths.firsts[chains]].tolist(),
            "texts": task.instructions(every),
            "words": words_per_instruction(task).tolist(),
            "metres": np.round(task.path_metres[chains], 2).tolist(),
            "steps": steps,
            "scores": {name: self._scores(name) for name in self.evaluations},
        }

    def episode(self, number: int) -> dict[str, Any]:
        """One episode as JSON, with all walks; viewpoints are numbered within the house."""
        task = self.task
        chain = int(task.chain_of(np.array([number]))[0])
        path = task.paths[chain]
        house = int(task.houses.house_of[path[0]])
        first = int(task.houses.first[house])
        text = task.instructions(np.array([number]))[0]
        expert: dict[str, Any] = {"agent": EXPERT, "path": (path - first).tolist()}
        record: dict[str, Any] = {
            "id": task.ids(np.array([number]))[0],
            "house": task.houses.scans[house],
            "heading": round(float(task.start_headings(np.array(chain))), 4),
            "text": text,
            "steps": [],
            "landmarks": [],
        }
        if self.steps is not None:
            record |= cut_episode(self.steps, number, text).record()
            if self.aligned and self.steps.ends is not None:
                expert["ends"] = self.steps.ends[number].tolist()
        record["walks"] = [expert, *(self._walk(name, number, first, text) for name in self.walks)]
        return record

    def _walk(self, name: str, number: int, first: int, text: str) -> dict[str, Any]:
        walks = self.walks[name]
        path = (walks.trajectories.viewpoints[number] - first).tolist()
        found: dict[str, Any] = {"agent": name, "path": path}
        if walks.decisions is not None and walks.steps is not None:
            cut = cut_episode(walks.steps, number, text)
            found |= cut.record() | {"tokens": cut.tokens(), "decisions": walks.decisions[number]}
        return found

    def _scores(self, name: str) -> list[list[float | None]]:
        """For each measure its value in every episode; None where it is infinite."""
        table = np.round(self.evaluations[name].scores.table().T, 4)
        return [[value if np.isfinite(value) else None for value in row] for row in table.tolist()]


MEASURE_NAMES = tuple(MEASURES)
