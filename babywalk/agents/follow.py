"""Following a typed instruction: where the agent goes, and the attention behind each decision."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real

import numpy as np

from babywalk.assets.tokens import tokenise
from babywalk.buildings.houses import Houses
from babywalk.common.errors import ConfigError, shortlist, unknown
from babywalk.common.ragged import Ragged
from babywalk.decoding.decoders import Decoder
from babywalk.decoding.episode_batch import EpisodeBatch
from babywalk.decoding.rollout import Rollout, StepRecord
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
    choices: dict[str, float]  # the probability of each neighbour, and of "STOP"
    words: tuple[tuple[str, float], ...]  # of the Baby-Step, with attention weights
    views: tuple[float, ...]  # attention weights of the 36 views; co-grounding: of STOP and neighbours


@dataclass(frozen=True, slots=True)
class Followed:
    """What an agent did with an instruction."""

    house: str
    path: tuple[str, ...]  # viewpoints, the start first
    steps: tuple[str, ...]  # the Baby-Steps of the instruction
    moves: tuple[Move, ...]
    unknown: tuple[str, ...]  # words that are not in the agent's vocabulary
    unread: tuple[tuple[str, ...], ...]  # for each Baby-Step, the words beyond the agent's limit


def follow(
    model: Model,
    rollout: Rollout,
    decoder: Decoder,
    houses: Houses,
    house: str,
    viewpoint: str,
    heading: float,
    instruction: str,
) -> Followed:
    """Segment the instruction by its text, and walk its Baby-Steps one after another.

    The heading is in radians from -2 pi to 2 pi, 0 north and growing clockwise. With a search decoder, the
    moves are those of the chosen path; the path also has all walking back.
    """
    _check_arguments(house, viewpoint, heading, instruction)
    numbers = houses.viewpoints(house)
    if viewpoint not in numbers:
        raise unknown(f"Viewpoint of {house}", viewpoint, numbers)
    config = model.config
    steps = [step.text for step in segment(instruction, config.segmentation)]
    words = [tokenise(step) for step in steps]
    unknown_words = _unknown_words(words, model.vocabulary)
    scale = _joined_paths(model, max(map(len, words))) if config.steps == "whole" else 1
    max_words = config.max_words * scale
    tokens = model.vocabulary.encode(steps).tokens
    rows = Ragged.of([tokens[row][:max_words].tolist() for row in range(len(steps))])
    batch = _batch(rows, poses_at([numbers[viewpoint]], [heading]), config.max_moves * scale)
    with rollout.inference():
        result, trajectories = decoder.decisions(rollout, batch)
    names = houses.names
    return Followed(
        house=house,
        path=tuple(names[number] for number in trajectories.viewpoints[0]),
        steps=tuple(steps),
        moves=tuple(_move(record, names, words[record.step][:max_words]) for record in result.records),
        unknown=unknown_words,
        unread=tuple(tuple(step[max_words:]) for step in words),
    )


def _check_arguments(house: object, viewpoint: object, heading: object, instruction: object) -> None:
    for name, given in (("house", house), ("viewpoint", viewpoint), ("instruction", instruction)):
        if not isinstance(given, str):
            raise ConfigError(f"The {name} must be text; found {given!r}.")
    # Beyond a full turn it is most likely in degrees. NaN fails the comparison too.
    if not (isinstance(heading, Real) and abs(float(heading)) <= 2 * math.pi):
        raise ConfigError(
            f"The heading {heading!r} is not an angle in radians from -2 pi to 2 pi; pi / 2 is east."
        )


def _unknown_words(steps: list[list[str]], vocabulary: Vocabulary) -> tuple[str, ...]:
    """The words of an instruction that are not in a vocabulary; an error if that is all of them."""
    words = dict.fromkeys(word for step in steps for word in step if any(map(str.isalnum, word)))
    if not words:
        raise ConfigError("The instruction has no words. Give one such as 'Walk to the kitchen.'")
    found = tuple(word for word in words if word not in vocabulary.word_ids)
    if len(found) == len(words):
        raise ConfigError(
            f"No word of the instruction is in the agent's vocabulary: {shortlist(found)}. "
            "Use words of its training data, as in 'Walk to the kitchen.'"
        )
    return found


def _joined_paths(model: Model, words: int) -> int:
    """By how many joined paths the limits of an agent that reads texts whole are multiplied.

    As in its training task, or more where the words need it; see `EpisodeBatches.of`.
    """
    task = TASKS.get(model.facts.get("task", ""))
    return max(task.walks if task else 1, -(-words // model.config.max_words))


def _batch(rows: Ragged, start: Poses, max_moves: int) -> EpisodeBatch:
    """One walker with all steps remaining, no history and no known goal."""
    nothing = np.zeros(0, dtype=np.int64)
    return EpisodeBatch(
        start=start,
        instructions=rows,
        first_step=np.array([0, len(rows)]),
        expert_paths=None,
        past_instructions=Ragged(nothing.astype(np.int32), np.zeros(1, dtype=np.int64)),
        first_past=np.zeros(2, dtype=np.int64),
        past=History(Poses(nothing, nothing), nothing, np.zeros(1, dtype=np.int64)),
        max_moves=max_moves,
    )


def _move(record: StepRecord, names: tuple[str, ...], words: list[str]) -> Move:
    logits = record.decision.logits[0]
    probabilities = logits.softmax(dim=0)
    action = int(record.actions[0])
    choices = {"STOP": float(probabilities[STOP])}
    for number in range(1, len(probabilities)):
        if logits[number].isfinite():
            choices[names[int(record.candidates[0, number])]] = float(probabilities[number])
    weights = record.decision.word_weights[0].tolist()
    return Move(
        step=record.step,
        at=names[int(record.before.viewpoint[0])],
        to=None if action == STOP else names[int(record.after.viewpoint[0])],
        probability=float(probabilities[action]),
        choices=choices,
        words=tuple(zip(words, weights[: len(words)], strict=True)),
        views=tuple(record.decision.view_weights[0].tolist()),
    )
