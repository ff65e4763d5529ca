"""Loading of taggers, and the error messages."""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
import spacy

from babywalk.common.errors import ConfigError
from babywalk.instructions.tagging import load_tagger, stop_words, tagger_notes
from babywalk.instructions.tagging.loading import SHIPPED


def test_the_shipped_tagger_has_a_version_and_a_licence() -> None:
    tagger = load_tagger()
    assert tagger.version == "en_babywalk_ewt 1.0.0"
    assert tagger.licence == "CC BY-SA 4.0"
    assert tagger_notes() == tagger_notes(str(SHIPPED)) == (tagger.version, tagger.licence)
    notice = (SHIPPED.parent / "NOTICE.txt").read_text()
    assert "Universal Dependencies English EWT" in notice
    assert "https://creativecommons.org/licenses/by-sa/4.0/" in notice
    assert "WordNet 3.0 Copyright 2006 by Princeton University" in notice


@pytest.fixture(scope="module")
def contents() -> dict[str, bytes]:
    """The files of the shipped pipeline."""
    return {
        str(path.relative_to(SHIPPED)): path.read_bytes() for path in SHIPPED.rglob("*") if path.is_file()
    }


def test_the_shipped_pipeline_is_small_and_contains_no_local_paths(contents: dict[str, bytes]) -> None:
    assert sum(map(len, contents.values())) < 5_000_000
    homes = (str(Path.home()), str(SHIPPED.parents[3]), tempfile.gettempdir(), "/home")
    for folder in (f"{home}/".encode() for home in homes):
        assert not [name for name, content in contents.items() if folder in content]


def test_the_shipped_pipeline_holds_no_pickles(contents: dict[str, bytes]) -> None:
    starts = tuple(bytes([0x80, protocol]) for protocol in range(2, 6))
    assert not [name for name, content in contents.items() if content.startswith(starts)]
    assert b"'descr': '<f4'" in contents["vocab/vectors"]  # numbers, not objects


def test_the_shipped_pipeline_holds_no_words_of_the_treebank() -> None:
    strings = json.loads((SHIPPED / "vocab" / "strings.json").read_text())
    assert all(text.startswith("POS=") for text in strings)


def test_a_pipeline_is_loaded_by_its_folder() -> None:
    tagger = load_tagger(str(SHIPPED))
    assert [word.pos for word in next(tagger.tag(["Exit the room."]))] == ["VERB", "DET", "NOUN", "PUNCT"]


def test_a_pipeline_that_is_not_installed_is_refused() -> None:
    message = (
        "The tagger 'en_no_such_model' is not an installed spaCy pipeline. Install it with: python -m spacy "
        "download en_no_such_model. Or leave it out to use the one that ships with BabyWalk."
    )
    with pytest.raises(ConfigError) as caught:
        load_tagger("en_no_such_model")
    assert str(caught.value) == message


def test_a_pipeline_without_tags_is_refused(tmp_path: Path) -> None:
    spacy.blank("en").to_disk(tmp_path)
    with pytest.raises(ConfigError, match="has no parts of speech and no lemmas"):
        load_tagger(str(tmp_path))


def test_a_pipeline_without_lemmas_is_refused(tmp_path: Path) -> None:
    spacy.load(SHIPPED, exclude=["lemmatizer"]).to_disk(tmp_path)
    with pytest.raises(ConfigError, match="has no lemmas"):
        load_tagger(str(tmp_path))


def test_a_broken_pipeline_is_refused(tmp_path: Path) -> None:
    nlp = spacy.blank("en")
    nlp.to_disk(tmp_path)
    config = tmp_path / "config.cfg"
    config.write_text(config.read_text().replace('lang = "en"', 'lang = "no such language"'))
    with pytest.raises(ConfigError, match="spaCy cannot load the tagger"):
        load_tagger(str(tmp_path))


@pytest.mark.parametrize("call", [load_tagger, stop_words])
def test_without_spacy_the_message_says_how_to_install_it(
    call: Callable[[], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "spacy", None)
    with pytest.raises(ConfigError) as caught:
        call()
    assert str(caught.value) == (
        "Segmenting instructions needs spaCy. Install it with: pip install 'babywalk[text]'."
    )


def test_stop_words_are_function_words() -> None:
    assert {"the", "for", "from"} <= stop_words()
    assert "table" not in stop_words()
