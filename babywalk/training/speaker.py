"""Training the speaker: each word of an instruction from the walk and the words before it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from babywalk.common.fitting import fit, seeded_torch, shuffled_groups
from babywalk.common.ragged import Ragged, ranges, starts
from babywalk.common.seeding import generator
from babywalk.episodes.dataset import Dataset
from babywalk.episodes.vocabulary import END, UNKNOWN, Vocabulary
from babywalk.instructions.mirroring import mirrored
from babywalk.modules.speaker import Speaker, SpeakerConfig, new_speaker_network
from babywalk.navigation.observation import Observer
from babywalk.navigation.world import World

_BATCH = 256  # texts of a batch of `perplexity`


def train_speaker(dataset: Dataset, spec: str, observer: Observer, config: SpeakerConfig) -> Speaker:
    """Train on the texts and paths of the train split. `observer` gives the features of the spec."""
    vocabulary = dataset.vocabulary()
    data = SpeakerBatches.of(dataset, "train", vocabulary, config.max_words)
    observers = (observer, observer.mirrored())
    draw = generator(config.seed, "speaker mirrors")
    with seeded_torch(config.seed, "speaker"):
        vectors = vocabulary.vectors(dataset.word_vectors(), seed=config.seed)
        network = new_speaker_network(config, vectors, observer)
        speaker = Speaker(config, vocabulary, spec, network)

        def loss(batch: NDArray[np.int64]) -> Tensor:
            mirror = bool(draw.random() < config.mirror)
            return data.loss(speaker, batch, observers[mirror], mirror=mirror)

        fit(
            network,
            lambda epoch: _batches(data, config, epoch),
            loss,
            label="Training the speaker",
            epochs=config.epochs,
            learning_rate=config.learning_rate,
            weight_decay=config.weight_decay,
            max_norm=5.0,
            status=lambda value: f"perplexity {np.exp(value):.1f}",
        )
    return speaker


def perplexity(speaker: Speaker, dataset: Dataset, split: str, observer: Observer) -> float:
    """The exponential of the mean cross-entropy per word of the split's instructions."""
    data = SpeakerBatches.of(dataset, split, speaker.vocabulary, speaker.config.max_words)
    speaker.network.eval()
    losses, words = [], []
    with torch.inference_mode():
        for batch in np.array_split(np.arange(len(data.texts)), -(-len(data.texts) // _BATCH)):
            losses.append(float(data.loss(speaker, batch, observer)))
            known = data.texts.take(batch).values != data.unknown
            words.append(int(known.sum()) + len(batch))  # and the END of each text
    return float(np.exp(np.average(losses, weights=words)))


@dataclass(frozen=True, slots=True, eq=False)
class SpeakerBatches:
    """The texts of a split as word numbers, and the walks that they describe."""

    dataset: Dataset
    split: str
    world: World
    texts: Ragged  # a row per text, without END
    mirrored_texts: Ragged  # the same with left and right exchanged
    walk: NDArray[np.int64]  # of each text
    end: int
    unknown: int

    @classmethod
    def of(cls, dataset: Dataset, split: str, vocabulary: Vocabulary, max_words: int) -> SpeakerBatches:
        """From the first `max_words` words of each text of a split."""
        walks, numbers = dataset.walks(split), vocabulary.word_ids
        texts = vocabulary.encode(walks.texts).tokens
        length = np.minimum(texts.lengths, max_words)
        cut = Ragged(texts.values[ranges(texts.start[:-1], length)], starts(length))
        return cls(
            dataset=dataset,
            split=split,
            world=World.of(dataset.houses),
            texts=cut,
            mirrored_texts=mirrored(cut, numbers),
            walk=np.repeat(np.arange(len(walks)), np.diff(walks.first_text)),
            end=numbers[END],
            unknown=numbers[UNKNOWN],
        )

    def loss(
        self, speaker: Speaker, batch: NDArray[np.int64], observer: Observer, *, mirror: bool = False
    ) -> Tensor:
        """Mean cross-entropy of the words of some texts and their ENDs; unknown words are left out."""
        walks, device = self.dataset.walks(self.split), speaker.network.device
        rows = (self.mirrored_texts if mirror else self.texts).take(batch)
        start = starts(rows.lengths + 1)
        target = np.full(start[-1], self.end, dtype=np.int64)
        target[ranges(start[:-1], rows.lengths)] = rows.values
        previous = np.roll(target, 1)  # the first word of each text follows an END
        walk = self.walk[batch]
        encoded = speaker.encode(
            walks.paths.take(walk), walks.headings[walk], self.dataset.houses, self.world, observer
        )
        logits = speaker.network(
            encoded,
            torch.as_tensor(previous, device=device),
            torch.as_tensor(rows.lengths + 1, device=device),
        )
        return functional.cross_entropy(
            logits, torch.as_tensor(target, device=device), ignore_index=self.unknown
        )


def _batches(data: SpeakerBatches, config: SpeakerConfig, epoch: int) -> list[NDArray[np.int64]]:
    """All texts in a random order, those of similar length together, which keeps padding small."""
    draw = generator(config.seed, "speaker batches", epoch)
    order = np.argsort(data.texts.lengths + draw.normal(0, 6, len(data.texts)), kind="stable")
    return shuffled_groups(order, round(len(order) / config.batch), draw)
