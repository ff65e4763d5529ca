"""Following an instruction that somebody types: where the agent goes, and why."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real

import numpy as np
import torch

from babywalk.assets.tokens import tokenise
from babywalk.buildings.houses import Houses
from babywalk.common.errors import ConfigError, shortlist, unknown
from babywalk.common.ragged import Ragged
from babywalk.decoding.episode_batch import EpisodeBatch
from babywalk.decoding.rollout import Rollout, StepRecord, greedy
from babywalk.episodes.joining import TASKS
from babywalk.episodes.vocabulary import Vocabulary
from babywalk.instructions.segmenting import segment
from babywalk.modules.model import Model
from babywalk.navigation.history import History
from babywalk.navigation.world import STOP, Poses, poses_at


@dataclass(frozen=True, slots=True)
class Move:
    """One decision of the agent."""

    step: int  # number of the Baby-Step, from 0
    at: str  # viewpoint
    to: str | None  # viewpoint, or None for STOP
    probability: float
    choices: dict[str, float]  # probability of every viewpoint one could go to, and of "STOP"
    words: tuple[tuple[str, float], ...]  # of the Baby-Step, with how much each was read
    views: tuple[
        float, ...
    ]  # how much it looked at each of the 36 views; co-grounding: at STOP and neighbours


@dataclass(frozen=True, slots=True)
class Followed:
    """What an agent did with an instruction."""

    house: str
    path: tuple[str, ...]  # viewpoints, the start first
    steps: tuple[str, ...]  # the Baby-Steps it made of the instruction
    moves: tuple[Move, ...]
    unknown: tuple[str, ...]  # words that it does not know
    unread: tuple[tuple[str, ...], ...]  # of each Baby-Step the words after those that it reads


def follow(
    model: Model, guide: Rollout, houses: Houses, house: str, viewpoint: str, heading: float, instruction: str
) -> Followed:
    """Cut the instruction by what it says, and walk its Baby-Steps one after another.

    The heading is in radians from -2 pi to 2 pi, 0 north and growing clockwise.
    """
    _check_given(house, viewpoint, heading, instruction)
    numbers = houses.viewpoints(house)
    if viewpoint not in numbers:
        raise unknown(f"Viewpoint of {house}", viewpoint, numbers)
    config = model.config
    steps = [step.text for step in segment(instruction, config.cut)]
    told = [tokenise(step) for step in steps]
    strange = _unknown_words(told, model.vocabulary)
    scale = _walks(model, max(len(words) for words in told)) if config.steps == "whole" else 1
    longest = config.max_words * scale
    words = [step[:longest] for step in told]
    known = model.vocabulary.encode(steps).tokens
    rows = Ragged.of([known[row][:longest].tolist() for row in range(len(steps))])
    model.network.eval()
    with torch.inference_mode():
        lesson = _lesson(rows, poses_at([numbers[viewpoint]], [heading]), config.max_moves * scale)
        journey = guide.walk(lesson, greedy)
    names = houses.names
    path = tuple(names[number] for number in journey.viewpoints()[0][0])
    moves = tuple(_move(moment, names, words[moment.step]) for moment in journey.moments)
    unread = tuple(tuple(step[longest:]) for step in told)
    return Followed(house, path, tuple(steps), moves, strange, unread)


def _check_given(house: object, viewpoint: object, heading: object, instruction: object) -> None:
    """Names and instruction are text, the heading is an angle: whoever calls from Python may err."""
    for what, given in (("house", house), ("viewpoint", viewpoint), ("instruction", instruction)):
        if not isinstance(given, str):
            raise ConfigError(f"The {what} must be text; found {given!r}.")
    # Beyond a turn it is most likely in degrees. NaN is within nothing.
    if not (isinstance(heading, Real) and abs(float(heading)) <= 2 * math.pi):
        raise ConfigError(
            f"The heading {heading!r} is no angle. Give it in radians, from -2 pi to 2 pi: pi / 2 is east."
        )


def _unknown_words(told: list[list[str]], vocabulary: Vocabulary) -> tuple[str, ...]:
    """The words of an instruction that are not in a vocabulary, if any of its words is."""
    words = dict.fromkeys(word for step in told for word in step if any(map(str.isalnum, word)))
    if not words:
        raise ConfigError("The instruction has no words. Say where to go, as in 'Walk to the kitchen.'")
    strange = tuple(word for word in words if word not in vocabulary.numbers)
    if len(strange) == len(words):
        raise ConfigError(
            f"The agent knows no word of the instruction: {shortlist(strange)}. "
            "Say it in words that it was trained on, as in 'Walk to the kitchen.'"
        )
    return strange


def _walks(model: Model, words: int) -> int:
    """How many walks an agent may take a whole instruction for, as in `Lessons.of`.

    As many as those that it learned from have, or as many as the words are enough for.
    """
    task = TASKS.get(model.facts.get("task", ""))
    return max(task.walks if task else 1, -(-words // model.config.max_words))


def _lesson(rows: Ragged, start: Poses, moves: int) -> EpisodeBatch:
    """All steps ahead of one walker, and nobody who knows where they end."""
    nothing = np.zeros(0, dtype=np.int64)
    none = Ragged(nothing.astype(np.int32), np.zeros(1, dtype=np.int64))
    return EpisodeBatch(
        start=start,
        ahead=rows,
        first_ahead=np.array([0, len(rows)]),
        routes=None,
        behind=none,
        first_behind=np.zeros(2, dtype=np.int64),
        done=History(Poses(nothing, nothing), nothing, np.zeros(1, dtype=np.int64)),
        moves=moves,
    )


def _move(moment: StepRecord, names: tuple[str, ...], words: list[str]) -> Move:
    scores = moment.decision.logits[0]
    share = scores.softmax(dim=0)
    action = int(moment.actions[0])
    here = int(moment.before.viewpoint[0])
    choices = {"STOP": float(share[STOP])}
    for number in range(1, len(share)):
        if scores[number].isfinite():
            choices[names[int(moment.choices[0, number])]] = float(share[number])
    weights = moment.decision.word_weights[0].tolist()
    return Move(
        step=moment.step,
        at=names[here],
        to=None if action == STOP else names[int(moment.after.viewpoint[0])],
        probability=float(share[action]),
        choices=choices,
        words=tuple(zip(words, weights[: len(words)], strict=True)),
        views=tuple(moment.decision.view_weights[0].tolist()),
    )
