"""The narrator tells the truth: each claim is checked against the geometry, each word against the claims."""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest

from babywalk.assets.dollhouse.geometry import heading, turned
from babywalk.assets.dollhouse.landmarks import Landmarks
from babywalk.assets.dollhouse.legs import legs_of, turn_kind
from babywalk.assets.dollhouse.paths import Path
from babywalk.assets.dollhouse.phrases import NAMES, ROOM_NAMES
from babywalk.assets.dollhouse.voice import Claim
from babywalk.assets.tokens import tokenise

LEFT_WORDS = re.compile(r"\bleft\b")
RIGHT_WORDS = re.compile(r"\bright\b(?! after)")
BANDS = {"slight": (20, 50), "turn": (50, 125), "sharp": (125, 150), "around": (150, 181)}


def headings(landmarks: Landmarks, path: Path) -> list[float]:
    places = landmarks.house.positions[list(path.nodes)]
    return [heading(a, b) for a, b in pairwise(places)]


def facing(landmarks: Landmarks, path: Path, node: int) -> float:
    """Where the walker looks on arriving at a node."""
    return path.heading if node == 0 else headings(landmarks, path)[node - 1]


def turn_at(landmarks: Landmarks, path: Path, node: int) -> float:
    return turned(headings(landmarks, path)[node] - facing(landmarks, path, node))


def claims(narrations, fact: str) -> list[tuple[Landmarks, Path, Claim]]:
    found = [
        (lm, path, claim) for lm, path, told in narrations for claim in told.claims if claim.fact == fact
    ]
    assert found
    return found


def test_turns_match_the_signed_angles(narrations):
    for landmarks, path, claim in claims(narrations, "turn"):
        kind, side = claim.word.split()
        degrees = np.degrees(turn_at(landmarks, path, claim.node))
        low, high = BANDS[kind]
        assert low <= abs(degrees) < high
        assert (degrees > 0) == (side == "right")


def test_a_door_to_one_side_is_on_that_side(narrations):
    for landmarks, path, claim in claims(narrations, "side"):
        degrees = np.degrees(turn_at(landmarks, path, claim.node))
        assert 50 <= abs(degrees) < 150
        assert (degrees > 0) == (claim.word == "right")


def test_rooms_are_those_of_the_viewpoints(narrations):
    for landmarks, path, claim in claims(narrations, "room"):
        assert landmarks.house.room_kind(path.nodes[claim.node]) == claim.word


def test_no_other_room_is_named(narrations):
    """The text speaks of no room that the path does not touch, except behind a door at its end."""
    kinds = {name: kind for kind, names in ROOM_NAMES.items() for name in names}
    kinds |= {room.kind: room.kind for lm, _, _ in narrations[:1] for room in lm.house.plan.rooms}
    for landmarks, path, told in narrations:
        there = {landmarks.house.room_kind(node) for node in path.nodes}
        there |= {claim.word for claim in told.claims if claim.fact == "to"}
        text = re.sub(r"stairwell|kitchen island|dining table|laundry basket", "", told.text.lower())
        for name, kind in kinds.items():
            if re.search(rf"\b{name}\b", text) and kind != "stairs":
                assert kind in there, (name, told.text)


@pytest.mark.parametrize("fact", ["past", "ahead", "near", "behind", "on"])
def test_landmarks_are_seen_from_where_they_are_used(narrations, fact):
    for landmarks, path, claim in claims(narrations, fact):
        assert landmarks.sight.shown[path.nodes[claim.node], claim.thing] >= 0.4


def test_a_passed_thing_lies_on_its_side(narrations):
    for landmarks, path, claim in claims(narrations, "past"):
        box = landmarks.sight.things[claim.thing].box
        middle = np.array([(box[0] + box[3]) / 2, (box[1] + box[4]) / 2])
        best = None
        for a, b in zip(path.nodes[claim.node :], path.nodes[claim.node + 1 :], strict=False):
            start, step = (
                landmarks.house.positions[a, :2],
                np.diff(landmarks.house.positions[[a, b], :2], axis=0)[0],
            )
            along = (middle - start) @ step / (step @ step)
            if 0 < along < 1:
                x, y = middle - start
                best = (x * step[1] - y * step[0]) / np.hypot(*step)
                break
        assert best is not None
        assert 0.4 < abs(best) < 2.0
        assert (best > 0) == (claim.word == "right")


def test_one_walks_towards_what_is_ahead(narrations):
    for landmarks, path, claim in claims(narrations, "ahead"):
        node = path.nodes[claim.node]
        off = turned(landmarks.sight.bearing[node, claim.thing] - headings(landmarks, path)[claim.node])
        assert abs(np.degrees(off)) < 60
        assert (
            landmarks.sight.distance[path.nodes[claim.node + 1], claim.thing]
            < (landmarks.sight.distance[node, claim.thing])
        )


def test_what_is_near_is_near(narrations):
    for landmarks, path, claim in claims(narrations, "near"):
        node = path.nodes[claim.node]
        assert landmarks.sight.distance[node, claim.thing] <= 2.0
        if claim.word:
            off = turned(landmarks.sight.bearing[node, claim.thing] - facing(landmarks, path, claim.node))
            assert (off > 0) == (claim.word == "right")


