"""Random generators by seed and purpose, so that adding a draw never changes another."""

from __future__ import annotations

import hashlib

import numpy as np


def generator(seed: int, *purpose: object) -> np.random.Generator:
    """A generator that depends only on the seed and the purpose, on every machine."""
    text = "/".join(str(part) for part in (seed, *purpose))
    digest = hashlib.sha256(text.encode()).digest()
    return np.random.default_rng(np.frombuffer(digest, dtype=np.uint32).astype(np.uint64))
