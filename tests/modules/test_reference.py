"""The network against itself written out plainly: one walker, one layer after another, views laid out.

Nothing here is quick and nothing is shared: no batches, no ledgers, no kept products, only torch's own layers
with the same weights. And its gradients against finite differences.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
import pytest
import torch
from square import leading, square_lessons, square_model, square_observer, square_task
from torch import Tensor, nn
from torch.nn import functional

from babywalk.decoding.episode_batch import EpisodeBatch
from babywalk.decoding.rollout import Rollout, RolloutResult
from babywalk.modules.attention import ViewAttention
from babywalk.modules.config import CONTEXTS, DECODERS
from babywalk.modules.decoder import ActionScore, CoAttend, CoGround, Decision
from babywalk.modules.kernels.observation import Observation
from babywalk.modules.kernels.packed_lstm import BiLSTM
from babywalk.modules.memory import SUMMARIES
from babywalk.modules.network import Network
from babywalk.modules.trajectory_encoder import TrajectoryEncoder
from babywalk.navigation.observation import Observer
from babywalk.navigation.teacher import Teacher
from babywalk.navigation.world import STOP, Poses
from babywalk.training.losses import imitation_loss

HIDDEN, GAMMA = 8, 0.5


@pytest.fixture
def doubles() -> Iterator[None]:
    """Tensors that are made meanwhile are of double precision."""
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)


def seen_exactly() -> Observer:
    observer = square_observer(square_task())
    return replace(
        observer,
        views_table=observer.views_table.double(),
        orientation_table=observer.orientation_table.double(),
    )


def lively(network: Network) -> Network:
    """With weights that are not small: attention that is nearly even hides what it depends on."""
    torch.manual_seed(5)
    for weight in network.parameters():
        nn.init.normal_(weight, std=0.4)
    return network.eval()


def both_ways(part: BiLSTM) -> nn.LSTM:
    """Torch's own Bi-LSTM with the same weights."""
    plain = nn.LSTM(part.forth.input_size, part.forth.hidden_size, bidirectional=True)
    back = {f"{name}_reverse": weight for name, weight in part.back.state_dict().items()}
    plain.load_state_dict({**part.forth.state_dict(), **back})
    return plain


def l2_rescaled(vector: Tensor) -> Tensor:
    return vector / vector.norm() * math.sqrt(len(vector))


def attended(query: Tensor, rows: Tensor) -> Tensor:
    """The mean of rows (S, X) by how well they fit a query (X,)."""
    return functional.softmax(rows @ query, dim=0) @ rows


def looked(part: ViewAttention, state: Tensor, views: Tensor) -> Tensor:
    return attended(part.query.weight @ state, views)


def remembered(part: TrajectoryEncoder, observer: Observer, poses: Poses, actions: Tensor) -> Tensor:
    """v(y) of one walk (section 4.4 of the paper)."""
    told, (ends, _) = both_ways(part.actions)(observer.taken(poses, actions))
    views = observer.views(poses)
    seen = torch.stack([looked(part.look, told[step], views[step]) for step in range(len(actions))])
    _, (later_ends, _) = both_ways(part.states)(seen)
    return torch.cat([ends.flatten(), later_ends.flatten()])


def read_plainly(network: Network, tokens: Tensor) -> tuple[Tensor, Tensor]:
    """A vector for each word (L, D), read from the last to the first; and u(x), the state at the end."""
    states, (last, _) = network.text.lstm(network.text.vectors(tokens.flip(0))[None])
    return states[0].flip(0), last.flatten()


def scored(part: ActionScore, state: Tensor, memory: Tensor, actions: Tensor) -> Tensor:
    first, _, _, last = part.mix
    wanted = last(functional.relu(first(torch.cat([l2_rescaled(state), memory])[None])))[0]
    embedded = actions @ part.embed.weight.T + part.embed.bias
    return (wanted * embedded) @ part.score.weight[0] + part.score.bias


Decided = tuple[Tensor, Tensor, Tensor]  # scores (K,), hidden state and cell (D,)


def coattend(
    part: CoAttend, state: Tensor, cell: Tensor, before: Tensor, views: Tensor, shown: Tensor,
    words: Tensor, memory: Tensor,
) -> Decided:  # fmt: skip
    """Look, step, read, score (appendix B.1 of the paper)."""
    inputs = torch.cat([before, looked(part.look, state, views)])
    hidden, cell = stepped(part.lstm, inputs, state, cell)
    context = attended(part.read.read.query.weight @ hidden, words)
    grounded = torch.tanh(part.read.out.weight @ torch.cat([context, hidden]))
    return scored(part.act, grounded, memory, shown), hidden, cell


