"""Training of the small models (aligner, landmark classifier, speaker): AdamW, one-cycle learning rate."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from babywalk.common.errors import DataError
from babywalk.common.progress import progress
from babywalk.common.seeding import generator
from babywalk.common.weights import load_state, read_tensors, write_tensors

Rows = NDArray[np.int64]
DEVICE = "cpu"  # of the aligner and the landmark classifier: a GPU would not make them faster
_STATUS_EVERY = 20  # batches
_FORMAT = "babywalk fitting 1"


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
    checkpoint: Path | None = None,  # written after every epoch, and read at the start if it is there
) -> None:
    """Minimise `loss` over the batches of every epoch; the network is left in evaluation mode.

    The result does not depend on the number of threads, nor on interruptions: the name of a checkpoint must
    stand for all settings and data, and `loss` may draw only from torch's generator of the CPU.
    """
    epoch_batches = [list(batches(epoch)) for epoch in range(epochs)]
    order = [batch for epoch in epoch_batches for batch in epoch]
    ends = set(np.cumsum([len(epoch) for epoch in epoch_batches]).tolist())
    optimiser = torch.optim.AdamW(network.parameters(), lr=learning_rate, weight_decay=weight_decay)
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimiser, max_lr=learning_rate, total_steps=len(order) + 1, pct_start=warm_up
    )
    done = _resume(checkpoint, network, optimiser) if checkpoint else 0
    if done:
        schedule.load_state_dict({"last_epoch": done, "_step_count": done + 1})
    network.train()
    bar = progress(order[done:], label, total=len(order), done=done, unit="batch")
    with one_thread():
        for number, batch in enumerate(bar, start=done):
            value = loss(batch)
            optimiser.zero_grad()
            torch.autograd.backward(value)
            if max_norm is not None:
                nn.utils.clip_grad_norm_(network.parameters(), max_norm)
            optimiser.step()
            schedule.step()
            if number % _STATUS_EVERY == 0:
                bar.set_postfix_str(status(float(value.detach())))
            if checkpoint and number + 1 in ends:
                _save(checkpoint, network, optimiser, number + 1)
    network.eval()


def _save(file: Path, network: nn.Module, optimiser: torch.optim.Optimizer, done: int) -> None:
    """Write a checkpoint after `done` batches."""
    found = optimiser.state_dict()
    tensors = {f"weights/{name}": tensor for name, tensor in network.state_dict().items()}
    for number, state in found["state"].items():
        tensors |= {f"optimiser/{number}/{name}": value for name, value in state.items()}
    tensors["random"] = torch.get_rng_state()
    write_tensors(file, tensors, {"format": _FORMAT, "done": done, "groups": found["param_groups"]})


def _resume(file: Path, network: nn.Module, optimiser: torch.optim.Optimizer) -> int:
    """Continue from a checkpoint: the batches done; 0 if there is none, or if it is damaged."""
    if not file.is_file():
        return 0
    try:
        tensors, about = read_tensors(file, _FORMAT)
        kept = {
            name.removeprefix("weights/"): value
            for name, value in tensors.items()
            if name.startswith("weights/")
        }
        load_state(network, kept, file)
    except DataError:
        return 0
    state: dict[int, dict[str, Tensor]] = {}
    for name, value in tensors.items():
        kind, _, rest = name.partition("/")
        if kind == "optimiser":
            number, _, key = rest.partition("/")
            state.setdefault(int(number), {})[key] = value
    optimiser.load_state_dict({"state": state, "param_groups": about["groups"]})
    torch.set_rng_state(tensors["random"])
    return int(about["done"])


def shuffled_groups(order: Rows, count: int, draw: np.random.Generator) -> list[Rows]:
    """Neighbours of `order` in `count` groups of about equal size, at least one; the groups are shuffled."""
    groups = np.array_split(order, max(1, count))
    return [groups[number] for number in draw.permutation(len(groups))]
