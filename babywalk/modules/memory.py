"""The memory buffer: a summary of the instructions and trajectories so far (equations 1 to 4 of the paper).

A finished Baby-Step is encoded once and added to running sums; the history is never replayed. Tests check
that the running sums equal the paper's weighted sums over the whole history.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from babywalk.common.errors import ConfigError, unknown


@dataclass(frozen=True, slots=True, eq=False)
class Memory:
    """The histories of walkers. Shapes: B walkers, U features of an instruction, Y of a trajectory."""

    instructions: Tensor  # (B, U) running sum of u(x), or the LSTM's hidden state
    trajectories: Tensor  # (B, Y) running sum of v(y), or the LSTM's hidden state
    weight: Tensor  # (B, 1) running sum of the weights; 0 for an empty history
    cells: tuple[Tensor, Tensor] | None = None  # of the LSTMs

    def __getitem__(self, which: Tensor) -> Memory:
        """Some walkers' histories; indices may repeat."""
        return self._map(lambda part: part.index_select(0, which))

    def put(self, which: Tensor, other: Memory) -> Memory:
        """A copy in which the walkers `which` (each once) have the histories of another memory."""
        others = iter(other.tensors)
        return self._map(lambda part: part.index_copy(0, which, next(others)))

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """All parts."""
        return self.instructions, self.trajectories, self.weight, *(self.cells or ())

    def _map(self, function: Callable[[Tensor], Tensor]) -> Memory:
        instructions, trajectories, weight, *cells = map(function, self.tensors)
        return Memory(instructions, trajectories, weight, (cells[0], cells[1]) if cells else None)


def l2_rescaled(vectors: Tensor) -> Tensor:
    """L2-normalised vectors (B, D), times sqrt(D): entries have a magnitude of about 1.

    The next layer could learn the factor; without it that layer learns many times more slowly.
    """
    return functional.normalize(vectors, dim=1) * math.sqrt(vectors.shape[1])


class Summary(nn.Module):
    """A summary function: an empty memory, adding a Baby-Step, reading the summary.

    The summary is [instructions; trajectories], each L2-rescaled; zeros for an empty history.
    """

    def __init__(self, instruction_size: int, trajectory_size: int) -> None:
        super().__init__()
        self.instruction_size = instruction_size
        self.trajectory_size = trajectory_size
        self.layers: nn.ModuleList | None = None

    def add_layers(self) -> None:
        """Linear layers on both summaries before they are normalised, as in the authors' release."""
        sizes = (self.instruction_size, self.trajectory_size)
        self.layers = nn.ModuleList(nn.Linear(size, size, bias=False) for size in sizes)

    def empty(self, count: int, *, like: Tensor) -> Memory:
        """No history, for `count` walkers; device and dtype are those of `like`."""
        return Memory(
            like.new_zeros(count, self.instruction_size),
            like.new_zeros(count, self.trajectory_size),
            like.new_zeros(count, 1),
        )

    @abstractmethod
    def add(self, memory: Memory, instruction: Tensor, trajectory: Tensor) -> Memory:
        """The memory after one more Baby-Step with encodings u(x) (B, U) and v(y) (B, Y)."""

    def read(self, memory: Memory) -> Tensor:
        """(B, U + Y) the summary."""
        weight = memory.weight.clamp(min=torch.finfo(memory.weight.dtype).tiny)
        means = [memory.instructions / weight, memory.trajectories / weight]
        if self.layers is not None:
            means = [layer(mean) for layer, mean in zip(self.layers, means, strict=True)]
        return torch.cat([l2_rescaled(mean) for mean in means], dim=1)


class Forgetting(Summary):
    """Exponentially weighted history: alpha_i ~ exp(-gamma * age_i), normalised to 1 (equations 2 to 4).

    The newest step has age 0. With gamma 0 this is the mean.
    """

    def __init__(self, instruction_size: int, trajectory_size: int, gamma: float) -> None:
        super().__init__(instruction_size, trajectory_size)
        if gamma < 0:
            raise ConfigError(f"gamma = {gamma} would weigh old steps more than new ones; give 0 or more.")
        self.decay = math.exp(-gamma)  # every earlier step grows older by one

    def add(self, memory: Memory, instruction: Tensor, trajectory: Tensor) -> Memory:
        """sum' = exp(-gamma) sum + u, and the same for the sum of the weights."""
        return Memory(
            self.decay * memory.instructions + instruction,
            self.decay * memory.trajectories + trajectory,
            self.decay * memory.weight + 1,
        )


class Recurrent(Summary):
    """An LSTM over the instructions and one over the trajectories of the history."""

    def __init__(self, instruction_size: int, trajectory_size: int) -> None:
        super().__init__(instruction_size, trajectory_size)
        self.instructions = nn.LSTMCell(instruction_size, instruction_size)
        self.trajectories = nn.LSTMCell(trajectory_size, trajectory_size)

    def empty(self, count: int, *, like: Tensor) -> Memory:
        """Zero states."""
        empty = super().empty(count, like=like)
        return Memory(
            empty.instructions, empty.trajectories, empty.weight, (empty.instructions, empty.trajectories)
        )

    def add(self, memory: Memory, instruction: Tensor, trajectory: Tensor) -> Memory:
        """One step of both LSTMs."""
        cells = memory.cells or (memory.instructions, memory.trajectories)
        instructions, instruction_cell = self.instructions(instruction, (memory.instructions, cells[0]))
        trajectories, trajectory_cell = self.trajectories(trajectory, (memory.trajectories, cells[1]))
        return Memory(
            instructions, trajectories, torch.ones_like(memory.weight), (instruction_cell, trajectory_cell)
        )


class Nothing(Summary):
    """No memory: the ablation, and agents that read the whole instruction at once."""

    def add(self, memory: Memory, instruction: Tensor, trajectory: Tensor) -> Memory:  # noqa: ARG002
        """The same empty memory."""
        return memory


SUMMARIES = ("forgetting", "mean", "lstm", "none")


def summary(kind: str, instruction_size: int, trajectory_size: int, *, gamma: float) -> Summary:
    """The summary function of a name."""
    if kind == "forgetting":
        return Forgetting(instruction_size, trajectory_size, gamma)
    if kind == "mean":
        return Forgetting(instruction_size, trajectory_size, 0.0)
    if kind == "lstm":
        return Recurrent(instruction_size, trajectory_size)
    if kind == "none":
        return Nothing(instruction_size, trajectory_size)
    raise unknown("Memory", kind, SUMMARIES)
