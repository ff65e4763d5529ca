"""A trained model as one file: weights, and in its header everything that is needed to use them.

Weights are safetensors; nothing is ever unpickled. Loading is strict: a weight that is missing, left over
or of another shape is an error.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from babywalk.assets.glove import WordVectors
from babywalk.assets.records import Record
from babywalk.assets.trained import find_model
from babywalk.common.config import from_table
from babywalk.common.errors import DataError, shortlist
from babywalk.common.weights import read_tensors, write_tensors
from babywalk.episodes.vocabulary import Vocabulary
from babywalk.modules.config import PolicyConfig
from babywalk.modules.network import Network

FORMAT = "babywalk model 1"
_REMEMBERING = ("trajectory", "memory", "context")  # parts of the network that are for the memory alone
_DECIDING = "decoder."  # how the names of a decoder's weights begin


@dataclass(frozen=True, slots=True, eq=False)
class Model:
    """A network and what it was made for."""

    network: Network
    vocabulary: Vocabulary
    features: str  # the spec of the view features it sees
    view_width: int
    action_width: int
    columns: tuple[str, ...]  # names of the features, where they have names
    frozen_words: bool
    facts: dict[str, Any]  # how it was trained, what it measured: for people

    @property
    def config(self) -> PolicyConfig:
        """What the network is made of."""
        return self.network.config


def new_model(
    config: PolicyConfig,
    vocabulary: Vocabulary,
    vectors: WordVectors | None,
    *,
    features: str,
    view_width: int,
    action_width: int,
    columns: tuple[str, ...] = (),
    seed: int,
) -> Model:
    """An untrained model; known word vectors are kept as they are, drawn ones are learned."""
    torch.manual_seed(seed)
    rows = torch.from_numpy(vocabulary.vectors(vectors, width=config.words, seed=seed))
    frozen = vectors is not None
    network = Network(
        config,
        vectors=rows,
        frozen_words=frozen,
        view_width=view_width,
        action_width=action_width,
        columns=columns,
    )
    if network.likeness is not None:
        network.likeness.learn(rows.numpy(), vocabulary.numbers, columns)
    return Model(network, vocabulary, features, view_width, action_width, columns, frozen, {})


def save_model(file: Path, model: Model, weights: Mapping[str, Tensor] | None = None) -> None:
    """Write a model, atomically; `weights` in place of those in the network."""
    about = {
        "format": FORMAT,
        "policy": asdict(model.config),
        "vocabulary": list(model.vocabulary.words),
        "word_width": int(model.network.text.vectors.weight.shape[1]),
        "features": model.features,
        "view_width": model.view_width,
        "action_width": model.action_width,
        "columns": list(model.columns),
        "frozen_words": model.frozen_words,
        "facts": model.facts,
    }
    write_tensors(file, weights or model.network.state_dict(), about)


def load_model(path: Path) -> Model:
    """Read a model from its file, from the directory of a run or of published weights, or by its name."""
    file = _file(find_model(path) or path)
    tensors, about = read_tensors(file, FORMAT)
    record = Record.of(file, "the header", about)
    for field in ("policy", "facts"):
        if not isinstance(about.get(field), dict):
            raise record.wrong(field, "a table")
    config = from_table(PolicyConfig, about["policy"], where=f"{file}, policy")
    vocabulary = Vocabulary(tuple(record.texts("vocabulary")))
    columns = tuple(record.texts("columns")) if about.get("columns") else ()
    _check_sizes(file, record, config, tensors)
    network = Network(
        config,
        vectors=torch.zeros(len(vocabulary), record.whole("word_width")),
        frozen_words=record.truth("frozen_words"),
        view_width=record.whole("view_width"),
        action_width=record.whole("action_width"),
        columns=columns,
    )
    put_weights(network, tensors, file)
    network.eval()
    return Model(
        network=network,
        vocabulary=vocabulary,
        features=record.text("features"),
        view_width=record.whole("view_width"),
        action_width=record.whole("action_width"),
        columns=columns,
        frozen_words=record.truth("frozen_words"),
        facts=about["facts"],
    )


def _check_sizes(file: Path, record: Record, config: PolicyConfig, tensors: Mapping[str, Tensor]) -> None:
    """Refuse a header that asks for a network larger than its weights, before room is made for it."""
    widest = max((size for tensor in tensors.values() for size in tensor.shape), default=0)
    named = {name: record.whole(name) for name in ("word_width", "view_width", "action_width")}
    sizes = {"policy.hidden": config.hidden, "policy.action": config.action, **named}
    for name, size in {**sizes, "policy.likeness": max(1, config.likeness)}.items():
        if not 1 <= size <= widest:
            raise DataError(f"{file}: the header says {name} = {size}, and no weight is of that size.")


def _file(path: Path) -> Path:
    """The model's file, where a directory is given instead."""
    file = path / "model.safetensors" if path.is_dir() else path
    if file == path or file.exists():
        return file
    if not (path / "config.json").exists():
        raise DataError(f"{path}: holds no model. Give the directory of a run or of published weights.")
    best = sorted((path / "best").glob("*.safetensors"))
    if (path / "result.json").exists():
        raise DataError(f"{path}: its model is gone{f'; take {best[-1]}' if best else ''}.")
    raise DataError(
        f"{path}: holds no model yet: its first stage has not ended. Go on with --resume"
        f"{f', or take {best[-1]}' if best else ''}."
    )


