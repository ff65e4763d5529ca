"""Clauses: how one narrator words one leg of a path or its end, and the claims that this makes.

A narrator claims only what is true: turns follow the walker's heading, rooms are those of the viewpoints,
and a landmark is named only where it is visible and its name fits nothing else in view.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from babywalk.assets.dollhouse import phrases
from babywalk.assets.dollhouse.geometry import heading
from babywalk.assets.dollhouse.house import LANDING, DollHouse
from babywalk.assets.dollhouse.landmarks import Landmarks
from babywalk.assets.dollhouse.rendering import room_behind
from babywalk.assets.dollhouse.routes import Leg, Route, turn_kind

Fact = Literal["turn", "side", "nth", "room", "to", "stairs", "past", "ahead", "near", "behind", "on"]

_CORRIDORS = ("hallway", "entryway")
_STRAIGHT = np.radians(20.0)  # a leg that bends less is called straight
_JUST_INSIDE = 1.7  # metres from a door
_NEXT_TO = 2.0  # metres from an object
_AT_A_DOOR = 1.3  # metres


@dataclass(frozen=True, slots=True)
class NarratorStyle:
    """A style of instructions; each field is a probability."""

    detail: float  # of naming a landmark along the way
    adjectives: float  # of adding a colour or material that is not needed to identify an object
    breaks: float  # of ending the sentence after a clause
    merges: float  # of leaving out a leg that is obvious from the next one
    asides: float  # of beginning a clause with "once in the hallway,"


@dataclass(frozen=True, slots=True)
class Claim:
    """One statement of an instruction that can be checked against the house."""

    fact: Fact
    node: int  # index into the path, where the statement applies
    word: str = ""  # the side, kind of turn, kind of room, or "up" and "down"
    thing: int | None = None  # index into the visible objects of the house


@dataclass
class Narrator:
    """One style applied to one path; collects the claims it makes."""

    landmarks: Landmarks
    path: Route
    style: NarratorStyle
    rng: np.random.Generator
    claims: list[Claim] = field(default_factory=list)

    @property
    def house(self) -> DollHouse:
        """The house of the path."""
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
        """Whether an object is clearly visible from a node of the path."""
        return self.landmarks.is_clear(self.path.nodes[node], thing)

    def claim(self, fact: Fact, node: int, word: str = "", thing: int | None = None) -> None:
        """Record a claim."""
        self.claims.append(Claim(fact, node, word, thing))

    def chance(self, probability: float) -> bool:
        """True with this probability."""
        return bool(self.rng.random() < probability)

    def pick(self, table: Sequence[str]) -> str:
        """A random entry of a table of phrases."""
        return table[int(self.rng.integers(len(table)))]

    def name(self, thing: int, node: int) -> str | None:
        """A name for an object not mentioned yet; None if no name identifies it."""
        if any(claim.thing == thing for claim in self.claims):
            return None
        return self._described(thing, node)

    def door(self, leg: Leg) -> str | None:
        """A name for the door at the end of a leg, if it is visible from the leg's start."""
        if leg.door is None:
            return None
        thing = self.landmarks.thing_of_door(leg.door)
        return self._described(thing, leg.first) if self.sees(leg.first, thing) else None

    def room_name(self, kind: str) -> str:
        """A name for a kind of room."""
        return self.pick(phrases.ROOM_NAMES.get(kind, (kind,)))

    def fill(
        self,
        table: Sequence[str],
        first: int,
        last: int,
        *,
        continuing: bool = False,
        straight: bool = True,
        thing: str = "",
        side: str = "",
        door: str | None = None,
        nth: str = "",
    ) -> str:
        """A random phrase of a table, filled in for the stretch of path between two nodes.

        Phrases that need a door are left out where it has no name, and those with "straight" where the
        stretch is not.
        """
        usable = [
            phrase
            for phrase in table
            if (door is not None or "{door}" not in phrase) and (straight or "straight" not in phrase)
        ]
        phrase = self.pick(usable)
        if "{room}" in phrase:
            self.claim("room", first, self.kind(first))
        if "{to}" in phrase:
            self.claim("room", last, self.kind(last))
        return phrase.format(
            go=self.pick(phrases.CONTINUE if continuing else phrases.GO),
            stop=self.pick(phrases.STOP),
            room=self.room_name(self.kind(first)),
            to=self.room_name(self.kind(last)),
            thing=thing,
            side=side,
            door=door,
            nth=nth,
        )

    def _described(self, thing: int, node: int) -> str | None:
        wordy = self.chance(self.style.adjectives)
        return self.landmarks.describe(thing, self.path.nodes[node], wordy=wordy, rng=self.rng)


