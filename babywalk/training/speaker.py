"""Training the speaker: each word of the training walks from the walk and the words before it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from babywalk.common.progress import progress
from babywalk.common.ragged import Ragged, ranges, starts
from babywalk.common.seeding import generator
from babywalk.episodes.dataset import Dataset
from babywalk.episodes.vocabulary import END, UNKNOWN, Vocabulary
from babywalk.instructions.mirroring import mirrored
from babywalk.modules.speaker import Speaker, SpeakerConfig, new_network
from babywalk.navigation.observation import Observer
from babywalk.navigation.world import World


def train_speaker(dataset: Dataset, spec: str, observer: Observer, config: SpeakerConfig) -> Speaker:
    """Learn from the texts and paths of the train split. `observer` shows the features of the spec."""
    vocabulary = dataset.vocabulary()
    told = SpeakerBatches.of(dataset, "train", vocabulary, config.max_words)
    eyes = (observer, observer.mirrored())
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(int(generator(config.seed, "speaker").integers(2**31)))
        vectors = torch.from_numpy(vocabulary.vectors(dataset.word_vectors(), seed=config.seed))
        speaker = Speaker(config, vocabulary, spec, new_network(config, vectors, observer))
        batches = [batch for epoch in range(config.epochs) for batch in _batches(told, config, epoch)]
        optimiser = torch.optim.AdamW(
            speaker.network.parameters(), lr=config.learning_rate, weight_decay=config.weight_decay
        )
        schedule = torch.optim.lr_scheduler.OneCycleLR(
            optimiser, max_lr=config.learning_rate, total_steps=len(batches) + 1, pct_start=0.1
        )
        draw = generator(config.seed, "speaker mirrors")
        speaker.network.train()
        shown = progress(batches, "Learning to speak", unit="batch")
        for number, batch in enumerate(shown):
            mirror = bool(draw.random() < config.mirror)
            loss = told.loss(speaker, batch, eyes[mirror], mirror=mirror)
            optimiser.zero_grad()
            torch.autograd.backward(loss)
            torch.nn.utils.clip_grad_norm_(speaker.network.parameters(), 5.0)
            optimiser.step()
            schedule.step()
            if number % 20 == 0:
                shown.set_postfix_str(f"perplexity {float(loss.detach().exp()):.1f}")
    speaker.network.eval()
    return speaker


def perplexity(speaker: Speaker, dataset: Dataset, split: str, observer: Observer) -> float:
    """How many words the speaker wavers between, on average, where people have said one."""
    told = SpeakerBatches.of(dataset, split, speaker.vocabulary, speaker.config.max_words)
    speaker.network.eval()
    losses, words = [], []
    with torch.inference_mode():
        for batch in np.array_split(np.arange(len(told.texts)), -(-len(told.texts) // 256)):
            losses.append(float(told.loss(speaker, batch, observer)))
            known = told.texts.take(batch).values != told.unknown
            words.append(int(known.sum()) + len(batch))  # and the END of each text
    return float(np.exp(np.average(losses, weights=words)))


@dataclass(frozen=True, slots=True, eq=False)
class SpeakerBatches:
    """The texts of a split as word numbers, an END after each, and the walks they are told of."""

    dataset: Dataset
    split: str
    world: World
    texts: Ragged  # a row per text
    turned: Ragged  # the same in a mirror
    walk: NDArray[np.int64]  # of each text
    end: int
    unknown: int

    @classmethod
    def of(cls, dataset: Dataset, split: str, vocabulary: Vocabulary, max_words: int) -> SpeakerBatches:
        """No more than the first so many words of each text."""
        walks, numbers = dataset.walks(split), vocabulary.numbers
        texts = vocabulary.encode(walks.texts).tokens
        length = np.minimum(texts.lengths, max_words)
        cut = Ragged(texts.values[ranges(texts.start[:-1], length)], starts(length))
        return cls(
            dataset=dataset,
            split=split,
            world=World.of(dataset.houses),
            texts=cut,
            turned=mirrored(cut, numbers),
            walk=np.repeat(np.arange(len(walks)), np.diff(walks.first_text)),
            end=numbers[END],
            unknown=numbers[UNKNOWN],
        )

    def loss(
        self, speaker: Speaker, batch: NDArray[np.int64], observer: Observer, *, mirror: bool = False
    ) -> Tensor:
        """Mean cross-entropy of the words of some texts; what is no word of the vocabulary counts nothing."""
        walks = self.dataset.walks(self.split)
        rows = (self.turned if mirror else self.texts).take(batch)
        ended = starts(rows.lengths + 1)
        wanted = np.full(ended[-1], self.end, dtype=np.int64)
        wanted[ranges(ended[:-1], rows.lengths)] = rows.values
        before = np.roll(wanted, 1)  # and before the first word of each text stands the END of another
        walk = self.walk[batch]
        walked = speaker.walked(
            walks.paths.take(walk), walks.headings[walk], self.dataset.houses, self.world, observer
        )
        scores = speaker.network(walked, torch.from_numpy(before), torch.from_numpy(rows.lengths + 1))
        return functional.cross_entropy(scores, torch.from_numpy(wanted), ignore_index=self.unknown)


def _batches(told: SpeakerBatches, config: SpeakerConfig, epoch: int) -> Iterator[NDArray[np.int64]]:
    """All texts in a new order, those of about one length together: their words are said in step."""
    draw = generator(config.seed, "speaker batches", epoch)
    order = np.argsort(told.texts.lengths + draw.normal(0, 6, len(told.texts)), kind="stable")
    groups = np.array_split(order, max(1, round(len(order) / config.batch)))
    return (groups[number] for number in draw.permutation(len(groups)))
