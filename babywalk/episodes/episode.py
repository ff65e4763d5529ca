"""One episode: what an agent is told, and where the person who said it had walked."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Episode:
    """An instruction and the path it describes, from a start in a house."""

    id: str  # "<path id>_<number of the instruction>"
    scan: str
    path: tuple[str, ...]  # viewpoint ids; the start alone in a test split
    heading: float  # radians at the start
    instruction: str
