"""Following a typed instruction: where the agent goes, and the attention behind each decision."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from numbers import Real

import numpy as np

from babywalk.assets.tokens import tokenise
from babywalk.buildings.houses import Houses
from babywalk.common.errors import ConfigError, shortlist, unknown
from babywalk.common.ragged import Ragged, starts
from babywalk.decoding.decoders import Decoder
from babywalk.decoding.episode_batch import EpisodeBatch
from babywalk.decoding.rollout import Rollout, StepRecord
from babywalk.episodes.joining import TASKS
from babywalk.episodes.vocabulary import Vocabulary
from babywalk.instructions.identification import IdentificationConfig
from babywalk.instructions.segmenting import SegmentedStep, segment
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


@dataclass(frozen=True, slots=True)
class Order:
    """A typed instruction, and where to start."""

    house: str
    viewpoint: str
    heading: float  # radians from -2 pi to 2 pi, 0 north and growing clockwise
    instruction: str


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
    return follow_all(model, rollout, decoder, houses, [Order(house, viewpoint, heading, instruction)])[0]


def follow_all(
    model: Model, rollout: Rollout, decoder: Decoder, houses: Houses, orders: Sequence[Order]
) -> list[Followed]:
    """Follow several instructions in one batch."""
    read = [_read(model, houses, order) for order in orders]
    found: dict[int, Followed] = {}
    for scale in sorted({one.scale for one in read}):  # the limits of a batch are the same for all
        rows = [row for row, one in enumerate(read) if one.scale == scale]
        followed = _follow_batch(model, rollout, decoder, houses, [read[row] for row in rows])
        found |= dict(zip(rows, followed, strict=True))
    return [found[row] for row in range(len(read))]


@dataclass(frozen=True, slots=True)
class _Read:
    """An order, segmented and in the words of a model."""

    order: Order
    start: int  # viewpoint
    steps: tuple[str, ...]
    words: list[list[str]]  # of each step
    unknown: tuple[str, ...]
    scale: int  # by how many joined paths the model's limits are multiplied


def _read(model: Model, houses: Houses, order: Order) -> _Read:
    _check_arguments(order.house, order.viewpoint, order.heading, order.instruction)
    numbers = houses.viewpoints(order.house)
    if order.viewpoint not in numbers:
        raise unknown(f"Viewpoint of {order.house}", order.viewpoint, numbers)
    steps = tuple(step.text for step in segmented(order.instruction, model.config.segmentation))
    words = [tokenise(step) for step in steps]
    unknown_words = _unknown_words(words, model.vocabulary)
    scale = _joined_paths(model, max(map(len, words))) if model.config.steps == "whole" else 1
    return _Read(order, numbers[order.viewpoint], steps, words, unknown_words, scale)


@lru_cache(maxsize=256)
def segmented(instruction: str, config: IdentificationConfig) -> tuple[SegmentedStep, ...]:
    """The Baby-Steps of a typed instruction; recent ones are kept."""
    return tuple(segment(instruction, config))


def _follow_batch(
    model: Model, rollout: Rollout, decoder: Decoder, houses: Houses, read: Sequence[_Read]
) -> list[Followed]:
    """Follow instructions with the same limits."""
    config, scale = model.config, read[0].scale
    max_words = config.max_words * scale
    tokens = model.vocabulary.encode([step for one in read for step in one.steps]).tokens
    rows = Ragged.of([tokens[row][:max_words].tolist() for row in range(len(tokens))])
    start = poses_at([one.start for one in read], [one.order.heading for one in read])
    batch = _batch(rows, [len(one.steps) for one in read], start, config.max_moves * scale)
    with rollout.inference():
        result, trajectories = decoder.decisions(rollout, batch)
    names = houses.names
    moves: list[list[Move]] = [[] for _ in read]
    for record in result.records:
        for row, walker in enumerate(record.walkers.tolist()):
            words = read[walker].words[record.step][:max_words]
            moves[walker].append(_move(record, row, names, words))
    return [
        Followed(
            house=one.order.house,
            path=tuple(names[number] for number in trajectories.viewpoints[walker]),
            steps=one.steps,
            moves=tuple(moves[walker]),
            unknown=one.unknown,
            unread=tuple(tuple(step[max_words:]) for step in one.words),
        )
        for walker, one in enumerate(read)
    ]


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


def _batch(rows: Ragged, steps: Sequence[int], start: Poses, max_moves: int) -> EpisodeBatch:
    """Walkers with all steps remaining, no history and no known goal; `steps` are their numbers of steps."""
    nothing = np.zeros(0, dtype=np.int64)
    return EpisodeBatch(
        start=start,
        instructions=rows,
        first_step=starts(steps),
        expert_paths=None,
        past_instructions=Ragged(nothing.astype(np.int32), np.zeros(1, dtype=np.int64)),
        first_past=np.zeros(len(steps) + 1, dtype=np.int64),
        past=History(Poses(nothing, nothing), nothing, np.zeros(1, dtype=np.int64)),
        max_moves=max_moves,
    )


def _move(record: StepRecord, row: int, names: tuple[str, ...], words: list[str]) -> Move:
    logits = record.decision.logits[row]
    probabilities = logits.softmax(dim=0).tolist()
    action = int(record.actions[row])
    choices = {"STOP": probabilities[STOP]}
    finite, candidates = logits.isfinite().tolist(), record.candidates[row].tolist()
    for number in range(1, len(probabilities)):
        if finite[number]:
            choices[names[candidates[number]]] = probabilities[number]
    weights = record.decision.word_weights[row].tolist()
    return Move(
        step=record.step,
        at=names[int(record.before.viewpoint[row])],
        to=None if action == STOP else names[int(record.after.viewpoint[row])],
        probability=probabilities[action],
        choices=choices,
        words=tuple(zip(words, weights[: len(words)], strict=True)),
        views=tuple(record.decision.view_weights[row].tolist()),
    )
