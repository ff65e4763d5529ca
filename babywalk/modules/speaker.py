"""The speaker: generates an instruction for a walk, word by word, in the vocabulary of the training walks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from babywalk.assets.data_directory import StoredComponent, component
from babywalk.assets.records import Record
from babywalk.buildings.houses import Houses
from babywalk.common.config import (
    check_at_least_one,
    check_fraction,
    check_fraction_below_one,
    check_non_negative,
    check_positive,
    from_table,
)
from babywalk.common.files import read_json, write_json
from babywalk.common.progress import progress
from babywalk.common.ragged import Ragged
from babywalk.common.weights import check_sizes, load_state, read_tensors, write_tensors
from babywalk.episodes.vocabulary import END, PADDING, SPECIAL, UNKNOWN, Vocabulary
from babywalk.modules.kernels import choose_backend
from babywalk.modules.kernels.dropout import dropout_mask
from babywalk.modules.speaker_network import EncodedTrajectories, SpeakerNetwork
from babywalk.navigation.history import history_along
from babywalk.navigation.observation import ORIENTATION, Observer
from babywalk.navigation.world import World, poses_at

_BATCH = 256  # walks


@dataclass(frozen=True, slots=True)
class SpeakerConfig:
    """How the speaker is built and trained."""

    hidden: int = 256
    dropout: float = 0.4
    feature_dropout: float = 0.3  # of view features, by column, the same for a whole walk
    feature_gain: float = 1.0  # factor of the view features
    epochs: int = 14
    batch: int = 64
    learning_rate: float = 2e-3
    weight_decay: float = 1e-4
    mirror: float = 0.0  # fraction of batches in mirrored houses, where left is right
    max_words: int = 80
    seed: int = 0

    def __post_init__(self) -> None:
        check_at_least_one(self, "hidden", "epochs", "batch", "max_words")
        check_fraction_below_one(self, "dropout", "feature_dropout")
        check_fraction(self, "mirror")
        check_positive(self, "learning_rate")
        check_non_negative(self, "weight_decay")


@dataclass(frozen=True, slots=True, eq=False)
class Speaker:
    """A network, its vocabulary and its features. Shapes: B walks, S viewpoints of all walks."""

    config: SpeakerConfig
    vocabulary: Vocabulary
    features: str  # the spec it was trained on
    network: SpeakerNetwork

    def encode(
        self, paths: Ragged, headings: NDArray[np.float64], houses: Houses, world: World, observer: Observer
    ) -> EncodedTrajectories:
        """Encode paths (B rows). `world` holds arrays, `observer` holds tensors on the network's device."""
        device = self.network.device
        start = poses_at(paths.firsts.astype(np.int64), headings)
        history = history_along(paths, start.view, world, houses)
        lengths = torch.as_tensor(paths.lengths, device=device)
        mask = self._feature_mask(observer, lengths)
        observation = choose_backend("auto", device).observe(observer, history.poses.to(device), mask)
        actions = observation.chosen(torch.as_tensor(history.actions, device=device))
        return self.network.encode(observation, actions, lengths)

    def _feature_mask(self, observer: Observer, lengths: Tensor) -> Tensor | None:
        """(S, D) dropout factors of the view features, equal along a walk; None where nothing is dropped."""
        width, rate = observer.view_width - ORIENTATION, self.config.feature_dropout
        if not self.network.training or rate == 0 or width == 0:
            return None
        mask = dropout_mask(
            torch.Size((len(lengths), width)), rate, dtype=torch.float32, device=lengths.device
        )
        return mask.repeat_interleave(lengths, dim=0)

    def describe(
        self,
        paths: Ragged,
        headings: NDArray[np.float64],
        houses: Houses,
        observer: Observer,
        *,
        temperature: float = 0.0,
        seed: int = 0,
    ) -> list[str]:
        """An instruction for each path. Words are sampled at the temperature; 0 takes the likeliest."""
        self.network.eval()
        world = World.of(houses)
        texts: list[str] = []
        draw = torch.Generator(device=self.network.device).manual_seed(seed)
        batches = [np.arange(len(paths))[first : first + _BATCH] for first in range(0, len(paths), _BATCH)]
        with torch.inference_mode():
            for batch in progress(batches, "Generating instructions", unit="batch"):
                encoded = self.encode(paths.take(batch), headings[batch], houses, world, observer)
                texts += [
                    detokenise([self.vocabulary.words[word] for word in row])
                    for row in self._generate(encoded, temperature, draw)
                ]
        return texts

    def _generate(
        self, encoded: EncodedTrajectories, temperature: float, draw: torch.Generator
    ) -> Iterator[list[int]]:
        """The word numbers of each instruction: at least one, at most `max_words`, without END."""
        numbers, device = self.vocabulary.word_ids, self.network.device
        end = numbers[END]
        word = torch.full((len(encoded.summary),), end, device=device)  # END precedes the first word
        done = torch.zeros(len(word), dtype=torch.bool, device=device)
        state = None
        words: list[Tensor] = []
        for _ in range(self.config.max_words):
            scores, state = self.network.next(encoded, word, state)
            scores[:, [numbers[PADDING], numbers[UNKNOWN]]] = -torch.inf
            if not words:
                scores[:, end] = -torch.inf
            if temperature:
                word = torch.multinomial((scores / temperature).softmax(dim=1), 1, generator=draw)[:, 0]
            else:
                word = scores.argmax(dim=1)
            word = word.masked_fill(done, end)
            done |= word == end
            words.append(word)
            if bool(done.all()):
                break
        for row in torch.stack(words, dim=1).tolist():
            yield row[: row.index(end)] if end in row else row

    def save(self, folder: Path, *, notes: Sequence[str] = ()) -> None:
        """Write the speaker as a component of a data directory."""
        with component(folder, "speaker", notes=notes, details={"features": self.features}) as draft:
            write_tensors(draft.folder / "weights.safetensors", self.network.state_dict())
            write_json(
                draft.folder / "model.json",
                {
                    "config": asdict(self.config),
                    "features": self.features,
                    "words": self.vocabulary.words,
                    "word_width": self.network.vectors.weight.shape[1],
                },
            )


