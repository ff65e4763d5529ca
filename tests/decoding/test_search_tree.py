"""The tree of a search, held to ordinary rollouts that take the same actions."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from searching import all_action_sequences, small_rollout, sums, take_all, whole

from babywalk.common.ragged import Ragged
from babywalk.decoding.rollout import Rollout
from babywalk.decoding.search_tree import Candidates, Columns, SearchTree
from babywalk.modules.config import DECODERS
from babywalk.modules.kernels import KERNELS
from babywalk.modules.memory import SUMMARIES


def grow_all(rollout: Rollout, episodes: list[int], *, max_moves: int) -> Candidates:
    """All paths of episodes: expand every entry."""
    with rollout.inference(), rollout.backend.rollout(rollout.network):
        state = rollout.begin(whole(episodes, max_moves=max_moves))
        tree = SearchTree(rollout, state, rollout.begin_step(state, 0), chain=True)
        nodes = tree.roots
        while len(nodes):
            scores = tree.scores(nodes, "log_probability_sum")
            which, actions = (scores > -torch.inf).nonzero(as_tuple=True)
            ends = tree.completes(nodes[which], actions)
            tree.complete(nodes[which[ends]], actions[ends], scores[which[ends], actions[ends]])
            which, actions = which[~ends], actions[~ends]
            nodes = tree.expand(nodes[which], actions) if len(which) else which
        return tree.candidates()


@pytest.mark.parametrize(
    ("decoder", "memory"),
    [*(("coattend", memory) for memory in SUMMARIES), *((decoder, "none") for decoder in DECODERS[1:])],
)
@pytest.mark.parametrize("kernels", KERNELS)
def test_every_path_has_the_scores_of_a_rollout_that_takes_it(
    kernels: str, decoder: str, memory: str
) -> None:
    """Three Baby-Steps of up to two moves: states, histories and memories of all nodes are their own."""
    options = {"decoder": decoder, "memory": memory}
    found = grow_all(small_rollout(kernels, **options), [0, 1], max_moves=2)
    for episode in (0, 1):
        sequences = all_action_sequences(episode, max_moves=2)
        result = take_all(small_rollout("plain", **options), episode, sequences, max_moves=2)
        expected = sums(result, len(sequences))
        own = found.walker == episode
        assert int(own.sum()) == len(sequences)
        paths = {tuple(path.tolist()) for path in (found.paths[int(row)] for row in own.nonzero()[:, 0])}
        trajectories = result.trajectories().viewpoints
        assert paths == {tuple(trajectories[row].tolist()) for row in range(len(sequences))}
        for name, values in expected.items():
            scores = getattr(found, name)[own].sort().values
            torch.testing.assert_close(scores, values.sort().values, rtol=1e-4, atol=1e-4)
        total = found.log_probability[own].exp().sum()
        assert float(total) == pytest.approx(1, abs=1e-4)


def test_candidates_have_their_length_their_instruction_and_the_view_at_the_start() -> None:
    found = grow_all(small_rollout(), [1], max_moves=2)
    by_path = {tuple(found.paths[row].tolist()): row for row in range(len(found.paths))}
    assert len(by_path) == 1 + 2 + 5  # no move, one, or two
    row = by_path[3, 2, 4]
    assert float(found.metres[row]) == pytest.approx(2 + 8**0.5)
    assert int(found.decisions[row]) == 2
    assert int(found.decisions[by_path[3, 2]]) == 2  # a move and STOP
    assert found.start_view[row] == 13
    assert found.instructions[0].tolist() == whole([1], max_moves=2).instructions[0].tolist()


def test_the_instruction_of_a_chain_is_that_of_all_its_steps() -> None:
    found = grow_all(small_rollout(memory="none"), [1, 0], max_moves=1)
    batch = whole([1, 0], max_moves=1)
    assert len(found.instructions) == 2
    assert found.instructions[1].tolist() == batch.instructions.values[batch.instructions.start[1] :].tolist()


def test_columns_keep_their_rows_when_they_grow() -> None:
    columns, expected = Columns(), []
    for size in (1, 3, 2, 9):
        values = torch.randn(size, 2)
        expected.append(values)
        numbers = columns.append({"a": values, "b": values.sum(dim=1)})
        assert columns["a"][numbers].equal(values)
    assert columns["a"].equal(torch.cat(expected))
    assert columns["b"].equal(torch.cat(expected).sum(dim=1))
    assert "c" not in columns


def test_paths_without_moves_are_their_start() -> None:
    found = grow_all(small_rollout(), [1], max_moves=2)
    assert isinstance(found.paths, Ragged)
    assert [3] in [found.paths[row].tolist() for row in range(len(found.paths))]
    assert (np.diff(found.paths.start) > 0).all()
