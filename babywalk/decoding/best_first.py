"""Best-first search: always expand the entry with the highest score, wherever in the tree it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from babywalk.common.config import check_at_least_one
from babywalk.common.errors import unknown
from babywalk.decoding.rollout import Rollout
from babywalk.decoding.search import Search
from babywalk.decoding.search_tree import NONE, SCORES, Candidates, SearchTree
from babywalk.decoding.walking import Exploration, KnownMap
from babywalk.navigation.world import STOP

# Expansions per move that a path may have, where no limit is set.
_FRONTIER = 4
_STATE_FACTORED = 10
_POPS = 4  # entries that a walker takes from its queue before the next call of the network


class Queue:
    """The open entries of every walker. Shapes: N walkers, X nodes of each (padded), K actions, B walkers."""

    def __init__(self, walkers: int, like: Tensor, capacity: int = 16) -> None:
        actions, device = like.shape[1], like.device
        self.nodes = torch.zeros(walkers, capacity, dtype=torch.int64, device=device)  # (N, X)
        self.count = torch.zeros(walkers, dtype=torch.int64, device=device)  # (N,)
        self._scores = like.new_full((walkers, capacity, actions), -torch.inf)  # (N, X, K)
        self._best = like.new_full((walkers, capacity), -torch.inf)  # (N, X) over actions

    def push(self, walkers: Tensor, nodes: Tensor, scores: Tensor) -> None:
        """Add all entries (B, K) of nodes (B,); minus infinity for those that are not open."""
        slot = self.count[walkers]
        if len(slot) and int(slot.max()) == self.nodes.shape[1]:
            more = self.nodes.shape[1]
            self.nodes = functional.pad(self.nodes, (0, more))
            self._scores = functional.pad(self._scores, (0, 0, 0, more), value=-torch.inf)
            self._best = functional.pad(self._best, (0, more), value=-torch.inf)
        self.nodes[walkers, slot] = nodes
        self._scores[walkers, slot] = scores
        self._best[walkers, slot] = scores.amax(dim=1)
        self.count[walkers] += 1

    def pop(self, walkers: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """The best entries of walkers (B,): scores, nodes and actions. Minus infinity: none is left."""
        score, slot = self._best[walkers].max(dim=1)
        entries = self._scores[walkers, slot]
        action = entries.argmax(dim=1)
        entries = entries.scatter(1, action[:, None], -torch.inf)
        self._scores[walkers, slot] = entries
        self._best[walkers, slot] = entries.amax(dim=1)
        return score, self.nodes[walkers, slot], action


class Lists:
    """A list of numbers for every walker. Shapes: N walkers, B of them, X numbers of each (padded)."""

    def __init__(self, walkers: int, *, like: Tensor, capacity: int = 16) -> None:
        self._values = like.new_full((walkers, capacity), NONE)  # (N, X)
        self._count = like.new_zeros(walkers)  # (N,)

    def append(self, walkers: Tensor, values: Tensor) -> None:
        """Add a number (B,), not negative, to the lists of walkers (B,), each once."""
        slot = self._count[walkers]
        if len(slot) and int(slot.max()) == self._values.shape[1]:
            self._values = functional.pad(self._values, (0, self._values.shape[1]), value=NONE)
        self._values[walkers, slot] = values
        self._count[walkers] += 1

    def contains(self, walkers: Tensor, values: Tensor) -> Tensor:
        """(B, K) whether the lists of walkers (B,) have numbers (B, K)."""
        return (self._values[walkers][:, None] == values[..., None]).any(dim=2)


def best_first(
    tree: SearchTree,
    walking: KnownMap | Exploration,
    *,
    score: str,
    candidates: int,
    expansions: int | None,
    per_move: int,
    per_state: bool,
) -> None:
    """Expand the best entry of every walker until it has enough candidates, expansions, or no entry left.

    With `per_state`, a state, which is a viewpoint and a view in a Baby-Step, is entered by its best path
    alone; otherwise no path visits a viewpoint twice in a Baby-Step. A walker without a candidate gets one:
    it stops where that scores best in the last Baby-Step that it has reached.
    """
    state, nodes = tree.state, tree.roots
    walkers = tree.nodes["walker"][nodes]
    steps = state.count if tree.chain else torch.ones_like(state.count)
    limit = per_move * state.batch.max_moves * steps if expansions is None else steps * 0 + expansions
    completed = torch.zeros_like(steps)
    queue = Queue(len(steps), tree.nodes["action_logit"])
    entered = Lists(len(steps), like=steps)  # states
    if per_state:
        entered.append(walkers, tree.states_of(tree.nodes["row"][nodes], tree.poses(nodes)))
    searching = new = walkers
    while len(searching):
        walking.visit(new, tree.poses(nodes))
        scores = tree.scores(nodes, score)
        if per_state:
            states = tree.states_after(nodes[:, None], torch.arange(scores.shape[1], device=nodes.device))
            closed = entered.contains(new, states)
        else:
            closed = tree.revisits(nodes)
        queue.push(new, nodes, scores.masked_fill(closed, -torch.inf))
        ready, popping = [], searching
        for _ in range(_POPS):
            value, nodes, actions = queue.pop(popping)
            usable = value > -torch.inf
            fresh = usable
            if per_state:
                states = tree.states_after(nodes, actions)
                fresh = usable & ~entered.contains(popping, states[:, None])[:, 0]
                entered.append(popping[fresh], states[fresh])
            ends = tree.completes(nodes, actions)
            complete = fresh & ends
            tree.complete(nodes[complete], actions[complete], value[complete])
            completed[popping[complete]] += 1
            moves = fresh & ~ends & (queue.count[popping] < limit[popping])
            ready.append(torch.stack([popping, nodes, actions])[:, moves])
            popping = popping[usable & (ends | ~fresh) & (completed[popping] < candidates)]
        # Walkers that have found no entry to expand yet go on popping while the others expand theirs.
        new, nodes, actions = torch.cat(ready, dim=1)
        searching = torch.cat([new, popping])
        if len(new):
            nodes = tree.expand(nodes, actions)
    alone = torch.nonzero((queue.count > 0) & (completed == 0))[:, 0]
    if len(alone):
        _stop_early(tree, queue, alone, score)


def _stop_early(tree: SearchTree, queue: Queue, walkers: Tensor, score: str) -> None:
    """A candidate for each of some walkers: STOP, where it scores best in the last step they have reached."""
    nodes = queue.nodes[walkers]  # (B, X)
    inside = torch.arange(nodes.shape[1], device=nodes.device) < queue.count[walkers][:, None]
    row = tree.nodes["row"][nodes].masked_fill(~inside, -1)
    scores = tree.scores(nodes.flatten(), score)[:, STOP].view(nodes.shape)
    scores = scores.masked_fill(row < row.amax(dim=1, keepdim=True), -torch.inf)
    value, best = scores.max(dim=1)
    tree.complete(nodes.gather(1, best[:, None])[:, 0], torch.full_like(best, STOP), value)


@dataclass(frozen=True, kw_only=True)
class Frontier(Search):
    """FAST (Ke et al. 2019): the queue holds partial paths; the walker walks back to expand the best one.

    No path visits a viewpoint twice in a Baby-Step. The short variant ends when a complete path is taken from
    the queue. The full one collects candidates and re-ranks them: with the fitted re-ranker of the agent, if
    there is one and whole instructions are searched, else by log-probability.
    """

    score: str = "logit_sum"  # of a partial path
    candidates: int = 20
    expansions: int | None = None  # at most, per search; None: 4 per move that a path may have
    short: bool = False
    rerank: bool = True  # use the fitted re-ranker, if there is one

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.score not in SCORES:
            raise unknown("score", self.score, SCORES)
        check_at_least_one(self, "candidates", *(["expansions"] if self.expansions is not None else []))

    def complete(self, tree: SearchTree, walking: KnownMap | Exploration) -> None:
        """Expand the best entries."""
        best_first(
            tree,
            walking,
            score=self.score,
            candidates=1 if self.short else self.candidates,
            expansions=self.expansions,
            per_move=_FRONTIER,
            per_state=False,
        )

    def base_scores(self, candidates: Sequence[Candidates], rollout: Rollout) -> list[Tensor]:
        """(Q,) of each batch: by the re-ranker, or log-probabilities."""
        if self.reranked and rollout.reranker is not None:
            return [rollout.reranker.scores(some, rollout) for some in candidates]
        return [some.log_probability for some in candidates]

    @property
    def reranked(self) -> bool:
        """Whether a fitted re-ranker is used, if there is one."""
        return self.rerank and not self.per_step and not self.short


@dataclass(frozen=True, kw_only=True)
class StateFactored(Search):
    """The best path to every state, which is a viewpoint and a view in a Baby-Step (Fried et al. 2018).

    Log-probabilities only fall along a path. So the first path that is taken from the queue is the best one
    to its state, and candidates are found in the order of their log-probabilities; the states where they end
    are distinct.
    """

    candidates: int = 40
    expansions: int | None = None  # at most, per search; None: 10 per move that a path may have

    def __post_init__(self) -> None:
        super().__post_init__()
        check_at_least_one(self, "candidates", *(["expansions"] if self.expansions is not None else []))

    def complete(self, tree: SearchTree, walking: KnownMap | Exploration) -> None:
        """Expand the best entries."""
        best_first(
            tree,
            walking,
            score="log_probability_sum",
            candidates=self.candidates,
            expansions=self.expansions,
            per_move=_STATE_FACTORED,
            per_state=True,
        )
