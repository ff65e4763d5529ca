"""BLEU-4 by hand, and a follower on human and on other texts."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from babywalk.agents.agent import Index
from babywalk.common.ragged import Ragged
from babywalk.episodes.dataset import Dataset
from babywalk.episodes.task import Task
from babywalk.evaluation.speaker_quality import bleu, described_task, speaker_quality
from babywalk.modules.speaker import Speaker, SpeakerConfig, new_speaker
from babywalk.navigation.trajectories import Trajectories


def test_bleu_is_the_geometric_mean_of_clipped_precisions() -> None:
    # Of a b c d e, one word is wrong: 4/5 words, 3/4 pairs, 2/3 triples and 1/2 quadruples match.
    expected = 100 * math.exp(sum(map(math.log, (4 / 5, 3 / 4, 2 / 3, 1 / 2))) / 4)
    assert bleu(["a b c d e"], [["a b c d f"]]) == pytest.approx(expected)


def test_bleu_takes_matches_from_all_references() -> None:
    assert bleu(["a b c d e"], [["a b c d f", "x b c d e"]]) == pytest.approx(100)


def test_bleu_of_a_short_text_is_reduced() -> None:
    assert bleu(["a b c d"], [["a b c d e f"]]) == pytest.approx(100 * math.exp(1 - 6 / 4))


def test_bleu_is_of_the_corpus_and_texts_may_differ_in_their_references() -> None:
    # Matches are added up: 9 of 10 words, 7 of 8 pairs, 5 of 6 triples, 3 of 4 quadruples.
    expected = 100 * math.exp(sum(map(math.log, (9 / 10, 7 / 8, 5 / 6, 3 / 4))) / 4)
    references = [["a b c d f"], ["q r s t u", "v w x y z", "q"]]
    assert bleu(["a b c d e", "v w x y z"], references) == pytest.approx(expected)


def test_bleu_ignores_case_and_spaces_before_punctuation() -> None:
    assert bleu(["Walk past the couch, then stop."], [["walk past the couch , then stop ."]]) == (
        pytest.approx(100)
    )


class Obedient:
    """Walks the reference path where the text is as expected, and stays at the start elsewhere."""

    def __init__(self, expected: set[str]) -> None:
        self.expected = expected

    def walk(self, task: Task, episodes: Index) -> Trajectories:
        paths = task.paths.take(task.chain_of(episodes))
        obeyed = [text in self.expected for text in task.instructions(episodes)]
        walked = Ragged.of(
            [paths[row] if obeys else paths[row][:1] for row, obeys in enumerate(obeyed)],
        )
        return Trajectories(walked, Ragged(np.zeros_like(walked.values), walked.start))


@pytest.fixture
def speaker(segmented_dollhouse: Path) -> Speaker:
    dataset = Dataset(segmented_dollhouse)
    vocabulary = dataset.vocabulary()
    vectors = np.zeros((len(vocabulary), 8), dtype=np.float32)
    return new_speaker(SpeakerConfig(hidden=8, max_words=5), vocabulary, vectors, "none", dataset)


def test_a_followers_success_is_a_mean_over_paths(segmented_dollhouse: Path, speaker: Speaker) -> None:
    dataset = Dataset(segmented_dollhouse)
    walks = dataset.walks("val_unseen")
    first = {walks.texts[0]}  # one of three texts of the first path
    found = speaker_quality(speaker, dataset, "val_unseen", Obedient(first))
    assert found.paths == len(walks)
    assert found.on_human_texts == {
        "SR": pytest.approx(1 / 3 / len(walks)),
        "SDTW": pytest.approx(1 / 3 / len(walks)),
    }
    assert found.on_speaker_texts == {"SR": 0.0, "SDTW": 0.0}
    assert found.words == 5
    assert speaker_quality(speaker, dataset, "val_unseen").on_human_texts is None


def test_described_episodes_have_one_text_per_path(segmented_dollhouse: Path) -> None:
    dataset = Dataset(segmented_dollhouse)
    human = dataset.task("r2r", "val_unseen")
    texts = [f"text {number}" for number in range(len(human.walks))]
    task = described_task(dataset, "val_unseen", texts)
    assert task.instructions(np.arange(len(task))) == texts
    assert [task[row].path for row in (0, 1)] == [human[row].path for row in (0, 3)]
