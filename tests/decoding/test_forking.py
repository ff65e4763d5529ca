"""Forked walkers: each copy continues as an unforked walker that takes the same actions."""

from __future__ import annotations

from contextlib import nullcontext
from copy import deepcopy
from dataclasses import dataclass

import numpy as np
import pytest
import torch
from square import leading, square_batches, square_model, square_observer, square_task, with_large_weights
from torch import Tensor

from babywalk.decoding.episode_batch import EpisodeBatch
from babywalk.decoding.rollout import BatchState, Rollout, StepRecord, Walkers
from babywalk.modules.config import DECODERS
from babywalk.modules.decoder import Decision
from babywalk.modules.kernels import KERNELS
from babywalk.modules.kernels.text_batch import SharedTextBatch
from babywalk.modules.memory import SUMMARIES
from babywalk.navigation.world import STOP

TASK = square_task()
# Episode 0 from viewpoint 1 in two steps after a past one, and episode 1 from 3 in one step.
BATCH = square_batches(TASK).batch(np.array([0, 1]), np.array([1, 0]), np.array([3, 1]))


@dataclass(frozen=True, eq=False)
class Lineage:
    """The decisions of one walker and its ancestors within a step."""

    index: int  # which walker of the batch
    logits: tuple[Tensor, ...] = ()  # (K,) of each decision
    records: tuple[StepRecord, ...] = ()

    @property
    def actions(self) -> list[int]:
        return [int(record.actions) for record in self.records]


def moves(*pairs: tuple[int, int]) -> Tensor:
    """The actions that lead from viewpoints to neighbours; STOP where both are the same."""
    return torch.tensor([leading(TASK.houses, *pair) for pair in pairs])


def advance(
    rollout: Rollout, walkers: Walkers, lineages: list[Lineage], actions: Tensor
) -> tuple[Walkers, list[Lineage]]:
    decision = rollout.decide(walkers)
    moved = rollout.advance(walkers, decision, actions)
    longer = []
    for number, lineage in enumerate(lineages):
        row = torch.tensor([number])
        assert walkers.index[row].tolist() == [lineage.index]
        before, after = walkers.poses[row], moved.poses[row]
        record = StepRecord(walkers.index[row], 0, before, row[:, None], decision, actions[row], after)
        logits = (*lineage.logits, decision.logits[number])
        longer.append(Lineage(lineage.index, logits, (*lineage.records, record)))
    return moved, longer


def fork(walkers: Walkers, lineages: list[Lineage], which: list[int]) -> tuple[Walkers, list[Lineage]]:
    return walkers[torch.tensor(which)], [lineages[row] for row in which]


def walk_forked(rollout: Rollout, state: BatchState, copies: int) -> list[Lineage]:
    """Fork the walkers of both episodes at different times; all decisions of every copy."""
    walkers = rollout.begin_step(state, 0)
    lineages = [Lineage(int(index)) for index in walkers.index]
    dropped: list[Lineage] = []
    # Before the first decision: as many walkers of episode 0 as there are copies, and one of episode 1.
    walkers, lineages = fork(walkers, lineages, [*range(copies), copies])
    walkers, lineages = advance(rollout, walkers, lineages, moves(*[(1, 2)] * copies, (3, 2)))
    # The middle of the step: both ways for the first walker.
    walkers, lineages = fork(walkers, lineages, [0, 0, copies])
    walkers, lineages = advance(rollout, walkers, lineages, moves((2, 3), (2, 1), (2, 4)))
    # Again, in another order: two more copies of the first copy, one of the second, one of the other episode.
    walkers, lineages = fork(walkers, lineages, [1, 0, 0, 2, 1, 0, 2])
    to = moves((1, 0), (3, 0), (3, 2), (4, 2), (1, 2), (3, 3), (4, 4))
    walkers, lineages = advance(rollout, walkers, lineages, to)
    # Those that have stopped are dropped, and some others as well.
    dropped += [lineages[row] for row in (5, 6, 3)]
    walkers, lineages = fork(walkers, lineages, [4, 2, 1, 0, 2])
    walkers, lineages = advance(rollout, walkers, lineages, moves((2, 2), (2, 4), (0, 0), (0, 1), (2, 2)))
    dropped += [lineages[row] for row in (0, 2, 4)]
    walkers, lineages = fork(walkers, lineages, [3, 1])
    _, lineages = advance(rollout, walkers, lineages, moves((1, 1), (4, 4)))
    return dropped + lineages


def next_step_logits(rollout: Rollout, state: BatchState, lineage: Lineage) -> Tensor:
    """The first decision of the next step, with the trajectory of a copy in its memory.

    All other walkers have stopped at once.
    """
    others = torch.arange(len(state.episode))
    others = others[others != lineage.index]
    poses, stop = state.poses[others], torch.full_like(others, STOP)
    stopped = StepRecord(others, 0, poses, others[:, None], lineage.records[0].decision, stop, poses)
    after = rollout.end_step(state, 0, [stopped, *lineage.records])
    walkers = rollout.begin_step(after, 1)
    row = walkers.index.tolist().index(lineage.index)
    return rollout.decide(walkers).logits[row]


def walk_unforked(
    rollout: Rollout, batch: EpisodeBatch, lineage: Lineage, copies: int
) -> tuple[list[Tensor], Tensor | None]:
    """The logits of one walker that takes the actions of a lineage, and those of its next step."""
    script = iter(lineage.actions)

    def select(decision: Decision, walkers: Walkers) -> Tensor:
        actions = torch.full_like(walkers.index, STOP)
        actions[walkers.index == lineage.index] = next(script, STOP)
        return actions

    torch.manual_seed(0)
    records = rollout.run(batch, select, copies=copies).records
    own = [
        (record.step, record.decision.logits[record.walkers == lineage.index][0])
        for record in records
        if lineage.index in record.walkers
    ]
    later = [logits for step, logits in own if step == 1]
    first = [logits for step, logits in own if step == 0][: len(lineage.actions)]
    return first, later[0] if later else None


