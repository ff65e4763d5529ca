"""How good a speaker's texts are: BLEU-4 against human texts, and how well a follower walks by them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from babywalk.agents.agent import Agent
from babywalk.assets.tokens import tokenise
from babywalk.episodes.dataset import Dataset
from babywalk.episodes.task import Task
from babywalk.evaluation.evaluate import evaluate, summarise, walk_all
from babywalk.modules.speaker import Speaker
from babywalk.navigation.world import poses_at
from babywalk.training.speaker import perplexity

MEASURED = ("SR", "SDTW")  # of a follower


@dataclass(frozen=True, slots=True)
class SpeakerQuality:
    """A speaker on the paths of a split. Measures of a follower are means over paths."""

    split: str
    paths: int
    perplexity: float  # per word of the human texts and their ENDs
    bleu: float  # BLEU-4 of the speaker's texts, 0 to 100, with all human texts of a path as references
    words: float  # mean length of the speaker's texts
    human_words: float  # and of the human ones
    on_human_texts: dict[str, float] | None  # measures of a follower; None without one
    on_speaker_texts: dict[str, float] | None
    examples: tuple[str, ...]


def speaker_quality(
    speaker: Speaker, dataset: Dataset, split: str, follower: Agent | None = None
) -> SpeakerQuality:
    """Describe the paths of a split, and compare with its human texts."""
    walks = dataset.walks(split)
    texts = speaker.describe(walks.paths, poses_at(walks.paths.firsts, walks.headings).view)
    human = None if follower is None else _means(follower, dataset.task("r2r", split))
    own = None if follower is None else _means(follower, described_task(dataset, split, texts))
    return SpeakerQuality(
        split=split,
        paths=len(walks),
        perplexity=perplexity(speaker, dataset, split),
        bleu=bleu(texts, [walks.texts[begin:end] for begin, end in pairwise(walks.first_text)]),
        words=_mean_words(texts),
        human_words=_mean_words(walks.texts),
        on_human_texts=human,
        on_speaker_texts=own,
        examples=tuple(texts[:: max(1, len(texts) // 3)][:3]),
    )


def bleu(texts: Sequence[str], references: Sequence[Sequence[str]]) -> float:
    """Corpus BLEU-4 of texts, 0 to 100; `references` has one or more texts for each.

    Words are split and lowered as for the agents; otherwise the defaults of sacrebleu.
    """
    from sacrebleu.metrics.bleu import BLEU

    most = max(map(len, references))
    streams: list[list[Any]] = [  # of text or None, where a text has fewer references
        [" ".join(tokenise(some[number])) if number < len(some) else None for some in references]
        for number in range(most)
    ]
    metric = BLEU(tokenize="none", force=True)  # forced: it would warn about texts that are tokenised
    return float(metric.corpus_score([" ".join(tokenise(text)) for text in texts], streams).score)


def described_task(dataset: Dataset, split: str, texts: Sequence[str]) -> Task:
    """R2R episodes with a speaker's texts, one per path, in place of the human ones."""
    walks = dataset.walks(split)
    augmented = replace(walks, texts=tuple(texts), first_text=np.arange(len(walks) + 1))
    return replace(dataset.task("r2r", split), split=f"{split} (speaker)", walks=augmented)


def _means(follower: Agent, task: Task) -> dict[str, float]:
    measures = summarise(evaluate(task, walk_all(follower, task)), per_path=True)
    return {name: measures[name].mean for name in MEASURED}


def _mean_words(texts: Sequence[str]) -> float:
    return float(np.mean([len(tokenise(text)) for text in texts]))
