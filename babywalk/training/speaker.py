"""Training the speaker: each word of an instruction from the walk and the words before it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from babywalk.common.fitting import fit, seeded_torch, shuffled_groups
from babywalk.common.ragged import Ragged, ranges, starts
from babywalk.common.seeding import generator
from babywalk.episodes.dataset import Dataset
from babywalk.episodes.vocabulary import Vocabulary
from babywalk.instructions.mirroring import mirrored
from babywalk.modules.speaker import Speaker, SpeakerConfig, new_speaker
from babywalk.navigation.world import poses_at


def train_speaker(
    dataset: Dataset, features: str, config: SpeakerConfig, *, checkpoint: Path | None = None
) -> Speaker:
    """Train on the texts and paths of the train split; `checkpoint` as in `fit`."""
    vocabulary = dataset.vocabulary()
    data = SpeakerBatches.of(dataset, "train", vocabulary, config.max_words)
    with seeded_torch(config.seed, "speaker"):
        vectors = vocabulary.vectors(dataset.word_vectors(), seed=config.seed)
        speaker = new_speaker(config, vocabulary, vectors, features, dataset)
        speakers = (speaker, replace(speaker, observer=speaker.observer.mirrored()))

        def loss(batch: NDArray[np.int64]) -> Tensor:
            mirror = bool(torch.rand((), device="cpu") < config.mirror)
            return data.loss(speakers[mirror], batch, mirror=mirror)

        fit(
            speaker.network,
            lambda epoch: _batches(data, config, epoch),
            loss,
            label="Training the speaker",
            epochs=config.epochs,
            learning_rate=config.learning_rate,
            weight_decay=config.weight_decay,
            max_norm=5.0,
            status=lambda value: f"perplexity {np.exp(value):.1f}",
            checkpoint=checkpoint,
        )
    return speaker


def perplexity(speaker: Speaker, dataset: Dataset, split: str) -> float:
    """The exponential of the mean cross-entropy per word of the split's instructions."""
    walks = dataset.walks(split)
    walk = np.repeat(np.arange(len(walks)), np.diff(walks.first_text))
    paths, views = walks.paths.take(walk), poses_at(walks.paths.firsts, walks.headings).view[walk]
    scores = speaker.log_probabilities(paths, views, speaker.texts_of(walks.texts))
    return float(np.exp(-scores.log_probability.sum() / scores.words.sum()))


@dataclass(frozen=True, slots=True, eq=False)
class SpeakerBatches:
    """The texts of a split as word numbers, and the paths that they describe. Shapes: W walks, T texts."""

    paths: Ragged  # W rows
    start_views: NDArray[np.int64]  # (W,)
    walk: NDArray[np.int64]  # (T,) of each text
    texts: Ragged  # T rows, without END
    mirrored_texts: Ragged  # the same with left and right exchanged

    @classmethod
    def of(cls, dataset: Dataset, split: str, vocabulary: Vocabulary, max_words: int) -> SpeakerBatches:
        """From the first `max_words` words of each text of a split."""
        walks = dataset.walks(split)
        texts = vocabulary.encode(walks.texts).tokens
        length = np.minimum(texts.lengths, max_words)
        cut = Ragged(texts.values[ranges(texts.start[:-1], length)], starts(length))
        return cls(
            paths=walks.paths,
            start_views=poses_at(walks.paths.firsts, walks.headings).view,
            walk=np.repeat(np.arange(len(walks)), np.diff(walks.first_text)),
            texts=cut,
            mirrored_texts=mirrored(cut, vocabulary.word_ids),
        )

    def loss(self, speaker: Speaker, batch: NDArray[np.int64], *, mirror: bool = False) -> Tensor:
        """Mean cross-entropy of the words of some texts and their ENDs; unknown words are left out."""
        texts = (self.mirrored_texts if mirror else self.texts).take(batch)
        walk = self.walk[batch]
        encoded = speaker.encode(self.paths.take(walk), self.start_views[walk])
        losses = speaker.word_losses(encoded, texts)
        return losses.sum() / int(speaker.known_words(texts).sum())


def _batches(data: SpeakerBatches, config: SpeakerConfig, epoch: int) -> list[NDArray[np.int64]]:
    """All texts in a random order, those of similar length together, which keeps padding small."""
    draw = generator(config.seed, "speaker batches", epoch)
    order = np.argsort(data.texts.lengths + draw.normal(0, 6, len(data.texts)), kind="stable")
    return shuffled_groups(order, round(len(order) / config.batch), draw)
