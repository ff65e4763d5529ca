"""The sentences of each split and the aligned Baby-Steps of each task, as stored in a data directory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from babywalk.assets.data_directory import BABYSTEPS, CACHE, SENTENCES, StoredComponent, adding_advice
from babywalk.common.errors import DataError
from babywalk.common.ragged import starts
from babywalk.episodes.dataset import Dataset
from babywalk.episodes.task import Task
from babywalk.instructions.alignment.segmentation import proportional
from babywalk.instructions.babysteps import BabySteps, load_babysteps, save_babysteps
from babywalk.instructions.identification import IdentificationConfig, identify
from babywalk.instructions.segmented import SegmentedTexts, load_segmented, save_segmented
from babywalk.instructions.segmenting import find_sentences, segment_texts
from babywalk.instructions.sentences import RULES, WordLists
from babywalk.instructions.tagging import stop_words, tagger_notes

UNALIGNED = "proportional"  # the method used where no alignment is stored


def segment_splits(
    dataset: Dataset,
    splits: Sequence[str],
    *,
    lists: WordLists | None = None,
    tagger: str | None = None,
    workers: int = 2,
) -> None:
    """Find the sentences of splits and store them; an interrupted run resumes."""
    texts = [dataset.walks(split).texts for split in splits]
    # All splits at once: starting the worker processes costs more than a small split.
    sentences = find_sentences(
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
            SegmentedTexts.of(sentences[begin:end], stop_words()),
            facts={"rules": RULES, "walks": dataset.walks_hash(split), "tagger": version},
            notes=[f"Tagged by {version} ({licence})."],
        )


def is_segmented(dataset: Dataset, split: str) -> bool:
    """Whether the sentences of a split are stored."""
    return (dataset.folder / SENTENCES / split).is_dir()


def segmented_texts(dataset: Dataset, split: str) -> SegmentedTexts:
    """The stored sentences of a split."""
    folder = dataset.folder / SENTENCES / split
    again = f"Run 'babywalk data segment --data {dataset.folder} --splits {split}'"
    if not folder.is_dir():
        raise DataError(f"{dataset.folder}: the instructions of {split} are not segmented. {again}.")
    stored = StoredComponent(folder, f"{again} again.")
    if stored.details.fields.get("rules") != RULES:
        raise DataError(
            f"{folder}: was made by another version of BabyWalk, with other rules. {again} again."
        )
    if stored.details.string("walks") != dataset.walks_hash(split):
        raise DataError(f"{folder}: was made from other walks than those in this directory. {again} again.")
    return load_segmented(stored, dataset.walks(split).texts)


def save_aligned_steps(
    dataset: Dataset,
    steps: BabySteps,
    config: IdentificationConfig,
    *,
    method: str,
    notes: Sequence[str] = (),
) -> None:
    """Store aligned steps in the data directory, where training reads them."""
    facts = {
        "rules": RULES,
        "task": steps.task.fingerprint,
        "walks": dataset.walks_hash(steps.task.split),
        "episodes": len(steps),
        "mode": config.mode,
        "reading": config.reading,
        "max_steps": config.max_steps,
        "method": method,
    }
    folder = dataset.folder / BABYSTEPS / steps.task.name / steps.task.split
    save_babysteps(folder, steps, facts=facts, notes=notes)


def aligned_steps(dataset: Dataset, task: Task, config: IdentificationConfig) -> tuple[BabySteps, str]:
    """The steps of every episode with their ends on the path, and the method of alignment.

    Stored steps are used if their instructions were segmented in the same way; otherwise each step gets a
    part of the path in proportion to its length in characters.
    """
    stored = _load_steps(dataset, task, config)
    if stored and not config.size:
        return stored
    steps = identify_steps(dataset, task, config)
    if stored:
        return stored[0].joined(steps.sentences), stored[1]
    states = task.paths.lengths[task.chain_of(np.arange(len(task)))]
    return replace(steps, ends=proportional(steps.characters, states)), UNALIGNED


def load_aligned_steps(dataset: Dataset, task: Task) -> BabySteps:
    """The steps of every episode as `babywalk data align` stored them; an error if it was not run."""
    if stored := _load_steps(dataset, task, IdentificationConfig()):
        return stored[0]
    raise DataError(
        f"{dataset.folder}: the Baby-Steps of {task.name} {task.split} are not aligned with their paths. "
        f"Run 'babywalk data align {task.name} --data {dataset.folder} --splits {task.split}'."
    )


def _load_steps(dataset: Dataset, task: Task, config: IdentificationConfig) -> tuple[BabySteps, str] | None:
    """The stored steps of a task or of a sample of it, and their method; None if not stored for `config`."""
    folder = dataset.folder / BABYSTEPS / task.name / task.split
    if not folder.is_dir():
        return None
    whole = dataset.task(task.name, task.split)
    again = f"Run 'babywalk data align {task.name} --data {dataset.folder} --splits {task.split}' again."
    stored = StoredComponent(folder, again)
    facts = stored.details
    made_for = {"rules": RULES, "task": whole.fingerprint, "walks": dataset.walks_hash(task.split)}
    if any(facts.fields.get(name) != value for name, value in made_for.items()):
        raise DataError(f"{folder}: was made for other episodes or by another version of BabyWalk. {again}")
    wanted = {
        "mode": config.mode,
        "reading": config.reading,
        "max_steps": config.max_steps,
    }
    with adding_advice(again):
        method = facts.string("method")
        found = {
            name: facts.string(name) if isinstance(value, str) else facts.exact_integer(name)
            for name, value in wanted.items()
        }
    if found != wanted:
        return None
    steps = load_babysteps(stored, whole, segmented_texts(dataset, task.split))
    numbers = whole.full_indices(np.arange(len(whole)))
    rows = np.searchsorted(numbers, task.full_indices(np.arange(len(task))))
    ends = None if steps.ends is None else steps.ends.take(rows)
    return BabySteps(task, steps.segmented, steps.sentences.take(rows), ends), method


def identify_steps(dataset: Dataset, task: Task, config: IdentificationConfig | None = None) -> BabySteps:
    """The steps of every episode of a task, from its instructions alone: not aligned with the path.

    The instructions of a split that is not stored are segmented now.
    """
    if task.split in dataset.splits:
        segmented = segmented_texts(dataset, task.split)
    else:
        cache = dataset.folder / CACHE / SENTENCES
        segmented = segment_texts(task.walks.texts, lists=WordLists(), cache=cache)
    sentences = segmented.of_episodes(task, np.arange(len(task)))
    return BabySteps(task, segmented, identify(segmented.table, sentences, config or IdentificationConfig()))
