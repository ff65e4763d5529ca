"""A trained model as one file: weights, and in its header everything that is needed to use them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from babywalk.assets.glove import WordVectors
from babywalk.assets.pretrained import find_model
from babywalk.assets.records import Record
from babywalk.common.config import from_table
from babywalk.common.errors import DataError
from babywalk.common.weights import check_sizes, load_state, read_tensors, write_tensors
from babywalk.episodes.vocabulary import SPECIAL, Vocabulary
from babywalk.modules.config import PolicyConfig
from babywalk.modules.network import Network

FORMAT = "babywalk model 2"
_MEMORY_PARTS = ("trajectory", "memory", "context_mlp")  # parts of the network that only a memory needs
_DECODER = "decoder."  # prefix of the decoder's weights


@dataclass(frozen=True, slots=True, eq=False)
class Model:
    """A network and what it was made for."""

    network: Network
    vocabulary: Vocabulary
    features: str  # the spec of the view features
    view_width: int
    action_width: int
    columns: tuple[str, ...]  # names of the features, where they have names
    frozen_words: bool
    facts: dict[str, Any]  # how it was trained and what it measured, for people

    @property
    def config(self) -> PolicyConfig:
        """The settings of the network."""
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
    device: str | torch.device = "cpu",
) -> Model:
    """An untrained model; imported word vectors are frozen, random ones are learned."""
    torch.manual_seed(seed)
    rows = vocabulary.vectors(vectors, width=config.words, seed=seed)
    frozen = vectors is not None
    # Initialised on the CPU, so that a seed gives the same weights on every device.
    network = Network(
        config,
        vectors=torch.as_tensor(rows, device="cpu"),
        frozen_words=frozen,
        view_width=view_width,
        action_width=action_width,
        columns=columns,
    )
    if network.lexical_match is not None:
        network.lexical_match.set_codes(rows, vocabulary.word_ids, columns)
    network.to(device)
    return Model(network, vocabulary, features, view_width, action_width, columns, frozen, {})


def save_model(file: Path, model: Model, weights: Mapping[str, Tensor] | None = None) -> None:
    """Write a model, atomically; `weights` in place of the network's."""
    about = {
        "format": FORMAT,
        "policy": asdict(model.config),
        "vocabulary": list(model.vocabulary.words),
        "word_width": int(model.network.text.embedding.weight.shape[1]),
        "features": model.features,
        "view_width": model.view_width,
        "action_width": model.action_width,
        "columns": list(model.columns),
        "frozen_words": model.frozen_words,
        "facts": model.facts,
    }
    write_tensors(file, weights or model.network.state_dict(), about)


def load_model(path: Path, *, device: str | torch.device = "cpu") -> Model:
    """Read a model from its file, a run directory, a folder of published weights, or by its name."""
    file = _file(find_model(path) or path)
    tensors, about = read_tensors(file, FORMAT)
    record = Record.of(file, "the header", about)
    for field in ("policy", "facts"):
        if not isinstance(about.get(field), dict):
            raise record.wrong(field, "a table")
    config = from_table(PolicyConfig, about["policy"], where=f"{file}, policy")
    vocabulary = Vocabulary(tuple(record.strings("vocabulary")))
    if any(word not in vocabulary.word_ids for word in SPECIAL):
        raise record.wrong("vocabulary", f"a list with the words {', '.join(SPECIAL)}")
    columns = tuple(record.strings("columns")) if about.get("columns") else ()
    _check_sizes(file, record, config, tensors)
    network = Network(
        config,
        vectors=torch.zeros(len(vocabulary), record.integer("word_width"), device="cpu"),
        frozen_words=record.boolean("frozen_words"),
        view_width=record.integer("view_width"),
        action_width=record.integer("action_width"),
        columns=columns,
    )
    load_state(network, tensors, file)
    network.to(device).eval()
    return Model(
        network=network,
        vocabulary=vocabulary,
        features=record.string("features"),
        view_width=record.integer("view_width"),
        action_width=record.integer("action_width"),
        columns=columns,
        frozen_words=record.boolean("frozen_words"),
        facts=about["facts"],
    )


def _check_sizes(file: Path, record: Record, config: PolicyConfig, tensors: Mapping[str, Tensor]) -> None:
    """Refuse a header with sizes larger than any weight, before memory is allocated."""
    named = {name: record.integer(name) for name in ("word_width", "view_width", "action_width")}
    sizes = {"policy.hidden": config.hidden, "policy.action": config.action, **named}
    check_sizes(file, tensors, {**sizes, "policy.lexical_match": max(1, config.lexical_match)})


def _file(path: Path) -> Path:
    """The model file of a directory, or the file itself."""
    file = path / "model.safetensors" if path.is_dir() else path
    if file == path or file.exists():
        return file
    if not (path / "config.json").exists():
        raise DataError(f"{path}: contains no model. Give a run directory or a folder of published weights.")
    best = sorted((path / "best").glob("*.safetensors"))
    if (path / "result.json").exists():
        raise DataError(f"{path}: its model is missing{f'; use {best[-1]}' if best else ''}.")
    raise DataError(
        f"{path}: contains no model yet: its first stage has not finished. Continue with --resume"
        f"{f', or use {best[-1]}' if best else ''}."
    )


def load_compatible(model: Model, other: Model, file: Path) -> None:
    """Initialise a model from another; memory, context and decoder only where both have the same.

    So an agent with Baby-Steps can start from one that reads whole instructions, and an agent with another
    decoder from the encoders of this one.
    """
    for what, own, found in (
        ("vocabulary", model.vocabulary, other.vocabulary),
        ("set of features", (model.features, model.columns), (other.features, other.columns)),
    ):
        if own != found:
            raise DataError(f"{file}: was trained with another {what}. Use a model with the same.")
    own_weights, weights = model.network.state_dict(), other.network.state_dict()
    for name in own_weights.keys() ^ weights.keys():
        if name.split(".")[0] in _MEMORY_PARTS:
            weights.pop(name, None)
            weights |= {name: own_weights[name]} if name in own_weights else {}
    # The decoder reads the context, so its weights fit only one kind of context.
    kinds = [
        (each.config.decoder, each.config.progress_monitor, each.network.context_mlp is None)
        for each in (model, other)
    ]
    if kinds[0] != kinds[1]:
        weights = {name: value for name, value in weights.items() if not name.startswith(_DECODER)}
        weights |= {name: value for name, value in own_weights.items() if name.startswith(_DECODER)}
    load_state(model.network, weights, file)


def load_mean(model: Model, others: Mapping[Path, Model]) -> None:
    """Initialise a model from the mean of the weights of others (model soups, Wortsman et al. 2022)."""
    found = []
    for file, other in others.items():
        load_compatible(model, other, file)
        found.append({name: weight.clone() for name, weight in model.network.state_dict().items()})
    load_state(
        model.network,
        {name: torch.stack([weights[name] for weights in found]).mean(dim=0) for name in found[0]},
        next(iter(others)),
    )


def count_parameters(network: Network) -> int:
    """How many parameters are learned."""
    return sum(weight.numel() for weight in network.parameters() if weight.requires_grad)
