"""Checkpoints: everything that a run needs to resume, in one file that is written atomically."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

import torch
from torch import Tensor

from babywalk.common.errors import DataError
from babywalk.common.weights import load_state, read_tensors, write_tensors
from babywalk.modules.model import Model
from babywalk.modules.network import Network

_FORMAT = "babywalk checkpoint 4"


@dataclass(slots=True)
class Progress:
    """How far a run has come."""

    stage: int = 0
    name: str = ""  # of the current stage
    iteration: int = 0  # finished in this stage
    total: int = 0  # finished in all stages
    baseline: float | None = None  # mean of rewards in this stage; None before the first
    decisions: int = 0  # in a cumulative baseline
    best: float = -1.0  # the highest validation SDTW of this stage
    best_at: int = -1  # the iteration that reached it
    bests: dict[str, float] = field(default_factory=dict)  # `best` of the finished stages, by name


def save_checkpoint(
    file: Path,
    model: Model,
    optimiser: torch.optim.Optimizer,
    average: dict[str, Tensor] | None,
    progress: Progress,
) -> None:
    """Write a checkpoint, atomically."""
    network = model.network
    tensors = {f"weights/{name}": tensor for name, tensor in network.state_dict().items()}
    tensors |= {f"average/{name}": tensor for name, tensor in (average or {}).items()}
    names = _names(network)
    for number, state in optimiser.state_dict()["state"].items():
        for key, value in state.items():
            tensors[f"optimiser/{key}/{names[number]}"] = value
    about = {"format": _FORMAT, "progress": asdict(progress), **_data_of(model)}
    write_tensors(file, tensors, about)


def load_checkpoint(
    file: Path, model: Model
) -> tuple[Progress, dict[str, Tensor], dict[int, dict[str, Tensor]]]:
    """Load the weights into a model; returns the progress, the averaged weights and the optimiser's state."""
    tensors, about = read_tensors(file, _FORMAT)
    for what, own in _data_of(model).items():
        if about.get(what) != own:
            raise DataError(
                f"{file}: was written for data with different {what}. "
                "Resume with the data that the run was started with."
            )
    network = model.network
    groups: dict[str, dict[str, Tensor]] = {"weights": {}, "average": {}, "optimiser": {}}
    number = {name: index for index, name in enumerate(_names(network))}
    state: dict[int, dict[str, Tensor]] = {}
    try:
        for name, tensor in tensors.items():
            kind, _, rest = name.partition("/")
            groups[kind][rest] = tensor
        for name, tensor in groups["optimiser"].items():
            key, _, weight = name.partition("/")
            state.setdefault(number[weight], {})[key] = tensor
        progress = Progress(**about["progress"])
    except (KeyError, TypeError) as error:
        raise DataError(f"{file}: is not a complete checkpoint ({error}). Start another run.") from None
    load_state(network, groups["weights"], file)
    return progress, groups["average"], state


def _data_of(model: Model) -> dict[str, str]:
    """What the data must have in common with that of the run, beyond the shapes of weights."""
    return {
        "words": _digest(model.vocabulary.words),
        "features": f"{model.features} {_digest(model.columns)}",
        "alignment": str(model.facts.get("alignment", "")),
    }


def _digest(words: Sequence[str]) -> str:
    return hashlib.sha256("\n".join(words).encode()).hexdigest()


def _names(network: Network) -> list[str]:
    """The learned weights in the order in which an optimiser numbers them."""
    return [name for name, weight in network.named_parameters() if weight.requires_grad]
