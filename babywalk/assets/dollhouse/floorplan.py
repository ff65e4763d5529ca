"""The floor plan: rooms as rectangles, the doors between them, and the stairs.

Every storey is a corridor with a row of rooms on either side. A deep room may have a smaller room behind
it, and one large room may take up the whole end of the storey. Plans are mirrored and rotated at random.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from babywalk.assets.dollhouse.geometry import Floats, Point, Rect

STOREY_HEIGHT = 2.6  # metres from floor to floor
_STAIRS_WIDTH, _STAIRS_DEPTH = 2.2, 2.3
_DOOR_COLOURS = ("white", "brown", "black", "red", "blue")
_SOCIAL = ("living room", "family room", "dining room", "kitchen", "game room", "entryway")
_PRIVATE = ("bathroom", "closet", "laundry room")
FEWEST_ROOMS, MOST_ROOMS = 8, 16  # without the stairwells


@dataclass(frozen=True, slots=True)
class Room:
    """A rectangle on one storey, and its kind."""

    kind: str
    storey: int
    rect: Rect


@dataclass(frozen=True, slots=True)
class Door:
    """A gap in the wall between two rooms of one storey."""

    kind: str
    storey: int
    rooms: tuple[int, int]
    gap: tuple[float, float, float, float]  # x0, y0, x1, y1, along the wall
    colour: str | None
    material: str | None

    @property
    def centre(self) -> Point:
        """The middle of the gap."""
        return (self.gap[0] + self.gap[2]) / 2, (self.gap[1] + self.gap[3]) / 2

    @property
    def along_x(self) -> bool:
        """Whether the wall runs along x, so that a walker passes through along y."""
        return self.gap[1] == self.gap[3]


@dataclass(frozen=True, slots=True)
class Stairs:
    """Two parallel flights that meet on a landing; both start at the same side, in the corridor."""

    rooms: tuple[int, int]  # the stairwell on the lower and on the upper storey
    lower: Rect  # the flight from the lower storey to the landing
    upper: Rect  # the flight from the landing to the upper storey
    foot: Point  # in front of the lower flight, on the lower storey
    landing: Point
    head: Point  # in front of the upper flight, on the upper storey


@dataclass(frozen=True, slots=True)
class FloorPlan:
    """The rooms of a house; every room can be reached from every other through doors and stairs."""

    rooms: tuple[Room, ...]
    doors: tuple[Door, ...]
    stairs: Stairs | None

    @property
    def storeys(self) -> int:
        """The number of storeys."""
        return 1 + max(room.storey for room in self.rooms)

    def doors_of(self, room: int) -> list[Door]:
        """The doors of one room."""
        return [door for door in self.doors if room in door.rooms]

    def standing_point(self, door: Door, room: int) -> Point:
        """The point in a room from which a door is straight ahead."""
        return _standing_point(door.gap, self.rooms[room].rect)


def walls(plan: FloorPlan, storey: int, *, jamb: float = 0.0) -> Floats:
    """The walls of one storey, (K, 4), with gaps at the doors; `jamb` narrows every gap on both sides."""
    pieces: list[tuple[float, float, float, float]] = []
    for room_number, room in enumerate(plan.rooms):
        if room.storey != storey:
            continue
        r = room.rect
        gaps = [door.gap for door in plan.doors_of(room_number)]
        for x in (r.x0, r.x1):
            cuts = [(g[1] + jamb, g[3] - jamb) for g in gaps if g[0] == g[2] == x]
            pieces += [(x, low, x, high) for low, high in _without_gaps(r.y0, r.y1, cuts)]
        for y in (r.y0, r.y1):
            cuts = [(g[0] + jamb, g[2] - jamb) for g in gaps if g[1] == g[3] == y]
            pieces += [(low, y, high, y) for low, high in _without_gaps(r.x0, r.x1, cuts)]
    return np.array(sorted(dict.fromkeys(pieces)), dtype=np.float64)


def draw_plan(rng: np.random.Generator) -> FloorPlan:
    """A random floor plan of one or two storeys with 8 to 16 rooms."""
    draft = _Draft(rng, storeys=int(rng.choice([1, 2], p=[0.4, 0.6])))
    return _mirrored(draft.finished(), rng)


@dataclass
class _Draft:
    """A plan under construction: the corridor runs along x, and the stairs lead away from it along y."""

    rng: np.random.Generator
    storeys: int
    rooms: list[Room] = field(default_factory=list)
    doors: list[Door] = field(default_factory=list)
    stairs: Stairs | None = None
    stair_ends: list[tuple[int, Point]] = field(
        default_factory=list
    )  # room and point at either end of the stairs

    def finished(self) -> FloorPlan:
        """The plan, storey by storey."""
        one = self.storeys == 1
        length = self._uniform(14.0, 18.0) if one else self._uniform(9.4, 11.8)
        low, hall, high = self._uniform(4.0, 6.0), self._uniform(1.9, 2.4), self._uniform(4.0, 6.0)
        corridor = Rect(0.0, low, length, round(low + hall, 2))
        top = round(corridor.y1 + high, 2)
        for storey in range(self.storeys):
            self._storey(storey, corridor, top)
        if self.storeys == 2:
            self._add_stairs(corridor)
        return FloorPlan(tuple(self.rooms), tuple(self.doors), self.stairs)

    def _storey(self, storey: int, corridor: Rect, top: float) -> None:
        length = corridor.x1
        if self.rng.random() < 0.6:
            end = self._add(storey, Rect(length, 0.0, round(length + self._uniform(4.0, 5.2), 2), top), "end")
        else:
            end = None
        start = 0.0
        entry = None
        if storey == 0:
            start = 2.6
            entry = self._add(storey, Rect(0.0, corridor.y0, start, corridor.y1), "entryway")
        hallway = self._add(storey, Rect(start, corridor.y0, length, corridor.y1), "hallway")
        stairwell = self.storeys == 2
        left = _STAIRS_WIDTH if stairwell else 0.0
        shift = 2.6 if stairwell else 0.0  # the stairs are beside the hallway, never the entryway
        if stairwell:
            self._add(
                storey,
                Rect(shift, corridor.y1, shift + left, round(corridor.y1 + _STAIRS_DEPTH, 2)),
                "stairs",
            )
            step = 0.25 if storey == 0 else 0.75
            self.stair_ends.append((hallway, (shift + step * left, (corridor.y0 + corridor.y1) / 2)))
        rows: list[list[int]] = []
        if shift:
            rows.append(self._row(storey, 0.0, shift, corridor.y1, top, outward=1))
        rows.append(self._row(storey, shift + left, length, corridor.y1, top, outward=1))
        rows.append(self._row(storey, 0.0, length, corridor.y0, 0.0, outward=-1))
        fronts = [room for row in rows for room in row]
        self._assign_kinds(storey, fronts, end)
        if entry is not None:
            self._door(hallway, entry, "archway")
        for front in fronts:
            beside = hallway if self._shared_length(front, hallway) >= 1.3 or entry is None else entry
            self._door(beside, front)
        if end is not None:
            self._door(hallway, end, "archway")
        for row in rows:
            self._side_doors(list(pairwise(row)))
        if end is not None:
            self._side_doors([(rows[-1][-1], end), (rows[-2][-1], end)])

    def _row(
        self, storey: int, start: float, end: float, near: float, far: float, *, outward: int
    ) -> list[int]:
        """Add rooms along the corridor, some with a smaller room behind; returns the front rooms."""
        count = max(1, round((end - start) / self._uniform(3.7, 4.8)))
        shares = self.rng.uniform(0.85, 1.2, count)
        edges = np.concatenate([[0.0], np.cumsum(shares) / shares.sum()]) * (end - start) + start
        fronts = []
        for x0, x1 in zip(np.round(edges[:-1], 2), np.round(edges[1:], 2), strict=True):
            middle = far
            rear_room = len(self.rooms) < MOST_ROOMS - 4 * (self.storeys - storey)
            if abs(far - near) > 4.8 and self.rng.random() < 0.45 and rear_room:
                middle = round(far - outward * self._uniform(1.9, 2.3), 2)
                self._add(storey, Rect(float(x0), min(middle, far), float(x1), max(middle, far)), "rear")
            fronts.append(
                self._add(storey, Rect(float(x0), min(near, middle), float(x1), max(near, middle)), "front")
            )
        return fronts

    def _assign_kinds(self, storey: int, fronts: list[int], end: int | None) -> None:
        """Assign kinds to rooms: living and dining rooms to the largest, closets to the smallest."""
        if end is not None:
            kind = "living room" if storey == 0 else ("family room", "game room")[self.rng.integers(2)]
            self._rename(end, kind)
        must = ["kitchen", "dining room"] if storey == 0 else ["bedroom", "bathroom"]
        if storey == 0 and end is None:
            must.insert(0, "living room")
        if self.storeys == 1:
            must += ["bedroom", "bathroom"]
        rest = ["bedroom", "office", "library", "gym", "family room", "game room", "laundry room", "bedroom"]
        if storey == 1:
            rest += ["bedroom", "closet"]
        taken = None if end is None else self.rooms[end].kind
        extra = [rest[index] for index in self.rng.permutation(len(rest)) if rest[index] != taken]
        kinds = (must + extra)[: len(fronts)]
        by_need = sorted(kinds, key=lambda kind: (kind in _PRIVATE, kind not in _SOCIAL))
        by_area = sorted(fronts, key=lambda room: -self.rooms[room].rect.area)
        for room, kind in zip(by_area, by_need, strict=True):
            self._rename(room, kind)
        rears = [i for i, r in enumerate(self.rooms) if r.kind == "rear" and r.storey == storey]
        for rear in rears:
            front = max(fronts, key=lambda room: self._shared_length(room, rear))
            owner = self.rooms[front].kind
            wet = "laundry room" if owner in ("kitchen", "bathroom") else "bathroom"
            self._rename(rear, "closet" if self.rng.random() < 0.35 else wet)
            self._door(front, rear, "door")

    def _side_doors(self, pairs: list[tuple[int, int]]) -> None:
        """Doors between neighbouring rooms of a row, which create loops in the house."""
        for a, b in pairs:
            kinds = {self.rooms[a].kind, self.rooms[b].kind}
            chance = 0.8 if kinds <= set(_SOCIAL) else 0.3
            if not kinds & set(_PRIVATE) and self._shared_length(a, b) > 2.0 and self.rng.random() < chance:
                self._door(a, b)

    def _door(self, a: int, b: int, kind: str | None = None) -> None:
        """Add a door between two rooms, away from other doors or straight across from one."""
        low, high, fixed, along_x = _shared_wall(self.rooms[a].rect, self.rooms[b].rect)
        social = {self.rooms[a].kind, self.rooms[b].kind} & set(_SOCIAL)
        if kind is None:
            kind = str(self.rng.choice(["archway", "double doors", "door"])) if social else "door"
        width = 0.95 if kind == "door" else self._uniform(1.3, 1.6)
        width = min(width, high - low - 0.3)
        places = np.arange(low + width / 2 + 0.15, high - width / 2 - 0.14, 0.1)
        if not len(places):
            places = np.array([(low + high) / 2])
        gaps = [_gap(round(float(place), 2), round(width / 2, 2), fixed, along_x) for place in places]
        badness = [
            self._crowding(a, _standing_point(gap, self.rooms[a].rect))
            + self._crowding(b, _standing_point(gap, self.rooms[b].rect))
            for gap in gaps
        ]
        best = [gap for gap, bad in zip(gaps, badness, strict=True) if bad <= min(badness) + 1e-9]
        gap = best[int(self.rng.integers(len(best)))]
        colour = str(self.rng.choice(_DOOR_COLOURS)) if kind == "door" and self.rng.random() < 0.6 else None
        material = "glass" if kind == "double doors" and self.rng.random() < 0.6 else None
        self.doors.append(Door(kind, self.rooms[a].storey, (a, b), gap, colour, material))

    def _crowding(self, room: int, standing_point: Point) -> float:
        """A penalty for standing points of other doors that are close but not the same."""
        rect = self.rooms[room].rect
        others = [_standing_point(door.gap, rect) for door in self.doors if room in door.rooms]
        others += [point for place, point in self.stair_ends if place == room]
        gaps = [float(np.hypot(standing_point[0] - x, standing_point[1] - y)) for x, y in others]
        return sum(max(0.0, 1.6 - gap) for gap in gaps if gap > 0.3)

    def _add_stairs(self, corridor: Rect) -> None:
        wells = [i for i, room in enumerate(self.rooms) if room.kind == "stairs"]
        halls = [i for i, room in enumerate(self.rooms) if room.kind == "hallway"]
        r = self.rooms[wells[0]].rect
        for well, hall in zip(wells, halls, strict=True):
            gap = (round(r.x0 + 0.05, 2), r.y0, round(r.x1 - 0.05, 2), r.y0)
            self.doors.append(Door("archway", self.rooms[well].storey, (hall, well), gap, None, None))
        middle = (r.x0 + r.x1) / 2
        front = (corridor.y0 + corridor.y1) / 2
        self.stairs = Stairs(
            rooms=(wells[0], wells[1]),
            lower=Rect(r.x0, r.y0, middle, r.y1 - 0.85),
            upper=Rect(middle, r.y0, r.x1, r.y1 - 0.85),
            foot=((r.x0 + middle) / 2, front),
            landing=(middle, r.y1 - 0.45),
            head=((middle + r.x1) / 2, front),
        )

    def _shared_length(self, a: int, b: int) -> float:
        low, high, _, _ = _shared_wall(self.rooms[a].rect, self.rooms[b].rect)
        return high - low

    def _add(self, storey: int, rect: Rect, kind: str) -> int:
        self.rooms.append(Room(kind, storey, rect))
        return len(self.rooms) - 1

    def _rename(self, room: int, kind: str) -> None:
        self.rooms[room] = Room(kind, self.rooms[room].storey, self.rooms[room].rect)

    def _uniform(self, low: float, high: float) -> float:
        return round(float(self.rng.uniform(low, high)), 2)


def _shared_wall(a: Rect, b: Rect) -> tuple[float, float, float, bool]:
    """The wall that two rooms share: start, end, fixed coordinate, and whether it runs along x."""
    for y in (a.y0, a.y1):
        if y in (b.y0, b.y1) and min(a.x1, b.x1) > max(a.x0, b.x0):
            return max(a.x0, b.x0), min(a.x1, b.x1), y, True
    for x in (a.x0, a.x1):
        if x in (b.x0, b.x1) and min(a.y1, b.y1) > max(a.y0, b.y0):
            return max(a.y0, b.y0), min(a.y1, b.y1), x, False
    return 0.0, 0.0, 0.0, True


def _gap(place: float, half: float, fixed: float, along_x: bool) -> tuple[float, float, float, float]:
    low, high = round(place - half, 2), round(place + half, 2)
    return (low, fixed, high, fixed) if along_x else (fixed, low, fixed, high)


def _standing_point(gap: tuple[float, float, float, float], rect: Rect) -> Point:
    x, y = (gap[0] + gap[2]) / 2, (gap[1] + gap[3]) / 2
    if gap[1] == gap[3]:
        step = min(1.0, rect.depth / 2)
        return x, y + (step if y == rect.y0 else -step)
    step = min(1.0, rect.width / 2)
    return x + (step if x == rect.x0 else -step), y


def _without_gaps(low: float, high: float, cuts: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """The pieces of a wall between its gaps."""
    pieces = []
    for start, end in sorted(cuts):
        if start > low:
            pieces.append((low, start))
        low = max(low, end)
    return [*pieces, (low, high)] if high > low else pieces


def _mirrored(plan: FloorPlan, rng: np.random.Generator) -> FloorPlan:
    """The plan mirrored and rotated at random."""
    flip_x, flip_y, swap = (bool(rng.integers(2)) for _ in range(3))

    def point(x: float, y: float) -> Point:
        x, y = (-x if flip_x else x), (-y if flip_y else y)
        x, y = (y, x) if swap else (x, y)
        return round(x, 2) + 0.0, round(y, 2) + 0.0  # no negative zero

    def rect(r: Rect) -> Rect:
        return Rect(*_span((r.x0, r.y0, r.x1, r.y1), point))

    rooms = tuple(Room(room.kind, room.storey, rect(room.rect)) for room in plan.rooms)
    doors = tuple(
        Door(door.kind, door.storey, door.rooms, _span(door.gap, point), door.colour, door.material)
        for door in plan.doors
    )
    s = plan.stairs
    stairs = s and Stairs(
        s.rooms, rect(s.lower), rect(s.upper), point(*s.foot), point(*s.landing), point(*s.head)
    )
    return FloorPlan(rooms, doors, stairs)


def _span(
    ends: tuple[float, float, float, float], point: Callable[[float, float], Point]
) -> tuple[float, float, float, float]:
    (ax, ay), (bx, by) = point(ends[0], ends[1]), point(ends[2], ends[3])
    return min(ax, bx), min(ay, by), max(ax, bx), max(ay, by)
