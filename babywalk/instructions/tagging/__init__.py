"""Part-of-speech tagging and lemmatisation of instructions, with a spaCy pipeline."""

from babywalk.instructions.tagging.loading import load_tagger, stop_words, tagger_notes
from babywalk.instructions.tagging.tagger import Tagger, Word

__all__ = ["Tagger", "Word", "load_tagger", "stop_words", "tagger_notes"]
