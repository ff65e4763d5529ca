"""The decoder of the regretful agent (Ma et al. 2019b): a regret module and a progress marker.

Both use the progress monitor. If the estimated progress falls, the regret module prefers the way back; the
progress marker shows, at each candidate that leads to a visited viewpoint, how progress there compares.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn

from babywalk.buildings.houses import NOWHERE
from babywalk.modules.decoder import CoGround, Decision, State
from babywalk.modules.observation import Observation
from babywalk.modules.text_encoder import TextBatch
from babywalk.navigation.observation import TILES

_UNVISITED = 1.0  # marker of a candidate that leads to a new viewpoint
_MARKS = 64  # viewpoints that a walker remembers; beyond, the oldest are forgotten


@dataclass(frozen=True, eq=False)
class RegretState(State):
    """What the walker has visited within a Baby-Step. Shapes: B walkers, V marks."""

    progress: Tensor  # (B,) the estimate at the previous viewpoint
    trail: Tensor  # (B, 2) the viewpoints of the last two decisions, the later one first; NOWHERE for none
    visited: Tensor  # (B, V) viewpoints, NOWHERE for none
    marks: Tensor  # (B, V) the estimated progress at each
    count: Tensor  # (B,) viewpoints visited so far


class Regretful(CoGround):
    """Co-grounding whose score mixes the wanted action with the action that leads back.

    Shapes: B walkers, K actions, E embedded action, V marks.
    """

    def __init__(self, *sizes: int, **options: Any) -> None:
        super().__init__(*sizes, **{**options, "progress_monitor": True})
        embedded = self.action_score.embed.in_features
        self.marker = nn.Linear(TILES, embedded, bias=False)
        self.regret = nn.Linear(TILES, 2)  # (rollback, forward)

    def initial_state(self, state: State) -> RegretState:
        """Nothing visited."""
        count = len(state.hidden)
        nowhere = torch.full((count, _MARKS), NOWHERE, device=state.hidden.device)
        return RegretState(
            hidden=state.hidden,
            cell=state.cell,
            action=state.action,
            progress=state.hidden.new_zeros(count),
            trail=nowhere[:, :2],
            visited=nowhere,
            marks=state.hidden.new_zeros(count, _MARKS),
            count=nowhere.new_zeros(count),
        )

    def forward(
        self,
        state: State,
        observation: Observation,
        text: TextBatch,
        memory: Tensor,  # (B, M)
    ) -> Decision:
        """One step."""
        if not isinstance(state, RegretState):
            raise TypeError("the regretful decoder continues its own states")
        found = self.ground(state, observation, text)
        progress = found.progress
        if progress is None:
            raise TypeError("the regretful decoder has a progress monitor")
        world, at = observation.observer.world, observation.poses.viewpoint
        moves = world.facing[at] != NOWHERE  # (B, K)
        target = torch.where(moves, world.target[at], NOWHERE - 1)  # (B, K); no viewpoint for STOP

        marker = self._markers(state, target, progress)
        marked = self.candidate[1:](found.projected + self.marker(_tiled(marker)))  # (B, K, E)
        back = target == state.trail[:, :1]  # (B, K) True for the action that leads back
        rollback = torch.bmm(back[:, None].to(marked.dtype), marked)[:, 0]  # (B, E)
        forward = self.action_score.wanted_action(found.query, memory)  # (B, E)
        weights = self.regret(_tiled(progress - state.progress)).softmax(dim=1)  # (B, 2)
        weights = weights.where(back.any(dim=1, keepdim=True), weights.new_tensor([0.0, 1.0]))
        wanted = weights[:, :1] * rollback + weights[:, 1:] * forward

        logits = self.action_score.scores(wanted, marked)
        possible = observation.possible
        if not self.training:  # the teacher may ask for it
            possible = possible & ~self._oscillates(state, at, target)
        logits = logits.masked_fill(~possible, -torch.inf)
        after = self._visit(state, at, progress)
        after = replace(after, hidden=found.hidden, cell=found.cell)
        return Decision(logits, after, found.word_weights, found.candidate_weights, progress)

    def _markers(self, state: RegretState, target: Tensor, progress: Tensor) -> Tensor:
        """(B, K) the growth of progress since a candidate's viewpoint was visited; 1 if it was not."""
        same = target[..., None] == state.visited[:, None]  # (B, K, V)
        stored = (same * state.marks[:, None]).sum(dim=2)
        return torch.where(same.any(dim=2), progress[:, None] - stored, _UNVISITED)

    def _oscillates(self, state: RegretState, at: Tensor, target: Tensor) -> Tensor:
        """(B, K) True for an action that leads back to where the walker has just come back from."""
        rolled_back = at == state.trail[:, 1]
        return rolled_back[:, None] & (target == state.trail[:, :1])

    def _visit(self, state: RegretState, at: Tensor, progress: Tensor) -> RegretState:
        """Mark the present viewpoint; one that was visited before keeps its place."""
        same = state.visited == at[:, None]  # (B, V)
        known = same.any(dim=1)
        slot = torch.where(known, same.int().argmax(dim=1), state.count % _MARKS)[:, None]
        return replace(
            state,
            progress=progress,
            trail=torch.stack([at, state.trail[:, 0]], dim=1),
            visited=state.visited.scatter(1, slot, at[:, None]),
            marks=state.marks.scatter(1, slot, progress[:, None]),
            count=state.count + (~known).long(),
        )


def _tiled(numbers: Tensor) -> Tensor:
    """(..., 32) copies of numbers (...), so that one number weighs as much as an orientation."""
    return numbers[..., None].expand(*numbers.shape, TILES)