def coground(
    part: CoGround, state: Tensor, cell: Tensor, before: Tensor, views: Tensor, shown: Tensor,
    words: Tensor, memory: Tensor,
) -> Decided:  # fmt: skip
    """Read and look by the state before, step, score (Ma et al. 2019, section 3). The first word's place is
    0, and place p has sin and cos of p / 10000^(2 i / D)."""
    angle = [[place / 10_000 ** (2 * i / HIDDEN) for i in range(HIDDEN // 2)] for place in range(len(words))]
    places = [[turn(a) for a in row for turn in (math.sin, math.cos)] for row in angle]
    context = attended(part.read.query.weight @ state, words + torch.tensor(places))
    linear, norm, _ = part.candidate
    embedded = functional.relu(
        functional.layer_norm(shown @ linear.weight.T + linear.bias, (4,), norm.weight, norm.bias)
    )
    seen = looked(part.look, state, embedded)
    last = part.previous.weight @ before + part.previous.bias
    hidden, cell = stepped(part.lstm, torch.cat([context, seen, last]), state, cell)
    grounded = torch.tanh(part.merge.weight @ torch.cat([hidden, context]) + part.merge.bias)
    return scored(part.act, grounded, memory, embedded), hidden, cell


def stepped(part: nn.LSTMCell, inputs: Tensor, state: Tensor, cell: Tensor) -> tuple[Tensor, Tensor]:
    plain = nn.LSTMCell(len(inputs), len(state))
    plain.load_state_dict(part.state_dict())
    return plain(inputs, (state, cell))


def plain_scores(
    network: Network, observer: Observer, lesson: EpisodeBatch, journey: RolloutResult
) -> list[Tensor]:
    """The scores of one walker in the one step ahead of it, decision by decision."""
    done, start = lesson.done, lesson.done.start
    told, walks = torch.zeros(HIDDEN), torch.zeros(2 * HIDDEN)
    for step in range(len(lesson.behind)):
        here = torch.arange(int(start[step]), int(start[step + 1]))
        poses = Poses(torch.tensor(done.poses.viewpoint)[here], torch.tensor(done.poses.view)[here])
        walked = remembered(network.trajectory, observer, poses, torch.tensor(done.actions)[here])
        _, summary = read_plainly(network, torch.tensor(lesson.behind[step]))
        told, walks = math.exp(-GAMMA) * told + summary, math.exp(-GAMMA) * walks + walked
    memory = torch.cat([l2_rescaled(told), l2_rescaled(walks)])  # the sum of weights falls out
    if network.context is not None:
        first, _, _, last = network.context
        memory = l2_rescaled(last.weight @ (first.weight @ memory + first.bias).clamp(min=0) + last.bias)
    words, summary = read_plainly(network, torch.tensor(lesson.ahead[0]))
    state = torch.tanh(network.first_state.weight @ summary + network.first_state.bias)
    cell, before, found = torch.zeros(HIDDEN), torch.zeros(observer.candidate_width), []
    decide = {CoAttend: coattend, CoGround: coground}[type(network.decoder)]
    for moment in journey.moments:
        possible = observer.world.possible[moment.before.viewpoint][0]
        shown = observer.candidates(moment.before)[0][possible]
        scores, state, cell = decide(
            network.decoder, state, cell, before, observer.views(moment.before)[0], shown, words, memory
        )
        found.append(scores)
        before = observer.taken(moment.before, moment.actions)[0]
    return found


@pytest.mark.usefixtures("doubles")
@pytest.mark.parametrize("learning", [False, True])
@pytest.mark.parametrize("decoder", DECODERS)
@pytest.mark.parametrize("context", CONTEXTS)
def test_decisions_are_those_of_the_plain_network(context: str, decoder: str, learning: bool) -> None:
    """The third step, with two behind it: from 2 over 3 and back, and STOP. Every decision after the first
    has an action before it; whoever learns nothing looks products up that the others make."""
    task, observer = square_task(), seen_exactly()
    network = lively(square_model(observer, context=context, decoder=decoder, gamma=GAMMA).network.double())
    lesson = square_lessons(task).lesson(np.array([0]), np.array([2]), np.array([3]))
    way = [leading(task.houses, *pair) for pair in ((2, 3), (3, 2), (2, 4))] + [STOP]
    script = iter(way)
    with torch.set_grad_enabled(learning):
        journey = Rollout(network, observer).walk(lesson, lambda *_: torch.tensor([next(script)]))
    expected = plain_scores(network, observer, lesson, journey)
    assert [len(scores) for scores in expected] == [4, 3, 4, 2]  # STOP and the neighbours of 2, 3, 2 and 4
    for moment, scores in zip(journey.moments, expected, strict=True):
        logits = moment.decision.logits[0]
        assert torch.allclose(logits[~logits.isinf()], scores)


@pytest.mark.usefixtures("doubles")
@pytest.mark.parametrize("learning", [False, True])
def test_walks_are_remembered_as_by_the_plain_encoder(learning: bool) -> None:
    """Of 0 over 1 to 2 and STOP, and of 3 to 0, cut off: both Bi-LSTMs' ends, and both directions."""
    task, observer = square_task(), seen_exactly()
    network = lively(square_model(observer).network.double())
    pairs = [(0, 1), (1, 2), (2, 2), (3, 0)]
    actions = torch.tensor([leading(task.houses, *pair) for pair in pairs])
    poses = Poses(torch.tensor([at for at, _ in pairs]), torch.tensor([13, 12, 15, 20]))
    scene = Observation(observer, poses)
    with torch.set_grad_enabled(learning):
        found = network.recall(scene, scene.taken(actions), torch.tensor([3, 1]))
    assert found.shape == (2, 2 * HIDDEN)
    for row, here in enumerate((slice(0, 3), slice(3, 4))):
        expected = remembered(network.trajectory, observer, poses[here], actions[here])
        assert torch.allclose(found[row], expected)


@pytest.mark.usefixtures("doubles")
@pytest.mark.parametrize("memory", SUMMARIES)
@pytest.mark.parametrize("decoder", DECODERS)
@pytest.mark.parametrize("context", CONTEXTS)
def test_gradients_of_a_whole_walk_are_those_of_finite_differences(
    context: str, decoder: str, memory: str
) -> None:
    """Two walkers, one with a step behind it and two ahead, led by the teacher. The weights of one parameter
    at a time are moved a little this way and that, some more and some less."""
    task, observer = square_task(), seen_exactly()
    network = lively(square_model(observer, context=context, decoder=decoder, memory=memory).network.double())
    lesson = square_lessons(task).lesson(np.array([0, 1]), np.array([1, 0]), np.array([3, 1]))
    teacher, goals = Teacher.of(task.houses).to("cpu"), torch.from_numpy(lesson.goals)
    guide = Rollout(network, observer)

    def obey(decision: Decision, walkers: Tensor, at: Tensor, rows: Tensor) -> Tensor:
        return teacher.towards(at, goals[rows]).long()

    def loss() -> Tensor:
        moments = guide.walk(lesson, obey).moments
        logits = torch.cat([moment.decision.logits for moment in moments])
        return imitation_loss(logits, torch.cat([moment.actions for moment in moments]))

    loss().backward()
    idle = set()
    with torch.no_grad():
        for name, weight in network.named_parameters():
            assert weight.grad is not None, name
            assert differs(weight, loss) == pytest.approx(slope(weight), rel=1e-5, abs=1e-9), name
            if weight.grad.abs().max() < 1e-12:
                idle.add(name)
    assert idle == {"decoder.act.score.bias", "decoder.act.embed.bias"}  # they are added to every score


def nudge(weight: Tensor) -> Tensor:
    return torch.cos(torch.arange(weight.numel())).view(weight.shape)


def slope(weight: Tensor) -> float:
    """By the gradient, in the direction of a nudge."""
    assert weight.grad is not None
    return float((weight.grad * nudge(weight)).sum())


def differs(weight: Tensor, loss: Callable[[], Tensor], size: float = 1e-5) -> float:
    """Likewise by two nudges, one forth and one back."""
    kept, found = weight.clone(), []
    for sign in (1, -1):
        weight.copy_(kept + sign * size * nudge(weight))
        found.append(float(loss()))
    weight.copy_(kept)
    return (found[0] - found[1]) / (2 * size)
