"""Loading taggers: the one that ships with BabyWalk, or an installed spaCy pipeline."""

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

SHIPPED = Path(__file__).parent / "pipeline"  # made by tools/tagger/train.py; its licence is in NOTICE.txt
# Components that are not needed for tagging, and take most of a pipeline's time.
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
    """The tagger of a spaCy pipeline, by name or folder; by default, the one that ships with BabyWalk."""
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
    """Use NumPy's BLAS for matrix products: a fifth faster than spaCy's own, with the same tags."""
    from thinc.api import NumpyOps

    ops = NumpyOps(use_blis=False)
    for _, pipe in nlp.pipeline:
        if (model := getattr(pipe, "model", None)) is not None and hasattr(model, "walk"):
            for node in model.walk():
                node.ops = ops


def tagger_notes(name: str | None = None) -> tuple[str, str]:
    """The version and the licence of a tagger; the one that ships is not loaded for it."""
    if name is not None:
        tagger = load_tagger(name)
        return tagger.version, tagger.licence
    meta = read_json(SHIPPED / "meta.json")
    return _version(meta), str(meta["license"])


def _version(meta: dict[str, Any]) -> str:
    return f"{meta['lang']}_{meta['name']} {meta['version']}"


def stop_words() -> frozenset[str]:
    """spaCy's list of English stop words, in lower case."""
    _spacy()
    from spacy.lang.en.stop_words import STOP_WORDS

    return frozenset(STOP_WORDS)


def _spacy() -> ModuleType:
    try:
        import spacy
    except ModuleNotFoundError as error:
        if error.name != "spacy":  # spaCy is installed, one of its dependencies is not
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
            f"python -m spacy download {name}. Or leave it out to use the one that ships with BabyWalk."
        ) from None
    except (ImportError, ValueError) as error:
        raise ConfigError(f"spaCy cannot load the tagger {name!r}: {error}") from None
    if missing := _missing(nlp):
        raise ConfigError(f"The tagger {name!r} has no {missing}. Choose a pipeline such as en_core_web_sm.")
    return nlp


def _missing(nlp: Language) -> str:
    """Which annotations a pipeline lacks, tested on a sentence; an empty text if none."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # spaCy warns of missing annotations
        doc = nlp("Walk past the couches.")
    needed = {"parts of speech": "POS", "lemmas": "LEMMA"}
    return " and no ".join(text for text, field in needed.items() if not doc.has_annotation(field))
