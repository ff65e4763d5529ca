"""The accuracy of the shipped tagger, on text it was not trained on."""

from __future__ import annotations

import json
from pathlib import Path
from types import ModuleType

import pytest
from spacy.tokens import Doc

from babywalk.instructions.tagging import Tagger

# [instruction, position in it, tag of the word there]: first words of sentences of R2R's train split, drawn
# at random with few of each, labelled by hand without a tagger; misspelt commands are separate.
LABELS: dict[str, list[tuple[str, int, str]]] = json.loads(
    Path(__file__).with_name("labels.json").read_text()
)


@pytest.mark.real
def test_accuracy_of_tags_and_lemmas_on_the_treebank(
    real_data: Path, tagger: Tagger, treebank: ModuleType
) -> None:
    """Sentence by sentence, with the treebank's own words, as the field reports it."""
    documents = treebank.read_documents(real_data / "ud_english_ewt" / "test.conllu")
    gold = [sentence for sentences in documents for sentence in sentences]
    docs = [
        Doc(tagger.nlp.vocab, words=[word.text for word in words], spaces=[word.space for word in words])
        for words in gold
    ]
    pairs = [
        (token, word)
        for doc, words in zip(tagger.nlp.pipe(docs), gold, strict=True)
        for token, word in zip(doc, words, strict=True)
    ]
    assert sum(token.pos_ == word.pos for token, word in pairs) / len(pairs) >= 0.94
    assert sum(token.lemma_.lower() == word.lemma.lower() for token, word in pairs) / len(pairs) >= 0.97


@pytest.mark.real
@pytest.mark.parametrize(("kind", "least"), [("commands", 0.99), ("others", 0.95), ("slips", 0.6)])
def test_accuracy_on_first_words_of_r2r_sentences(
    real_data: Path, tagger: Tagger, kind: str, least: float
) -> None:
    walks = json.loads((real_data / "R2R" / "R2R_train.json").read_text())
    texts = {f"{walk['path_id']}_{i}": text for walk in walks for i, text in enumerate(walk["instructions"])}
    tagged = tagger.tag(texts[name] for name, _, _ in LABELS[kind])
    correct = 0
    for (_, position, tag), words in zip(LABELS[kind], tagged, strict=True):
        (word,) = (word for word in words if word.begin == position)
        correct += word.pos == tag
    assert correct / len(LABELS[kind]) > least
