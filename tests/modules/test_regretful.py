"""The regret module in a dead end, the progress marker, and blocked oscillation, with scripted progress."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
import torch
from builders import connectivity, placed, walk
from square import leading, square_model, square_observer
from torch import Tensor, nn

from babywalk.buildings.houses import NOWHERE, Houses
from babywalk.common.ragged import Ragged
from babywalk.decoding.decoders import Greedy
from babywalk.decoding.episode_batch import EpisodeBatch, EpisodeBatches
from babywalk.decoding.rollout import Rollout, RolloutResult, Walkers
from babywalk.episodes.joining import JoinRule
from babywalk.episodes.task import Task, join_task
from babywalk.episodes.vocabulary import Vocabulary
from babywalk.instructions.babysteps import BabySteps
from babywalk.instructions.segmented import SegmentedTexts
from babywalk.instructions.sentences import Sentence
from babywalk.modules.config import PolicyConfig
from babywalk.modules.decoder import Decision
from babywalk.modules.network import Network
from babywalk.modules.progress_monitor import ProgressMonitor
from babywalk.modules.regretful import Regretful, RegretState
from babywalk.navigation.world import STOP, World

TEXT = "go on."


def dead_end() -> Task:
    """A junction 1 with a start 0, a dead end 2 and the way on to 3 and 4."""
    positions = [(0, 0, 0), (0, 2, 0), (-2, 2, 0), (2, 2, 0), (4, 2, 0)]
    house = connectivity("h", positions, [(0, 1), (1, 2), (1, 3), (3, 4)])
    houses = Houses.of([house])
    walks = placed(houses, walk("h", [0, 1, 3, 4], 1, [TEXT]))
    return join_task("r2r", "val", houses, walks, JoinRule(1, 0, {}), seed=None)


TASK = dead_end()


class Scripted(nn.Module):
    """A progress monitor with given estimates, one for each decision."""

    def __init__(self, estimates: Sequence[float]) -> None:
        super().__init__()
        self.estimates = iter(estimates)

    def forward(self, hidden: Tensor, *_: Tensor) -> Tensor:
        return hidden.new_full((len(hidden),), next(self.estimates))


def batch() -> EpisodeBatch:
    segmented = SegmentedTexts.of([[Sentence(0, len(TEXT))]], frozenset())
    steps = BabySteps(TASK, segmented, Ragged.of([[1]]), Ragged.of([[3]]))
    vocabulary = Vocabulary.of([TEXT, "go north. then east. stop here.", "walk on now please."], min_count=1)
    world = World.of(TASK.houses)
    return EpisodeBatches.of(steps, world, vocabulary, PolicyConfig(max_moves=6)).full(np.array([0]))


def regretful(regret: float) -> Network:
    """A network whose wish is always to STOP, and which turns back by `regret` times the loss of progress."""
    torch.manual_seed(0)
    network = square_model(square_observer(TASK), decoder="regretful", action=16).network.eval()
    decoder = network.decoder
    assert isinstance(decoder, Regretful)
    with torch.no_grad():
        for layer in (decoder.regret, decoder.action_score.embed, decoder.action_score.score):
            layer.weight.zero_()
            layer.bias.zero_()
        decoder.regret.weight[0] = -regret / 32  # of the change of progress, tiled 32 times
        decoder.action_score.embed.weight.copy_(torch.eye(16))
        decoder.action_score.score.weight.fill_(1.0)
        decoder.action_score.wanted.weight.zero_()
        decoder.marker.weight.zero_()
        stop = decoder.candidate(torch.zeros(decoder.candidate[0].in_features))
        decoder.action_score.wanted.bias.copy_(stop)
    return network


def walk_into_the_dead_end(network: Network, estimates: Sequence[float]) -> RolloutResult:
    """0, 1, 2 by force, and then the agent's own choice."""
    network.decoder.progress_monitor = Scripted(estimates)
    forced = iter([leading(TASK.houses, 0, 1), leading(TASK.houses, 1, 2)])
    own = Greedy()

    def select(decision: Decision, walkers: Walkers) -> Tensor:
        action = next(forced, None)
        return own(decision, walkers) if action is None else torch.tensor([action])

    return Rollout(network, square_observer(TASK)).run(batch(), select)


