"""Endings: where to stop, told by what is near the goal."""

from __future__ import annotations

import numpy as np

from babywalk.assets.dollhouse import phrases
from babywalk.assets.dollhouse.embedding import room_behind
from babywalk.assets.dollhouse.geometry import heading
from babywalk.assets.dollhouse.legs import Leg
from babywalk.assets.dollhouse.viewpoints import LANDING
from babywalk.assets.dollhouse.voice import Voice

_JUST_INSIDE = 1.7  # metres from a door
_NEXT_TO = 2.0  # metres from a thing
_AT_A_DOOR = 1.3


def goes_without_saying(voice: Voice, last: Leg) -> bool:
    """Whether the last steps, to a landmark in plain sight, need no words of their own."""
    if last.kind != "inside" or last.last - last.first > 2 or last.turn_kind in ("sharp", "around"):
        return False
    close = voice.landmarks.near(voice.path.nodes[-1], _NEXT_TO)[:2]
    return any(voice.sees(last.first, thing) for thing in close)


def stop(voice: Voice, last: Leg, *, silent: bool) -> str:
    """The last clause; if the last leg was `silent`, its landmark is seen from where that leg began."""
    goal = len(voice.path.nodes) - 1
    by_way = None if silent or not voice.chance(0.55) else _by_the_way(voice, last, goal)
    if by_way:
        return by_way
    at_thing = _at_a_thing(voice, goal, last.first if silent else goal)
    if at_thing:
        return at_thing
    return _by_the_way(voice, last, goal) or _at_a_door(voice, goal, last) or _in_the_room(voice, goal)


def _by_the_way(voice: Voice, last: Leg, goal: int) -> str | None:
    """Stopping right after a door or at an end of the stairs."""
    if last.kind in ("up", "down"):
        on_landing = voice.level(goal) == LANDING
        return voice.say(phrases.STOP_LANDING if on_landing else phrases.STOP_STAIRS[last.kind], goal, goal)
    if last.door is None:
        return None
    x, y = voice.house.plan.doors[last.door].centre
    away = np.hypot(*(voice.house.positions[voice.path.nodes[goal], :2] - (x, y)))
    return voice.say(phrases.STOP_INSIDE, goal, goal, door=voice.door(last)) if away <= _JUST_INSIDE else None


def _at_a_thing(voice: Voice, goal: int, seen_from: int) -> str | None:
    """Stopping at the nearest thing that can be named, preferably one that comes into view early."""
    here = voice.path.nodes[goal]
    distance = voice.landmarks.sight.distance[here]
    facing = heading(voice.house.positions[voice.path.nodes[goal - 1]], voice.house.positions[here])
    for thing in voice.landmarks.near(here, _NEXT_TO):
        name = voice.name(thing, goal) if voice.sees(seen_from, thing) else None
        if name is None:
            continue
        if distance[thing] == 0:
            voice.claim("on", goal, thing=thing)
            return voice.say(phrases.STOP_ON, goal, goal, thing=name)
        side = voice.landmarks.side_of(thing, here, facing)
        if side is not None and voice.chance(0.2):
            voice.claim("near", goal, side, thing)
            return voice.say(phrases.STOP_SIDE, goal, goal, thing=name, side=side)
        voice.claim("near", goal, thing=thing)
        return voice.say(phrases.STOP_AT, goal, goal, thing=name)
    return None


def _at_a_door(voice: Voice, goal: int, last: Leg) -> str | None:
    """Stopping in front of a door other than the one just taken."""
    here = voice.path.nodes[goal]
    for thing in voice.landmarks.doors_near(here, _AT_A_DOOR):
        door = voice.landmarks.sight.things[thing].door
        if door is None or door == last.door:
            continue
        to = voice.house.plan.rooms[room_behind(voice.house, here, door)].kind
        voice.claim("to", goal, to, thing)
        name = voice.pick(("door", "doorway", "entrance"))
        words = {"stop": voice.pick(phrases.STOP), "door": name, "to": voice.room_name(to)}
        return voice.pick(phrases.STOP_DOOR).format(**words)
    return None


def _in_the_room(voice: Voice, goal: int) -> str:
    return voice.say(phrases.STOP_ROOM, goal, goal)
