"""What a data directory keeps of the language in it: the sentences of each split, the steps of each task."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from babywalk.assets.layout import CACHE, SENTENCES
from babywalk.assets.manifest import details
from babywalk.episodes.dataset import Dataset
from babywalk.episodes.task import Task
from babywalk.errors import DataError
from babywalk.instructions.alignment.proportional import proportional
from babywalk.instructions.babysteps import BabySteps
from babywalk.instructions.identification import IdentificationConfig, identify
from babywalk.instructions.segmented import SegmentedTexts, load_segmented, save_segmented
from babywalk.instructions.segmenting import segment_texts
from babywalk.instructions.sentences import WordLists
from babywalk.instructions.tagging import tagger_notes


def segment_split(
    dataset: Dataset,
    split: str,
    *,
    lists: WordLists | None = None,
    tagger: str | None = None,
    workers: int = 2,
) -> SegmentedTexts:
    """Find the sentences of a split and keep them; what an interrupted run has done is not done again."""
    found = segment_texts(
        dataset.walks(split).texts,
        lists=lists or WordLists(),
        tagger=tagger,
        cache=dataset.folder / CACHE / SENTENCES,
        workers=workers,
        what=f"Segmenting {split}",
    )
    version, licence = tagger_notes(tagger)
    facts = {"walks": dataset.walks_key(split), "tagger": version}
    notes = [f"Tagged by {version} ({licence})."]
    save_segmented(dataset.folder / SENTENCES / split, found, facts=facts, notes=notes)
    return found


def is_segmented(dataset: Dataset, split: str) -> bool:
    """Whether the sentences of a split were found."""
    return (dataset.folder / SENTENCES / split).is_dir()


def segmented(dataset: Dataset, split: str) -> SegmentedTexts:
    """The sentences of a split, found before."""
    folder = dataset.folder / SENTENCES / split
    again = f"Run 'babywalk data segment --data {dataset.folder} --splits {split}'"
    if not folder.is_dir():
        raise DataError(f"{dataset.folder}: the instructions of {split} are not segmented. {again}.")
    if details(folder).text("walks") != dataset.walks_key(split):
        raise DataError(f"{folder}: was made from other walks than this directory has now. {again} again.")
    return load_segmented(folder)


def aligned(dataset: Dataset, task: Task, config: IdentificationConfig) -> BabySteps:
    """The steps of every episode with where on the path they end, in proportion to their words."""
    steps = identified(dataset, task, config)
    everything = np.arange(len(task))
    states = task.paths.lengths[task.chain_of(everything)]
    return replace(steps, ends=proportional(steps.words, states))


def identified(dataset: Dataset, task: Task, config: IdentificationConfig | None = None) -> BabySteps:
    """The steps of every episode of a task, by what its instructions say alone."""
    found = segmented(dataset, task.split)
    sentences = found.of_episodes(task, np.arange(len(task)))
    return BabySteps(task, found, identify(found.table, sentences, config or IdentificationConfig()))
