"""Reads a treebank in CoNLL-U: words as they are written, each with its tags and lemma."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ID, FORM, LEMMA, UPOS, XPOS, MISC = 0, 1, 2, 3, 4, 9  # the columns of CoNLL-U


class Gold(NamedTuple):
    """A word with its universal and its English part of speech, and whether a space follows it."""

    text: str
    pos: str
    tag: str
    lemma: str
    space: bool


def read_documents(path: Path) -> list[list[list[Gold]]]:
    """The documents of a treebank, each a list of sentences.

    "don't" is one span of text and two words, "do" and "n't"; spaCy's tokeniser splits it in the same place.
    """
    documents: list[list[list[Gold]]] = []
    for block in path.read_text(encoding="utf-8").split("\n\n"):
        lines = block.splitlines()
        if any(line.startswith("# newdoc") for line in lines) or not documents:
            documents.append([])
        if sentence := list(_words([line.split("\t") for line in lines if line[:1].isdigit()])):
            documents[-1].append(sentence)
    return documents


def _words(rows: list[list[str]]) -> Iterator[Gold]:
    glued = 0  # words up to this number follow one another without a space
    for row in rows:
        if "." in row[ID]:  # a word that is understood, not written
            continue
        if "-" in row[ID]:
            glued = int(row[ID].split("-")[1])
            after = "SpaceAfter=No" not in row[MISC]
            continue
        number = int(row[ID])
        space = "SpaceAfter=No" not in row[MISC]
        if number <= glued:
            space = after and number == glued
        yield Gold(row[FORM], row[UPOS], row[XPOS], row[LEMMA], space)