def put_weights(network: Network, tensors: Mapping[str, Tensor], file: Path) -> None:
    """Load weights into a network, all of them and no others; half precision becomes the network's own."""
    own = network.state_dict()
    missing, extra = sorted(own.keys() - tensors.keys()), sorted(tensors.keys() - own.keys())
    if missing or extra:
        raise DataError(
            f"{file}: weights missing: {shortlist(missing) or 'none'}; "
            f"left over: {shortlist(extra) or 'none'}."
        )
    for name, tensor in tensors.items():
        if tensor.shape != own[name].shape:
            raise DataError(
                f"{file}: weight {name!r} has the shape {tuple(tensor.shape)}; "
                f"expected {tuple(own[name].shape)}. It was trained with other words, features or sizes."
            )
        if tensor.dtype not in (own[name].dtype, torch.float16):
            raise DataError(f"{file}: weight {name!r} is {tensor.dtype}; expected {own[name].dtype}.")
        if not tensor.isfinite().all():
            raise DataError(
                f"{file}: weight {name!r} holds what is no number. Take a model of before it diverged."
            )
    network.load_state_dict(dict(tensors))


def load_compatible(model: Model, other: Model, file: Path) -> None:
    """Begin where another model ended; memory, context and decoder are taken where both have the same.

    So an agent that learns Baby-Steps begins with what one that reads whole instructions has learned, and one
    that decides in another way with how to read and to remember.
    """
    for what, own, found in (
        ("vocabulary", model.vocabulary, other.vocabulary),
        ("set of features", (model.features, model.columns), (other.features, other.columns)),
    ):
        if own != found:
            raise DataError(f"{file}: was trained with another {what}; begin from a model with the same.")
    own_weights, weights = model.network.state_dict(), other.network.state_dict()
    for name in own_weights.keys() ^ weights.keys():
        if name.split(".")[0] in _REMEMBERING:
            weights.pop(name, None)
            weights |= {name: own_weights[name]} if name in own_weights else {}
    # A decoder reads the context, so it is another one where that is made otherwise.
    deciding = [(each.config.decoder, each.network.context is None) for each in (model, other)]
    if deciding[0] != deciding[1]:
        weights = {name: value for name, value in weights.items() if not name.startswith(_DECIDING)}
        weights |= {name: value for name, value in own_weights.items() if name.startswith(_DECIDING)}
    put_weights(model.network, weights, file)


def load_mean(model: Model, others: Mapping[Path, Model]) -> None:
    """Begin with the mean of other models' weights.

    Runs that began alike and learned from other draws end in one valley, and their mean may do better in
    places that none of them has seen (Wortsman et al. 2022).
    """
    found = []
    for file, other in others.items():
        load_compatible(model, other, file)
        found.append({name: weight.clone() for name, weight in model.network.state_dict().items()})
    put_weights(
        model.network,
        {name: torch.stack([weights[name] for weights in found]).mean(dim=0) for name in found[0]},
        next(iter(others)),
    )


def size_of(network: Network) -> int:
    """How many numbers are learned."""
    return int(np.sum([weight.numel() for weight in network.parameters() if weight.requires_grad]))