def test_lost_progress_rolls_back_from_a_dead_end() -> None:
    """The agent wishes to STOP. Only where progress was lost it prefers the way back."""
    regrets = walk_into_the_dead_end(regretful(50.0), [0.2, 0.5, 0.1, 0.0, 0.0, 0.0])
    third = regrets.records[2]
    assert third.before.viewpoint.tolist() == [2]
    assert third.after.viewpoint.tolist() == [1]
    content = walk_into_the_dead_end(regretful(50.0), [0.2, 0.5, 0.9, 0.9, 0.9, 0.9])
    third = content.records[2]
    assert third.actions.tolist() == [STOP]
    unregretful = walk_into_the_dead_end(regretful(-50.0), [0.2, 0.5, 0.1, 0.0, 0.0, 0.0])
    assert unregretful.records[2].actions.tolist() == [STOP]


def test_agent_does_not_return_to_where_it_has_turned_back_from() -> None:
    """At the junction again, the way into the dead end is blocked; in training it is not."""
    network = regretful(50.0)
    result = walk_into_the_dead_end(network, [0.2, 0.5, 0.1, 0.0, 0.0, 0.0])
    fourth = result.records[3]
    assert fourth.before.viewpoint.tolist() == [1]
    blocked = fourth.decision.logits[0].isinf()
    into = leading(TASK.houses, 1, 2)
    assert blocked[into]
    assert not blocked[[leading(TASK.houses, 1, other) for other in (0, 3)]].any()
    network.train()
    result = walk_into_the_dead_end(network, [0.2, 0.5, 0.1, 0.0, 0.0, 0.0])
    assert not result.records[3].decision.logits[0, into].isinf()


def test_marker_shows_by_how_much_progress_grew_since_a_neighbour_was_visited() -> None:
    network = regretful(50.0)
    seen: list[list[float]] = []

    class Recorded(nn.Module):
        def forward(self, tiled: Tensor) -> Tensor:
            seen.append(tiled[0, :, 0].tolist())
            return tiled.new_zeros(*tiled.shape[:2], 16)

    network.decoder.marker = Recorded()
    result = walk_into_the_dead_end(network, [0.2, 0.5, 0.1, 0.4, 0.0, 0.0])
    at = [record.before.viewpoint.item() for record in result.records[:4]]
    assert at == [0, 1, 2, 1]
    to = {(a, b): leading(TASK.houses, a, b) for a, b in ((0, 1), (1, 0), (1, 2), (1, 3), (2, 1))}
    assert seen[0] == pytest.approx([1.0] * len(seen[0]))  # nothing visited
    assert seen[1][to[1, 0]] == pytest.approx(0.5 - 0.2)
    assert seen[1][to[1, 2]] == seen[1][to[1, 3]] == 1.0
    assert seen[2][to[2, 1]] == pytest.approx(0.1 - 0.5)
    assert seen[3][to[1, 0]] == pytest.approx(0.4 - 0.2)
    assert seen[3][to[1, 2]] == pytest.approx(0.4 - 0.1)
    assert seen[3][STOP] == 1.0


def test_a_viewpoint_that_is_visited_again_keeps_one_mark() -> None:
    result = walk_into_the_dead_end(regretful(50.0), [0.2, 0.5, 0.1, 0.4, 0.0, 0.0])
    state = result.records[3].decision.state
    assert isinstance(state, RegretState)
    visited = state.visited[0].tolist()
    assert visited[:4] == [0, 1, 2, NOWHERE]
    assert state.marks[0, :3].tolist() == pytest.approx([0.2, 0.4, 0.1])


def test_progress_monitor_reads_where_in_the_text_the_attention_is() -> None:
    """Two instructions of different lengths with the attention in the same part have the same estimate."""
    monitor = ProgressMonitor(4, 3)
    hidden, attended, cell = torch.randn(1, 4), torch.randn(1, 3), torch.randn(1, 4)

    def estimate(words: int, place: int) -> float:
        weights = torch.zeros(1, 64)
        weights[0, place] = 1.0
        return monitor(hidden, attended, cell, weights, torch.tensor([words])).item()

    assert estimate(64, 63) == pytest.approx(estimate(32, 31))
    assert estimate(64, 1) == pytest.approx(estimate(32, 0))
    assert abs(estimate(64, 63) - estimate(64, 0)) > 1e-4
    assert abs(estimate(10, 9)) < 1
