"""The narrator: says how to walk a path, and keeps which words are about which part of it.

Everything said is true: turns by the walker's heading, rooms by the viewpoints in them, landmarks only
where they are seen and not mistaken for others. Speakers differ in how much they say and how.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from babywalk.assets.dollhouse import endings, phrases
from babywalk.assets.dollhouse.landmarks import Landmarks
from babywalk.assets.dollhouse.legs import Leg, legs_of, turn_kind, with_approach
from babywalk.assets.dollhouse.paths import Path
from babywalk.assets.dollhouse.viewpoints import LANDING
from babywalk.assets.dollhouse.voice import Claim, NarratorStyle, Voice
from babywalk.assets.fine_grained import SubInstruction
from babywalk.assets.tokens import tokenise

_MOST_SENTENCES = 4
_MOST_CLAUSES = 3  # in a sentence
_PASSAGES = ("hallway", "entryway")
_STRAIGHT = np.radians(20.0)


@dataclass(frozen=True, slots=True)
class Narration:
    """An instruction, which of its words describe which stretch of the path, and what it claims.

    The words of the steps in order are the words of the text. Neighbouring steps share a viewpoint, the
    first begins at the start and the last ends at the goal.
    """

    text: str
    steps: tuple[SubInstruction, ...]
    claims: tuple[Claim, ...]


@dataclass(frozen=True, slots=True)
class _Clause:
    """A part of a sentence, about the stretch of path between two nodes."""

    text: str
    first: int
    last: int
    opens: bool = False  # it can only begin a sentence


def narrate(landmarks: Landmarks, path: Path, speaker: NarratorStyle, rng: np.random.Generator) -> Narration:
    """What a speaker says to describe a path."""
    voice = Voice(landmarks, path, speaker, rng)
    legs = _shortened(voice, legs_of(landmarks.house, path))
    last = legs[-1]
    silent = len(legs) > 1 and endings.goes_without_saying(voice, last) and voice.chance(speaker.merges)
    clauses = [_clause(voice, legs, number) for number in range(len(legs) - silent)]
    goal = len(path.nodes) - 1
    clauses.append(_Clause(endings.stop(voice, last, silent=silent), last.first if silent else goal, goal))
    pieces = _sentences(voice, clauses)
    steps = tuple(
        SubInstruction(tuple(tokenise(piece)), clause.first, clause.last)
        for piece, clause in zip(pieces, clauses, strict=True)
    )
    return Narration(" ".join(pieces), steps, tuple(voice.claims))


def _shortened(voice: Voice, legs: Sequence[Leg]) -> list[Leg]:
    """The legs, some joined with the way to their door where that way cannot be mistaken."""
    told: list[Leg] = []
    for leg in legs:
        obvious = leg.kind == "door" and bool(told) and _obvious(voice, told[-1], leg)
        if obvious and voice.chance(voice.speaker.merges):
            told[-1] = with_approach(told[-1], leg)
        else:
            told.append(leg)
    return told


def _obvious(voice: Voice, approach: Leg, leg: Leg) -> bool:
    """Whether the way to a door need not be told: to the only such door, or straight across a hallway."""
    if approach.kind == "inside":
        return _only_such_door(voice, leg)
    through_hallway = approach.kind == "door" and voice.kind(leg.first) == "hallway"
    across = through_hallway and approach.last - approach.first == 1 and leg.turn_kind == "straight"
    ends = {voice.room(approach.first), voice.room(leg.last)}
    direct = any(set(door.rooms) == ends for door in voice.house.plan.doors)
    return across and not direct and voice.kind(approach.first) != voice.kind(leg.last)


def _only_such_door(voice: Voice, leg: Leg) -> bool:
    """Whether no other door of the room leads to a room of the same kind."""
    here = voice.room(leg.last - 1)
    rooms = voice.house.plan.rooms
    others = [room for door in voice.house.plan.doors_of(here) for room in door.rooms if room != here]
    return [rooms[room].kind for room in others].count(voice.kind(leg.last)) == 1


def _clause(voice: Voice, legs: Sequence[Leg], number: int) -> _Clause:
    leg = legs[number]
    aside = ""
    if number > 0 and legs[number - 1].kind == "door" and voice.chance(voice.speaker.asides):
        aside = voice.say(phrases.ONCE_IN, leg.first, leg.first)
    if leg.kind == "inside":
        text = _inside(voice, legs, number)
    elif leg.kind == "door":
        text = _door(voice, legs, number)
    else:
        text = _stairs(voice, leg, number)
    return _Clause(aside + text, leg.first, leg.last, opens=bool(aside))


def _inside(voice: Voice, legs: Sequence[Leg], number: int) -> str:
    """Walking within a room."""
    leg = legs[number]
    turn = _turn(voice, leg, number, needed=leg.turn_kind != "slight")
    on = _goes_on(leg, number, turn)
    if voice.chance(voice.speaker.detail):
        marked = _past_or_towards(voice, leg, on=on)
        if marked:
            return turn + marked
    straight = leg.bend < _STRAIGHT and (bool(turn) or leg.turn_kind == "straight")
    stairs_next = number + 1 < len(legs) and legs[number + 1].kind in ("up", "down")
    if stairs_next and voice.landmarks.sees_stairs(voice.path.nodes[leg.first]) and voice.chance(0.5):
        voice.claim("stairs", leg.last, legs[number + 1].kind)
        return turn + voice.say(phrases.TO_STAIRS, leg.first, leg.last, straight=straight, on=on)
    return turn + voice.say(_unmarked(voice, leg), leg.first, leg.last, straight=straight, on=on)


def _unmarked(voice: Voice, leg: Leg) -> Sequence[str]:
    """The phrases for walking without anything to walk to."""
    rect = voice.house.plan.rooms[voice.room(leg.first)].rect
    start, end = (voice.house.positions[voice.path.nodes[node]] for node in (leg.first, leg.last))
    way = np.abs(end - start)[:2]
    axis = int(way[1] > way[0])
    extent = (rect.width, rect.depth)[axis]
    walked = way[axis] / extent
    if voice.kind(leg.first) not in _PASSAGES or extent < max(rect.width, rect.depth):
        return phrases.ACROSS_ROOM if walked > 0.5 else phrases.FORWARD
    low, high = ((rect.x0, rect.x1), (rect.y0, rect.y1))[axis]
    rest = high - end[axis] if end[axis] > start[axis] else end[axis] - low
    at_the_end = rest < 1.6 and walked > 0.3 and voice.chance(0.7)
    return phrases.END_OF_HALLWAY if at_the_end else phrases.ALONG_HALLWAY


def _past_or_towards(voice: Voice, leg: Leg, *, on: bool) -> str | None:
    """Walking past something, towards it, or up to it; None if there is nothing to name."""
    nodes = voice.path.nodes
    ahead = voice.landmarks.ahead(nodes, leg)[:2]
    reached = [thing for thing in voice.landmarks.near(nodes[leg.last], 1.6) if thing in ahead]
    ways: list[tuple[Sequence[str], int, str]] = []
    ways += [(phrases.PAST, thing, side) for thing, side in voice.landmarks.passed(nodes, leg)[:3]]
    ways += [(phrases.TOWARDS, thing, "") for thing in ahead]
    ways += [(phrases.UNTIL, thing, "") for thing in reached]
    for index in voice.rng.permutation(len(ways)):
        table, thing, side = ways[index]
        name = voice.name(thing, leg.first)
        if name is None:
            continue
        if side:
            voice.claim("past", leg.first, side, thing)
        else:
            voice.claim("ahead", leg.first, thing=thing)
        if table is phrases.UNTIL:
            voice.claim("near", leg.last, thing=thing)
        straight = leg.bend < _STRAIGHT and leg.turn_kind == "straight"
        return voice.say(table, leg.first, leg.last, thing=name, side=side, straight=straight, on=on)
    return None


def _door(voice: Voice, legs: Sequence[Leg], number: int) -> str:
    """Walking through a door, perhaps with the way to it."""
    leg = legs[number]
    first, last = leg.first, leg.last
    here, there = voice.kind(first), voice.kind(last)
    single = last - first == 1
    across = len({voice.room(node) for node in range(first, last + 1)}) > 2
    door = voice.door(leg)
    anyhow, sideways = _door_phrases(here, there, across=across)
    counted = _counted_door(voice, legs, number) if single else None
    if counted:
        return counted
    side = "right" if leg.late > 0 else "left"
    sided = turn_kind(leg.late) in ("turn", "sharp") and sideways is not anyhow
    if sided and single and voice.chance(0.5):
        voice.claim("side", first, side)
        return voice.say(sideways, first, last, side=side, door=door)
    obvious = here not in _PASSAGES and _only_such_door(voice, leg) and voice.chance(0.7)
    turn = _turn(voice, leg, number, needed=leg.turn_kind not in ("slight", "straight") and not obvious)
    way = ""
    if not single and not across and voice.chance(0.5 * voice.speaker.detail):
        approach = Leg("inside", first, last - 1, leg.turn, leg.bend, leg.turn)
        marked = _past_or_towards(voice, approach, on=_goes_on(leg, number, turn))
        way = f"{marked} and " if marked else ""
    if sided and not single and (here in _PASSAGES or voice.chance(0.3)):
        voice.claim("side", last - 1, side)
        if turn and not way and here in _PASSAGES:
            way = voice.say(phrases.ALONG_HALLWAY, first, last, straight=False) + " and "
        calm = [phrase for phrase in sideways if not turn or way or not phrase.startswith(("turn", "take"))]
        return turn + way + voice.say(calm, first, last, side=side, door=door)
    straight = (single or across) and (bool(turn) or leg.turn_kind == "straight")
    on = not way and _goes_on(leg, number, turn)
    return turn + way + voice.say(anyhow, first, last, door=door, straight=straight, on=on)


def _door_phrases(here: str, there: str, *, across: bool) -> tuple[Sequence[str], Sequence[str]]:
    """The phrases for a way from one kind of room to another: in general, and through a door to one side."""
    if across:
        return phrases.ACROSS_HALLWAY, phrases.ACROSS_HALLWAY
    if here == there:
        return phrases.SAME_AGAIN, phrases.SAME_AGAIN
    if there == "hallway" or (there == "entryway" and here != "hallway"):
        return phrases.EXIT, phrases.EXIT_SIDE
    return (phrases.ENTER if here in _PASSAGES else phrases.FROM_TO), phrases.ENTER_SIDE


def _counted_door(voice: Voice, legs: Sequence[Leg], number: int) -> str | None:
    """The second door on the left: where one comes along a hallway."""
    leg = legs[number]
    here, there = voice.kind(leg.first), voice.kind(leg.last)
    if number == 0 or legs[number - 1].kind != "inside" or here not in _PASSAGES or here == there:
        return None
    nth = voice.landmarks.ordinal(voice.path.nodes, legs[number - 1], leg)
    if leg.door is None or nth is None or nth > len(phrases.ORDINALS) or not voice.chance(0.6):
        return None
    voice.claim("nth", leg.first, f"{leg.side} {nth}")
    archway = voice.house.plan.doors[leg.door].kind == "archway"
    table = [phrase for phrase in phrases.ENTER_NTH if not archway or "door" not in phrase]
    return voice.say(table, leg.first, leg.last, side=leg.side, nth=phrases.ORDINALS[nth - 1])


def _stairs(voice: Voice, leg: Leg, number: int) -> str:
    turn = _turn(voice, leg, number, needed=leg.turn_kind in ("turn", "sharp", "around"))
    tables: Mapping[str, Sequence[str]]
    if voice.level(leg.last) == LANDING:
        tables = phrases.HALF_STAIRS
    elif voice.level(leg.first) == LANDING:
        tables = phrases.REST_OF_STAIRS
    else:
        tables = phrases.STAIRS_WORDS
    voice.claim("stairs", leg.first, leg.kind)
    return turn + voice.say(tables[leg.kind], leg.first, leg.last)


def _turn(voice: Voice, leg: Leg, number: int, *, needed: bool) -> str:
    """The words for the turn before a leg, up to and with "and"; empty where none is said."""
    opening = _opening(voice) if number == 0 and voice.chance(0.12) else None
    if opening:
        return opening
    kind = leg.turn_kind
    if kind == "straight" or not (needed or voice.chance(0.3)):
        return ""
    text = voice.pick(phrases.TURNS[kind]).format(side=leg.side)
    voice.claim("turn", leg.first, f"{kind} {leg.side}")
    if number > 0 and kind == "turn" and voice.chance(0.25 * voice.speaker.detail):
        for thing in voice.landmarks.near(voice.path.nodes[leg.first], 1.5)[:3]:
            name = voice.name(thing, leg.first)
            if name is not None:
                voice.claim("near", leg.first, thing=thing)
                return f"{text} at the {name} and "
    return text + " and "


def _goes_on(leg: Leg, number: int, turn: str) -> bool:
    """Whether one can say "keep walking": a leg that is not the first and hardly changes direction."""
    return number > 0 and not turn and leg.turn_kind in ("straight", "slight")


def _opening(voice: Voice) -> str | None:
    """Which way to face at first, told by what is then behind."""
    for thing in voice.landmarks.behind(voice.path.nodes)[:2]:
        name = voice.name(thing, 0)
        if name is not None:
            voice.claim("behind", 0, thing=thing)
            return voice.pick(phrases.BEHIND).format(thing=name)
    return None


def _sentences(voice: Voice, clauses: Sequence[_Clause]) -> list[str]:
    """The clauses with what joins them: one piece of text each, punctuation at its end."""
    pieces = [_capital(clauses[0].text)]
    sentences, in_sentence = 1, 1
    for number, clause in enumerate(clauses[1:], start=1):
        ends = clause.opens or in_sentence >= _MOST_CLAUSES or voice.chance(voice.speaker.breaks)
        if ends and sentences < _MOST_SENTENCES:
            pieces[-1] += "."
            pieces.append(_capital(clause.text))
            sentences, in_sentence = sentences + 1, 1
            continue
        busy = " and " in clauses[number - 1].text or clause.opens
        table = phrases.AFTER_AND if busy else phrases.LINKS
        if number == len(clauses) - 1 and not busy:
            table = phrases.LAST_LINKS
        mark, _, word = voice.pick(table).partition(" ")
        pieces[-1] += mark
        pieces.append(f"{word} {clause.text}".strip())
        in_sentence += 1
    pieces[-1] += "."
    return pieces


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
