from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from babywalk.common.errors import ConfigError
from babywalk.modules.memory import SUMMARIES, Memory, Summary, l2_rescaled, summary


def remembered(kind: Summary, told: torch.Tensor, done: torch.Tensor) -> Memory:
    """One walker's memory after steps (M, U) and (M, Y)."""
    memory = kind.empty(1)
    for u, v in zip(told, done, strict=True):
        memory = kind.add(memory, u[None], v[None])
    return memory


def test_the_weights_of_three_steps_by_hand() -> None:
    """gamma 0.5, ages 2, 1, 0: exp(-1), exp(-0.5), 1, divided by their sum."""
    told = torch.eye(3)
    memory = remembered(summary("forgetting", 3, 3, gamma=0.5), told, told)
    weights = (memory.told / memory.weight)[0]
    total = math.exp(-1) + math.exp(-0.5) + 1
    expected = [math.exp(-1) / total, math.exp(-0.5) / total, 1 / total]
    assert weights.tolist() == pytest.approx(expected, rel=1e-6)
    assert float(weights.sum()) == pytest.approx(1)


def test_the_mean_weighs_all_alike() -> None:
    memory = remembered(summary("mean", 4, 4, gamma=9.0), torch.eye(4), torch.eye(4))
    assert (memory.done / memory.weight)[0].tolist() == pytest.approx([0.25] * 4)


@given(st.integers(0, 6), st.sampled_from([0.0, 0.05, 0.5, 5.0]), st.integers(0, 99))
def test_added_step_by_step_as_summed_afresh(steps: int, gamma: float, seed: int) -> None:
    """Equations 2 to 4 of the paper over the whole history, against what was kept incrementally."""
    torch.manual_seed(seed)
    told, done = torch.randn(steps, 5), torch.randn(steps, 7)
    kind = summary("forgetting", 5, 7, gamma=gamma)
    read = kind.read(remembered(kind, told, done))[0]
    age = torch.arange(steps - 1, -1, -1)
    weights = torch.exp(-gamma * age)
    weights = weights / weights.sum() if steps else weights
    parts = [weights @ told, weights @ done] if steps else [torch.zeros(5), torch.zeros(7)]
    fresh = torch.cat([l2_rescaled(part[None])[0] for part in parts])
    assert torch.allclose(read, fresh, atol=1e-5)


@pytest.mark.parametrize("kind", SUMMARIES)
def test_no_history_reads_as_zeros(kind: str) -> None:
    made = summary(kind, 3, 4, gamma=0.5)
    assert made.read(made.empty(2)).tolist() == [[0.0] * 7] * 2


def test_none_never_remembers() -> None:
    made = summary("none", 3, 4, gamma=0.5)
    assert not made.read(remembered(made, torch.ones(2, 3), torch.ones(2, 4))).any()


def test_the_lstm_reads_the_same_items_in_order() -> None:
    torch.manual_seed(0)
    made = summary("lstm", 3, 4, gamma=0.5)
    told, done = torch.randn(3, 3), torch.randn(3, 4)
    forth = made.read(remembered(made, told, done))
    back = made.read(remembered(made, told.flip(0), done.flip(0)))
    assert not torch.allclose(forth, back)
    whole = torch.nn.LSTM(3, 3)
    whole.load_state_dict({f"{name}_l0": weight for name, weight in made.told.state_dict().items()})
    state = whole(told[:, None])[0][-1]
    assert torch.allclose(forth[:, :3], l2_rescaled(state), atol=1e-6)


@pytest.mark.parametrize("kind", SUMMARIES)
def test_walkers_keep_their_own_histories(kind: str) -> None:
    torch.manual_seed(1)
    made = summary(kind, 3, 4, gamma=0.5)
    memory = made.empty(3)
    some = torch.tensor([2, 0])
    memory = memory.put(some, made.add(memory[some], torch.randn(2, 3), torch.randn(2, 4)))
    assert not made.read(memory)[1].any()
    again = memory.put(some, memory[some])
    assert torch.equal(made.read(again), made.read(memory))


def test_gradients_reach_every_step_and_are_right() -> None:
    kind = summary("forgetting", 2, 2, gamma=0.5)
    told = torch.randn(3, 2, dtype=torch.float64, requires_grad=True)

    def read(steps: torch.Tensor) -> torch.Tensor:
        memory = Memory(*(torch.zeros(1, width, dtype=torch.float64) for width in (2, 2, 1)))
        for row in steps:
            memory = kind.add(memory, row[None], row[None])
        return kind.read(memory)

    assert torch.autograd.gradcheck(read, (told,))


def test_a_memory_that_cannot_be() -> None:
    with pytest.raises(ConfigError, match=r"Memory 'lstms' is not known\. Did you mean 'lstm'\?"):
        summary("lstms", 1, 1, gamma=0.5)
    with pytest.raises(ConfigError, match="gamma = -1 would weigh the past more"):
        summary("forgetting", 1, 1, gamma=-1)
