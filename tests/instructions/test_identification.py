from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from babywalk.common.errors import ConfigError
from babywalk.common.ragged import Ragged
from babywalk.instructions.identification import READINGS, IdentificationConfig, SentenceTable, identify
from babywalk.instructions.sentences import Sentence

# One letter per sentence: F full (landmark and verb), L landmark alone, V verb alone, G a landmark and a verb
# that is a stop word, N neither, S full but only says where to stop, W full but leads to the next sentence.
KINDS = {
    "F": {"landmarks": ("door",), "verbs": ("walk",)},
    "L": {"landmarks": ("door",)},
    "V": {"verbs": ("walk",)},
    "G": {"landmarks": ("door",), "verbs": ("go",)},
    "N": {},
    "S": {"landmarks": ("door",), "verbs": ("stop",), "stops": True},
    "W": {"landmarks": ("door",), "verbs": ("walk",), "leads": True},
}


def steps(*texts: str, **options: object) -> list[str]:
    """The steps of one instruction made of texts of letters, as strings of letters."""
    sentences = [
        [Sentence(10 * number, 10 * number + 9, **KINDS[kind]) for number, kind in enumerate(text)]
        for text in texts
    ]
    table = SentenceTable.of(sentences, frozenset({"go"}))
    letters = "".join(texts)
    counts = identify(table, Ragged.of([range(len(letters))]), IdentificationConfig(**options))
    ends = np.cumsum(counts.values).tolist()
    return [letters[begin:end] for begin, end in zip([0, *ends], ends, strict=False)]


@pytest.mark.parametrize(
    ("text", "both", "either", "strict"),
    [
        ("FF", ["F", "F"], ["F", "F"], ["F", "F"]),
        ("NF", ["NF"], ["NF"], ["NF"]),  # rule 5: into the next
        ("FN", ["FN"], ["FN"], ["FN"]),  # there is no next: with the one before
        ("NN", ["NN"], ["NN"], ["NN"]),
        ("LF", ["L", "F"], ["LF"], ["LF"]),
        ("LVF", ["L", "V", "F"], ["LV", "F"], ["LV", "F"]),  # together they are actionable
        ("GF", ["G", "F"], ["G", "F"], ["GF"]),  # go is not a verb in the strict reading
        ("FSF", ["FS", "F"], ["FS", "F"], ["FS", "F"]),  # rule 6: with the one before
        ("SF", ["S", "F"], ["S", "F"], ["S", "F"]),  # there is none before
        ("FWF", ["F", "WF"], ["F", "WF"], ["F", "WF"]),  # rule 6: with the one after
        ("FW", ["FW"], ["FW"], ["FW"]),
        (
            "NSF",
            ["NS", "F"],
            ["NS", "F"],
            ["NS", "F"],
        ),  # the step begins with N, so it is not a stop sentence
        ("FSSWFN", ["FSS", "WFN"], ["FSS", "WFN"], ["FSS", "WFN"]),
        ("F", ["F"], ["F"], ["F"]),
    ],
)
def test_readings_of_rule_5_and_rule_6(
    text: str, both: list[str], either: list[str], strict: list[str]
) -> None:
    assert steps(text, reading="both") == both
    assert steps(text, reading="either") == either
    assert steps(text, reading="either-strict") == strict


def test_steps_may_cross_the_boundary_of_two_texts() -> None:
    assert steps("FN", "FF") == ["F", "NF", "F"]
    assert steps("FF", "SF") == ["F", "FS", "F"]


def test_mode_sentence_gives_one_step_per_sentence() -> None:
    assert steps("NSFW", mode="sentence") == ["N", "S", "F", "W"]


def test_max_steps_limits_the_number_of_steps() -> None:
    assert steps("FFFF", max_steps=2) == ["FF", "FF"]
    assert steps("FSFF", max_steps=2) == ["FS", "FF"]  # the shortest two neighbours are merged
    assert steps("FFFF", max_steps=1) == ["FFFF"]
    assert steps("FF", max_steps=5) == ["F", "F"]


def test_size_merges_neighbouring_steps() -> None:
    """Four sentences of 9 characters have 36: two parts of 18, or three of 12 (middles 4.5, 13.5, ...)."""
    assert steps("FFFF", size=18) == ["FF", "FF"]
    assert steps("FFFF", size=12) == ["F", "FF", "F"]
    assert steps("FFFF", size=100) == ["FFFF"]
    assert steps("FFFF", size=1) == ["F", "F", "F", "F"]
    assert steps("FSSF", size=18) == ["FSS", "F"]  # what rule 6 has merged stays merged


@given(
    st.lists(st.text(alphabet=list(KINDS), max_size=7), min_size=1, max_size=5),
    st.sampled_from(list(READINGS)),
    st.integers(0, 3),
    st.integers(0, 40),
)
def test_a_batch_is_segmented_as_each_text_alone_and_no_sentence_is_lost(
    texts: list[str], reading: str, limit: int, size: int
) -> None:
    sentences = [
        [Sentence(10 * n, 10 * n + 9, **KINDS[kind]) for n, kind in enumerate(text)] for text in texts
    ]
    table = SentenceTable.of(sentences, frozenset({"go"}))
    rows = Ragged(np.arange(sum(map(len, texts)), dtype=np.int32), table.first)
    found = identify(table, rows, IdentificationConfig(reading=reading, max_steps=limit, size=size))
    for row, text in enumerate(texts):
        counts = found[row].tolist()
        assert sum(counts) == len(text)
        assert all(count > 0 for count in counts)
        assert not limit or len(counts) <= limit
        assert not size or len(counts) <= max(1, round(9 * len(text) / size))
        options = {"reading": reading, "max_steps": limit}
        alone = [len(step) for step in steps(text, size=size, **options)] if text else []
        assert counts == alone
        fine = [len(step) for step in steps(text, **options)] if text else []
        assert set(np.cumsum(counts)) <= set(np.cumsum(fine))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"mode": "sentences"}, r"Mode 'sentences' is not known\. Did you mean 'sentence'\?"),
        ({"reading": "neither"}, r"Reading 'neither' is not known\. Did you mean 'either'\?"),
        ({"size": -5}, r"size = -5 is out of range\. Give a number of characters, or 0 for any size"),
        ({"max_steps": -1}, r"max_steps = -1 is out of range\. Give a number of steps, or 0 for no limit"),
    ],
)
def test_settings_out_of_range_are_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        IdentificationConfig(**options)