def leg_clause(narrator: Narrator, legs: Sequence[Leg], number: int) -> tuple[str, bool]:
    """The clause for one leg, and whether it can only begin a sentence."""
    leg = legs[number]
    aside = ""
    if number > 0 and legs[number - 1].kind == "door" and narrator.chance(narrator.style.asides):
        aside = narrator.fill(phrases.ONCE_IN, leg.first, leg.first)
    if leg.kind == "inside":
        text = _inside(narrator, legs, number)
    elif leg.kind == "door":
        text = _door(narrator, legs, number)
    else:
        text = _stairs(narrator, leg, number)
    return aside + text, bool(aside)


def obvious_from_next(narrator: Narrator, approach: Leg, leg: Leg) -> bool:
    """Whether the way to a door needs no clause: it is the only such door, or straight across a hallway."""
    if approach.kind == "inside":
        return _only_door_to_kind(narrator, leg)
    through_hallway = approach.kind == "door" and narrator.kind(leg.first) == "hallway"
    across = through_hallway and approach.last - approach.first == 1 and leg.turn_kind == "straight"
    ends = {narrator.room(approach.first), narrator.room(leg.last)}
    direct = any(set(door.rooms) == ends for door in narrator.house.plan.doors)
    return across and not direct and narrator.kind(approach.first) != narrator.kind(leg.last)


def obvious_last_leg(narrator: Narrator, last: Leg) -> bool:
    """Whether the last leg is short and leads to an object that is visible from its start."""
    if last.kind != "inside" or last.last - last.first > 2 or last.turn_kind in ("sharp", "around"):
        return False
    close = narrator.landmarks.near(narrator.path.nodes[-1], _NEXT_TO)[:2]
    return any(narrator.sees(last.first, thing) for thing in close)


def stop_clause(narrator: Narrator, last: Leg, *, skipped: bool) -> str:
    """The last clause: where to stop. If the last leg was `skipped`, its object is visible from its start."""
    goal = len(narrator.path.nodes) - 1
    after_door = None if skipped or not narrator.chance(0.55) else _stop_after_door(narrator, last, goal)
    if after_door:
        return after_door
    at_object = _stop_at_object(narrator, goal, last.first if skipped else goal)
    if at_object:
        return at_object
    return (
        _stop_after_door(narrator, last, goal)
        or _stop_before_door(narrator, goal, last)
        or narrator.fill(phrases.STOP_ROOM, goal, goal)
    )


def _inside(narrator: Narrator, legs: Sequence[Leg], number: int) -> str:
    """Walking within a room."""
    leg = legs[number]
    turn = _turn(narrator, leg, number, needed=leg.turn_kind != "slight")
    continuing = _continues(leg, number, turn)
    if narrator.chance(narrator.style.detail):
        landmark = _past_or_towards(narrator, leg, continuing=continuing)
        if landmark:
            return turn + landmark
    straight = leg.bend < _STRAIGHT and (bool(turn) or leg.turn_kind == "straight")
    stairs_next = number + 1 < len(legs) and legs[number + 1].kind in ("up", "down")
    start = narrator.path.nodes[leg.first]
    if stairs_next and narrator.landmarks.sees_stairs(start) and narrator.chance(0.5):
        narrator.claim("stairs", leg.last, legs[number + 1].kind)
        table: Sequence[str] = phrases.TO_STAIRS
    else:
        table = _plain_phrases(narrator, leg)
    return turn + narrator.fill(table, leg.first, leg.last, straight=straight, continuing=continuing)


