"""What a data directory keeps of the language in it: the sentences of each split, the steps of each task."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from babywalk.assets.data_directory import BABYSTEPS, CACHE, SENTENCES, details
from babywalk.common.errors import DataError
from babywalk.common.ragged import starts
from babywalk.episodes.dataset import Dataset
from babywalk.episodes.task import Task
from babywalk.instructions.alignment.segmentation import proportional
from babywalk.instructions.babysteps import BabySteps, load_babysteps, save_babysteps
from babywalk.instructions.identification import IdentificationConfig, identify
from babywalk.instructions.segmented import SegmentedTexts, load_segmented, save_segmented
from babywalk.instructions.segmenting import find_sentences
from babywalk.instructions.sentences import WordLists
from babywalk.instructions.tagging import stop_words, tagger_notes

UNALIGNED = "proportional"  # the method where nothing was aligned


def segment_splits(
    dataset: Dataset,
    splits: Sequence[str],
    *,
    lists: WordLists | None = None,
    tagger: str | None = None,
    workers: int = 2,
) -> None:
    """Find the sentences of splits and keep them; what an interrupted run has done is not done again."""
    texts = [dataset.walks(split).texts for split in splits]
    # All splits together: starting the processes that tag costs more than a small split.
    found = find_sentences(
        [text for some in texts for text in some],
        lists=lists or WordLists(),
        tagger=tagger,
        cache=dataset.folder / CACHE / SENTENCES,
        workers=workers,
    )
    version, licence = tagger_notes(tagger)
    bounds = starts([len(some) for some in texts]).tolist()
    for split, begin, end in zip(splits, bounds, bounds[1:], strict=False):
        save_segmented(
            dataset.folder / SENTENCES / split,
            SegmentedTexts.of(found[begin:end], stop_words()),
            facts={"walks": dataset.walks_key(split), "tagger": version},
            notes=[f"Tagged by {version} ({licence})."],
        )


def is_segmented(dataset: Dataset, split: str) -> bool:
    """Whether the sentences of a split were found."""
    return (dataset.folder / SENTENCES / split).is_dir()


def segmented(dataset: Dataset, split: str) -> SegmentedTexts:
    """The sentences of a split, found before."""
    folder = dataset.folder / SENTENCES / split
    again = f"Run 'babywalk data segment --data {dataset.folder} --splits {split}'"
    if not folder.is_dir():
        raise DataError(f"{dataset.folder}: the instructions of {split} are not segmented. {again}.")
    if details(folder).string("walks") != dataset.walks_key(split):
        raise DataError(f"{folder}: was made from other walks than this directory has now. {again} again.")
    return load_segmented(folder)


def keep_aligned(
    dataset: Dataset,
    steps: BabySteps,
    config: IdentificationConfig,
    *,
    method: str,
    notes: Sequence[str] = (),
) -> None:
    """Keep aligned steps with the data; training reads them."""
    facts = {
        "walks": dataset.walks_key(steps.task.split),
        "episodes": len(steps),
        "mode": config.mode,
        "reading": config.reading,
        "max_steps": config.max_steps,
        "method": method,
    }
    folder = dataset.folder / BABYSTEPS / steps.task.name / steps.task.split
    save_babysteps(folder, steps, facts=facts, notes=notes)


def aligned(dataset: Dataset, task: Task, config: IdentificationConfig) -> tuple[BabySteps, str]:
    """The steps of every episode with where on the path they end, and by which method.

    They are those that were kept, if the instructions are cut the same way; else each step gets its share of
    the path in proportion to its words.
    """
    kept = _kept(dataset, task, config)
    if kept and not config.size:
        return kept
    steps = identified(dataset, task, config)
    if kept:
        return kept[0].joined(steps.sentences), kept[1]
    states = task.paths.lengths[task.chain_of(np.arange(len(task)))]
    return replace(steps, ends=proportional(steps.words, states)), UNALIGNED


def kept_aligned(dataset: Dataset, task: Task) -> BabySteps:
    """The steps of every episode as `babywalk data align` placed them, which must have been done."""
    if kept := _kept(dataset, task, IdentificationConfig()):
        return kept[0]
    raise DataError(
        f"{dataset.folder}: the Baby-Steps of {task.name} {task.split} are not aligned with their paths. "
        f"Run 'babywalk data align {task.name} --data {dataset.folder} --splits {task.split}'."
    )


def _kept(dataset: Dataset, task: Task, config: IdentificationConfig) -> tuple[BabySteps, str] | None:
    """The steps of a task, or of a sample of one, that were aligned and kept; and by which method."""
    folder = dataset.folder / BABYSTEPS / task.name / task.split
    if not folder.is_dir():
        return None
    whole = dataset.task(task.name, task.split)
    facts = details(folder).fields
    wanted = {
        "mode": config.mode,
        "reading": config.reading,
        "max_steps": config.max_steps,
        "walks": dataset.walks_key(task.split),
        "episodes": len(whole),
    }
    if any(facts.get(name) != value for name, value in wanted.items()):
        return None
    steps = load_babysteps(folder, whole, segmented(dataset, task.split))
    numbers = whole.full_numbers(np.arange(len(whole)))
    rows = np.searchsorted(numbers, task.full_numbers(np.arange(len(task))))
    ends = steps.ends.take(rows) if steps.ends else None
    return BabySteps(task, steps.segmented, steps.sentences.take(rows), ends), str(facts["method"])


def identified(dataset: Dataset, task: Task, config: IdentificationConfig | None = None) -> BabySteps:
    """The steps of every episode of a task, by what its instructions say alone."""
    found = segmented(dataset, task.split)
    sentences = found.of_episodes(task, np.arange(len(task)))
    return BabySteps(task, found, identify(found.table, sentences, config or IdentificationConfig()))
