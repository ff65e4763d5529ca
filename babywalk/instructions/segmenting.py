"""Segmentation of many texts into sentences, in parallel and resumable, and of one instruction into steps.

Texts are processed in chunks whose results are cached, keyed by the texts, the tagger and the rules: an
interrupted run resumes, and a changed text is tagged again.
"""

from __future__ import annotations

import hashlib
import json
import os
from bisect import bisect
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, astuple, dataclass, replace
from functools import lru_cache, partial
from itertools import pairwise
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from babywalk.common.errors import DataError
from babywalk.common.files import read_json, write_json
from babywalk.common.progress import progress
from babywalk.common.ragged import Ragged
from babywalk.instructions.identification import IdentificationConfig, identify
from babywalk.instructions.segmented import SegmentedTexts
from babywalk.instructions.sentences import RULES, Sentence, WordLists, missing_spaces, sentences
from babywalk.instructions.tagging import Tagger, Word, load_tagger, stop_words, tagger_notes

_CHUNK = 512


@dataclass(frozen=True, slots=True)
class SegmentedStep:
    """One Baby-Step of a text: `text[begin:end]`, with its landmarks and verbs."""

    text: str
    begin: int
    end: int
    landmarks: tuple[str, ...]
    verbs: tuple[str, ...]


def segment(
    text: str, config: IdentificationConfig | None = None, *, tagger: Tagger | None = None
) -> list[SegmentedStep]:
    """The Baby-Steps of one instruction; none for a text of white space."""
    chosen, tags = config or IdentificationConfig(), tagger or _tagger(None)
    (words,) = _tag(tags, [text])
    found = sentences(text, words, chosen.lists, stop_words())
    table = SegmentedTexts.of([found], stop_words()).table
    counts = identify(table, Ragged.of([range(len(found))]), chosen)
    steps, begin = [], 0
    for count in counts.values.tolist():
        part = found[begin : begin + count]
        begin += count
        steps.append(
            SegmentedStep(
                text=text[part[0].begin : part[-1].end],
                begin=part[0].begin,
                end=part[-1].end,
                landmarks=tuple(name for sentence in part for name in sentence.landmarks),
                verbs=tuple(verb for sentence in part for verb in sentence.verbs),
            )
        )
    return steps


def find_sentences(
    texts: Sequence[str],
    *,
    lists: WordLists,
    tagger: str | None = None,
    cache: Path | None = None,
    workers: int = 2,
) -> list[list[Sentence]]:
    """The sentences of many texts, each tagged once."""
    chunks = [list(texts[first : first + _CHUNK]) for first in range(0, len(texts), _CHUNK)]
    files = [cache / f"{_key(chunk, lists, tagger)}.json" if cache else None for chunk in chunks]
    done = {
        number: found
        for number, file in enumerate(files)
        if file and (found := _read_cached(file)) is not None
    }
    missing = [number for number in range(len(chunks)) if number not in done]
    work = partial(_tag_chunk, lists=lists, tagger=tagger)
    tasks = [(chunks[number], files[number]) for number in missing]
    with _pool(min(workers, len(tasks))) as run:
        tagged = progress(run(work, tasks), "Segmenting", total=len(tasks), unit="chunk")
        done.update(zip(missing, tagged, strict=True))
    return [text for number in range(len(chunks)) for text in done[number]]


def segment_texts(
    texts: Sequence[str], *, lists: WordLists, cache: Path | None = None, workers: int = 2
) -> SegmentedTexts:
    """The sentences of many texts as tables."""
    return SegmentedTexts.of(find_sentences(texts, lists=lists, cache=cache, workers=workers), stop_words())


@contextmanager
def _pool(workers: int) -> Iterator[Callable[..., Iterator[Any]]]:
    """A `map` over worker processes, or the built-in one for fewer than two workers."""
    if workers < 2:
        yield map
        return
    # Spawned, since forking copies the locks of running threads. One thread each: the libraries read the
    # number of threads from the environment when a process starts.
    one_thread = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    before = {name: os.environ.get(name) for name in one_thread}
    os.environ.update(one_thread)
    try:
        with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
            yield pool.map
    finally:
        for name, value in before.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})


def _tag_chunk(
    task: tuple[Sequence[str], Path | None], *, lists: WordLists, tagger: str | None
) -> list[list[Sentence]]:
    texts, file = task
    words = _tag(_tagger(tagger), texts)
    found = [sentences(text, tagged, lists, stop_words()) for text, tagged in zip(texts, words, strict=True)]
    if file:
        stored = [[astuple(sentence) for sentence in text] for text in found]
        write_json(file, {"sha256": _digest(stored), "sentences": stored}, indent=None)
    return found


def _tag(tagger: Tagger, texts: Sequence[str]) -> Iterator[list[Word]]:
    """The words of each text, tagged with a space after every sentence."""
    cuts = [missing_spaces(text) for text in texts]
    spaced = (
        " ".join(text[begin:end] for begin, end in pairwise([0, *cut, len(text)]))
        for text, cut in zip(texts, cuts, strict=True)
    )
    for words, cut in zip(tagger.tag(spaced), cuts, strict=True):
        added = [position + number for number, position in enumerate(cut)]  # where the new spaces are
        yield [_shifted(word, bisect(added, word.begin)) for word in words]


def _shifted(word: Word, by: int) -> Word:
    return replace(word, begin=word.begin - by, end=word.end - by) if by else word


def _read_cached(file: Path) -> list[list[Sentence]] | None:
    """The sentences that an earlier run found; None if the file is missing or damaged."""
    if not file.exists():
        return None
    try:
        stored = read_json(file)
        if stored["sha256"] != _digest(stored["sentences"]):
            return None
        return [[_sentence(*fields) for fields in text] for text in stored["sentences"]]
    except (DataError, KeyError, TypeError):
        return None


def _sentence(
    begin: int, end: int, landmarks: Sequence[str], verbs: Sequence[str], stops: bool, leads: bool
) -> Sentence:
    return Sentence(begin, end, tuple(landmarks), tuple(verbs), stops, leads)


def _key(texts: Sequence[str], lists: WordLists, tagger: str | None) -> str:
    about = [RULES, tagger_notes(tagger), asdict(lists), list(texts)]
    return _digest(about)


def _digest(value: object) -> str:
    return hashlib.sha256(json.dumps(value).encode()).hexdigest()[:32]


@lru_cache(maxsize=2)
def _tagger(name: str | None) -> Tagger:
    return load_tagger(name)
