"""Landmarks: the objects a narrator can mention, and names that identify them."""

from __future__ import annotations

import numpy as np

from babywalk.assets.dollhouse.furniture import DOORS, KINDS, STAIRS
from babywalk.assets.dollhouse.geometry import Bools, Floats, heading, wrap_angle
from babywalk.assets.dollhouse.house import DollHouse
from babywalk.assets.dollhouse.phrases import NAMES
from babywalk.assets.dollhouse.routes import Leg
from babywalk.assets.dollhouse.visibility import Visibility

_MIN_SHARE = 0.4  # of an object that must be visible for it to be mentioned
_NOT_PASSED = frozenset(kind.name for kind in KINDS if kind.place in ("floor", "ceiling"))
_OVERHEAD = frozenset(kind.name for kind in KINDS if kind.place == "ceiling")


class Landmarks:
    """The things of a house as a narrator uses them: methods return only what is visible from a viewpoint."""

    def __init__(self, house: DollHouse, visibility: Visibility) -> None:
        self.house = house
        self.visibility = visibility
        self.names = [thing.name for thing in visibility.things]
        self.furniture = np.array([name not in DOORS + STAIRS for name in self.names])

    def describe(self, thing: int, viewer: int, *, wordy: bool, rng: np.random.Generator) -> str | None:
        """A name for a thing seen from a viewpoint; None if it would fit a second visible thing.

        The name has a colour or material where that is needed to identify the thing, or if `wordy`.
        """
        mine = self.visibility.things[thing]
        adjectives = [word for word in (mine.colour, mine.material) if word]
        rivals = [
            self.visibility.things[other]
            for other in np.flatnonzero(self.visibility.visible_share[viewer] > 0)
            if other != thing and self.names[other] == mine.name
        ]
        if not rivals:
            chosen = adjectives[:1] if wordy else []
        else:
            unique = [word for word in adjectives if all(word not in (r.colour, r.material) for r in rivals)]
            if not unique:
                return None
            chosen = unique[:1]
        names = NAMES.get(mine.name, (mine.name,))
        return " ".join([*chosen, names[int(rng.integers(len(names)))]])

    def is_clear(self, viewer: int, thing: int) -> bool:
        """Whether a thing is clearly visible from a viewpoint."""
        return bool(self.visibility.visible_share[viewer, thing] >= _MIN_SHARE)

    def sees_stairs(self, viewer: int) -> bool:
        """Whether stairs are clearly visible from a viewpoint."""
        return any(self.is_clear(viewer, thing) for thing, name in enumerate(self.names) if name in STAIRS)

    def near(self, viewer: int, reach: float) -> list[int]:
        """Furniture of the same room within `reach` metres, nearest first; nothing on the ceiling."""
        here = np.array([thing.room == self.house.rooms[viewer] for thing in self.visibility.things])
        ok = (
            self._visible_furniture(viewer)
            & here
            & ~self._with_name(_OVERHEAD)
            & (self.visibility.distance[viewer] <= reach)
        )
        return sorted(np.flatnonzero(ok).tolist(), key=lambda thing: self.visibility.distance[viewer, thing])

    def passed(self, nodes: tuple[int, ...], leg: Leg) -> list[tuple[int, str]]:
        """Furniture passed on a leg, with its side, nearest first."""
        seen = self._visible_furniture(nodes[leg.first]) & ~self._with_name(_NOT_PASSED)
        rooms = {self.house.rooms[node] for node in nodes[leg.first : leg.last + 1]}
        found = []
        for thing in np.flatnonzero(seen).tolist():
            if self.visibility.things[thing].room not in rooms:
                continue
            for a, b in zip(nodes[leg.first : leg.last], nodes[leg.first + 1 : leg.last + 1], strict=True):
                along, right, length = self._relative(a, b, self._middle(thing))
                if 0.1 * length < along < 0.9 * length and 0.4 < abs(right) < 2.0:
                    found.append((abs(right), thing, "right" if right > 0 else "left"))
                    break
        return [(thing, side) for _, thing, side in sorted(found)]

    def ahead(self, nodes: tuple[int, ...], leg: Leg) -> list[int]:
        """Furniture ahead at the end of a leg, nearest to its end first."""
        start, end = nodes[leg.first], nodes[leg.last]
        way = heading(self.house.positions[start], self.house.positions[end])
        found = []
        for thing in np.flatnonzero(self._visible_furniture(start) & ~self._with_name(_NOT_PASSED)).tolist():
            off = abs(wrap_angle(self.visibility.bearing[start, thing] - way))
            along, _, length = self._relative(start, end, self._middle(thing))
            remaining = self.visibility.distance[end, thing]
            if off < np.radians(18) and along > length and remaining < 3.0:
                found.append((remaining, thing))
        return [thing for _, thing in sorted(found)]

    def behind(self, nodes: tuple[int, ...]) -> list[int]:
        """Furniture behind a walker who faces along the first edge."""
        start = nodes[0]
        way = heading(self.house.positions[start], self.house.positions[nodes[1]])
        return [
            thing
            for thing in self.near(start, 3.0)
            if abs(wrap_angle(self.visibility.bearing[start, thing] - way)) > np.radians(150)
            and self.names[thing] not in _NOT_PASSED
        ]

    def side_of(self, thing: int, viewer: int, facing: float) -> str | None:
        """The side of a thing relative to the heading `facing`; None if it is ahead or behind."""
        off = wrap_angle(self.visibility.bearing[viewer, thing] - facing)
        if not np.radians(35) < abs(off) < np.radians(145):
            return None
        return "right" if off > 0 else "left"

    def ordinal(self, nodes: tuple[int, ...], approach: Leg, leg: Leg) -> int | None:
        """The number of a leg's door among those on its side, along the approach; None if ambiguous."""
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
            return None  # a door beside the start might or might not be counted
        before = [number for number, place in places.items() if 0.0 < place < mine]
        # Where doors and archways are mixed, the count is ambiguous.
        kinds = {self.house.plan.doors[number].kind == "archway" for number in (*before, leg.door)}
        return 1 + len(before) if len(kinds) == 1 else None

    def doors_near(self, viewer: int, reach: float) -> list[int]:
        """Visible doors of the viewpoint's room within `reach` metres, nearest first, as things."""
        room = self.house.rooms[viewer]
        found = []
        for thing in np.flatnonzero((self.visibility.visible_share[viewer] >= _MIN_SHARE) & ~self.furniture):
            door = self.visibility.things[thing].door
            if door is not None and room in self.house.plan.doors[door].rooms:
                distance = self.visibility.distance[viewer, thing]
                if distance <= reach:
                    found.append((distance, int(thing)))
        return [thing for _, thing in sorted(found)]

    def thing_of_door(self, door: int) -> int:
        """The thing of a door of the plan."""
        return next(number for number, thing in enumerate(self.visibility.things) if thing.door == door)

    def _visible_furniture(self, viewer: int) -> Bools:
        """Clearly visible furniture on the viewpoint's level."""
        level = self.house.levels[viewer]
        same = np.array([thing.level == level for thing in self.visibility.things])
        seen: Bools = self.furniture & same & (self.visibility.visible_share[viewer] >= _MIN_SHARE)
        return seen

    def _with_name(self, names: frozenset[str]) -> Bools:
        return np.array([name in names for name in self.names])

    def _middle(self, thing: int) -> Floats:
        box = self.visibility.things[thing].box
        return np.array([(box[0] + box[3]) / 2, (box[1] + box[4]) / 2])

    def _relative(self, a: int, b: int, point: Floats) -> tuple[float, float, float]:
        """A point as metres along the line from a to b and to the right of it; and the line's length."""
        start, step = self.house.positions[a, :2], self.house.positions[b, :2] - self.house.positions[a, :2]
        length = float(np.hypot(*step))
        x, y = point - start
        along = float((x * step[0] + y * step[1]) / length)
        right = float((x * step[1] - y * step[0]) / length)
        return along, right, length
