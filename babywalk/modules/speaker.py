"""The speaker: generates an instruction for a walk, word by word, in the vocabulary of the training walks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from babywalk.assets.data_directory import SPEAKER, StoredComponent, component
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
from babywalk.common.errors import ConfigError
from babywalk.common.files import read_json, write_json
from babywalk.common.progress import progress
from babywalk.common.ragged import Ragged, concat_within_rows, ranges, starts
from babywalk.common.seeding import generator
from babywalk.common.weights import check_sizes, load_state, read_tensors, write_tensors
from babywalk.episodes.dataset import Dataset
from babywalk.episodes.vocabulary import END, PADDING, SPECIAL, UNKNOWN, Vocabulary
from babywalk.modules.device import choose_device
from babywalk.modules.kernels import Backend, choose_backend
from babywalk.modules.kernels.dropout import dropout_mask
from babywalk.modules.speaker_network import EncodedTrajectories, SpeakerNetwork
from babywalk.navigation.history import history_along
from babywalk.navigation.observation import ORIENTATION, Observer, observer_for
from babywalk.navigation.world import World

_BATCH = 256  # paths to describe at a time
_CHUNK = 4096  # words to score at a time

Views = NDArray[np.integer[Any]]


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
class TextScores:
    """What a speaker gives to texts. Shapes: B texts."""

    log_probability: NDArray[np.float64]  # (B,) the sum over the words of a text and its END
    words: NDArray[np.int64]  # (B,) how many those are; unknown words are left out

    @property
    def per_word(self) -> NDArray[np.float64]:
        """(B,) the mean over the words and END: texts of any length can be compared."""
        return self.log_probability / self.words


@dataclass(frozen=True, slots=True, eq=False)
class Speaker:
    """A network with its vocabulary, in the houses of a data directory.

    A path is described as walked from a start view. Shapes: B paths, S viewpoints of all paths, T words of
    all texts with an END each.
    """

    config: SpeakerConfig
    vocabulary: Vocabulary
    features: str  # the spec it was trained on
    network: SpeakerNetwork
    houses: Houses
    world: World  # arrays
    observer: Observer  # tensors on the network's device

    def encode(
        self, paths: Ragged, start_views: Views, backend: Backend | None = None
    ) -> EncodedTrajectories:
        """Encode paths (B rows) that are walked from views (B,)."""
        device = self.network.device
        history = history_along(paths, start_views, self.world, self.houses)
        lengths = torch.as_tensor(paths.lengths, device=device)
        backend = backend or choose_backend("auto", device)
        observation = backend.observe(self.observer, history.poses.to(device), self._feature_mask(lengths))
        actions = observation.chosen(torch.as_tensor(history.actions, device=device))
        return self.network.encode(observation, actions, lengths)

    def _feature_mask(self, lengths: Tensor) -> Tensor | None:
        """(S, D) dropout factors of the view features, equal along a path; None where nothing is dropped."""
        width, rate = self.observer.view_width - ORIENTATION, self.config.feature_dropout
        if not self.network.training or rate == 0 or width == 0:
            return None
        mask = dropout_mask(
            torch.Size((len(lengths), width)), rate, dtype=torch.float32, device=lengths.device
        )
        return mask.repeat_interleave(lengths, dim=0)

    def word_losses(self, encoded: EncodedTrajectories, texts: Ragged) -> Tensor:
        """(T,) the cross-entropy of each word of given texts (B rows) and of their ENDs; 0 if unknown."""
        numbers, device = self.vocabulary.word_ids, self.network.device
        start = starts(texts.lengths + 1)
        target = np.full(start[-1], numbers[END], dtype=np.int64)
        target[ranges(start[:-1], texts.lengths)] = texts.values
        previous = np.roll(target, 1)  # the first word of each text follows an END
        logits = self.network(
            encoded,
            torch.as_tensor(previous, device=device),
            torch.as_tensor(texts.lengths + 1, device=device),
        )
        return functional.cross_entropy(
            logits, torch.as_tensor(target, device=device), ignore_index=numbers[UNKNOWN], reduction="none"
        )

    def word_probabilities(self, paths: Ragged, start_views: Views, texts: Ragged) -> NDArray[np.float64]:
        """(T,) the probability of each word of given texts (B rows) and of their ENDs; 1 if unknown."""
        self.network.eval()
        with torch.inference_mode():
            losses = self.word_losses(self.encode(paths, start_views), texts)
            return losses.double().neg().exp().cpu().numpy()

    def known_words(self, texts: Ragged) -> NDArray[np.int64]:
        """(B,) the words of each text that are in the vocabulary, and 1 for END."""
        known = starts(texts.values != self.vocabulary.word_ids[UNKNOWN])[texts.start]
        return np.diff(known) + 1

    def log_probabilities(self, paths: Ragged, start_views: Views, texts: Ragged) -> TextScores:
        """The log-probability of a text (B rows, of this vocabulary) for each path (B rows).

        Equal pairs are computed once, and a path that occurs with several texts is encoded once or twice.
        `texts_of` and `translated` give texts of this vocabulary.
        """
        views = np.asarray(start_views, dtype=np.int32)
        walked = concat_within_rows([Ragged(views, np.arange(len(views) + 1)), paths])
        path_rows, path = walked.distinct()
        text_rows, text = texts.distinct()
        pairs, pair = np.unique(path * max(1, len(text_rows)) + text, return_inverse=True)
        path, text = np.divmod(pairs, max(1, len(text_rows)))  # sorted by path
        path, text = path_rows[path], text_rows[text]
        words = texts.lengths[text] + 1
        bounds = np.flatnonzero(np.diff(np.cumsum(words) // _CHUNK)) + 1
        self.network.eval()
        backend = choose_backend("auto", self.network.device)
        total = np.zeros(len(pairs))
        with backend.inference():
            for some in np.split(np.arange(len(pairs)), bounds) if len(pairs) else ():
                rows, which = np.unique(path[some], return_inverse=True)
                encoded = self.encode(paths.take(rows), views[rows], backend)
                encoded = encoded[torch.as_tensor(which, device=self.network.device)]
                losses = self.word_losses(encoded, texts.take(text[some])).double().cpu().numpy()
                total[some] = -np.add.reduceat(losses, starts(words[some])[:-1])
        return TextScores(total[pair], self.known_words(texts))

    def texts_of(self, texts: Sequence[str]) -> Ragged:
        """Texts as words of this vocabulary."""
        return self.vocabulary.encode(texts).tokens

    def translated(self, texts: Ragged, vocabulary: Vocabulary) -> Ragged:
        """Texts of another vocabulary as words of this one; unknown where it has no such word."""
        unknown = self.vocabulary.word_ids[UNKNOWN]
        ids = [self.vocabulary.word_ids.get(word, unknown) for word in vocabulary.words]
        return Ragged(np.array(ids, dtype=np.int32)[texts.values], texts.start)

    def describe(
        self, paths: Ragged, start_views: Views, *, temperature: float = 0.0, seed: int = 0
    ) -> list[str]:
        """An instruction for each path. Words are sampled at the temperature; 0 takes the likeliest."""
        batches = self.generate(paths, start_views, temperature=temperature, seed=seed)
        return [self.text_of(words) for batch in batches for words in batch]

    def generate(
        self,
        paths: Ragged,
        start_views: Views,
        *,
        temperature: float = 0.0,
        seed: int = 0,
        done: int = 0,  # batches to leave out at the start
    ) -> Iterator[list[list[int]]]:
        """The words of an instruction for each path, batch by batch: at least one, without END.

        A batch depends on its number and the seed, not on the batches before it.
        """
        self.network.eval()
        numbers = np.arange(len(paths))
        batches = [numbers[first : first + _BATCH] for first in range(0, len(paths), _BATCH)]
        bar = progress(batches[done:], "Generating instructions", total=len(batches), done=done, unit="batch")
        for number, batch in enumerate(bar, start=done):
            draw = torch.Generator(device=self.network.device)
            draw.manual_seed(int(generator(seed, "speaker words", number).integers(2**31)))
            with torch.inference_mode():
                encoded = self.encode(paths.take(batch), start_views[batch])
                found = self._generate(encoded, temperature, draw)
            yield found

    def text_of(self, words: Sequence[int]) -> str:
        """Words of this vocabulary as a text."""
        return detokenise([self.vocabulary.words[word] for word in words])

    def _generate(
        self, encoded: EncodedTrajectories, temperature: float, draw: torch.Generator
    ) -> list[list[int]]:
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
        rows = torch.stack(words, dim=1).tolist()
        return [row[: row.index(end)] if end in row else row for row in rows]

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


def open_speaker(dataset: Dataset, features: str | None = None, *, device: str = "auto") -> Speaker:
    """The speaker that is stored in a data directory; with `features`, it must have been trained on them."""
    folder = dataset.folder / SPEAKER
    if not folder.is_dir():
        raise ConfigError(f"{dataset.folder}: has no speaker. {_train_it(dataset)}")
    speaker = load_speaker(folder, dataset, device=device)
    if features is not None and features != speaker.features:
        raise ConfigError(
            f"{folder}: was trained on features {speaker.features!r}, not {features!r}. "
            f"{_train_it(dataset, features)}"
        )
    return speaker


def load_speaker(folder: Path, dataset: Dataset, *, device: str = "auto") -> Speaker:
    """Read what `Speaker.save` wrote."""
    stored = StoredComponent(folder, f"Delete {folder}. {_train_it(dataset)}")
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
        speaker = new_speaker(config, vocabulary, vectors, spec, dataset, device=str(choose_device(device)))
        load_state(speaker.network, tensors, file)
    speaker.network.eval()
    return speaker


def _train_it(dataset: Dataset, features: str | None = None) -> str:
    option = f" --features {features}" if features else ""
    return f"Train it with 'babywalk data speaker --data {dataset.folder}{option}'."


def new_speaker(
    config: SpeakerConfig,
    vocabulary: Vocabulary,
    vectors: NDArray[np.float32],
    features: str,
    dataset: Dataset,
    *,
    device: str = "cpu",
) -> Speaker:
    """An untrained speaker; `vectors` (V, W) initialise the word vectors."""
    observer = observer_for(features, dataset, gain=config.feature_gain, device=device)
    with torch.device("cpu"):  # drawn there, so that a seed gives the same weights on every device
        network = SpeakerNetwork(
            torch.as_tensor(vectors, device="cpu"),
            observer.view_width,
            observer.candidate_width,
            config.hidden,
            dropout=config.dropout,
        )
    network = network.to(device)
    choose_backend("auto", network.device).prepare(network)
    houses = dataset.houses
    return Speaker(config, vocabulary, features, network, houses, World.of(houses), observer)


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
