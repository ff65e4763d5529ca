"""Trains the part-of-speech tagger that ships with BabyWalk.

    pip install spacy spacy-lookups-data
    python tools/tagger/train.py --ewt DIR --out babywalk/instructions/tagging/pipeline

DIR holds train.conllu, dev.conllu and test.conllu of Universal Dependencies English EWT. The run takes some
ten minutes on one core; the same seed and the same versions give the same files.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import shutil
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from string import ascii_lowercase

import spacy
from imperatives import instructions
from lemmas import add_lemmatizer
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import fix_random_seed
from thinc.api import Adam
from treebank import Gold, read_documents

WIDTH, DEPTH, PIECES = 96, 4, 3
ROWS = {"NORM": 3600, "PREFIX": 300, "SUFFIX": 2000, "SHAPE": 500}  # of the hash embedding, by feature
DROPOUT = 0.2
RATE, WARM_UP, FLOOR = 0.0015, 200, 0.02  # learning rate: highest; steps to reach it; share left at the end
BATCH = 800  # words
LOWER, UPPER = 0.10, 0.03  # shares of the treebank shown in one case, as careless writers do
RARE, VEILED = 2, 0.4  # a word seen so often at most is shown disguised so often, as new words will be met
LONG = re.compile("[A-Za-z][a-z]{4,}")
HELPER = "tagger"  # learns the English tag set beside the universal one, which helps both, and is not shipped

META = {
    "name": "babywalk_ewt",
    "version": "1.0.0",  # to be raised with every change of data or script: results are kept by it
    "description": "Universal parts of speech and lemmas for English walking instructions.",
    "author": "BabyWalk",
    "license": "CC BY-SA 4.0",
    "spacy_version": ">=3.7.0,<4.0.0",
    "sources": [
        {
            "name": "Universal Dependencies English EWT",
            "url": "https://universaldependencies.org/treebanks/en_ewt",
            "license": "CC BY-SA 4.0",
        },
        {
            "name": "WordNet 3.0, by way of spacy-lookups-data",
            "url": "https://wordnet.princeton.edu",
            "license": "WordNet 3.0 license",
        },
    ],
}

Words = list[Gold]


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    arguments.add_argument("--ewt", type=Path, required=True, help="folder of the treebank")
    arguments.add_argument("--out", type=Path, required=True, help="folder to write the pipeline to")
    arguments.add_argument("--epochs", type=int, default=14)
    arguments.add_argument("--seed", type=int, default=0)
    given = arguments.parse_args()

    parts = {part: read_documents(given.ewt / f"{part}.conllu") for part in ("train", "dev", "test")}
    fix_random_seed(given.seed)
    nlp = build()
    drills = [[Gold(*token[:2], "", "", token.space) for token in walk] for walk in instructions(given.seed)]
    average = train(nlp, parts["train"], drills, parts["dev"], epochs=given.epochs, seed=given.seed)
    with nlp.use_params(average):
        scores = {f"pos_acc_{part}": accuracy(nlp, parts[part]) for part in ("dev", "test")}
        nlp.remove_pipe(HELPER)
        add_lemmatizer(
            nlp, (word for document in parts["train"] for sentence in document for word in sentence)
        )
        scores |= {f"lemma_acc_{part}": accuracy(nlp, parts[part], "lemma") for part in ("dev", "test")}
        save(nlp, given.out, scores)
    print(json.dumps(scores))


def build() -> Language:
    """An untrained pipeline: one convolutional encoder, read by the tagger and its helper."""
    nlp = spacy.blank("en")
    embed = {
        "@architectures": "spacy.MultiHashEmbed.v2",
        "width": WIDTH,
        "attrs": list(ROWS),
        "rows": list(ROWS.values()),
        "include_static_vectors": False,
    }
    encode = {
        "@architectures": "spacy.MaxoutWindowEncoder.v2",
        "width": WIDTH,
        "depth": DEPTH,
        "window_size": 1,
        "maxout_pieces": PIECES,
    }
    encoder = {"@architectures": "spacy.Tok2Vec.v2", "embed": embed, "encode": encode}
    listener = {"@architectures": "spacy.Tok2VecListener.v1", "width": WIDTH, "upstream": "*"}
    head = {"@architectures": "spacy.Tagger.v2", "tok2vec": listener}
    nlp.add_pipe("tok2vec", config={"model": encoder})
    nlp.add_pipe("morphologizer", config={"model": head})
    nlp.add_pipe(HELPER, config={"model": head})
    return nlp


def train(
    nlp: Language,
    documents: Sequence[Sequence[Words]],
    drills: Sequence[Words],
    dev: Sequence[Sequence[Words]],
    *,
    epochs: int,
    seed: int,
) -> dict[str, object]:
    """Train in place; the running average of the weights, which tags better than the last ones."""
    rng = random.Random(seed)
    nlp.initialize(lambda: list(examples(nlp, documents, drills, rng)))
    optimizer = Adam(RATE, L2=0.01, L2_is_weight_decay=True, grad_clip=1.0, use_averages=True)
    begin, step = time.monotonic(), 0
    for epoch in range(epochs):
        rounds = list(batches(examples(nlp, documents, drills, rng)))
        for number, batch in enumerate(rounds):
            left = 1 - (epoch + number / len(rounds)) / epochs
            step += 1
            optimizer.learn_rate = RATE * min(1.0, step / WARM_UP) * max(FLOOR, left)
            nlp.update(batch, sgd=optimizer, drop=DROPOUT)
        with nlp.use_params(optimizer.averages):
            score = accuracy(nlp, dev)
        print(f"epoch {epoch + 1:2}  {time.monotonic() - begin:5.0f} s  dev {score:.4f}", flush=True)
    return optimizer.averages


def examples(
    nlp: Language, documents: Sequence[Sequence[Words]], drills: Sequence[Words], rng: random.Random
) -> Iterator[Example]:
    """One pass over the data in random order, one to four neighbouring sentences at a time.

    The text is split by spaCy's tokeniser, as it will be in use; words that it splits otherwise than the
    treebank have no tag.
    """
    texts = list(drills)
    counts = Counter(word.text.lower() for sentences in documents for one in sentences for word in one)
    for sentences in documents:
        start = 0
        while start < len(sentences):
            count = rng.choice((1, 1, 2, 3, 4))
            texts.append(recased(veiled(join(sentences[start : start + count]), counts, rng), rng))
            start += count
    rng.shuffle(texts)
    for words in texts:
        gold = document(nlp, words)
        yield Example(nlp.make_doc(gold.text), gold)


def join(sentences: Sequence[Words]) -> Words:
    return [word for sentence in sentences for word in [*sentence[:-1], sentence[-1]._replace(space=True)]]


def veiled(words: Words, counts: Counter[str], rng: random.Random) -> Words:
    """Rare words with other letters between their first and their last three, which the tagger looks at."""
    return [
        word._replace(
            text=word.text[0] + "".join(rng.choices(ascii_lowercase, k=len(word.text) - 4)) + word.text[-3:]
        )
        if counts[word.text.lower()] <= RARE and LONG.fullmatch(word.text) and rng.random() < VEILED
        else word
        for word in words
    ]


def recased(words: Words, rng: random.Random) -> Words:
    draw = rng.random()
    change: Callable[[str], str] = str.lower if draw < LOWER else str.upper if draw < LOWER + UPPER else str
    return [word._replace(text=change(word.text)) for word in words]


def document(nlp: Language, words: Words) -> Doc:
    texts, pos, tags, _, spaces = zip(*words, strict=True)
    return Doc(nlp.vocab, words=texts, spaces=spaces, pos=pos, tags=tags)


def batches(items: Iterator[Example]) -> Iterator[list[Example]]:
    batch: list[Example] = []
    for item in items:
        batch.append(item)
        if sum(len(one) for one in batch) >= BATCH:
            yield batch
            batch = []
    if batch:
        yield batch


def accuracy(nlp: Language, documents: Sequence[Sequence[Words]], field: str = "pos") -> float:
    """The share of the treebank's words whose tag or lemma is right, sentence by sentence."""
    gold = [sentence for sentences in documents for sentence in sentences]
    docs = (
        Doc(nlp.vocab, words=[word.text for word in one], spaces=[word.space for word in one]) for one in gold
    )
    right = total = 0
    for doc, words in zip(nlp.pipe(docs, batch_size=256), gold, strict=True):
        for token, word in zip(doc, words, strict=True):
            right += getattr(token, f"{field}_").lower() == getattr(word, field).lower()
            total += 1
    return right / total


def save(nlp: Language, folder: Path, scores: dict[str, float]) -> None:
    """Write the pipeline, without the words of the treebank and without traces of this machine."""
    nlp.meta.update(META, performance={name: round(score, 4) for name, score in scores.items()})
    nlp.vocab.lookups.add_table(
        "lexeme_norm", {}
    )  # else spacy-lookups-data, where installed, would change the norms
    shutil.rmtree(folder, ignore_errors=True)
    nlp.to_disk(folder)
    strings = folder / "vocab" / "strings.json"
    labels = nlp.get_pipe("morphologizer").labels
    strings.write_text(json.dumps(sorted(labels)), encoding="utf-8")


if __name__ == "__main__":
    main()
