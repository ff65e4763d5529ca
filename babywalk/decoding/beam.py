"""Beam search: the best partial paths of the same number of decisions."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from babywalk.common.config import check_at_least_one
from babywalk.common.errors import unknown
from babywalk.decoding.search import Search
from babywalk.decoding.search_tree import SearchTree
from babywalk.decoding.walking import Exploration, KnownMap
from babywalk.navigation.world import STOP

_SCORES = {"likelihood": "log_probability_sum", "progress": "progress"}


@dataclass(frozen=True, kw_only=True)
class Beam(Search):
    """At each time step the `size` best partial or complete paths of a walker are kept.

    By likelihood, the score of a path is its log-probability sum log p_t. By progress (Ma et al. 2019), it is
    the logarithm of its probability times the estimated progress: sum log p_t + log((1 + progress) / 2).
    """

    size: int = 5
    by: str = "likelihood"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_at_least_one(self, "size")
        if self.by not in _SCORES:
            raise unknown("by", self.by, _SCORES)

    def complete(self, tree: SearchTree, walking: KnownMap | Exploration) -> None:
        """Expand all partial paths of the beams, until they are complete. Shapes: N walkers, S in a beam."""
        roots = tree.roots
        owner = tree.nodes["walker"][roots]  # (W,) the walkers that have a path
        actions = tree.nodes["action_logit"].shape[1]
        nodes = roots[:, None].expand(-1, self.size).clone()  # (W, S)
        last = torch.full_like(nodes, STOP)  # (W, S) last actions of complete paths
        kept = tree.nodes["action_logit"].new_full((len(owner), self.size), -torch.inf)  # (W, S) their scores
        partial = torch.zeros_like(nodes, dtype=torch.bool)  # (W, S) True for paths that go on
        partial[:, 0] = True
        while bool(partial.any()):
            for rank in range(self.size):
                some = torch.nonzero(partial[:, rank])[:, 0]
                if len(some):
                    walking.visit(owner[some], tree.poses(nodes[some, rank]))
            # All ways to go on, and each complete path as it is.
            entries = kept.new_full((len(owner), self.size, actions), -torch.inf)
            entries[partial] = tree.scores(nodes[partial], _SCORES[self.by])
            entries[:, :, STOP] = entries[:, :, STOP].where(partial, kept)
            score, chosen = entries.flatten(1).topk(self.size, dim=1)
            source, action = chosen // actions, chosen % actions
            goes_on = partial.gather(1, source)
            action = action.where(goes_on, last.gather(1, source))
            nodes = nodes.gather(1, source)
            exists = score > -torch.inf
            ends = tree.completes(nodes.flatten(), action.flatten()).view(nodes.shape)
            partial = exists & goes_on & ~ends
            kept, last = score.masked_fill(partial, -torch.inf), action
            if bool(partial.any()):
                nodes = nodes.masked_scatter(partial, tree.expand(nodes[partial], action[partial]))
        found = kept > -torch.inf
        tree.complete(nodes[found], last[found], kept[found])
