"""Where things lie in a data directory."""

from __future__ import annotations

CONNECTIVITY = "connectivity"  # <scan>_connectivity.json
WALKS = "r2r"  # R2R_<split>.json
FEATURES = "features"  # one component per source of view features
WORD_VECTORS = "glove"  # vocab.txt, vectors.npy
FINE_GRAINED = "fine_grained"  # FGR2R_<split>.json: which words describe which part of a path
SENTENCES = "sentences"  # sentences/<split>: what the texts of a split speak of
BABYSTEPS = "babysteps"  # babysteps/<task>/<split>: steps and where on the path they end
LANDMARKS = "landmarks"  # the landmark classifier
ALIGNER = "aligner"  # what was learned of words and walking
SPEAKER = "speaker"  # what was learned of telling what was walked
PLANS = "plans"  # <scan>.json: walls and furniture of built-in houses, for pictures
RAW = "raw"  # the raw files that a built-in data set was imported from
CACHE = "cache"  # derived files that may be deleted at any time; in no manifest
# A built task is a component <task>/<split>.
