"""Learned agents on the page: their walks with every decision, and typed instructions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from threading import Lock
from typing import Any

import numpy as np
from torch import Tensor

from babywalk.agents.follow import Followed, Order, follow_all, segmented
from babywalk.agents.learned import LearnedAgent
from babywalk.buildings.houses import Houses
from babywalk.buildings.panorama import VIEWS
from babywalk.common.progress import progress
from babywalk.common.ragged import concat_rows
from babywalk.decoding.rollout import StepRecord
from babywalk.episodes.task import Task
from babywalk.navigation.trajectories import Trajectories
from babywalk.viewer.texts import cut_typed
from babywalk.viewer.walks import Decisions, Walks

_BATCH = 64  # walkers at a time; between batches, another thread may use the agent


@dataclass(frozen=True, slots=True)
class LearnedWalker:
    """A learned agent whose decisions are recorded."""

    name: str
    agent: LearnedAgent
    _lock: Lock = field(default_factory=Lock, init=False)

    def walk(self, task: Task) -> Walks:
        """The walks in all episodes of a task."""
        agent, batches = self.agent, self.agent.batches(task)
        episodes = np.arange(len(task))
        walked: list[Trajectories] = []
        decisions: list[Decisions] = []
        parts = np.array_split(episodes, -(-len(episodes) // _BATCH))
        for some in progress(parts, f"Walking {task.name} {task.split}", unit="batch"):
            with self._lock, agent.rollout.inference():
                result, trajectories = agent.decoder.decisions(agent.rollout, batches.full(some))
            walked.append(trajectories)
            decisions += _decisions(result.records, trajectories, agent.dataset.houses)
        found = Trajectories(
            concat_rows([part.viewpoints for part in walked]), concat_rows([part.views for part in walked])
        )
        return Walks(found, batches.steps, decisions)

    def follow(self, orders: Sequence[Order]) -> list[dict[str, Any]]:
        """The walks of typed instructions as JSON, in one batch."""
        agent = self.agent
        with self._lock:
            walked = follow_all(agent.model, agent.rollout, agent.decoder, agent.dataset.houses, orders)
        return [self._record(order, found) for order, found in zip(orders, walked, strict=True)]

    def _record(self, order: Order, found: Followed) -> dict[str, Any]:
        names = self.agent.dataset.houses.viewpoints(order.house)
        number = {name: index for index, name in enumerate(names)}
        decisions = []
        for move in found.moves:
            choices = {-1 if name == "STOP" else number[name]: p for name, p in move.choices.items()}
            words = [weight for _, weight in move.words]
            decisions.append(_decision(move.step, number[move.at], choices, words, move.views))
        path = [number[name] for name in found.path]
        cut = cut_typed(order.instruction, segmented(order.instruction, self.agent.config.segmentation))
        return {
            "agent": self.name,
            "path": path,
            **cut.record(),
            "tokens": cut.tokens(),
            "decisions": _along(decisions, path),
            "unknown": list(found.unknown),
            "unread": sum(map(len, found.unread)),
        }


def _decisions(records: Sequence[StepRecord], trajectories: Trajectories, houses: Houses) -> list[Decisions]:
    """The decisions of each of a batch's walkers."""
    found: list[Decisions] = [[] for _ in range(len(trajectories))]
    for record in records:
        logits = record.decision.logits
        probabilities = _listed(logits.softmax(dim=1))
        finite, candidates = logits.isfinite().tolist(), record.candidates.tolist()
        words, views = _listed(record.decision.word_weights), _listed(record.decision.view_weights)
        places = np.asarray(record.before.viewpoint.cpu())
        first = houses.first[houses.house_of[places]].tolist()
        at = places.tolist()
        for row, walker in enumerate(record.walkers.tolist()):
            choices = {
                candidate - first[row] if action else -1: probabilities[row][action]
                for action, candidate in enumerate(candidates[row])
                if finite[row][action]
            }
            decision = _decision(record.step, at[row] - first[row], choices, words[row], views[row])
            found[walker].append(decision)
    firsts = houses.first[houses.house_of[trajectories.viewpoints.firsts]].tolist()
    return [
        _along(decisions, (trajectories.viewpoints[walker] - firsts[walker]).tolist())
        for walker, decisions in enumerate(found)
    ]


def _along(decisions: Decisions, path: Sequence[int]) -> Decisions:
    """The decisions, if they lead along a path; none where a search has walked back in between."""
    places = [place for place, _ in groupby([*(decision[1] for decision in decisions), path[-1]])]
    return decisions if places == [place for place, _ in groupby(path)] else []


def _decision(
    step: int, at: int, choices: Mapping[int, float], words: Sequence[float], views: Sequence[float]
) -> list[Any]:
    percent = [round(100 * weight) for weight in words]
    while percent and not percent[-1]:  # padding, and words without weight
        percent.pop()
    # Agents with co-grounding attend to candidates instead of views.
    seen = [round(100 * weight) for weight in views] if len(views) == VIEWS else []
    return [
        step,
        at,
        [[viewpoint, round(1000 * chance)] for viewpoint, chance in choices.items()],
        percent,
        seen,
    ]


def _listed(values: Tensor) -> list[list[float]]:
    rows: list[list[float]] = values.tolist()
    return rows