def load_speaker(folder: Path, observer: Observer) -> Speaker:
    """Read what `Speaker.save` wrote, for an observer of the features it was trained on."""
    stored = StoredComponent(folder, f"Delete {folder}, and 'babywalk data augment' trains it again.")
    with stored.reading("model.json") as file:
        record = Record.of(file, "the file", read_json(file))
        config = from_table(SpeakerConfig, record.table("config"), where=f"{file}, config")
        vocabulary, spec = Vocabulary(tuple(record.strings("words"))), record.string("features")
        if any(word not in vocabulary.word_ids for word in SPECIAL):
            raise record.wrong("words", f"a vocabulary with {', '.join(SPECIAL)}")
        width = record.exact_integer("word_width")
    with stored.reading("weights.safetensors") as file:
        tensors, _ = read_tensors(file)
        check_sizes(file, tensors, {"hidden": config.hidden, "word_width": width})
        vectors = np.zeros((len(vocabulary), width), dtype=np.float32)
        network = new_speaker_network(config, vectors, observer)
        load_state(network, tensors, file)
    return Speaker(config, vocabulary, spec, network.eval())


def new_speaker_network(
    config: SpeakerConfig, vectors: NDArray[np.float32], observer: Observer
) -> SpeakerNetwork:
    """An untrained network on the observer's device; `vectors` (V, W) initialise the word vectors."""
    with torch.device("cpu"):  # drawn there, so that a seed gives the same weights on every device
        network = SpeakerNetwork(
            torch.as_tensor(vectors, device="cpu"),
            observer.view_width,
            observer.candidate_width,
            config.hidden,
            dropout=config.dropout,
        )
    network = network.to(observer.orientation_table.device)
    choose_backend("auto", network.device).prepare(network)
    return network


def detokenise(words: Sequence[str]) -> str:
    """Words as a text: no space before punctuation, a capital at the start of a sentence."""
    text = ""
    for word in words:
        starts_sentence = not text or text[-1] in ".!?"
        gap = "" if not text or word in _NO_SPACE_BEFORE or text[-1] in _NO_SPACE_AFTER else " "
        text += gap + (word.capitalize() if starts_sentence else word)
    return text


_NO_SPACE_BEFORE = frozenset(".,;:!?')/-\"")
_NO_SPACE_AFTER = frozenset("'(/-")
