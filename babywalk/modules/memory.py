"""The memory buffer: what was told and done before, summed up step by step (equations 1 to 4 of the paper).

Every finished Baby-Step is encoded once and added; nothing is replayed, whatever the number of steps. That
the sums below equal the paper's weighted sums over the whole history is tested.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from babywalk.common.errors import ConfigError, unknown


@dataclass(frozen=True, slots=True, eq=False)
class Memory:
    """The histories of walkers. Shapes: B walkers, U numbers of an instruction, Y of a trajectory."""

    told: Tensor  # (B, U) running sum of u(x), or the LSTM's state
    done: Tensor  # (B, Y) likewise of v(y)
    weight: Tensor  # (B, 1) running sum of the weights; 0 where there is no history
    cells: tuple[Tensor, Tensor] | None = None  # the LSTMs' cells

    def __getitem__(self, which: Tensor) -> Memory:
        cells = None
        if self.cells is not None:
            cells = (self.cells[0].index_select(0, which), self.cells[1].index_select(0, which))
        parts = (self.told, self.done, self.weight)
        told, done, weight = (part.index_select(0, which) for part in parts)
        return Memory(told, done, weight, cells)

    def put(self, which: Tensor, other: Memory) -> Memory:
        """A copy in which the walkers `which` (each once) have the histories of another memory."""
        cells = None
        if self.cells is not None and other.cells is not None:
            cells = (
                self.cells[0].index_copy(0, which, other.cells[0]),
                self.cells[1].index_copy(0, which, other.cells[1]),
            )
        return Memory(
            self.told.index_copy(0, which, other.told),
            self.done.index_copy(0, which, other.done),
            self.weight.index_copy(0, which, other.weight),
            cells,
        )


def l2_rescaled(vectors: Tensor) -> Tensor:
    """Vectors (B, D) of one length: L2-normalised, times the root of D, so that a number is about 1.

    The factor is the reader's to undo; without it a layer that reads them learns many times more slowly.
    """
    return functional.normalize(vectors, dim=1) * math.sqrt(vectors.shape[1])


class Summary(nn.Module):
    """How a history is summed up: a way to begin, to add a step, and to read.

    What is read is the summary of instructions and that of trajectories, each of one length, side by side;
    zeros where there is no history.
    """

    def __init__(self, told_width: int, done_width: int) -> None:
        super().__init__()
        self.told_width = told_width
        self.done_width = done_width

    def empty(self, count: int) -> Memory:
        """No history yet."""
        return Memory(
            torch.zeros(count, self.told_width), torch.zeros(count, self.done_width), torch.zeros(count, 1)
        )

    @abstractmethod
    def add(self, memory: Memory, told: Tensor, done: Tensor) -> Memory:
        """A history with one more step: u(x) (B, U) and v(y) (B, Y)."""

    def read(self, memory: Memory) -> Tensor:
        """(B, U + Y) the summary."""
        share = memory.weight.clamp(min=torch.finfo(memory.weight.dtype).tiny)
        return torch.cat([l2_rescaled(part / share) for part in (memory.told, memory.done)], dim=1)


class Forgetting(Summary):
    """Weights exp(-gamma * age), the newest step of age 0, normalised to one (equations 2 to 4).

    Adding a step ages all others by one: S' = exp(-gamma) S + u, and the sum of weights alike. With gamma 0
    this is the mean.
    """

    def __init__(self, told_width: int, done_width: int, gamma: float) -> None:
        super().__init__(told_width, done_width)
        if gamma < 0:
            raise ConfigError(f"gamma = {gamma} would weigh the past more than the present; give 0 or more.")
        self.fade = math.exp(-gamma)

    def add(self, memory: Memory, told: Tensor, done: Tensor) -> Memory:
        """Age what is there and add."""
        fade = self.fade
        return Memory(fade * memory.told + told, fade * memory.done + done, fade * memory.weight + 1)


class Recurrent(Summary):
    """An LSTM over the steps of the history, one for what was told and one for what was done."""

    def __init__(self, told_width: int, done_width: int) -> None:
        super().__init__(told_width, done_width)
        self.told = nn.LSTMCell(told_width, told_width)
        self.done = nn.LSTMCell(done_width, done_width)

    def empty(self, count: int) -> Memory:
        """Zero states."""
        nothing = super().empty(count)
        return Memory(nothing.told, nothing.done, nothing.weight, (nothing.told, nothing.done))

    def add(self, memory: Memory, told: Tensor, done: Tensor) -> Memory:
        """One step of both LSTMs."""
        cells = memory.cells or (memory.told, memory.done)
        h_told, c_told = self.told(told, (memory.told, cells[0]))
        h_done, c_done = self.done(done, (memory.done, cells[1]))
        return Memory(h_told, h_done, torch.ones_like(memory.weight), (c_told, c_done))


class Nothing(Summary):
    """No memory: the ablation, and the agents that read a whole instruction at once."""

    def add(self, memory: Memory, told: Tensor, done: Tensor) -> Memory:  # noqa: ARG002
        """Forget it."""
        return memory


SUMMARIES = ("forgetting", "mean", "lstm", "none")


def summary(kind: str, told_width: int, done_width: int, *, gamma: float) -> Summary:
    """The summary function of a name."""
    if kind == "forgetting":
        return Forgetting(told_width, done_width, gamma)
    if kind == "mean":
        return Forgetting(told_width, done_width, 0.0)
    if kind == "lstm":
        return Recurrent(told_width, done_width)
    if kind == "none":
        return Nothing(told_width, done_width)
    raise unknown("Memory", kind, SUMMARIES)