def _plain_phrases(narrator: Narrator, leg: Leg) -> Sequence[str]:
    """The phrases for walking within a room without naming a landmark."""
    rect = narrator.house.plan.rooms[narrator.room(leg.first)].rect
    start, end = (narrator.house.positions[narrator.path.nodes[node]] for node in (leg.first, leg.last))
    way = np.abs(end - start)[:2]
    axis = int(way[1] > way[0])
    extent = (rect.width, rect.depth)[axis]
    walked = way[axis] / extent
    if narrator.kind(leg.first) not in _CORRIDORS or extent < max(rect.width, rect.depth):
        return phrases.ACROSS_ROOM if walked > 0.5 else phrases.FORWARD
    low, high = ((rect.x0, rect.x1), (rect.y0, rect.y1))[axis]
    rest = high - end[axis] if end[axis] > start[axis] else end[axis] - low
    at_the_end = rest < 1.6 and walked > 0.3 and narrator.chance(0.7)
    return phrases.END_OF_HALLWAY if at_the_end else phrases.ALONG_HALLWAY


def _past_or_towards(narrator: Narrator, leg: Leg, *, continuing: bool) -> str | None:
    """Walking past an object, towards it, or up to it; None if there is nothing to name."""
    nodes = narrator.path.nodes
    ahead = narrator.landmarks.ahead(nodes, leg)[:2]
    reached = [thing for thing in narrator.landmarks.near(nodes[leg.last], 1.6) if thing in ahead]
    options: list[tuple[Sequence[str], int, str]] = []
    options += [(phrases.PAST, thing, side) for thing, side in narrator.landmarks.passed(nodes, leg)[:3]]
    options += [(phrases.TOWARDS, thing, "") for thing in ahead]
    options += [(phrases.UNTIL, thing, "") for thing in reached]
    for index in narrator.rng.permutation(len(options)):
        table, thing, side = options[index]
        name = narrator.name(thing, leg.first)
        if name is None:
            continue
        if side:
            narrator.claim("past", leg.first, side, thing)
        else:
            narrator.claim("ahead", leg.first, thing=thing)
        if table is phrases.UNTIL:
            narrator.claim("near", leg.last, thing=thing)
        straight = leg.bend < _STRAIGHT and leg.turn_kind == "straight"
        return narrator.fill(
            table, leg.first, leg.last, thing=name, side=side, straight=straight, continuing=continuing
        )
    return None


def _door(narrator: Narrator, legs: Sequence[Leg], number: int) -> str:
    """Walking through a door, possibly with the way to it."""
    leg = legs[number]
    first, last = leg.first, leg.last
    here, there = narrator.kind(first), narrator.kind(last)
    single = last - first == 1
    across = len({narrator.room(node) for node in range(first, last + 1)}) > 2
    door = narrator.door(leg)
    general, sideways = _door_phrases(here, there, across=across)
    counted = _counted_door(narrator, legs, number) if single else None
    if counted:
        return counted
    side = "right" if leg.late > 0 else "left"
    sided = turn_kind(leg.late) in ("turn", "sharp") and sideways is not general
    if sided and single and narrator.chance(0.5):
        narrator.claim("side", first, side)
        return narrator.fill(sideways, first, last, side=side, door=door)
    obvious = here not in _CORRIDORS and _only_door_to_kind(narrator, leg) and narrator.chance(0.7)
    needed = leg.turn_kind not in ("slight", "straight") and not obvious
    turn = _turn(narrator, leg, number, needed=needed)
    way = ""
    if not single and not across and narrator.chance(0.5 * narrator.style.detail):
        approach = Leg("inside", first, last - 1, leg.turn, leg.bend, leg.turn)
        landmark = _past_or_towards(narrator, approach, continuing=_continues(leg, number, turn))
        way = f"{landmark} and " if landmark else ""
    if sided and not single and (here in _CORRIDORS or narrator.chance(0.3)):
        narrator.claim("side", last - 1, side)
        if turn and not way and here in _CORRIDORS:
            way = narrator.fill(phrases.ALONG_HALLWAY, first, last, straight=False) + " and "
        turnless = [
            phrase for phrase in sideways if not turn or way or not phrase.startswith(("turn", "take"))
        ]
        return turn + way + narrator.fill(turnless, first, last, side=side, door=door)
    straight = (single or across) and (bool(turn) or leg.turn_kind == "straight")
    continuing = not way and _continues(leg, number, turn)
    return (
        turn + way + narrator.fill(general, first, last, door=door, straight=straight, continuing=continuing)
    )


