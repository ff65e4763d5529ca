"""What may make an episode hard, as groups of episodes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from babywalk.assets.tokens import tokenise
from babywalk.episodes.task import Task
from babywalk.episodes.vocabulary import UNKNOWN, Vocabulary
from babywalk.evaluation.diagnosis.slices import Mask
from babywalk.instructions.babysteps import BabySteps

CLIMB = 1.0  # metres between the highest and the lowest viewpoint of a path that is not level
_STAIRS = {"stair", "stairs", "staircase", "staircases", "stairway", "stairwell", "upstairs", "downstairs"}
_MANY = 10  # steps; more are counted together


def by_steps(steps: BabySteps) -> dict[str, Mask]:
    """By the number of Baby-Steps."""
    count = np.minimum(steps.sentences.lengths, _MANY)
    return {step_label(number): count == number for number in np.unique(count).tolist()}


def step_label(number: int) -> str:
    """A number of steps, or of a step, for people."""
    return f"{_MANY}+" if number >= _MANY else str(number)


def by_height(task: Task) -> dict[str, Mask]:
    """By whether the path goes up or down."""
    height = task.houses.positions[task.paths.values, 2]
    first = task.paths.start[:-1]
    change = np.maximum.reduceat(height, first) - np.minimum.reduceat(height, first)
    climbs = change[task.chain_of(np.arange(len(task)))] > CLIMB
    return {f"over {CLIMB:.0f} m up or down": climbs, "level": ~climbs}


def by_stairs(task: Task) -> dict[str, Mask]:
    """By whether the instruction speaks of stairs."""
    speaks = np.array([not _STAIRS.isdisjoint(tokenise(text)) for text in task.walks.texts])
    told = _any_text(task, speaks)
    return {"stairs are named": told, "no stairs are named": ~told}


def by_unknown_words(task: Task, vocabulary: Vocabulary) -> dict[str, Mask]:
    """By whether the instruction has words that the agent cannot know."""
    tokens = vocabulary.encode(task.walks.texts).tokens
    text = np.repeat(np.arange(len(tokens)), tokens.lengths)
    strange = text[tokens.values == vocabulary.numbers[UNKNOWN]]
    some = _any_text(task, np.isin(np.arange(len(tokens)), strange))
    return {"some words are unknown": some, "all words are known": ~some}


def by_house(task: Task) -> dict[str, Mask]:
    """By house."""
    house = task.houses.house_of[task.paths.firsts[task.chain_of(np.arange(len(task)))]]
    return {task.houses.scans[number]: house == number for number in np.unique(house).tolist()}


def _any_text(task: Task, holds: NDArray[np.bool_]) -> Mask:
    """(E,) True where something holds of a text (T,) of the instruction."""
    return np.asarray(holds[task.texts_of(np.arange(len(task)))].any(axis=-1))
