"""The tables of spaCy's rule lemmatiser: WordNet's words and irregular forms, and what a treebank adds."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

from spacy.language import Language
from spacy.lookups import Lookups, Table, load_lookups
from spacy.tokens import Doc
from treebank import Gold

TABLES = ("lemma_rules", "lemma_exc", "lemma_index")
Endings = list[tuple[str, str]]  # what a form of a word ends in, and what the word itself ends in instead
_OPEN = {"X", "PROPN", "PUNCT", "SYM", "NUM"}  # what a treebank says of their lemmas does not carry over
_SEEN = 2  # a lemma met only once may be a slip


def add_lemmatizer(nlp: Language, words: Iterable[Gold]) -> None:
    """Append a lemmatiser that needs only universal parts of speech.

    spaCy's own tables rely on morphology to know that "glass" is no plural: here every word of the index
    that a rule would spoil stands among the exceptions, as itself.
    """
    try:
        source = load_lookups("en", TABLES)
    except ValueError:
        raise SystemExit("Training needs WordNet's tables: pip install spacy-lookups-data") from None
    rules, irregular, index = (_by_pos(source.get_table(name)) for name in TABLES)
    for pos, endings in rules.items():
        known = frozenset(index[pos])
        for word in sorted(known):
            stems = list(_stems(word, endings))
            if stems and known.isdisjoint(stems):
                irregular[pos].setdefault(word, [word])
        # A table is looked up faster than a list, and unlike a set it can be saved.
        index[pos] = {word: 1 for word in sorted(known) if _needed(word, endings, known)}
        # spaCy takes the last rule that leads to a listed word, and the first if none does. The first is
        # right more often ("vases" come from a vase, not from a vas), so let it be the last as well.
        rules[pos] = [*endings, *reversed(endings)]
    lemmatizer = nlp.add_pipe("lemmatizer", config={"mode": "rule"})
    lemmatizer.lookups = _lookups(rules, irregular, index)
    for (text, pos), lemma in _treebank_lemmas(words).items():
        if lemmatizer(Doc(nlp.vocab, words=[text], pos=[pos]))[0].lemma_.lower() != lemma:
            table = irregular.setdefault(pos.lower(), {})
            table[text] = [lemma]
    # A fresh one: the first remembers the lemmas it gave.
    nlp.remove_pipe("lemmatizer")
    nlp.add_pipe("lemmatizer", config={"mode": "rule"}).lookups = _lookups(rules, irregular, index)


def _by_pos(table: Table) -> dict[str, Any]:
    return {pos: table[pos] for pos in ("noun", "verb", "adj")}


def _stems(word: str, endings: Endings) -> Iterator[str]:
    return (word[: len(word) - len(old)] + new for old, new in endings if word.endswith(old))


def _needed(word: str, endings: Endings, known: frozenset[str]) -> bool:
    """Whether a word must be listed: for some form of it, the rules first or also lead to another word."""
    for old, new in endings:
        if word.endswith(new):
            stems = list(_stems(word[: len(word) - len(new)] + old, endings))
            if stems[0] != word or not known.isdisjoint(stems[1:]):
                return True
    return False


def _lookups(*tables: dict[str, Any]) -> Lookups:
    lookups = Lookups()
    for name, table in zip(TABLES, tables, strict=True):
        lookups.add_table(name, table)
    return lookups


def _treebank_lemmas(words: Iterable[Gold]) -> dict[tuple[str, str], str]:
    counts: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for word in words:
        if word.pos not in _OPEN:
            counts[word.text.lower(), word.pos][word.lemma.lower()] += 1
    best = {key: count.most_common(1)[0] for key, count in counts.items()}
    return {key: lemma for key, (lemma, seen) in best.items() if seen >= _SEEN}
