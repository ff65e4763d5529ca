"""Seeds: every random draw names what it is for, so that one draw never shifts another."""

from __future__ import annotations

import hashlib

import numpy as np


def generator(seed: int, *purpose: object) -> np.random.Generator:
    """A generator that depends on the seed and the purpose alone, the same on every machine."""
    text = "/".join(str(part) for part in (seed, *purpose))
    digest = hashlib.sha256(text.encode()).digest()
    return np.random.default_rng(np.frombuffer(digest, dtype=np.uint32).astype(np.uint64))
