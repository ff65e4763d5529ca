"""Landmarks: what a speaker can point at, and how to name it so that it is not mistaken."""

from __future__ import annotations

import numpy as np

from babywalk.assets.dollhouse.catalogue import DOORS, KINDS, STAIRS
from babywalk.assets.dollhouse.geometry import Bools, Floats, heading, turned
from babywalk.assets.dollhouse.house import DollHouse
from babywalk.assets.dollhouse.legs import Leg
from babywalk.assets.dollhouse.phrases import NAMES
from babywalk.assets.dollhouse.sight import Sight

_CLEAR = 0.4  # the share of a thing that must be seen before one points at it
_FLAT = frozenset(kind.name for kind in KINDS if kind.place in ("floor", "ceiling"))
_OVERHEAD = frozenset(kind.name for kind in KINDS if kind.place == "ceiling")


class Landmarks:
    """The things of a house as a speaker uses them. Every method names only what is seen from there."""

    def __init__(self, house: DollHouse, sight: Sight) -> None:
        self.house = house
        self.sight = sight
        self.names = [thing.name for thing in sight.things]
        self.furniture = np.array([name not in DOORS + STAIRS for name in self.names])

    def describe(self, thing: int, viewer: int, *, wordy: bool, rng: np.random.Generator) -> str | None:
        """A name for a thing seen from a viewpoint, or None if it would fit a second thing there.

        Colour or material is named where it tells two things apart, and where the speaker is `wordy`.
        """
        mine = self.sight.things[thing]
        looks = [look for look in (mine.colour, mine.material) if look]
        rivals = [
            self.sight.things[other]
            for other in np.flatnonzero(self.sight.shown[viewer] > 0)
            if other != thing and self.names[other] == mine.name
        ]
        if not rivals:
            chosen = looks[:1] if wordy else []
        else:
            telling = [look for look in looks if all(look not in (r.colour, r.material) for r in rivals)]
            if not telling:
                return None
            chosen = telling[:1]
        names = NAMES.get(mine.name, (mine.name,))
        return " ".join([*chosen, names[int(rng.integers(len(names)))]])

    def clear(self, viewer: int, thing: int) -> bool:
        """Whether a thing is clearly seen from a viewpoint."""
        return bool(self.sight.shown[viewer, thing] >= _CLEAR)

    def sees_stairs(self, viewer: int) -> bool:
        """Whether stairs are clearly seen from a viewpoint."""
        return any(self.clear(viewer, thing) for thing, name in enumerate(self.names) if name in STAIRS)

    def near(self, viewer: int, reach: float) -> list[int]:
        """Furniture of the same room within reach of a viewpoint, nearest first; nothing overhead."""
        here = np.array([thing.room == self.house.rooms[viewer] for thing in self.sight.things])
        ok = self._seen(viewer) & here & ~self._named(_OVERHEAD) & (self.sight.distance[viewer] <= reach)
        return sorted(np.flatnonzero(ok).tolist(), key=lambda thing: self.sight.distance[viewer, thing])

    def passed(self, nodes: tuple[int, ...], leg: Leg) -> list[tuple[int, str]]:
        """Furniture that one passes on a leg, with the side on which, nearest first."""
        seen = self._seen(nodes[leg.first]) & ~self._named(_FLAT)
        rooms = {self.house.rooms[node] for node in nodes[leg.first : leg.last + 1]}
        found = []
        for thing in np.flatnonzero(seen).tolist():
            if self.sight.things[thing].room not in rooms:
                continue
            for a, b in zip(nodes[leg.first : leg.last], nodes[leg.first + 1 : leg.last + 1], strict=True):
                along, right, length = self._relative(a, b, self._middle(thing))
                if 0.1 * length < along < 0.9 * length and 0.4 < abs(right) < 2.0:
                    found.append((abs(right), thing, "right" if right > 0 else "left"))
                    break
        return [(thing, side) for _, thing, side in sorted(found)]

    def ahead(self, nodes: tuple[int, ...], leg: Leg) -> list[int]:
        """Furniture towards which a leg leads, nearest to its end first."""
        start, end = nodes[leg.first], nodes[leg.last]
        way = heading(self.house.positions[start], self.house.positions[end])
        found = []
        for thing in np.flatnonzero(self._seen(start) & ~self._named(_FLAT)).tolist():
            off = abs(turned(self.sight.bearing[start, thing] - way))
            along, _, length = self._relative(start, end, self._middle(thing))
            remaining = self.sight.distance[end, thing]
            if off < np.radians(18) and along > length and remaining < 3.0:
                found.append((remaining, thing))
        return [thing for _, thing in sorted(found)]

    def behind(self, nodes: tuple[int, ...]) -> list[int]:
        """Furniture at the back of one who has turned to walk the first edge."""
        start = nodes[0]
        way = heading(self.house.positions[start], self.house.positions[nodes[1]])
        return [
            thing
            for thing in self.near(start, 3.0)
            if abs(turned(self.sight.bearing[start, thing] - way)) > np.radians(150)
            and self.names[thing] not in _FLAT
        ]

    def side_of(self, thing: int, viewer: int, facing: float) -> str | None:
        """On which side of one who faces somewhere a thing lies; None where it is ahead or behind."""
        off = turned(self.sight.bearing[viewer, thing] - facing)
        if not np.radians(35) < abs(off) < np.radians(145):
            return None
        return "right" if off > 0 else "left"

    def ordinal(self, nodes: tuple[int, ...], approach: Leg, leg: Leg) -> int | None:
        """Which door on its side one takes, counted from where the approach began; None if unclear."""
        if leg.door is None or leg.turn_kind != "turn" or approach.bend > np.radians(20):
            return None
        room = self.house.rooms[nodes[approach.first]]
        if room != self.house.rooms[nodes[leg.first]]:
            return None
        a, b = nodes[approach.first], nodes[approach.last]
        sign = 1.0 if leg.turn > 0 else -1.0
        places = {}
        for number, door in enumerate(self.house.plan.doors):
            if room in door.rooms:
                along, right, _ = self._relative(a, b, np.array(door.centre))
                if right * sign > 0.5:
                    places[number] = along
        mine = places.get(leg.door)
        if mine is None or mine < 0.5 or any(abs(place) < 0.5 for place in places.values()):
            return None  # a door right beside the start might or might not be counted
        before = [number for number, place in places.items() if 0.0 < place < mine]
        # Where archways lie among the doors, people disagree on what counts.
        kinds = {self.house.plan.doors[number].kind == "archway" for number in (*before, leg.door)}
        return 1 + len(before) if len(kinds) == 1 else None

    def doors_near(self, viewer: int, reach: float) -> list[int]:
        """Things that are doors of the viewpoint's own room, seen and within reach, nearest first."""
        room = self.house.rooms[viewer]
        found = []
        for thing in np.flatnonzero((self.sight.shown[viewer] >= _CLEAR) & ~self.furniture):
            door = self.sight.things[thing].door
            if door is not None and room in self.house.plan.doors[door].rooms:
                distance = self.sight.distance[viewer, thing]
                if distance <= reach:
                    found.append((distance, int(thing)))
        return [thing for _, thing in sorted(found)]

    def thing_of_door(self, door: int) -> int:
        """The thing that a door of the plan is."""
        return next(number for number, thing in enumerate(self.sight.things) if thing.door == door)

    def _seen(self, viewer: int) -> Bools:
        """Furniture of the viewer's own storey that is clearly seen."""
        level = self.house.levels[viewer]
        same = np.array([thing.level == level for thing in self.sight.things])
        seen: Bools = self.furniture & same & (self.sight.shown[viewer] >= _CLEAR)
        return seen

    def _named(self, names: frozenset[str]) -> Bools:
        return np.array([name in names for name in self.names])

    def _middle(self, thing: int) -> Floats:
        box = self.sight.things[thing].box
        return np.array([(box[0] + box[3]) / 2, (box[1] + box[4]) / 2])

    def _relative(self, a: int, b: int, point: Floats) -> tuple[float, float, float]:
        """A point as metres along the way from a to b and to the right of it; and how long the way is."""
        start, step = self.house.positions[a, :2], self.house.positions[b, :2] - self.house.positions[a, :2]
        length = float(np.hypot(*step))
        x, y = point - start
        along = float((x * step[0] + y * step[1]) / length)
        right = float((x * step[1] - y * step[0]) / length)
        return along, right, length
