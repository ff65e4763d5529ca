"""A speaker: says of walks what a person might have said, in the words of the training walks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from babywalk.assets.manifest import component
from babywalk.buildings.houses import Houses
from babywalk.common.config import check_at_least_one, check_fraction_below_one
from babywalk.common.errors import ConfigError, DataError
from babywalk.common.files import read_json, write_json
from babywalk.common.progress import progress
from babywalk.common.ragged import Ragged
from babywalk.episodes.vocabulary import END, PADDING, UNKNOWN, Vocabulary
from babywalk.instructions.landmarks.weights import load_weights, save_weights
from babywalk.modules.kernels.dropout import kept
from babywalk.modules.kernels.observation import Observation
from babywalk.modules.speaker_network import EncodedWalks, SpeakerNetwork
from babywalk.navigation.history import walked_along
from babywalk.navigation.observation import ORIENTATION, Observer
from babywalk.navigation.world import Poses, World, poses_at

_BATCH = 256  # walks at a time


@dataclass(frozen=True, slots=True)
class SpeakerConfig:
    """How the speaker is built and trained."""

    hidden: int = 256
    dropout: float = 0.4
    feature_dropout: float = 0.3  # of view features, channel-wise and the same for a whole walk
    feature_gain: float = 1.0  # times view features
    epochs: int = 14
    batch: int = 64
    learning_rate: float = 2e-3
    weight_decay: float = 1e-4
    mirror: float = 0.0  # share of batches in the houses' mirror images, where left is right
    max_words: int = 80
    seed: int = 0

    def __post_init__(self) -> None:
        check_at_least_one(self, "hidden", "epochs", "batch", "max_words")
        check_fraction_below_one(self, "dropout", "feature_dropout")
        if not 0 <= self.mirror <= 1:
            raise ConfigError(f"mirror = {self.mirror} is no share; give 0 to 1.")
        if not self.learning_rate > 0:
            raise ConfigError(f"learning_rate = {self.learning_rate} teaches nothing; give more than 0.")
        if not self.weight_decay >= 0:
            raise ConfigError(f"weight_decay = {self.weight_decay} cannot work. Give at least 0.")


@dataclass(frozen=True, slots=True, eq=False)
class Speaker:
    """A network, the words it has and the features it sees. Shapes: B walks."""

    config: SpeakerConfig
    vocabulary: Vocabulary
    features: str  # the spec it was trained on
    network: SpeakerNetwork

    def walked(
        self, paths: Ragged, headings: NDArray[np.float64], houses: Houses, world: World, observer: Observer
    ) -> EncodedWalks:
        """Encode paths (B rows). `world` is of arrays, `observer` of tensors."""
        beginning = poses_at(paths.firsts.astype(np.int64), headings)
        done = walked_along(paths, beginning.view, world, houses)
        poses = Poses(torch.from_numpy(done.poses.viewpoint), torch.from_numpy(done.poses.view))
        lengths = torch.from_numpy(paths.lengths)
        scene = Observation(observer, poses, self._channels(observer, lengths))
        return self.network.walked(scene, scene.taken(torch.from_numpy(done.actions)), lengths)

    def _channels(self, observer: Observer, lengths: Tensor) -> Tensor | None:
        """(S, D) which channels of the view features are seen, alike on the whole of a walk; None for all."""
        width, share = observer.view_width - ORIENTATION, self.config.feature_dropout
        if not self.network.training or share == 0 or width == 0:
            return None
        seen = kept(torch.Size((len(lengths), width)), share, torch.float32)
        return seen.repeat_interleave(lengths, dim=0)

    def tell(
        self,
        paths: Ragged,
        headings: NDArray[np.float64],
        houses: Houses,
        observer: Observer,
        *,
        temperature: float = 0.0,
        seed: int = 0,
    ) -> list[str]:
        """A text of each path. Words are drawn at a temperature; at 0 each is the likeliest."""
        self.network.eval()
        world = World.of(houses)
        texts: list[str] = []
        draw = torch.Generator().manual_seed(seed)
        batches = [np.arange(len(paths))[first : first + _BATCH] for first in range(0, len(paths), _BATCH)]
        with torch.inference_mode():
            for some in progress(batches, "Speaking", unit="batch"):
                walks = self.walked(paths.take(some), headings[some], houses, world, observer)
                texts += [self._written(row) for row in self._words(walks, temperature, draw)]
        return texts

    def _words(self, walks: EncodedWalks, temperature: float, draw: torch.Generator) -> Iterator[list[int]]:
        """Word after word of all walks, at least one, until each has come to its end."""
        numbers = self.vocabulary.numbers
        end = numbers[END]
        word = torch.full((len(walks.whole),), end)  # what stands before the first word
        done = torch.zeros(len(word), dtype=torch.bool)
        state = None
        told: list[Tensor] = []
        for _ in range(self.config.max_words):
            scores, state = self.network.next(walks, word, state)
            scores[:, [numbers[PADDING], numbers[UNKNOWN]]] = -torch.inf
            if not told:
                scores[:, end] = -torch.inf
            if temperature:
                word = torch.multinomial((scores / temperature).softmax(dim=1), 1, generator=draw)[:, 0]
            else:
                word = scores.argmax(dim=1)
            word = word.masked_fill(done, end)
            done |= word == end
            told.append(word)
            if bool(done.all()):
                break
        for row in torch.stack(told, dim=1).tolist():
            yield row[: row.index(end)] if end in row else row

    def _written(self, words: Sequence[int]) -> str:
        return written([self.vocabulary.words[word] for word in words])

    def save(self, folder: Path, *, notes: Sequence[str] = ()) -> None:
        """Keep the speaker as a component."""
        with component(folder, "speaker", notes=notes, details={"features": self.features}) as draft:
            save_weights(draft.folder / "weights.safetensors", self.network)
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
    """Read what `Speaker.save` kept, for an observer of the features that it was trained on."""
    stored = read_json(folder / "model.json")
    try:
        config = SpeakerConfig(**stored["config"])
        vocabulary = Vocabulary(tuple(stored["words"]))
        spec, width = str(stored["features"]), int(stored["word_width"])
    except (KeyError, TypeError, ValueError) as error:
        raise DataError(f"{folder}: cannot be read ({error}). Delete it, and a new one is trained.") from None
    network = new_network(config, torch.zeros(len(vocabulary), width), observer)
    load_weights(folder / "weights.safetensors", network)
    return Speaker(config, vocabulary, spec, network.eval())


def new_network(config: SpeakerConfig, vectors: Tensor, observer: Observer) -> SpeakerNetwork:
    """An untrained network for a configuration; `vectors` (V, W) of the words."""
    return SpeakerNetwork(
        vectors, observer.view_width, observer.candidate_width, config.hidden, dropout=config.dropout
    )


def written(words: Sequence[str]) -> str:
    """Words as one writes them: no space before a mark, a capital after a full stop."""
    text = ""
    for word in words:
        begins = not text or text[-1] in ".!?"
        gap = "" if not text or word in _JOINED or text[-1] in _JOINING else " "
        text += gap + (word.capitalize() if begins else word)
    return text


_JOINED = frozenset(".,;:!?')/-\"")
_JOINING = frozenset("'(/-")
