"""A tagger: texts in, tagged words out, many texts at a time.

The pipeline gets each text on one line with single spaces: spaCy makes tokens of other white space.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc

_BATCH = 128  # texts; larger batches are not faster
# Half of a surrogate pair, as in data sets that were cut inside an emoji: it is not valid text.
_SURROGATE = "[\ud800-\udfff]"
_IRREGULAR = re.compile(rf"^\s|\s\s|[^\S ]|{_SURROGATE}")
_WORD = re.compile(r"\S+(?:\s(?=\s*\S))?")


@dataclass(frozen=True, slots=True)
class Word:
    """A word or a punctuation mark of a text: `text[begin:end]`, never empty and never white space."""

    text: str
    lemma: str  # dictionary form, lower case
    pos: str  # universal part of speech: NOUN, VERB, PUNCT, ...
    begin: int
    end: int


@dataclass(frozen=True)
class Tagger:
    """A spaCy pipeline that gives parts of speech and lemmas, and how to credit it."""

    nlp: Language
    version: str  # name and version of the pipeline
    licence: str

    def tag(self, texts: Iterable[str]) -> Iterator[tuple[Word, ...]]:
        """The words of each text, in order; texts are read lazily, a batch in advance."""
        pairs = ((line.text, (text, line)) for text in texts for line in [single_line(text)])
        for doc, (text, line) in self.nlp.pipe(pairs, as_tuples=True, batch_size=_BATCH):
            yield _words(doc, text, line)


def _words(doc: Doc, text: str, line: Line) -> tuple[Word, ...]:
    words = []
    for token in doc:
        if token.is_space:
            continue
        begin = line.positions[token.idx]
        end = line.positions[token.idx + len(token) - 1] + 1
        words.append(Word(text[begin:end], token.lemma_.lower(), token.pos_, begin, end))
    return tuple(words)


class Line(NamedTuple):
    """A text on one line, and the position in the given text of each of its characters."""

    text: str
    positions: range | list[int]  # as many as the text has characters


def single_line(text: str) -> Line:
    """The text with every run of white space as one space, and with none around it.

    A text that has only single spaces is returned as it is, also with one at the end.
    """
    if not _IRREGULAR.search(text):
        return Line(text, range(len(text)))
    matches = list(_WORD.finditer(text))
    line = " ".join(match.group().strip() for match in matches)
    positions = [position for match in matches for position in range(match.start(), match.end())]
    return Line(re.sub(_SURROGATE, "\N{REPLACEMENT CHARACTER}", line), positions)
