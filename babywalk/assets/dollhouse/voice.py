"""A voice: how one speaker words what there is to say about one path, and what it claims by that."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from babywalk.assets.dollhouse import phrases
from babywalk.assets.dollhouse.house import DollHouse
from babywalk.assets.dollhouse.landmarks import Landmarks
from babywalk.assets.dollhouse.legs import Leg
from babywalk.assets.dollhouse.paths import Path

Fact = Literal["turn", "side", "nth", "room", "to", "stairs", "past", "ahead", "near", "behind", "on"]


@dataclass(frozen=True, slots=True)
class NarratorStyle:
    """A way of talking; each number is a probability."""

    detail: float  # to name a landmark on the way
    adjectives: float  # to say what a thing looks like though its name would do
    breaks: float  # to end the sentence after a clause
    merges: float  # to leave out a way that cannot be mistaken
    asides: float  # to begin with "once in the hallway,"


SPEAKERS = (
    NarratorStyle(detail=0.10, adjectives=0.2, breaks=0.40, merges=1.0, asides=0.00),
    NarratorStyle(detail=0.15, adjectives=0.3, breaks=0.50, merges=0.9, asides=0.03),
    NarratorStyle(detail=0.40, adjectives=0.5, breaks=0.45, merges=0.8, asides=0.04),
    NarratorStyle(detail=0.20, adjectives=0.5, breaks=0.35, merges=0.9, asides=0.08),
    NarratorStyle(detail=0.10, adjectives=0.2, breaks=0.80, merges=1.0, asides=0.00),
)


@dataclass(frozen=True, slots=True)
class Claim:
    """Something an instruction says that can be checked against the house."""

    fact: Fact
    node: int  # index into the path, where it is said
    word: str = ""  # the side, kind of turn, kind of room, or "up" and "down"
    thing: int | None = None  # of the house's sight


@dataclass
class Voice:
    """One speaker on one path. What it words, it claims; what it claims must be true."""

    landmarks: Landmarks
    path: Path
    speaker: NarratorStyle
    rng: np.random.Generator
    claims: list[Claim] = field(default_factory=list)

    @property
    def house(self) -> DollHouse:
        """The house through which the path leads."""
        return self.landmarks.house

    def room(self, node: int) -> int:
        """The room of a node of the path."""
        return self.house.rooms[self.path.nodes[node]]

    def kind(self, node: int) -> str:
        """The kind of room of a node of the path."""
        return self.house.room_kind(self.path.nodes[node])

    def level(self, node: int) -> int:
        """The level of a node of the path."""
        return self.house.levels[self.path.nodes[node]]

    def sees(self, node: int, thing: int) -> bool:
        """Whether a thing is clearly seen from a node of the path."""
        return self.landmarks.clear(self.path.nodes[node], thing)

    def claim(self, fact: Fact, node: int, word: str = "", thing: int | None = None) -> None:
        """Keep that something was said."""
        self.claims.append(Claim(fact, node, word, thing))

    def chance(self, probability: float) -> bool:
        """Whether to do something that is done with this probability."""
        return bool(self.rng.random() < probability)

    def pick(self, table: Sequence[str]) -> str:
        """One of several ways to say it."""
        return table[int(self.rng.integers(len(table)))]

    def name(self, thing: int, node: int) -> str | None:
        """A name for a thing not yet mentioned, or None if it has none that tells it apart."""
        if any(claim.thing == thing for claim in self.claims):
            return None
        return self._described(thing, node)

    def door(self, leg: Leg) -> str | None:
        """A name for the door at the end of a leg, if it is seen from the beginning."""
        if leg.door is None:
            return None
        thing = self.landmarks.thing_of_door(leg.door)
        return self._described(thing, leg.first) if self.sees(leg.first, thing) else None

    def room_name(self, kind: str) -> str:
        """A name for a kind of room."""
        return self.pick(phrases.ROOM_NAMES.get(kind, (kind,)))

    def say(
        self,
        table: Sequence[str],
        first: int,
        last: int,
        *,
        on: bool = False,
        straight: bool = True,
        thing: str = "",
        side: str = "",
        door: str | None = None,
        nth: str = "",
    ) -> str:
        """A phrase of a table about the way from one node to another.

        Phrases with a door that has no name are left out, and those with "straight" where it is not.
        """
        fit = [
            phrase
            for phrase in table
            if (door is not None or "{door}" not in phrase) and (straight or "straight" not in phrase)
        ]
        phrase = self.pick(fit)
        if "{room}" in phrase:
            self.claim("room", first, self.kind(first))
        if "{to}" in phrase:
            self.claim("room", last, self.kind(last))
        return phrase.format(
            go=self.pick(phrases.GO_ON if on else phrases.GO),
            stop=self.pick(phrases.STOP),
            room=self.room_name(self.kind(first)),
            to=self.room_name(self.kind(last)),
            thing=thing,
            side=side,
            door=door,
            nth=nth,
        )

    def _described(self, thing: int, node: int) -> str | None:
        wordy = self.chance(self.speaker.adjectives)
        return self.landmarks.describe(thing, self.path.nodes[node], wordy=wordy, rng=self.rng)