def _door_phrases(here: str, there: str, *, across: bool) -> tuple[Sequence[str], Sequence[str]]:
    """The phrases for a way from one kind of room to another: in general, and through a door to one side."""
    if across:
        return phrases.ACROSS_HALLWAY, phrases.ACROSS_HALLWAY
    if here == there:
        return phrases.SAME_AGAIN, phrases.SAME_AGAIN
    if there == "hallway" or (there == "entryway" and here != "hallway"):
        return phrases.EXIT, phrases.EXIT_SIDE
    return (phrases.ENTER if here in _CORRIDORS else phrases.FROM_TO), phrases.ENTER_SIDE


def _only_door_to_kind(narrator: Narrator, leg: Leg) -> bool:
    """Whether no other door of the room leads to a room of the same kind."""
    here = narrator.room(leg.last - 1)
    rooms = narrator.house.plan.rooms
    others = [room for door in narrator.house.plan.doors_of(here) for room in door.rooms if room != here]
    return [rooms[room].kind for room in others].count(narrator.kind(leg.last)) == 1


def _counted_door(narrator: Narrator, legs: Sequence[Leg], number: int) -> str | None:
    """A clause like "take the second left", after a leg along a hallway."""
    leg = legs[number]
    here, there = narrator.kind(leg.first), narrator.kind(leg.last)
    if number == 0 or legs[number - 1].kind != "inside" or here not in _CORRIDORS or here == there:
        return None
    nth = narrator.landmarks.ordinal(narrator.path.nodes, legs[number - 1], leg)
    if leg.door is None or nth is None or nth > len(phrases.ORDINALS) or not narrator.chance(0.6):
        return None
    narrator.claim("nth", leg.first, f"{leg.side} {nth}")
    archway = narrator.house.plan.doors[leg.door].kind == "archway"
    table = [phrase for phrase in phrases.ENTER_NTH if not archway or "door" not in phrase]
    return narrator.fill(table, leg.first, leg.last, side=leg.side, nth=phrases.ORDINALS[nth - 1])


def _stairs(narrator: Narrator, leg: Leg, number: int) -> str:
    turn = _turn(narrator, leg, number, needed=leg.turn_kind in ("turn", "sharp", "around"))
    tables: Mapping[str, Sequence[str]]
    if narrator.level(leg.last) == LANDING:
        tables = phrases.HALF_STAIRS
    elif narrator.level(leg.first) == LANDING:
        tables = phrases.REST_OF_STAIRS
    else:
        tables = phrases.STAIRS_WORDS
    narrator.claim("stairs", leg.first, leg.kind)
    return turn + narrator.fill(tables[leg.kind], leg.first, leg.last)


