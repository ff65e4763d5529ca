"""Checkpoints: everything that a run needs to resume, in one file that is written atomically."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path

import torch
from torch import Tensor

from babywalk.common.config import from_table
from babywalk.common.errors import ConfigError, DataError
from babywalk.common.weights import load_state, read_tensors, write_tensors
from babywalk.modules.model import Model
from babywalk.modules.network import Network

_FORMAT = "babywalk checkpoint 4"
_ADAM = {"step", "exp_avg", "exp_avg_sq"}  # what the optimiser keeps of each weight


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
    for name, tensor in tensors.items():
        kind, _, rest = name.partition("/")
        if kind not in groups:
            raise _incomplete(file, f"{name!r} is neither a weight nor a state of the optimiser")
        groups[kind][rest] = tensor
    progress = _progress(file, about.get("progress"))
    state = _optimiser_state(file, network, groups["optimiser"])
    weights = network.state_dict()
    for name, tensor in groups["average"].items():
        if name not in weights or (weights[name].shape, weights[name].dtype) != (tensor.shape, tensor.dtype):
            raise _incomplete(file, f"the averaged weight {name!r} is not one of the network")
    if groups["average"] and groups["average"].keys() != weights.keys():
        raise _incomplete(file, "averaged weights are missing")
    load_state(network, groups["weights"], file)
    return progress, groups["average"], state


def _progress(file: Path, value: object) -> Progress:
    """The progress in a header; a run can have come exactly so far."""
    if not isinstance(value, dict):
        raise _incomplete(file, "its header has no table 'progress'")
    try:
        progress = from_table(Progress, value, where="progress")
    except ConfigError as error:
        raise _incomplete(file, str(error).rstrip(".")) from None
    in_stage = progress.iteration > 0
    valid = (
        value.keys() == {setting.name for setting in fields(Progress)}
        and 0 <= progress.iteration <= progress.total
        and progress.stage == len(progress.bests)
        and in_stage == bool(progress.name)
        and (in_stage or progress.best < 0)
        and -1 <= progress.best_at <= progress.iteration
        and progress.decisions >= 0
        and all(map(math.isfinite, (progress.best, progress.baseline or 0.0, *progress.bests.values())))
    )
    if not valid:
        raise _incomplete(file, "the fields of its progress do not fit together")
    return progress


def _optimiser_state(
    file: Path, network: Network, tensors: Mapping[str, Tensor]
) -> dict[int, dict[str, Tensor]]:
    """The state of Adam by the number of the weight: none, or that of every learned weight."""
    number = {name: index for index, name in enumerate(_names(network))}
    weights = dict(network.named_parameters())
    state: dict[int, dict[str, Tensor]] = {}
    for name, tensor in tensors.items():
        key, _, weight = name.partition("/")
        if weight not in number or key not in _ADAM:
            raise _incomplete(file, f"{name!r} is not a state of the optimiser")
        if tensor.shape != (torch.Size() if key == "step" else weights[weight].shape) or not (
            tensor.is_floating_point() and bool(tensor.isfinite().all())
        ):
            raise _incomplete(file, f"the optimiser's {key} of {weight!r} has another shape or is not finite")
        state.setdefault(number[weight], {})[key] = tensor
    for index, found in state.items():
        if missing := _ADAM - found.keys():
            raise _incomplete(file, f"the optimiser has no {min(missing)} of weight {index}")
    return state


def _incomplete(file: Path, why: str) -> DataError:
    return DataError(f"{file}: is not a complete checkpoint ({why}). Start another run.")


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
