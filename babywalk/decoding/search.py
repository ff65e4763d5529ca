"""Search decoders: what they share.

    trajectories = Frontier(candidates=20).decode(rollout, batch)

A search decoder expands a tree until it has candidates, which are complete paths, and chooses one of them for
each walker. It searches whole instructions or, with `per_step`, one Baby-Step after another: walkers go to
the end of the candidate that is chosen for the step, and the next search begins there.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from babywalk.common.config import check_non_negative
from babywalk.common.errors import ConfigError
from babywalk.decoding.episode_batch import EpisodeBatch
from babywalk.decoding.rollout import ActionSelector, BatchState, Rollout, RolloutResult, Walkers
from babywalk.decoding.search_tree import Candidates, SearchTree, no_progress_monitor
from babywalk.decoding.walking import Exploration, KnownMap
from babywalk.modules.decoder import Decision
from babywalk.navigation.arrays import to_numpy
from babywalk.navigation.history import History
from babywalk.navigation.trajectories import Trajectories
from babywalk.navigation.world import STOP


@dataclass(frozen=True, slots=True, eq=False)
class SearchResult:
    """What a search leads to. Shapes: N walkers."""

    trajectories: Trajectories  # all walking
    # The chosen paths, of each Baby-Step that was searched alone, or of the whole instructions: the walkers
    # (B,) that have one, and their poses and actions.
    chosen: tuple[tuple[Tensor, History], ...]


@dataclass(frozen=True, kw_only=True)
class Search(ABC):
    """Chooses among complete paths instead of single actions."""

    known_map: bool = False  # the graph of the house is given: nothing is walked back
    per_step: bool = False  # search one Baby-Step at a time
    # Weights in the choice among candidates: of the speaker's mean log-probability of a word of the
    # instruction, and of the progress that is estimated at the end of the candidate.
    speaker: float = 0.0
    progress: float = 0.0

    def __post_init__(self) -> None:
        check_non_negative(self, "speaker", "progress")

    @property
    def needs_speaker(self) -> bool:
        """Whether candidates are scored by a speaker."""
        return self.speaker > 0

    @abstractmethod
    def complete(self, tree: SearchTree, walking: KnownMap | Exploration) -> None:
        """Expand the tree until every walker has a candidate."""

    def base_scores(self, candidates: Sequence[Candidates], rollout: Rollout) -> list[Tensor]:  # noqa: ARG002
        """(Q,) of each batch: what the weights are added to, here the scores of the search."""
        return [some.score for some in candidates]

    def scores(self, candidates: Sequence[Candidates], rollout: Rollout) -> list[Tensor]:
        """(Q,) of each batch; the candidate of each walker with the highest score is chosen."""
        found = []
        for some, total in zip(candidates, self.base_scores(candidates, rollout), strict=True):
            if self.speaker:
                total = total + self.speaker * speaker_scores(some, rollout)[1]
            if self.progress:
                total = total + self.progress * estimated_progress(some)
            found.append(total)
        return found

    def decode_all(self, rollout: Rollout, batches: Sequence[EpisodeBatch]) -> list[Trajectories]:
        """One trajectory per episode of each batch."""
        return [self.decode(rollout, batch) for batch in batches]

    def decode(self, rollout: Rollout, batch: EpisodeBatch) -> Trajectories:
        """One trajectory per episode of a batch."""
        return self.search(rollout, batch).trajectories

    def decisions(self, rollout: Rollout, batch: EpisodeBatch) -> tuple[RolloutResult, Trajectories]:
        """The decisions along the chosen paths of a batch, and the trajectories with all walking."""
        found = self.search(rollout, batch)
        return rollout.run(batch, take_again(found.chosen, len(batch))), found.trajectories

    def search(self, rollout: Rollout, batch: EpisodeBatch) -> SearchResult:
        """Search for the best path of every episode of a batch."""
        chosen = []
        with rollout.backend.rollout(rollout.network):
            state = rollout.begin(batch)
            walking = self.begin_walking(rollout, state)
            for step in range(state.max_steps if self.per_step else 1):
                walkers, candidates = self.explore(rollout, state, step, walking)
                best = best_of_each(candidates.walker, self.scores([candidates], rollout)[0])
                path = candidates.walked_by(best)
                walking.commit(walkers, path)
                chosen.append((walkers, path))
                more = torch.nonzero(state.count[walkers] > step + 1)[:, 0]
                if self.per_step and len(more):
                    state = rollout.resume(state, step, walkers[more], candidates.walked_by(best[more]))
        return SearchResult(walking.trajectories(), tuple(chosen))

    def begin_walking(self, rollout: Rollout, state: BatchState) -> KnownMap | Exploration:
        """Walkers at their starts."""
        world = rollout.observers[state.batch.mirrored].world
        return (KnownMap if self.known_map else Exploration)(world, state.poses)

    def explore_whole(
        self, rollout: Rollout, batch: EpisodeBatch
    ) -> tuple[KnownMap | Exploration, Tensor, Candidates]:
        """Walkers, which of the batch (B,), and the candidates of each, for whole instructions."""
        with rollout.backend.rollout(rollout.network):
            state = rollout.begin(batch)
            walking = self.begin_walking(rollout, state)
            return (walking, *self.explore(rollout, state, 0, walking))

    def explore(
        self, rollout: Rollout, state: BatchState, step: int, walking: KnownMap | Exploration
    ) -> tuple[Tensor, Candidates]:
        """The walkers (B,) that have such a step, and the candidates of each."""
        walkers = rollout.begin_step(state, step)
        tree = SearchTree(rollout, state, walkers, chain=not self.per_step)
        self.complete(tree, walking)
        return walkers.index, tree.candidates()


def take_again(chosen: Sequence[tuple[Tensor, History]], count: int) -> ActionSelector:
    """Selects the actions of chosen paths of `count` walkers; a path that ends early stops in later steps."""
    owner = torch.cat([walkers.repeat_interleave(path.start.diff()) for walkers, path in chosen])
    order = owner.argsort(stable=True)
    actions = torch.cat([path.actions for _, path in chosen])[order]
    length = torch.bincount(owner, minlength=count)
    first, taken = length.cumsum(0) - length, torch.zeros_like(length)

    def select(decision: Decision, walkers: Walkers) -> Tensor:  # noqa: ARG001
        done = taken[walkers.index]
        taken[walkers.index] += 1
        over = done >= length[walkers.index]
        return actions[(first[walkers.index] + done).masked_fill(over, 0)].masked_fill(over, STOP)

    return select


def estimated_progress(candidates: Candidates) -> Tensor:
    """(Q,) at the ends of the paths."""
    if candidates.progress is None:
        raise no_progress_monitor()
    return candidates.progress


def speaker_scores(candidates: Candidates, rollout: Rollout) -> tuple[Tensor, Tensor]:
    """(Q,) the speaker's log-probability of the instruction of each path, and its mean over the words."""
    if rollout.speaker is None:
        raise ConfigError(
            "The search asks for a speaker, but there is none. Train one: 'babywalk data augment'."
        )
    walker = to_numpy(candidates.walker)
    found = rollout.speaker(candidates.paths, candidates.start_view, candidates.instructions.take(walker))
    like = candidates.log_probability
    total, mean = (
        torch.as_tensor(part, device=like.device).to(like.dtype)
        for part in (found.log_probability, found.per_word)
    )
    return total, mean


def best_of_each(walker: Tensor, scores: Tensor) -> Tensor:
    """The candidate with the highest score of each walker (Q,) that has any; the first of equal ones."""
    order = scores.argsort(descending=True, stable=True)
    order = order[walker[order].argsort(stable=True)]
    ranked = walker[order]
    first = torch.ones_like(ranked, dtype=torch.bool)
    first[1:] = ranked[1:] != ranked[:-1]
    return order[first]