def _turn(narrator: Narrator, leg: Leg, number: int, *, needed: bool) -> str:
    """The words for the turn before a leg, including the final "and "; empty where none is mentioned."""
    opening = _opening(narrator) if number == 0 and narrator.chance(0.12) else None
    if opening:
        return opening
    kind = leg.turn_kind
    if kind == "straight" or not (needed or narrator.chance(0.3)):
        return ""
    text = narrator.pick(phrases.TURNS[kind]).format(side=leg.side)
    narrator.claim("turn", leg.first, f"{kind} {leg.side}")
    if number > 0 and kind == "turn" and narrator.chance(0.25 * narrator.style.detail):
        for thing in narrator.landmarks.near(narrator.path.nodes[leg.first], 1.5)[:3]:
            name = narrator.name(thing, leg.first)
            if name is not None:
                narrator.claim("near", leg.first, thing=thing)
                return f"{text} at the {name} and "
    return text + " and "


def _continues(leg: Leg, number: int, turn: str) -> bool:
    """Whether "keep walking" fits: the leg is not the first and hardly changes direction."""
    return number > 0 and not turn and leg.turn_kind in ("straight", "slight")


def _opening(narrator: Narrator) -> str | None:
    """Which way to face at the start, given by an object behind the walker."""
    for thing in narrator.landmarks.behind(narrator.path.nodes)[:2]:
        name = narrator.name(thing, 0)
        if name is not None:
            narrator.claim("behind", 0, thing=thing)
            return narrator.pick(phrases.BEHIND).format(thing=name)
    return None


def _stop_after_door(narrator: Narrator, last: Leg, goal: int) -> str | None:
    """Stopping right after a door or at an end of the stairs."""
    if last.kind in ("up", "down"):
        on_landing = narrator.level(goal) == LANDING
        table = phrases.STOP_LANDING if on_landing else phrases.STOP_STAIRS[last.kind]
        return narrator.fill(table, goal, goal)
    if last.door is None:
        return None
    x, y = narrator.house.plan.doors[last.door].centre
    away = np.hypot(*(narrator.house.positions[narrator.path.nodes[goal], :2] - (x, y)))
    if away > _JUST_INSIDE:
        return None
    return narrator.fill(phrases.STOP_INSIDE, goal, goal, door=narrator.door(last))


def _stop_at_object(narrator: Narrator, goal: int, seen_from: int) -> str | None:
    """Stopping at the nearest object that can be named and is visible from node `seen_from`."""
    here = narrator.path.nodes[goal]
    distance = narrator.landmarks.visibility.distance[here]
    facing = heading(narrator.house.positions[narrator.path.nodes[goal - 1]], narrator.house.positions[here])
    for thing in narrator.landmarks.near(here, _NEXT_TO):
        name = narrator.name(thing, goal) if narrator.sees(seen_from, thing) else None
        if name is None:
            continue
        if distance[thing] == 0:
            narrator.claim("on", goal, thing=thing)
            return narrator.fill(phrases.STOP_ON, goal, goal, thing=name)
        side = narrator.landmarks.side_of(thing, here, facing)
        if side is not None and narrator.chance(0.2):
            narrator.claim("near", goal, side, thing)
            return narrator.fill(phrases.STOP_SIDE, goal, goal, thing=name, side=side)
        narrator.claim("near", goal, thing=thing)
        return narrator.fill(phrases.STOP_AT, goal, goal, thing=name)
    return None


def _stop_before_door(narrator: Narrator, goal: int, last: Leg) -> str | None:
    """Stopping in front of a door other than the one just walked through."""
    here = narrator.path.nodes[goal]
    for thing in narrator.landmarks.doors_near(here, _AT_A_DOOR):
        door = narrator.landmarks.visibility.things[thing].door
        if door is None or door == last.door:
            continue
        to = narrator.house.plan.rooms[room_behind(narrator.house, here, door)].kind
        narrator.claim("to", goal, to, thing)
        name = narrator.pick(("door", "doorway", "entrance"))
        words = {"stop": narrator.pick(phrases.STOP), "door": name, "to": narrator.room_name(to)}
        return narrator.pick(phrases.STOP_DOOR).format(**words)
    return None
