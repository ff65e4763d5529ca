"""Decisions of the network against the equations, written out for one walker without batches.

Only torch's own layers with the same weights are used here. Gradients are compared with finite differences.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
import torch
from square import (
    follow_teacher,
    leading,
    square_batches,
    square_model,
    square_observer,
    square_task,
    take,
    with_large_weights,
)
from torch import Tensor, nn
from torch.nn import functional

from babywalk.decoding.episode_batch import EpisodeBatch
from babywalk.decoding.rollout import Rollout, RolloutResult
from babywalk.modules.attention import ViewAttention
from babywalk.modules.config import CONTEXTS, DECODERS
from babywalk.modules.decoder import ActionScore, CoAttend, CoGround
from babywalk.modules.kernels import KERNELS
from babywalk.modules.layers import BiLSTM
from babywalk.modules.memory import SUMMARIES
from babywalk.modules.network import Network
from babywalk.modules.regretful import Regretful
from babywalk.modules.trajectory_encoder import TrajectoryEncoder
from babywalk.navigation.observation import Observer
from babywalk.navigation.world import STOP, Poses
from babywalk.training.losses import imitation_loss

HIDDEN, GAMMA = 8, 0.5


def bidirectional(part: BiLSTM) -> nn.LSTM:
    """Torch's own Bi-LSTM with the same weights."""
    lstm = nn.LSTM(part.forward_lstm.input_size, part.forward_lstm.hidden_size, bidirectional=True)
    backward = {f"{name}_reverse": weight for name, weight in part.backward_lstm.state_dict().items()}
    lstm.load_state_dict({**part.forward_lstm.state_dict(), **backward})
    return lstm


def l2_rescaled(vector: Tensor) -> Tensor:
    return vector / vector.norm() * math.sqrt(len(vector))


def attend(query: Tensor, rows: Tensor) -> Tensor:
    """The mean of rows (S, X), weighted by the softmax of their dot products with a query (X,)."""
    return functional.softmax(rows @ query, dim=0) @ rows


def attend_to_views(part: ViewAttention, state: Tensor, views: Tensor) -> Tensor:
    return attend(part.query.weight @ state, views)


def encode_trajectory(part: TrajectoryEncoder, observer: Observer, poses: Poses, actions: Tensor) -> Tensor:
    """v(y) of one trajectory (section 4.4 of the paper)."""
    states, (action_ends, _) = bidirectional(part.action_lstm)(observer.chosen(poses, actions))
    views = observer.views(poses)
    attended = [
        attend_to_views(part.view_attention, states[step], views[step]) for step in range(len(actions))
    ]
    _, (view_ends, _) = bidirectional(part.view_lstm)(torch.stack(attended))
    return torch.cat([action_ends.flatten(), view_ends.flatten()])


def encode_text(network: Network, tokens: Tensor) -> tuple[Tensor, Tensor]:
    """A vector for each word (L, D), read from the last to the first; and u(x), the last state."""
    lstm = nn.LSTM(network.text.lstm.input_size, HIDDEN)
    lstm.load_state_dict(network.text.lstm.state_dict())
    states, (last, _) = lstm(network.text.embedding(tokens.flip(0)))
    return states.flip(0), last.flatten()


def score(part: ActionScore, state: Tensor, context: Tensor, candidates: Tensor) -> Tensor:
    inputs = torch.cat([l2_rescaled(state), context])
    hidden = functional.relu(part.hidden.weight @ inputs + part.hidden.bias)
    wanted = part.wanted.weight @ hidden + part.wanted.bias
    embedded = candidates @ part.embed.weight.T + part.embed.bias
    return (wanted * embedded) @ part.score.weight[0] + part.score.bias


Decided = tuple[Tensor, Tensor, Tensor]  # scores (K,), hidden state and cell (D,)


def coattend(
    part: CoAttend, state: Tensor, cell: Tensor, previous: Tensor, views: Tensor, candidates: Tensor,
    words: Tensor, context: Tensor,
) -> Decided:  # fmt: skip
    """Attend to views, step, attend to words, score (appendix B.1 of the paper)."""
    inputs = torch.cat([previous, attend_to_views(part.view_attention, state, views)])
    hidden, cell = lstm_step(part.lstm, inputs, state, cell)
    attended = attend(part.word_attention.soft_dot.query.weight @ hidden, words)
    grounded = torch.tanh(part.word_attention.out.weight @ torch.cat([attended, hidden]))
    return score(part.action_score, grounded, context, candidates), hidden, cell


