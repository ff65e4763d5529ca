from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from babywalk.common.errors import ConfigError
from babywalk.modules.memory import SUMMARIES, Memory, Summary, l2_rescaled, summary


def memory_after(kind: Summary, instructions: torch.Tensor, trajectories: torch.Tensor) -> Memory:
    """One walker's memory after steps (M, U) and (M, Y)."""
    memory = kind.empty(1, like=instructions)
    for u, v in zip(instructions, trajectories, strict=True):
        memory = kind.add(memory, u[None], v[None])
    return memory


def test_weights_of_three_steps() -> None:
    """gamma 0.5, ages 2, 1, 0: exp(-1), exp(-0.5), 1, divided by their sum."""
    memory = memory_after(summary("forgetting", 3, 3, gamma=0.5), torch.eye(3), torch.eye(3))
    weights = (memory.instructions / memory.weight)[0]
    total = math.exp(-1) + math.exp(-0.5) + 1
    expected = [math.exp(-1) / total, math.exp(-0.5) / total, 1 / total]
    assert weights.tolist() == pytest.approx(expected, rel=1e-6)
    assert float(weights.sum()) == pytest.approx(1)


def test_mean_weighs_all_steps_equally() -> None:
    memory = memory_after(summary("mean", 4, 4, gamma=9.0), torch.eye(4), torch.eye(4))
    assert (memory.trajectories / memory.weight)[0].tolist() == pytest.approx([0.25] * 4)


@given(st.integers(0, 6), st.sampled_from([0.0, 0.05, 0.5, 5.0]), st.integers(0, 99))
def test_running_sums_equal_the_sums_over_the_whole_history(steps: int, gamma: float, seed: int) -> None:
    """Equations 2 to 4 of the paper over the whole history, against the incremental sums."""
    torch.manual_seed(seed)
    instructions, trajectories = torch.randn(steps, 5), torch.randn(steps, 7)
    kind = summary("forgetting", 5, 7, gamma=gamma)
    read = kind.read(memory_after(kind, instructions, trajectories))[0]
    age = torch.arange(steps - 1, -1, -1)
    weights = torch.exp(-gamma * age)
    weights = weights / weights.sum() if steps else weights
    parts = [weights @ instructions, weights @ trajectories] if steps else [torch.zeros(5), torch.zeros(7)]
    expected = torch.cat([l2_rescaled(part[None])[0] for part in parts])
    assert torch.allclose(read, expected, atol=1e-5)


@pytest.mark.parametrize("kind", SUMMARIES)
def test_empty_history_reads_as_zeros(kind: str) -> None:
    made = summary(kind, 3, 4, gamma=0.5)
    assert made.read(made.empty(2, like=torch.zeros(()))).tolist() == [[0.0] * 7] * 2


def test_memory_none_stays_empty() -> None:
    made = summary("none", 3, 4, gamma=0.5)
    assert not made.read(memory_after(made, torch.ones(2, 3), torch.ones(2, 4))).any()


def test_lstm_memory_equals_an_lstm_over_the_steps() -> None:
    torch.manual_seed(0)
    made = summary("lstm", 3, 4, gamma=0.5)
    instructions, trajectories = torch.randn(3, 3), torch.randn(3, 4)
    read = made.read(memory_after(made, instructions, trajectories))
    reversed_order = made.read(memory_after(made, instructions.flip(0), trajectories.flip(0)))
    assert not torch.allclose(read, reversed_order)
    whole = torch.nn.LSTM(3, 3)
    whole.load_state_dict({f"{name}_l0": weight for name, weight in made.instructions.state_dict().items()})
    state = whole(instructions[:, None])[0][-1]
    assert torch.allclose(read[:, :3], l2_rescaled(state), atol=1e-6)


@pytest.mark.parametrize("kind", SUMMARIES)
def test_walkers_have_separate_histories(kind: str) -> None:
    torch.manual_seed(1)
    made = summary(kind, 3, 4, gamma=0.5)
    memory = made.empty(3, like=torch.zeros(()))
    some = torch.tensor([2, 0])
    memory = memory.put(some, made.add(memory[some], torch.randn(2, 3), torch.randn(2, 4)))
    assert not made.read(memory)[1].any()
    again = memory.put(some, memory[some])
    assert torch.equal(made.read(again), made.read(memory))


def test_gradients_of_every_step_are_correct() -> None:
    kind = summary("forgetting", 2, 2, gamma=0.5)
    instructions = torch.randn(3, 2, dtype=torch.float64, requires_grad=True)

    def read(steps: torch.Tensor) -> torch.Tensor:
        memory = kind.empty(1, like=steps)
        for row in steps:
            memory = kind.add(memory, row[None], row[None])
        return kind.read(memory)

    assert torch.autograd.gradcheck(read, (instructions,))


def test_unknown_memory_and_negative_gamma_are_rejected() -> None:
    with pytest.raises(ConfigError, match=r"Memory 'lstms' is not known\. Did you mean 'lstm'\?"):
        summary("lstms", 1, 1, gamma=0.5)
    with pytest.raises(ConfigError, match="gamma = -1 would weigh old steps more"):
        summary("forgetting", 1, 1, gamma=-1)