def test_what_one_stands_on_is_underfoot(narrations):
    for landmarks, path, claim in claims(narrations, "on"):
        assert landmarks.sight.distance[path.nodes[claim.node], claim.thing] == 0
        assert landmarks.names[claim.thing] in ("rug", "mat")


def test_what_is_behind_is_behind(narrations):
    for landmarks, path, claim in claims(narrations, "behind"):
        off = turned(landmarks.sight.bearing[path.nodes[0], claim.thing] - headings(landmarks, path)[0])
        assert abs(np.degrees(off)) > 150


def test_stairs_go_the_way_they_are_said_to(narrations):
    for landmarks, path, claim in claims(narrations, "stairs"):
        heights = landmarks.house.positions[list(path.nodes), 2]
        rise = heights[claim.node + 1] - heights[claim.node]
        assert (rise > 0) == (claim.word == "up")
        assert rise != 0


def test_counted_doors_are_the_nth_on_their_side(narrations):
    for landmarks, path, claim in claims(narrations, "nth"):
        side, nth = claim.word.split()
        assert (turn_at(landmarks, path, claim.node) > 0) == (side == "right")
        assert 1 <= int(nth) <= 3
        room = landmarks.house.plan.doors_of(landmarks.house.rooms[path.nodes[claim.node]])
        assert int(nth) <= len(room)


def test_left_and_right_are_never_said_without_a_claim(narrations):
    for _, _, told in narrations:
        words = [word for claim in told.claims for word in claim.word.split()]
        if LEFT_WORDS.search(told.text):
            assert "left" in words, told.text
        if RIGHT_WORDS.search(told.text):
            assert "right" in words, told.text


def test_every_named_thing_is_claimed(narrations):
    """Nouns of furniture appear in the text only if a claim points at such a thing."""
    spoken = {}
    for landmarks, _, told in narrations:
        text = told.text.lower()
        claimed = {landmarks.names[claim.thing] for claim in told.claims if claim.thing is not None}
        for name in ("piano", "fridge", "couch", "bed", "bathtub", "mirror", "statue", "rug", "fireplace"):
            if any(re.search(rf"\b{word}\b", text) for word in NAMES.get(name, (name,))):
                spoken[name] = True
                assert name in claimed, told.text
    assert len(spoken) >= 8


def test_a_named_thing_is_not_mistaken_for_another(seen):
    rng = np.random.default_rng(0)
    for landmarks in seen[:3]:
        for viewer in range(0, len(landmarks.house.viewpoints), 3):
            for thing in landmarks.near(viewer, 3.0):
                text = landmarks.describe(thing, viewer, wordy=False, rng=rng)
                mine = landmarks.sight.things[thing]
                twins = [
                    other
                    for n, other in enumerate(landmarks.sight.things)
                    if n != thing and landmarks.sight.shown[viewer, n] > 0 and other.name == mine.name
                ]
                if twins and text is not None:
                    look = text.split()[0]
                    assert look in (mine.colour, mine.material)
                    assert all(look not in (twin.colour, twin.material) for twin in twins)


def test_the_truth_covers_path_and_words(narrations):
    for _, path, told in narrations:
        assert [word for step in told.steps for word in step.words] == tokenise(told.text)
        assert all(step.words for step in told.steps)
        assert told.steps[0].first == 0
        assert told.steps[-1].last == len(path.nodes) - 1
        for one, two in pairwise(told.steps):
            assert one.last == two.first
            assert one.first < one.last


def test_lengths_are_like_those_of_people(narrations):
    words = [len(tokenise(told.text)) for _, _, told in narrations]
    sentences = [told.text.count(".") for _, _, told in narrations]
    assert 26 < np.mean(words) < 33
    assert 2.1 < np.mean(sentences) < 2.7
    assert min(sentences) == 1
    assert max(sentences) <= 4


def test_instructions_are_varied(narrations):
    texts = [told.text for _, _, told in narrations]
    assert len(set(texts)) > 0.98 * len(texts)
    assert len(Counter(word for text in texts for word in tokenise(text))) > 180
    first_words = Counter(text.split()[0] for text in texts)
    assert first_words.most_common(1)[0][1] < 0.5 * len(texts)


def test_sentences_are_well_formed(narrations):
    for _, _, told in narrations:
        assert told.text.endswith(".")
        assert not re.search(r"  |\{|\}|None|,,|\.\.| ,| \.|\band and\b|\bthen then\b", told.text)
        assert all(sentence[0].isupper() for sentence in told.text.split(". "))


def test_legs_follow_each_other(narrations):
    for landmarks, path, _ in narrations[::5]:
        legs = legs_of(landmarks.house, path)
        assert legs[0].first == 0
        assert legs[-1].last == len(path.nodes) - 1
        assert all(a.last == b.first for a, b in pairwise(legs))


@pytest.mark.parametrize(
    ("degrees", "kind"),
    [(0, "straight"), (-19, "straight"), (30, "slight"), (-90, "turn"), (130, "sharp"), (-179, "around")],
)
def test_kinds_of_turns(degrees, kind):
    assert turn_kind(np.radians(degrees)) == kind
