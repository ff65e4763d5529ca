"""Training of the small models (aligner, landmark classifier, speaker): AdamW, one-cycle learning rate."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from babywalk.common.progress import progress
from babywalk.common.seeding import generator

Rows = NDArray[np.int64]
DEVICE = "cpu"  # of the aligner and the landmark classifier: a GPU would not make them faster
_STATUS_EVERY = 20  # batches


@contextmanager
def seeded_torch(seed: int, purpose: str) -> Iterator[None]:
    """Inside the block, torch's random draws depend on seed and purpose alone; afterwards they continue."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(int(generator(seed, purpose).integers(2**31)))
        yield


@contextmanager
def one_thread() -> Iterator[None]:
    """Inside the block, torch uses one thread: sums, and so results, depend on the number of threads."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


def fit(
    network: nn.Module,
    batches: Callable[[int], Iterable[Rows]],  # those of an epoch, from its number
    loss: Callable[[Rows], Tensor],
    *,
    label: str,  # of the progress bar
    epochs: int,
    learning_rate: float,  # the peak of the cycle
    weight_decay: float,
    warm_up: float = 0.1,  # fraction of the batches in which the learning rate rises
    max_norm: float | None = None,  # larger gradients are clipped to it
    status: Callable[[float], str] = "loss {:.2f}".format,  # shown beside the bar
) -> None:
    """Minimise `loss` over the batches of every epoch; the network is left in evaluation mode.

    The result does not depend on the number of threads.
    """
    order = [batch for epoch in range(epochs) for batch in batches(epoch)]
    optimiser = torch.optim.AdamW(network.parameters(), lr=learning_rate, weight_decay=weight_decay)
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimiser, max_lr=learning_rate, total_steps=len(order) + 1, pct_start=warm_up
    )
    network.train()
    bar = progress(order, label, unit="batch")
    with one_thread():
        for number, batch in enumerate(bar):
            value = loss(batch)
            optimiser.zero_grad()
            torch.autograd.backward(value)
            if max_norm is not None:
                nn.utils.clip_grad_norm_(network.parameters(), max_norm)
            optimiser.step()
            schedule.step()
            if number % _STATUS_EVERY == 0:
                bar.set_postfix_str(status(float(value.detach())))
    network.eval()


def shuffled_groups(order: Rows, count: int, draw: np.random.Generator) -> list[Rows]:
    """Neighbours of `order` in `count` groups of about equal size, at least one; the groups are shuffled."""
    groups = np.array_split(order, max(1, count))
    return [groups[number] for number in draw.permutation(len(groups))]