def coground(
    part: CoGround, state: Tensor, cell: Tensor, previous: Tensor, views: Tensor, candidates: Tensor,
    words: Tensor, context: Tensor,
) -> Decided:  # fmt: skip
    _, embedded, _, hidden, cell, grounded = cogrounded(part, state, cell, previous, candidates, words)
    return score(part.action_score, grounded, context, embedded), hidden, cell


def cogrounded(
    part: CoGround, state: Tensor, cell: Tensor, previous: Tensor, candidates: Tensor, words: Tensor
) -> tuple[Tensor, ...]:
    """Attend to words and candidates with the previous state, step, score (Ma et al. 2019, section 3). The
    first word has position 0; position p is encoded as sin and cos of p / 10000^(2 i / D)."""
    angles = [
        [position / 10_000 ** (2 * i / HIDDEN) for i in range(HIDDEN // 2)] for position in range(len(words))
    ]
    encoding = [[wave(angle) for angle in row for wave in (math.sin, math.cos)] for row in angles]
    encoded = words + torch.tensor(encoding)
    word_weights = functional.softmax(encoded @ part.word_attention.query.weight @ state, dim=0)
    attended = word_weights @ encoded
    embedded = embed_candidates(part, candidates)
    seen = attend_to_views(part.view_attention, state, embedded)
    last = part.previous.weight @ previous + part.previous.bias
    hidden, cell = lstm_step(part.lstm, torch.cat([attended, seen, last]), state, cell)
    grounded = torch.tanh(part.merge.weight @ torch.cat([hidden, attended]) + part.merge.bias)
    return word_weights, embedded, seen, hidden, cell, grounded


def embed_candidates(part: CoGround, candidates: Tensor, marks: Tensor | float = 0.0) -> Tensor:
    linear, norm, _ = part.candidate
    projected = candidates @ linear.weight.T + linear.bias + marks
    return functional.relu(functional.layer_norm(projected, (4,), norm.weight, norm.bias))


class Regret:
    """The regretful decoder (Ma et al. 2019b), which remembers where it was and the progress there."""

    def __init__(self) -> None:
        self.at: list[int] = []  # the viewpoint of each decision
        self.progress: list[Tensor] = []

    def __call__(
        self, part: Regretful, state: Tensor, cell: Tensor, previous: Tensor, candidates: Tensor,
        words: Tensor, context: Tensor, at: int, targets: list[int],
    ) -> Decided:  # fmt: skip
        """`targets` are the viewpoints that the candidates lead to, that of STOP being None."""
        word_weights, _, seen, hidden, cell, grounded = cogrounded(
            part, state, cell, previous, candidates, words
        )
        read = [0.0] * 32
        for position, weight in enumerate(word_weights):
            read[position * 32 // len(words)] += weight
        monitor = part.progress_monitor
        gate = torch.sigmoid(monitor.gate.weight @ torch.cat([state, seen]) + monitor.gate.bias)
        inputs = torch.cat([torch.stack([torch.as_tensor(value) for value in read]), gate * torch.tanh(cell)])
        progress = torch.tanh(monitor.estimate.weight @ inputs + monitor.estimate.bias)[0]
        latest = dict(zip(self.at, self.progress, strict=True))
        marker = [progress - latest[target] if target in latest else 1.0 for target in targets]
        tiles = torch.stack([torch.as_tensor(value) for value in marker])[:, None].expand(-1, 32)
        marked = embed_candidates(part, candidates, tiles @ part.marker.weight.T)
        scorer = part.action_score
        inputs = torch.cat([l2_rescaled(grounded), context])
        middle = functional.relu(scorer.hidden.weight @ inputs + scorer.hidden.bias)
        wanted = scorer.wanted.weight @ middle + scorer.wanted.bias
        if self.at and self.at[-1] in targets:
            change = (progress - self.progress[-1]).expand(32)
            rollback, forward = functional.softmax(part.regret.weight @ change + part.regret.bias, dim=0)
            wanted = forward * wanted + rollback * marked[targets.index(self.at[-1])]
        embedded = marked @ scorer.embed.weight.T + scorer.embed.bias
        scores = (wanted * embedded) @ scorer.score.weight[0] + scorer.score.bias
        if len(self.at) > 1 and at == self.at[-2] and not part.training:
            scores[targets.index(self.at[-1])] = -torch.inf  # it has just come back from there
        self.at.append(at)
        self.progress.append(progress)
        return scores, hidden, cell


def lstm_step(part: nn.LSTMCell, inputs: Tensor, state: Tensor, cell: Tensor) -> tuple[Tensor, Tensor]:
    lstm_cell = nn.LSTMCell(len(inputs), len(state))
    lstm_cell.load_state_dict(part.state_dict())
    return lstm_cell(inputs, (state, cell))


def expected_scores(
    network: Network, observer: Observer, batch: EpisodeBatch, result: RolloutResult
) -> list[Tensor]:
    """The scores of one walker in its one remaining step, decision by decision."""
    past, start = batch.past, batch.past.start
    instructions, trajectories = torch.zeros(HIDDEN), torch.zeros(2 * HIDDEN)
    for step in range(len(batch.past_instructions)):
        here = torch.arange(int(start[step]), int(start[step + 1]))
        poses = Poses(torch.tensor(past.poses.viewpoint)[here], torch.tensor(past.poses.view)[here])
        trajectory = encode_trajectory(network.trajectory, observer, poses, torch.tensor(past.actions)[here])
        _, instruction = encode_text(network, torch.tensor(batch.past_instructions[step]))
        instructions = math.exp(-GAMMA) * instructions + instruction
        trajectories = math.exp(-GAMMA) * trajectories + trajectory
    # Division by the sum of the weights cancels in the normalisation.
    context = torch.cat([l2_rescaled(instructions), l2_rescaled(trajectories)])
    if network.context_mlp is not None:
        first, _, _, last = network.context_mlp
        context = l2_rescaled(last.weight @ (first.weight @ context + first.bias).clamp(min=0) + last.bias)
    words, instruction = encode_text(network, torch.tensor(batch.instructions[0]))
    state = torch.tanh(network.first_hidden.weight @ instruction + network.first_hidden.bias)
    cell, previous, found = torch.zeros(HIDDEN), torch.zeros(observer.candidate_width), []
    decide = {CoAttend: coattend, CoGround: coground}.get(type(network.decoder))
    regret = Regret()
    for record in result.records:
        possible = observer.world.possible[record.before.viewpoint][0]
        candidates = observer.candidates(record.before)[0][possible]
        views = observer.views(record.before)[0]
        inputs = network.decoder, state, cell, previous
        if decide:
            scores, state, cell = decide(*inputs, views, candidates, words, context)
        else:
            at = int(record.before.viewpoint[0])
            targets = [None, *observer.world.target[at][possible][1:].tolist()]
            scores, state, cell = regret(*inputs, candidates, words, context, at, targets)
        found.append(scores)
        previous = observer.chosen(record.before, record.actions)[0]
    return found


@pytest.mark.usefixtures("float64")
@pytest.mark.parametrize("gradients", [False, True])
@pytest.mark.parametrize("decoder", DECODERS)
@pytest.mark.parametrize("context", CONTEXTS)
@pytest.mark.parametrize("kernels", KERNELS)
def test_decisions_are_those_of_the_equations(
    kernels: str, context: str, decoder: str, gradients: bool
) -> None:
    """The third step, after two past ones: from 2 over 3 and back to 4, and STOP. Every decision but the
    first has a previous action; without gradients the kernels read products from a cache."""
    task = square_task()
    observer = square_observer(task, dtype=torch.float64)
    network = with_large_weights(
        square_model(observer, context=context, decoder=decoder, gamma=GAMMA).network.double()
    )
    batch = square_batches(task).batch(np.array([0]), np.array([2]), np.array([3]))
    actions = [[leading(task.houses, *pair)] for pair in ((2, 3), (3, 2), (2, 4))] + [[STOP]]
    rollout = Rollout(network, observer, kernels=kernels)
    with torch.set_grad_enabled(gradients):
        result = rollout.run(batch, take(actions))
    expected = expected_scores(network, observer, batch, result)
    assert [len(scores) for scores in expected] == [4, 3, 4, 2]  # STOP and the neighbours of 2, 3, 2 and 4
    for record, scores in zip(result.records, expected, strict=True):
        possible = observer.world.possible[record.before.viewpoint][0]
        assert torch.allclose(record.decision.logits[0][possible], scores)
        assert record.decision.logits[0][~possible].isinf().all()


@pytest.mark.usefixtures("float64")
@pytest.mark.parametrize("gradients", [False, True])
@pytest.mark.parametrize("kernels", KERNELS)
def test_trajectory_encodings_are_those_of_the_equations(kernels: str, gradients: bool) -> None:
    """Of 0 over 1 to 2 and STOP, and of the move 3 to 0: last states of both Bi-LSTMs in both directions."""
    task = square_task()
    observer = square_observer(task, dtype=torch.float64)
    network = with_large_weights(square_model(observer).network.double())
    pairs = [(0, 1), (1, 2), (2, 2), (3, 0)]
    actions = torch.tensor([leading(task.houses, *pair) for pair in pairs])
    poses = Poses(torch.tensor([at for at, _ in pairs]), torch.tensor([13, 12, 15, 20]))
    backend = Rollout(network, observer, kernels=kernels).backend
    with torch.set_grad_enabled(gradients), backend.rollout(network):
        observation = backend.observe(observer, poses)
        found = network.encode_trajectory(observation, observation.chosen(actions), torch.tensor([3, 1]))
    assert found.shape == (2, 2 * HIDDEN)
    for row, here in enumerate((slice(0, 3), slice(3, 4))):
        expected = encode_trajectory(network.trajectory, observer, poses[here], actions[here])
        assert torch.allclose(found[row], expected)


@pytest.mark.usefixtures("float64")
@pytest.mark.parametrize(
    ("kernels", "memory"), [*(("plain", memory) for memory in SUMMARIES), ("auto", "forgetting")]
)
@pytest.mark.parametrize("decoder", DECODERS)
@pytest.mark.parametrize("context", CONTEXTS)
def test_gradients_of_a_rollout_are_those_of_finite_differences(
    kernels: str, context: str, decoder: str, memory: str
) -> None:
    """Two walkers that follow the teacher, one with a past step and two remaining ones. The weights of one
    parameter at a time are perturbed in both directions, each by another amount."""
    task = square_task()
    observer = square_observer(task, dtype=torch.float64)
    network = with_large_weights(
        square_model(observer, context=context, decoder=decoder, memory=memory).network.double()
    )
    batch = square_batches(task).batch(np.array([0, 1]), np.array([1, 0]), np.array([3, 1]))
    rollout = Rollout(network, observer, kernels=kernels)

    def loss() -> Tensor:
        records = rollout.run(batch, follow_teacher(task, batch)).records
        logits = torch.cat([record.decision.logits for record in records])
        return imitation_loss(logits, torch.cat([record.actions for record in records]))

    loss().backward()
    without_effect = set()
    with torch.no_grad():
        for name, weight in network.named_parameters():
            assert weight.grad is not None, name
            by_gradient = float((weight.grad * perturbation(weight)).sum())
            assert finite_difference(weight, loss) == pytest.approx(by_gradient, rel=1e-5, abs=1e-9), name
            if weight.grad.abs().max() < 1e-12:
                without_effect.add(name)
    # Both are added to the scores of all actions.
    assert without_effect == {"decoder.action_score.score.bias", "decoder.action_score.embed.bias"}


def perturbation(weight: Tensor) -> Tensor:
    return torch.cos(torch.arange(weight.numel())).view(weight.shape)


def finite_difference(weight: Tensor, loss: Callable[[], Tensor], size: float = 1e-5) -> float:
    """The slope of the loss in the direction of the perturbation, from one step in each direction."""
    kept, found = weight.clone(), []
    for sign in (1, -1):
        weight.copy_(kept + sign * size * perturbation(weight))
        found.append(float(loss()))
    weight.copy_(kept)
    return (found[0] - found[1]) / (2 * size)
