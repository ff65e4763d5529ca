"""Training the aligner by weak supervision: a text goes with the path it was told about, not with another.

Which piece lies where is never given. How well a text and a path go together is the sum over all
segmentations (`partition`), and the text must find its path among others, some of them of the same house.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from babywalk.buildings.features import ViewFeatures, open_features
from babywalk.buildings.houses import Houses
from babywalk.common.progress import progress
from babywalk.common.ragged import Ragged, ranges
from babywalk.common.seeding import generator
from babywalk.episodes.dataset import Dataset
from babywalk.instructions.alignment.aligner import Aligner, AlignerConfig, new_network
from babywalk.instructions.alignment.alignment_examples import AlignmentExamples, examples_from_walks
from babywalk.instructions.alignment.encoding import places_in_text, state_vectors, stretched, word_tensors
from babywalk.instructions.alignment.lexicon import Lexicon
from babywalk.instructions.alignment.partition import log_partition
from babywalk.instructions.alignment.sights import PARTS, unique_pairs
from babywalk.instructions.alignment.walking import Walking
from babywalk.instructions.landmarks.training import column_scale


def train_aligner(dataset: Dataset, spec: str, config: AlignerConfig | None = None) -> Aligner:
    """Learn from the texts and paths of the train split."""
    features = open_features(dataset.folder, spec, dataset.houses)
    return fit(
        examples_from_walks(dataset.walks("train")), dataset.houses, features, config or AlignerConfig()
    )


def fit(told: AlignmentExamples, houses: Houses, features: ViewFeatures, config: AlignerConfig) -> Aligner:
    """Train an aligner on texts that are each told about a path."""
    lexicon = Lexicon.of(told.texts, at_least=config.at_least)
    scale = np.tile(column_scale(features, np.unique(told.paths.values)), PARTS)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(int(generator(config.seed, "aligner").integers(2**31)))
        aligner = Aligner(config, lexicon, features.spec, scale, new_network(config, lexicon, len(scale)))
        lesson = _Lesson(aligner, told, houses, features)
        optimiser = torch.optim.AdamW(
            aligner.network.parameters(), lr=config.learning_rate, weight_decay=config.weight_decay
        )
        batches = [batch for epoch in range(config.epochs) for batch in _batches(told, houses, config, epoch)]
        schedule = torch.optim.lr_scheduler.OneCycleLR(
            optimiser, max_lr=config.learning_rate, total_steps=len(batches) + 1, pct_start=0.1
        )
        aligner.network.train()
        for batch in progress(batches, "Learning to align", unit="batch"):
            loss = functional.cross_entropy(lesson.fitness(batch), torch.arange(len(batch)))
            optimiser.zero_grad()
            torch.autograd.backward(loss)
            torch.nn.utils.clip_grad_norm_(aligner.network.parameters(), 5.0)
            optimiser.step()
            schedule.step()
    aligner.network.eval()
    return aligner


class _Lesson:
    """The train split as arrays, from which batches are taken."""

    def __init__(
        self, aligner: Aligner, told: AlignmentExamples, houses: Houses, features: ViewFeatures
    ) -> None:
        self.aligner, self.told, self.houses, self.features = aligner, told, houses, features
        self.words = aligner.lexicon.encode(told.texts)
        self.place = places_in_text(told)
        self.walking = Walking.of(houses, told.paths, told.headings)
        self.pairs, self.pair = unique_pairs(self.walking.before, self.walking.here)

    def fitness(self, batch: NDArray[np.int64]) -> Tensor:  # (B,) episodes -> (B, B)
        """How well each text of a batch goes with the path of each."""
        told, network = self.told, self.aligner.network
        own = told.path_of[batch]
        pieces = told.pieces.take(batch)
        told_at = ranges(told.pieces.start[batch], pieces.lengths)
        said, spans = network.pieces(*word_tensors(self.words.take(pieces.values)))
        spans = network.span_scores(spans, torch.from_numpy(self.place[told_at]))
        lengths = told.paths.lengths[own]
        walked = self._walk(ranges(told.paths.start[own], lengths))
        piece, state = _padded(pieces.lengths), _padded(lengths)
        edge, end, begin = (
            torch.einsum("amd,btd->abmt", mine[piece], theirs[state])
            for mine, theirs in zip(said, walked, strict=True)
        )
        fit = log_partition(
            end,
            stretched(spans, state.shape[1])[piece],
            edge[..., :-1],
            begin,
            torch.from_numpy(pieces.lengths),
            torch.from_numpy(lengths),
        )
        # Other texts of the same walk are told about the same path: it is no counter-example for them.
        same = (own[:, None] == own) & ~np.eye(len(own), dtype=np.bool_)
        return fit.masked_fill(torch.from_numpy(same), -torch.inf)

    def _walk(self, states: NDArray[np.int64]) -> tuple[Tensor, Tensor, Tensor]:
        pairs, place = np.unique(self.pair[states], return_inverse=True)
        seen = self.aligner.network.pairs(self.aligner.look(self.houses, self.features, self.pairs[pairs]))
        return state_vectors(self.aligner.network, self.walking, states, seen, torch.from_numpy(place))


def _padded(lengths: NDArray[np.int64]) -> Tensor:
    """(rows, longest) the numbers of flat entries by row; 0 where there is none, which is never looked at."""
    flat = np.arange(lengths.sum(), dtype=np.int32)
    rows = Ragged(flat, np.append(0, np.cumsum(lengths)))
    return torch.from_numpy(rows.padded(fill=0)).long()


def _batches(
    told: AlignmentExamples, houses: Houses, config: AlignerConfig, epoch: int
) -> Iterator[NDArray[np.int64]]:
    """The episodes in batches, each from a few houses, so that some paths compared are of one house."""
    draw = generator(config.seed, "aligner batches", epoch)
    house = houses.house_of[told.paths.firsts[told.path_of]]
    order = np.lexsort((draw.random(len(told)), house))
    groups = np.array_split(order, max(1, round(2 * len(order) / config.batch)))
    shuffled = np.concatenate([groups[number] for number in draw.permutation(len(groups))])
    return iter(np.array_split(shuffled, max(1, round(len(order) / config.batch))))
