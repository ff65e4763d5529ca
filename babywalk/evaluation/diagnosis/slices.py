"""Slices: groups of episodes that may differ in difficulty, and the scores of each group."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from babywalk.assets.tokens import tokenise
from babywalk.episodes.task import Task
from babywalk.episodes.vocabulary import UNKNOWN, Vocabulary
from babywalk.evaluation.evaluate import Evaluation, Measured
from babywalk.instructions.babysteps import BabySteps
from babywalk.navigation.measures import confidence

SHOWN = ("SR", "SDTW")
CLIMB = 1.0  # metres between the highest and the lowest viewpoint above which a path is not level
_STAIRS = {"stair", "stairs", "staircase", "staircases", "stairway", "stairwell", "upstairs", "downstairs"}
_MANY_STEPS = 10  # this many and more are one group

Mask = NDArray[np.bool_]  # (E,) True for the episodes of a group


@dataclass(frozen=True, slots=True)
class Slice:
    """The scores of one group of episodes."""

    name: str
    episodes: int
    measures: dict[str, Measured]  # of SHOWN


def slice_of(name: str, evaluation: Evaluation, chosen: Mask, seed: int) -> Slice:
    """The scores of the chosen episodes, at least one."""
    columns = {"SR": evaluation.scores.success, "SDTW": evaluation.scores.sdtw}
    paths = evaluation.paths[chosen]
    measures = {key: mean_with_interval(columns[key][chosen], paths, seed) for key in SHOWN}
    return Slice(name, int(chosen.sum()), measures)


def slices(evaluation: Evaluation, groups: dict[str, Mask], seed: int) -> list[Slice]:
    """A slice for each group that has episodes."""
    return [slice_of(name, evaluation, chosen, seed) for name, chosen in groups.items() if chosen.any()]


def mean_with_interval(values: NDArray[Any], paths: NDArray[np.int64], seed: int) -> Measured:
    """The mean of values (B,), at least one, with its bootstrap interval over paths (B,)."""
    numbers = values.astype(np.float64)
    low, high = confidence(numbers, seed=seed, groups=paths)
    return Measured(float(numbers.mean()), float(low), float(high))


def by_steps(steps: BabySteps) -> dict[str, Mask]:
    """Episodes by number of Baby-Steps."""
    count = np.minimum(steps.sentences.lengths, _MANY_STEPS)
    return {step_label(number): count == number for number in np.unique(count).tolist()}


def step_label(number: int) -> str:
    """The label of a number of steps; "10+" from ten on."""
    return f"{_MANY_STEPS}+" if number >= _MANY_STEPS else str(number)


def by_height(task: Task) -> dict[str, Mask]:
    """Episodes by whether the path goes up or down."""
    height = task.houses.positions[task.paths.values, 2]
    first = task.paths.start[:-1]
    change = np.maximum.reduceat(height, first) - np.minimum.reduceat(height, first)
    climbs = change[task.chain_of(np.arange(len(task)))] > CLIMB
    return {f"over {CLIMB:.0f} m up or down": climbs, "level": ~climbs}


def by_stairs(task: Task) -> dict[str, Mask]:
    """Episodes by whether the instruction mentions stairs."""
    by_text = np.array([not _STAIRS.isdisjoint(tokenise(text)) for text in task.walks.texts])
    mentioned = _any_text(task, by_text)
    return {"stairs mentioned": mentioned, "no stairs mentioned": ~mentioned}


def by_unknown_words(task: Task, vocabulary: Vocabulary) -> dict[str, Mask]:
    """Episodes by whether the instruction has words outside a vocabulary."""
    tokens = vocabulary.encode(task.walks.texts).tokens
    text = np.repeat(np.arange(len(tokens)), tokens.lengths)
    with_unknown = text[tokens.values == vocabulary.word_ids[UNKNOWN]]
    unknown = _any_text(task, np.isin(np.arange(len(tokens)), with_unknown))
    return {"with unknown words": unknown, "without unknown words": ~unknown}


def by_house(task: Task) -> dict[str, Mask]:
    """Episodes by house."""
    house = task.houses.house_of[task.paths.firsts[task.chain_of(np.arange(len(task)))]]
    return {task.houses.scans[number]: house == number for number in np.unique(house).tolist()}


def _any_text(task: Task, holds: NDArray[np.bool_]) -> Mask:
    """(E,) True where a property (T,) of texts holds for any text of the instruction."""
    return np.asarray(holds[task.texts_of(np.arange(len(task)))].any(axis=-1))
