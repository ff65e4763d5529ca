"""Where taggers come from: the one that ships with BabyWalk, or a spaCy pipeline the user has installed."""

from __future__ import annotations

import warnings
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from babywalk.common.errors import ConfigError
from babywalk.common.files import read_json
from babywalk.instructions.tagging.tagger import Tagger

if TYPE_CHECKING:
    from spacy.language import Language

SHIPPED = Path(__file__).parent / "pipeline"  # made by tools/tagger/train.py; its terms are in NOTICE.txt
# What pipelines do besides tagging, which takes most of their time.
_UNUSED = [
    "parser",
    "senter",
    "ner",
    "entity_linker",
    "entity_ruler",
    "span_ruler",
    "spancat",
    "textcat",
    "textcat_multilabel",
]


def load_tagger(name: str | None = None) -> Tagger:
    """The tagger of a spaCy pipeline, given by its name or its folder; without one, the tagger that ships."""
    spacy = _spacy()
    nlp: Language = spacy.load(SHIPPED) if name is None else _installed(spacy, name)
    _use_blas(nlp)
    meta = nlp.meta
    return Tagger(
        nlp=nlp,
        version=_version(meta),
        licence=meta.get("license") or "unknown",
    )


def _use_blas(nlp: Language) -> None:
    """Let the pipeline multiply matrices with NumPy's library: a fifth faster than its own, same tags."""
    from thinc.api import NumpyOps

    ops = NumpyOps(use_blis=False)
    for _, part in nlp.pipeline:
        if (model := getattr(part, "model", None)) is not None and hasattr(model, "walk"):
            for node in model.walk():
                node.ops = ops


def tagger_notes(name: str | None = None) -> tuple[str, str]:
    """The version and the licence of a tagger; of the one that ships, without loading it."""
    if name is not None:
        tagger = load_tagger(name)
        return tagger.version, tagger.licence
    meta = read_json(SHIPPED / "meta.json")
    return _version(meta), str(meta["license"])


def _version(meta: dict[str, Any]) -> str:
    return f"{meta['lang']}_{meta['name']} {meta['version']}"


def stop_words() -> frozenset[str]:
    """English words that name nothing, in lower case, as spaCy lists them."""
    _spacy()
    from spacy.lang.en.stop_words import STOP_WORDS

    return frozenset(STOP_WORDS)


def _spacy() -> ModuleType:
    try:
        import spacy
    except ModuleNotFoundError as error:
        if error.name != "spacy":  # spaCy is there, and something that it needs is not
            raise
        raise ConfigError(
            "Segmenting instructions needs spaCy. Install it with: pip install 'babywalk[text]'."
        ) from None
    return spacy


def _installed(spacy: ModuleType, name: str) -> Language:
    try:
        nlp: Language = spacy.load(name, exclude=_UNUSED)
    except OSError:
        raise ConfigError(
            f"The tagger {name!r} is not an installed spaCy pipeline. Install it with: "
            f"python -m spacy download {name}. Or choose none, to use the one that ships with BabyWalk."
        ) from None
    except (ImportError, ValueError) as error:
        raise ConfigError(f"spaCy cannot load the tagger {name!r}: {error}") from None
    if missing := _missing(nlp):
        raise ConfigError(
            f"The tagger {name!r} gives no {missing}. Choose a pipeline such as en_core_web_sm."
        )
    return nlp


def _missing(nlp: Language) -> str:
    """What of a word's tags a pipeline leaves out, seen on a sentence; nothing if it leaves out nothing."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # spaCy warns of what is found here
        doc = nlp("Walk past the couches.")
    wanted = {"parts of speech": "POS", "lemmas": "LEMMA"}
    return " and no ".join(text for text, field in wanted.items() if not doc.has_annotation(field))
