"""The log-probabilities that a speaker gives to texts: a tiny untrained speaker in the square house."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from babywalk.common.ragged import Ragged
from babywalk.episodes.vocabulary import END, UNKNOWN, Vocabulary
from babywalk.modules import speaker as speaker_module
from babywalk.modules.kernels import choose_backend
from babywalk.modules.speaker import Speaker, SpeakerConfig, TextScores
from babywalk.modules.speaker_network import SpeakerNetwork
from babywalk.navigation.world import World
from tests.square import TEXTS, square_observer, square_task

PATHS = Ragged.of([[0, 1, 2, 4], [3, 2], [4], [0, 1, 2, 1, 2, 3]])
VIEWS = np.array([12, 15, 20, 30])
WORDS = ["Go north.", "then east. stop here.", "walk walk walk on now please .", ""]


@pytest.fixture(scope="module")
def speaker() -> Speaker:
    task, vocabulary = square_task(), Vocabulary.of(TEXTS, min_count=1)
    observer, config = square_observer(task), SpeakerConfig(hidden=8, dropout=0.5)
    torch.manual_seed(3)
    vectors = torch.randn(len(vocabulary), 5)
    network = SpeakerNetwork(vectors, observer.view_width, observer.candidate_width, 8, dropout=0.5)
    with torch.no_grad():
        for weight in network.parameters():
            weight += 0.4 * torch.randn_like(weight)
    choose_backend("auto", network.device).prepare(network)
    return Speaker(config, vocabulary, "x", network, task.houses, World.of(task.houses), observer)


def by_hand(speaker: Speaker, path: list[int], view: int, text: str) -> float:
    """Word by word: log p(w_1 | path) + log p(w_2 | path, w_1) + ... + log p(END | path, all words)."""
    speaker.network.eval()
    numbers, total = speaker.vocabulary.word_ids, 0.0
    with torch.no_grad():
        encoded = speaker.encode(Ragged.of([path]), np.array([view]))
        previous, state = numbers[END], None
        for word in [*(numbers[word] for word in text.replace(".", " .").lower().split()), numbers[END]]:
            scores, state = speaker.network.next(encoded, torch.tensor([previous]), state)
            total += float(scores[0].double().log_softmax(dim=0)[word])
            previous = word
    return total


def scores(speaker: Speaker, rows: list[int], texts: list[str]) -> TextScores:
    return speaker.log_probabilities(PATHS.take(np.array(rows)), VIEWS[rows], speaker.texts_of(texts))


def test_log_probabilities_equal_the_sums_by_hand(speaker: Speaker) -> None:
    found = scores(speaker, [0, 1, 2, 3], WORDS)
    expected = [
        by_hand(speaker, PATHS[row].tolist(), int(VIEWS[row]), text) for row, text in enumerate(WORDS)
    ]
    np.testing.assert_allclose(found.log_probability, expected, rtol=1e-5)
    assert found.words.tolist() == [4, 7, 8, 1]  # with END
    np.testing.assert_allclose(found.per_word, np.array(expected) / [4, 7, 8, 1], rtol=1e-5)


def test_they_depend_on_path_view_and_text(speaker: Speaker) -> None:
    text = WORDS[1]
    one = by_hand(speaker, [0, 1, 2], 12, text)
    others = [
        by_hand(speaker, [0, 1, 2, 4], 12, text),
        by_hand(speaker, [0, 1, 2], 15, text),
        by_hand(speaker, [0, 1, 2], 12, WORDS[0]),
    ]
    assert all(abs(one - other) > 1e-3 for other in others)


@pytest.mark.parametrize("chunk", [1, 9, 10**6])
def test_they_do_not_depend_on_batches_order_or_repetition(
    speaker: Speaker, chunk: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(speaker_module, "_CHUNK", chunk)
    rows, texts = zip(*[(row, text) for row in range(4) for text in range(4)], strict=True)
    alone = {
        (row, text): scores(speaker, [row], [WORDS[text]]).log_probability[0]
        for row, text in zip(rows, texts, strict=True)
    }
    order = np.random.default_rng(0).integers(16, size=60)  # with repetitions
    found = scores(speaker, [rows[i] for i in order], [WORDS[texts[i]] for i in order])
    expected = [alone[rows[i], texts[i]] for i in order]
    np.testing.assert_allclose(found.log_probability, expected, rtol=1e-5)


def test_equal_pairs_and_paths_are_computed_once(speaker: Speaker, monkeypatch: pytest.MonkeyPatch) -> None:
    encoded, scored = [], []
    encode, losses = Speaker.encode, Speaker.word_losses
    monkeypatch.setattr(
        Speaker, "encode", lambda self, paths, *rest: encoded.append(len(paths)) or encode(self, paths, *rest)
    )
    monkeypatch.setattr(
        Speaker,
        "word_losses",
        lambda self, batch, texts: scored.append(len(texts)) or losses(self, batch, texts),
    )
    scores(speaker, [0, 0, 1, 0, 0], [WORDS[0], WORDS[1], WORDS[0], WORDS[0], WORDS[1]])
    assert encoded == [2]  # rows 0 and 1
    assert scored == [3]  # row 0 with two texts, row 1 with one


def test_unknown_words_are_left_out(speaker: Speaker) -> None:
    text = "go zebra north."
    found = scores(speaker, [0], [text])
    assert found.words.tolist() == [4]
    numbers = speaker.vocabulary.word_ids
    tokens = [numbers[END], numbers["go"], numbers[UNKNOWN], numbers["north"], numbers["."], numbers[END]]
    with torch.no_grad():
        encoded = speaker.encode(PATHS.take(np.array([0])), VIEWS[:1])
        logits = speaker.network(encoded, torch.tensor(tokens[:-1]), torch.tensor([5])).log_softmax(dim=1)
    expected = sum(float(logits[place, tokens[place + 1]]) for place in (0, 2, 3, 4))
    np.testing.assert_allclose(found.log_probability, [expected], rtol=1e-5)


def test_probabilities_of_words_add_up_to_one(speaker: Speaker) -> None:
    with torch.no_grad():
        encoded = speaker.encode(PATHS.take(np.array([0])), VIEWS[:1])
        logits = speaker.network(encoded, torch.tensor([2, 3, 4]), torch.tensor([3]))
    words = logits.softmax(dim=1)[:, : len(speaker.vocabulary)]
    torch.testing.assert_close(words.sum(dim=1), torch.ones(3))


def test_texts_of_another_vocabulary_are_translated(speaker: Speaker) -> None:
    other = Vocabulary.of([*TEXTS, "zebra zebra zebra"], min_count=1)
    assert other.words != speaker.vocabulary.words
    texts = ["go zebra north.", "please walk on.", ""]
    translated = speaker.translated(other.encode(texts).tokens, other)
    expected = speaker.texts_of(texts)
    assert translated.values.tolist() == expected.values.tolist()
    assert translated.start.tolist() == expected.start.tolist()


def test_no_texts_have_no_scores(speaker: Speaker) -> None:
    nothing = np.zeros(0, dtype=np.int64)
    found = speaker.log_probabilities(PATHS.take(nothing), VIEWS[nothing], speaker.texts_of([]))
    assert found.log_probability.tolist() == found.words.tolist() == []


def test_dropout_is_off_and_no_gradients_are_kept(speaker: Speaker) -> None:
    dropping = replace(speaker, config=SpeakerConfig(hidden=8, feature_dropout=0.9))
    dropping.network.train()
    first = scores(dropping, [0], WORDS[:1])
    np.testing.assert_array_equal(first.log_probability, scores(speaker, [0], WORDS[:1]).log_probability)
    assert isinstance(first.log_probability, np.ndarray)
