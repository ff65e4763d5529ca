"""A tagger: texts in, tagged words out, many texts at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from babywalk.instructions.tagging.flat import Flat, flatten

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc

_TOGETHER = 128  # texts in a batch; more do not make it faster


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
    """A spaCy pipeline that gives parts of speech and lemmas, and what to say of the data made with it."""

    nlp: Language
    version: str  # name and version of the pipeline
    licence: str

    def tag(self, texts: Iterable[str]) -> Iterator[tuple[Word, ...]]:
        """The words of each text, in order; texts are read as they are needed, some in advance."""
        pairs = ((flat.text, (text, flat)) for text in texts for flat in [flatten(text)])
        for doc, (text, flat) in self.nlp.pipe(pairs, as_tuples=True, batch_size=_TOGETHER):
            yield _words(doc, text, flat)


def _words(doc: Doc, text: str, flat: Flat) -> tuple[Word, ...]:
    words = []
    for token in doc:
        if token.is_space:
            continue
        begin = flat.places[token.idx]
        end = flat.places[token.idx + len(token) - 1] + 1
        words.append(Word(text[begin:end], token.lemma_.lower(), token.pos_, begin, end))
    return tuple(words)
