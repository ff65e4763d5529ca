"""Segmenting: texts to sentences, in parallel and resumable, and one instruction to its steps.

Work is done in chunks whose results are kept in the cache, keyed by the texts, the tagger and the word
lists: a run that was interrupted goes on where it stopped, and a changed text is tagged anew.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from functools import lru_cache, partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from babywalk.errors import DataError
from babywalk.files import read_json, write_json
from babywalk.instructions.identification import IdentificationConfig, identify
from babywalk.instructions.segmented import SegmentedTexts
from babywalk.instructions.sentences import Sentence, WordLists, sentences
from babywalk.instructions.tagging import Tagger, load_tagger, stop_words
from babywalk.progress import progress
from babywalk.ragged import Ragged

_CHUNK = 512


@dataclass(frozen=True, slots=True)
class Step:
    """One Baby-Step of a text: where it stands in it, and what it speaks of."""

    text: str
    begin: int
    end: int
    landmarks: tuple[str, ...]
    verbs: tuple[str, ...]


def segment(text: str, config: IdentificationConfig | None = None, *, tagger: Tagger | None = None) -> list[Step]:
    """The Baby-Steps of one instruction; none for a text without any character."""
    chosen, tags = config or IdentificationConfig(), tagger or _tagger(None)
    (words,) = tags.tag([text])
    found = sentences(text, words, chosen.lists, stop_words())
    table = SegmentedTexts.of([found], stop_words()).table
    counts = identify(table, Ragged.of([range(len(found))]), chosen)
    steps, begin = [], 0
    for count in counts.values.tolist():
        part = found[begin : begin + count]
        begin += count
        steps.append(
            Step(
                text=text[part[0].begin : part[-1].end],
                begin=part[0].begin,
                end=part[-1].end,
                landmarks=tuple(name for sentence in part for name in sentence.landmarks),
                verbs=tuple(verb for sentence in part for verb in sentence.verbs),
            )
        )
    return steps


def segment_texts(
    texts: Sequence[str],
    *,
    lists: WordLists,
    tagger: str | None = None,
    cache: Path | None = None,
    workers: int = 2,
    what: str = "Segmenting",
) -> SegmentedTexts:
    """The sentences of many texts, each tagged once."""
    chunks = [list(texts[first : first + _CHUNK]) for first in range(0, len(texts), _CHUNK)]
    work = partial(_chunk, lists=lists, tagger=tagger, cache=cache)
    if workers < 2 or len(chunks) < 2:
        parts = [work(chunk) for chunk in progress(chunks, what, unit="chunk")]
    else:
        # Fresh processes: a forked one would share the threads of whatever is loaded here.
        with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
            parts = list(progress(pool.map(work, chunks), what, total=len(chunks), unit="chunk"))
    return SegmentedTexts.of([text for part in parts for text in part], stop_words())


def _chunk(
    texts: Sequence[str], *, lists: WordLists, tagger: str | None, cache: Path | None
) -> list[list[Sentence]]:
    file = cache / f"{_key(texts, lists, tagger)}.json" if cache else None
    if file and file.exists():
        try:
            return [[_sentence(fields) for fields in text] for text in read_json(file)]
        except (DataError, TypeError):  # damaged: done again
            pass
    words = _tagger(tagger).tag(texts)
    found = [sentences(text, tagged, lists, stop_words()) for text, tagged in zip(texts, words, strict=True)]
    if file:
        write_json(file, [[asdict(sentence) for sentence in text] for text in found], indent=None)
    return found


def _sentence(fields: dict[str, Any]) -> Sentence:
    return Sentence(**{**fields, "landmarks": tuple(fields["landmarks"]), "verbs": tuple(fields["verbs"])})


def _key(texts: Sequence[str], lists: WordLists, tagger: str | None) -> str:
    about = [_tagger_version(tagger), asdict(lists), list(texts)]
    return hashlib.sha256(json.dumps(about).encode()).hexdigest()[:32]


@lru_cache(maxsize=2)
def _tagger(name: str | None) -> Tagger:
    return load_tagger(name)


def _tagger_version(name: str | None) -> str:
    return _tagger(name).version


def whole(found: SegmentedTexts) -> Ragged:
    """Each text as one instruction: its sentences in order."""
    return Ragged(np.arange(len(found.begin), dtype=np.int32), found.table.first)
