"""Learned agents on the page: their walks with every decision, and typed instructions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

import numpy as np
from torch import Tensor

from babywalk.agents.learned import LearnedAgent
from babywalk.buildings.panorama import VIEWS
from babywalk.common.ragged import concat_rows
from babywalk.decoding.decoders import StepwiseDecoder
from babywalk.decoding.rollout import StepRecord
from babywalk.episodes.task import Task
from babywalk.instructions.segmenting import segment
from babywalk.navigation.trajectories import Trajectories
from babywalk.navigation.world import STOP
from babywalk.viewer.texts import cut_typed
from babywalk.viewer.walks import Decisions, Walks

_BATCH = 64  # walkers at a time; between batches, another thread may use the agent


@dataclass(frozen=True, slots=True)
class LearnedWalker:
    """A learned agent whose decisions are recorded, unless its decoder searches."""

    name: str
    agent: LearnedAgent
    _lock: Lock = field(default_factory=Lock, init=False)

    def walk(self, task: Task) -> Walks:
        """The walks in all episodes of a task."""
        agent, batches = self.agent, self.agent.batches(task)
        decoder, episodes = agent.decoder, np.arange(len(task))
        if not isinstance(decoder, StepwiseDecoder):
            with self._lock:
                return Walks(agent.walk(task, episodes), batches.steps)
        walked: list[Trajectories] = []
        decisions: list[Decisions] = []
        for some in np.array_split(episodes, -(-len(episodes) // _BATCH)):
            with self._lock, agent.rollout.inference():
                result = agent.rollout.run(batches.full(some), decoder)
            walked.append(result.trajectories())
            decisions += _decisions(result.records, len(some), agent)
        found = Trajectories(
            concat_rows([part.viewpoints for part in walked]), concat_rows([part.views for part in walked])
        )
        return Walks(found, batches.steps, decisions)

    def follow(self, house: str, viewpoint: str, heading: float, text: str) -> dict[str, Any]:
        """The walk of a typed instruction as JSON; the heading is in radians."""
        with self._lock:
            found = self.agent.follow(house, viewpoint, heading, text)
        number = {name: index for index, name in enumerate(self.agent.dataset.houses.viewpoints(house))}
        decisions, position = [], 0
        for move in found.moves:
            choices = {-1 if name == "STOP" else number[name]: p for name, p in move.choices.items()}
            words = [weight for _, weight in move.words]
            decisions.append(_decision(move.step, position, choices, words, move.views))
            position += move.to is not None
        cut = cut_typed(text, segment(text, self.agent.config.segmentation))
        return {
            "agent": self.name,
            "path": [number[name] for name in found.path],
            **cut.record(),
            "tokens": cut.tokens(),
            "decisions": decisions,
            "unknown": list(found.unknown),
            "unread": sum(map(len, found.unread)),
        }


def _decisions(records: Sequence[StepRecord], walkers: int, agent: LearnedAgent) -> list[Decisions]:
    """The decisions of each of a batch's walkers."""
    houses = agent.dataset.houses
    found: list[Decisions] = [[] for _ in range(walkers)]
    position = [0] * walkers
    for record in records:
        logits = record.decision.logits
        probabilities = _listed(logits.softmax(dim=1))
        finite, candidates = logits.isfinite().tolist(), record.candidates.tolist()
        words, views = _listed(record.decision.word_weights), _listed(record.decision.view_weights)
        first = houses.first[houses.house_of[np.asarray(record.before.viewpoint.cpu())]].tolist()
        moved = (record.actions != STOP).tolist()
        for row, walker in enumerate(record.walkers.tolist()):
            choices = {
                candidate - first[row] if action else -1: probabilities[row][action]
                for action, candidate in enumerate(candidates[row])
                if finite[row][action]
            }
            found[walker].append(_decision(record.step, position[walker], choices, words[row], views[row]))
            position[walker] += moved[row]
    return found


def _decision(
    step: int, position: int, choices: Mapping[int, float], words: Sequence[float], views: Sequence[float]
) -> list[Any]:
    percent = [round(100 * weight) for weight in words]
    while percent and not percent[-1]:  # padding, and words without weight
        percent.pop()
    # Agents with co-grounding attend to candidates instead of views.
    seen = [round(100 * weight) for weight in views] if len(views) == VIEWS else []
    return [
        step,
        position,
        [[viewpoint, round(1000 * chance)] for viewpoint, chance in choices.items()],
        percent,
        seen,
    ]


def _listed(values: Tensor) -> list[list[float]]:
    rows: list[list[float]] = values.tolist()
    return rows