def finite(logits: Tensor) -> Tensor:
    return logits.masked_fill(logits.isinf(), 0)


@pytest.mark.usefixtures("float64")
@pytest.mark.parametrize("copies", [1, 2])
@pytest.mark.parametrize("mode", ["training", "evaluation", "inference"])
@pytest.mark.parametrize("memory", ["forgetting", "lstm"])
@pytest.mark.parametrize("decoder", DECODERS)
@pytest.mark.parametrize("kernels", KERNELS)
def test_copies_of_a_walker_take_different_ways(
    kernels: str, decoder: str, memory: str, mode: str, copies: int
) -> None:
    """Logits, those of the next step, and in training the gradients, with feature and history dropout."""
    observer = square_observer(TASK, dtype=torch.float64)
    options = {"decoder": decoder, "memory": memory, "feature_dropout": 0.5, "history_dropout": 0.2}
    network = with_large_weights(square_model(observer, **options).network.double())
    network.train(mode == "training")
    unforked = Rollout(deepcopy(network), observer, kernels="plain")
    rollout = Rollout(network, observer, kernels=kernels)
    torch.manual_seed(0)
    with rollout.inference() if mode == "inference" else nullcontext(), rollout.backend.rollout(network):
        state = rollout.begin(BATCH, copies)
        lineages = walk_forked(rollout, state, copies)
        stopped = [lineage for lineage in lineages if lineage.index < copies and lineage.actions[-1] == STOP]
        later = [next_step_logits(rollout, state, lineage) for lineage in stopped]
    assert [len(lineage.actions) for lineage in lineages] == [3, 3, 3, 4, 4, 4, 5, 5]
    assert len({tuple(lineage.actions) for lineage in lineages}) == len(lineages)
    assert len(stopped) == 6

    expected = [walk_unforked(unforked, BATCH, lineage, copies) for lineage in lineages]
    for lineage, (logits, _) in zip(lineages, expected, strict=True):
        torch.testing.assert_close(torch.stack(lineage.logits), torch.stack(logits), rtol=1e-9, atol=1e-10)
    expected_later = [
        found for lineage, (_, found) in zip(lineages, expected, strict=True) if lineage in stopped
    ]
    torch.testing.assert_close(torch.stack(later), torch.stack(expected_later), rtol=1e-9, atol=1e-10)
    assert len({tuple(row.tolist()) for row in later}) == len(later)  # each copy has its own memory
    if mode == "inference":
        assert not later[0].requires_grad
        return
    gradients = []
    for one, all_logits in (
        (network, [*(row for lineage in lineages for row in lineage.logits), *later]),
        (unforked.network, [*(row for rows, _ in expected for row in rows), *expected_later]),
    ):
        loss = (finite(torch.stack(all_logits)).T * torch.cos(torch.arange(len(all_logits)))).sum()
        loss.backward()
        gradients.append({name: weight.grad for name, weight in one.named_parameters()})
    for name, gradient in gradients[1].items():
        torch.testing.assert_close(gradients[0][name], gradient, rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("memory", SUMMARIES)
@pytest.mark.parametrize("kernels", KERNELS)
def test_everything_that_a_walker_carries_is_indexed_with_repeats(kernels: str, memory: str) -> None:
    observer = square_observer(TASK)
    rollout = Rollout(square_model(observer, memory=memory).network, observer, kernels=kernels)
    before = rollout.begin_step(rollout.begin(BATCH), 0)
    walkers = rollout.advance(before, rollout.decide(before), moves((1, 2), (3, 3)))
    which = torch.tensor([1, 0, 0])
    forked = walkers[which]
    assert len(walkers) == 2
    assert len(forked) == len(forked.text) == 3
    weight = torch.randn(4, observer.candidate_width)

    def parts(walkers: Walkers) -> list[Tensor]:
        action = walkers.state.action
        previous = action if isinstance(action, Tensor) else action.materialise()
        return [
            walkers.index,
            walkers.row,
            walkers.poses.viewpoint,
            walkers.poses.view,
            walkers.context,
            walkers.state.hidden,
            walkers.state.cell,
            previous,
            previous @ weight.T,
            walkers.text.padding,
            walkers.text.match(walkers.state.hidden),
        ]

    for whole, some in zip(parts(walkers), parts(forked), strict=True):
        torch.testing.assert_close(some, whole[which])
    # The original is unchanged: it can be forked again.
    for whole, some in zip(parts(walkers), parts(walkers[which][torch.tensor([1, 0])]), strict=True):
        torch.testing.assert_close(some, whole)


def test_copies_share_the_text_and_have_slots_of_their_own() -> None:
    observer = square_observer(TASK)
    rollout = Rollout(square_model(observer).network, observer)
    walkers = rollout.begin_step(rollout.begin(BATCH), 0)
    forked = walkers[torch.tensor([0, 0, 1])]
    text = forked.text
    assert isinstance(text, SharedTextBatch)
    assert text.rows.tolist() == [walkers.text.rows.tolist()[row] for row in (0, 0, 1)]
    assert len(text.slots.unique()) == 3
    assert text.blocks is walkers.text.blocks  # words are not copied
    logits = rollout.decide(forked).logits
    assert torch.allclose(logits[0], logits[1])
    assert not torch.allclose(logits[0][:2], logits[2][:2])
