from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from babywalk.instructions.sentences import (
    WordLists,
    landmarks,
    missing_spaces,
    noun_phrases,
    sentences,
    spans,
    verbs,
)
from babywalk.instructions.tagging import Word

STOP_WORDS = frozenset({"the", "a", "go", "take"})


def tagged(text: str) -> list[Word]:
    """Words written as "couch/NOUN" or "stairs/NOUN/stair", one space between."""
    words, position = [], 0
    for item in text.split():
        form, pos, *lemma = item.split("/")
        words.append(Word(form, lemma[0] if lemma else form.lower(), pos, position, position + len(form)))
        position += len(form) + 1
    return words


def plain(words: list[Word]) -> str:
    return " ".join(word.text for word in words)


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("Go up. Turn left.", ["Go up.", "Turn left."]),
        ("Go up", ["Go up"]),
        ("Turn left... go on", ["Turn left...", "go on"]),
        ("Walk 1.5 m ahead. Stop.", ["Walk 1.5 m ahead.", "Stop."]),
        ("Go 3 ft. past the bed. Stop.", ["Go 3 ft. past the bed.", "Stop."]),
        ("Go in. Turn.", ["Go in.", "Turn."]),
        ("Pass things, e.g. a lamp. Stop.", ["Pass things, e.g. a lamp.", "Stop."]),
        ("Stop!? Now.", ["Stop!?", "Now."]),
        ("One.. . Two", ["One.. .", "Two"]),
        (". . Go. ", [". . Go."]),
        ("first line\nsecond line", ["first line", "second line"]),
        ('He said "stop." Go.', ['He said "stop."', "Go."]),
        ("Go up the stairs.Turn left.", ["Go up the stairs.", "Turn left."]),
        ("turn left.turn right", ["turn left.", "turn right"]),
        ("Pass the bed .Go on.", ["Pass the bed .", "Go on."]),
        ("Exit room 3.Turn.", ["Exit room 3.", "Turn."]),
        ("Stop!Go back?No.", ["Stop!", "Go back?", "No."]),
        ("Go (left of it.)Stop", ["Go (left of it.)", "Stop"]),
        ("Go 1.5 steps.Stop at .5", ["Go 1.5 steps.", "Stop at .5"]),
        ("Go 3 ft.past the bed.Stop", ["Go 3 ft.past the bed.", "Stop"]),
        ("Go to the end...passing it..stop", ["Go to the end...passing it..stop"]),
        ("See things, e.g.lamps, i.e. e.g lights", ["See things, e.g.lamps, i.e. e.g lights"]),
        ("Pass the T.V.stand by the U.S. flag", ["Pass the T.V.stand by the U.S.", "flag"]),
        ("Go up.A door is there", ["Go up.", "A door is there"]),
        ('See the "Living Room." Go,"Stop."', ['See the "Living Room."', 'Go,"Stop."']),
        ("...", ["..."]),
        ("  ", []),
        ("", []),
    ],
)
def test_rule_1_splits_at_periods(text: str, pieces: list[str]) -> None:
    assert [text[begin:end] for begin, end in spans(text)] == pieces


def test_positions_of_missing_spaces() -> None:
    assert missing_spaces("Go up.Turn left.then stop. Wait.") == [6, 16]
    assert missing_spaces("Go 1.5 m... then. Stop.\nWait.") == []


@given(st.text(alphabet=st.sampled_from("ab1.!?\n ,😀é'\""), max_size=40) | st.text(max_size=40))
def test_no_character_is_lost_and_no_sentence_is_empty(text: str) -> None:
    found = spans(text)
    assert all(text[begin:end].strip() for begin, end in found)
    assert all(a[1] <= b[0] for a, b in itertools.pairwise(found))
    covered = "".join(text[begin:end] for begin, end in found)
    assert sum(map(str.isalnum, covered)) == sum(map(str.isalnum, text))
    assert bool(found) == bool(text.strip())
    if any(map(str.isalnum, text)):
        assert all(any(map(str.isalnum, text[begin:end])) for begin, end in found)


def test_rule_1_chunks_noun_phrases_up_to_their_last_noun() -> None:
    words = tagged("the/DET big/ADJ dining/NOUN room/NOUN table/NOUN and/CCONJ two/NUM red/ADJ")
    assert [plain(phrase) for phrase in noun_phrases(words)] == ["big dining room table"]


def test_rules_2_and_3_keep_visible_landmarks() -> None:
    words = tagged(
        "stairs/NOUN/stair to/ADP left/ADJ side/NOUN of/ADP glass/NOUN doors/NOUN/door at/ADP end/NOUN"
    )
    assert list(landmarks(words, WordLists().landmark_blacklist, STOP_WORDS)) == ["stair", "glass door"]
    assert list(landmarks(tagged("18/NUM inch/NOUN"), ("18 inch",), STOP_WORDS)) == []
    assert list(landmarks(tagged("-/NOUN 5/NOUN"), (), STOP_WORDS)) == []


def test_rule_4_keeps_verbs_that_move_the_walker() -> None:
    words = tagged("Turn/VERB and/CCONJ facing/VERB/face walked/VERB/walk go/VERB 😀/VERB is/AUX")
    assert list(verbs(words, WordLists().verb_blacklist)) == ["walk", "go"]


@pytest.mark.parametrize(
    ("text", "stops", "leads"),
    [
        ("Wait/VERB here/ADV", True, False),
        ("STOP/VERB", True, False),
        ("You/PRON will/AUX see/VERB it/PRON", True, False),
        ("you/PRON will/AUX go/VERB", False, False),
        ("Stopping/VERB/stop", False, False),
        ("Facing/VERB the/DET bed/NOUN", False, True),
        ("with/ADP", False, True),
        ("There/PRON is/AUX", True, False),
    ],
)
def test_first_words_of_rule_6(text: str, stops: bool, leads: bool) -> None:
    words = tagged(text)
    (sentence,) = sentences(plain(words), words, WordLists(), STOP_WORDS)
    assert (sentence.stops, sentence.leads) == (stops, leads)


def test_word_lists_can_be_changed() -> None:
    words = tagged("Hop/VERB to/ADP the/DET couch/NOUN")
    lists = WordLists(landmark_blacklist=("couch",), verb_blacklist=("hop",), stop_openings=("hop",))
    (sentence,) = sentences(plain(words), words, lists, STOP_WORDS)
    assert (sentence.landmarks, sentence.verbs, sentence.stops) == ((), (), True)
