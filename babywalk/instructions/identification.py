"""Baby-Steps from sentences: rules 5 and 6 of the paper's appendix A.1, over a whole data set at once.

5. A sentence without landmarks and verbs is not actionable: it is merged into the next one.
6. A sentence that only says where to stop is merged into the one before; one that begins with "with" or
   "facing" into the one after.

"Without landmarks and verbs" can be read in three ways, which give different numbers of steps (`READINGS`).
Two observations decided on the default: over the four tasks its mean numbers of steps are closest to the
paper's, and at equal precision it finds more of the annotated boundaries (docs/babysteps.md).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from babywalk.common.errors import ConfigError, unknown
from babywalk.common.ragged import Ragged, starts
from babywalk.instructions.sentences import Sentence, WordLists

Flags = NDArray[np.bool_]

# Whether a piece of text is not actionable, from whether it has a landmark and a verb. With "either-strict",
# verbs that are stop words (go, take, ...) do not count.
READINGS: dict[str, Callable[[Flags, Flags], Flags]] = {
    "both": lambda landmark, verb: ~(landmark | verb),
    "either": lambda landmark, verb: ~(landmark & verb),
    "either-strict": lambda landmark, verb: ~(landmark & verb),
}
MODES = ("template", "sentence", "whole")


@dataclass(frozen=True, slots=True)
class IdentificationConfig:
    """How instructions are segmented."""

    mode: str = "template"  # "sentence": a step per sentence (ablation of appendix C.3); "whole": one step
    reading: str = "either"
    max_steps: int = 0  # per instruction; 0 for no limit
    size: int = 0  # characters of the steps that neighbouring steps are merged into; 0 for no merging
    lists: WordLists = field(default_factory=WordLists)

    def __post_init__(self) -> None:
        if self.mode not in MODES:
            raise unknown("Mode", self.mode, MODES)
        if self.reading not in READINGS:
            raise unknown("Reading", self.reading, READINGS)
        if self.max_steps < 0:
            raise ConfigError(
                f"max_steps = {self.max_steps} is out of range. Give a number of steps, or 0 for no limit."
            )
        if self.size < 0:
            raise ConfigError(
                f"size = {self.size} is out of range. Give a number of characters, or 0 for any size."
            )


@dataclass(frozen=True, slots=True, eq=False)
class SentenceTable:
    """The inputs of rules 5 and 6, for the sentences of many texts. Shapes: T texts, S sentences."""

    first: NDArray[np.int64]  # (T + 1,) the first sentence of each text
    landmark: Flags  # (S,) whether it names one
    verb: Flags  # (S,) whether it has one
    plain_verb: Flags  # (S,) whether it has a verb that is not a stop word
    stops: Flags  # (S,) see `Sentence`
    leads: Flags  # (S,) see `Sentence`
    length: NDArray[np.int32]  # (S,) characters

    @classmethod
    def of(cls, texts: Sequence[Sequence[Sentence]], stop_words: frozenset[str]) -> SentenceTable:
        """From the sentences of each text."""
        flat = [sentence for text in texts for sentence in text]

        def flags(test: Callable[[Sentence], bool]) -> Flags:
            return np.fromiter((test(sentence) for sentence in flat), dtype=np.bool_, count=len(flat))

        return cls(
            first=starts([len(text) for text in texts]),
            landmark=flags(lambda sentence: bool(sentence.landmarks)),
            verb=flags(lambda sentence: bool(sentence.verbs)),
            plain_verb=flags(lambda sentence: any(verb not in stop_words for verb in sentence.verbs)),
            stops=flags(lambda sentence: sentence.stops),
            leads=flags(lambda sentence: sentence.leads),
            length=np.array([sentence.end - sentence.begin for sentence in flat], dtype=np.int32),
        )


def identify(table: SentenceTable, instructions: Ragged, config: IdentificationConfig) -> Ragged:
    """Row i: the number of sentences of each step of instruction i.

    Row i of `instructions` lists the sentences of an instruction, which may be those of several texts: as in
    the paper, a step may cross the boundary between two texts.
    """
    sentence = instructions.padded()
    valid = sentence >= 0
    if config.mode == "sentence":
        ends = valid.copy()
    elif config.mode == "whole":
        ends = _extend_last_step(np.zeros_like(valid), valid)
    else:
        verb = table.plain_verb if config.reading == "either-strict" else table.verb
        not_actionable = READINGS[config.reading]
        ends = merge_not_actionable(table.landmark[sentence], verb[sentence], valid, not_actionable)
        ends = merge_stops(ends, table.stops[sentence], valid)
        ends = merge_leads(ends, table.leads[sentence], valid)
    if config.max_steps:
        ends = limit_steps(ends, np.where(valid, table.length[sentence], 0), config.max_steps)
    if config.size:
        ends = merge_to_size(ends, np.where(valid, table.length[sentence], 0), config.size)
    return _counts(ends)


def merge_not_actionable(
    landmark: Flags,  # (E, J) whether sentence j of instruction i names one
    verb: Flags,  # (E, J)
    valid: Flags,  # (E, J) True where there is a sentence
    not_actionable: Callable[[Flags, Flags], Flags],
) -> Flags:  # (E, J) True where a step ends
    """Rule 5, from the first sentence to the last: what is not actionable is merged into the next sentence.

    At the end of an instruction it is merged into the step before, or is the only step.
    """
    ends = np.zeros_like(valid)
    carried = np.zeros((2, len(valid)), dtype=np.bool_)
    for j in range(valid.shape[1]):
        here = carried | np.stack([landmark[:, j], verb[:, j]])
        lacking = not_actionable(here[0], here[1])
        ends[:, j] = valid[:, j] & ~lacking
        carried = here & (lacking & valid[:, j])
    return _extend_last_step(ends, valid)


def merge_stops(ends: Flags, stops: Flags, valid: Flags) -> Flags:
    """Rule 6: no step ends before a sentence that only says where to stop."""
    merged = ends.copy()
    merged[:, :-1] &= ~(stops[:, 1:] & valid[:, 1:])
    return merged


def merge_leads(ends: Flags, leads: Flags, valid: Flags) -> Flags:
    """Rule 6: a step that begins with a leading sentence is merged into the next."""
    merged = ends.copy()
    begins, leading = np.ones(len(ends), dtype=np.bool_), np.zeros(len(ends), dtype=np.bool_)
    for j in range(valid.shape[1]):
        leading = np.where(begins, leads[:, j], leading)
        begins = ends[:, j]
        merged[:, j] &= ~leading
    return _extend_last_step(merged, valid)


def limit_steps(ends: Flags, length: NDArray[np.int32], limit: int) -> Flags:
    """At most `limit` steps: while there are more, the shortest two neighbours are merged."""
    merged = ends.copy()
    for row in np.flatnonzero(ends.sum(axis=1) > limit):
        last = np.flatnonzero(merged[row])
        sizes = np.add.reduceat(length[row], np.append(0, last[:-1] + 1))
        while len(last) > limit:
            joint = int(np.argmin(sizes[:-1] + sizes[1:]))
            sizes[joint + 1] += sizes[joint]
            merged[row, last[joint]] = False
            sizes, last = np.delete(sizes, joint), np.delete(last, joint)
    return merged


def merge_to_size(ends: Flags, length: NDArray[np.int32], size: int) -> Flags:
    """Merge neighbouring steps into about `size` characters each.

    An instruction has n equal parts, n being its length over `size`, rounded. Steps whose middles are in the
    same part are merged.
    """
    row, last = np.nonzero(ends)
    if not len(row):
        return ends
    position = np.cumsum(length, axis=1)
    end, total = position[row, last], np.maximum(position[row, -1], 1)
    other_row = row[1:] != row[:-1]
    begin = np.append(0, np.where(other_row, 0, end[:-1]))
    parts = np.maximum(np.rint(total / size), 1)
    part = np.floor((begin + end) / 2 * parts / total)
    final = np.append(other_row | (part[1:] != part[:-1]), True)  # True for the last step of a part
    merged = np.zeros_like(ends)
    merged[row[final], last[final]] = True
    return merged


def _extend_last_step(ends: Flags, valid: Flags) -> Flags:
    """Sentences after the last end belong to the last step, which ends where the instruction does."""
    count = valid.sum(axis=1)
    rows = np.flatnonzero(count)
    if not len(rows):
        return ends
    last = count[rows] - 1
    final = ends.shape[1] - 1 - ends[rows, ::-1].argmax(axis=1)
    ends[rows, final] = False
    ends[rows, last] = True
    return ends


def _counts(ends: Flags) -> Ragged:
    """The number of sentences of each step, from where steps end."""
    _, column = np.nonzero(ends)
    start = starts(ends.sum(axis=1))
    before = np.append(-1, column[:-1])
    before[start[:-1][np.diff(start) > 0]] = -1
    return Ragged((column - before).astype(np.int32), start)
