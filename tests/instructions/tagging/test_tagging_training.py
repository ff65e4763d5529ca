"""The training data of the shipped tagger: sentences of a grammar, and a treebank."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

from babywalk.instructions.tagging import Tagger

UNIVERSAL = frozenset(
    "ADJ ADP ADV AUX CCONJ DET INTJ NOUN NUM PART PRON PROPN PUNCT SCONJ SYM VERB X".split()  # noqa: SIM905
)

TREEBANK = """\
# newdoc id = one
# text = I don't know.
1\tI\tI\tPRON\tPRP\t_\t4\tnsubj\t_\t_
2-3\tdon't\t_\t_\t_\t_\t_\t_\t_\t_
2\tdo\tdo\tAUX\tVBP\t_\t4\taux\t_\t_
3\tn't\tnot\tPART\tRB\t_\t4\tadvmod\t_\t_
3.1\tknow\tknow\tVERB\tVB\t_\t_\t_\t_\t_
4\tknow\tknow\tVERB\tVB\t_\t0\troot\t_\tSpaceAfter=No
5\t.\t.\tPUNCT\t.\t_\t4\tpunct\t_\t_

# text = Stairs
1\tStairs\tstair\tNOUN\tNNS\t_\t0\troot\t_\t_

# newdoc id = two
# text = Go
1\tGo\tgo\tVERB\tVB\t_\t0\troot\t_\t_

"""


def test_a_treebank_is_read_with_its_documents_and_its_spaces(tmp_path: Path, treebank: ModuleType) -> None:
    (tmp_path / "some.conllu").write_text(TREEBANK)
    assert treebank.read_documents(tmp_path / "some.conllu") == [
        [
            [
                ("I", "PRON", "PRP", "I", True),
                ("do", "AUX", "VBP", "do", False),
                ("n't", "PART", "RB", "not", True),
                ("know", "VERB", "VB", "know", False),
                (".", "PUNCT", ".", ".", True),
            ],
            [("Stairs", "NOUN", "NNS", "stair", True)],
        ],
        [[("Go", "VERB", "VB", "go", True)]],
    ]


def test_the_same_seed_gives_the_same_sentences(imperatives: ModuleType) -> None:
    assert list(imperatives.instructions(3)) == list(imperatives.instructions(3))
    assert list(imperatives.instructions(3)) != list(imperatives.instructions(4))


def test_every_tag_is_universal(imperatives: ModuleType) -> None:
    assert {token.pos for walk in imperatives.instructions(0) for token in walk} <= UNIVERSAL


def test_every_verb_of_motion_starts_a_sentence(imperatives: ModuleType) -> None:
    groups = ("ROAM", "REACH", "ALONE", "TURN", "REST", "CARRY", "PLACE", "MAKE")
    verbs = {entry.removesuffix("/VERB") for group in groups for entry in imperatives.GRAMMAR[group]}
    starts = set()
    for walk in imperatives.instructions(0):
        before = [".", *(token.text for token in walk)]
        starts |= {
            t.text.lower() for mark, t in zip(before, walk, strict=False) if mark == "." and t.pos == "VERB"
        }
    assert {"walk", "head", "exit", "face", "veer", "bear", "pivot"} <= verbs
    assert verbs <= starts


def test_spacy_splits_the_sentences_where_the_grammar_does(imperatives: ModuleType, tagger: Tagger) -> None:
    for walk in imperatives.instructions(0):
        text = "".join(token.text + " " * token.space for token in walk)
        if not text.isupper():  # spaCy leaves "YOU'LL" whole
            assert [token.text for token in tagger.nlp.make_doc(text)] == [token.text for token in walk]
