"""Instructions are true: each claim is checked against the geometry, and the words against the claims."""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest

from babywalk.assets.dollhouse.clauses import Claim
from babywalk.assets.dollhouse.geometry import heading, wrap_angle
from babywalk.assets.dollhouse.landmarks import Landmarks
from babywalk.assets.dollhouse.phrases import NAMES, ROOM_NAMES
from babywalk.assets.dollhouse.routes import Route, legs_of, turn_kind
from babywalk.assets.tokens import tokenise

LEFT_WORDS = re.compile(r"\bleft\b")
RIGHT_WORDS = re.compile(r"\bright\b(?! after)")
BANDS = {"slight": (20, 50), "turn": (50, 125), "sharp": (125, 150), "around": (150, 181)}


def headings(landmarks: Landmarks, path: Route) -> list[float]:
    places = landmarks.house.positions[list(path.nodes)]
    return [heading(a, b) for a, b in pairwise(places)]


def facing(landmarks: Landmarks, path: Route, node: int) -> float:
    """The heading on arriving at a node."""
    return path.heading if node == 0 else headings(landmarks, path)[node - 1]


def turn_at(landmarks: Landmarks, path: Route, node: int) -> float:
    return wrap_angle(headings(landmarks, path)[node] - facing(landmarks, path, node))


def claims(narrations, fact: str) -> list[tuple[Landmarks, Route, Claim]]:
    found = [
        (lm, path, claim)
        for lm, path, narration in narrations
        for claim in narration.claims
        if claim.fact == fact
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
    """The text mentions only rooms on the path, or behind a door at its end."""
    kinds = {name: kind for kind, names in ROOM_NAMES.items() for name in names}
    kinds |= {room.kind: room.kind for lm, _, _ in narrations[:1] for room in lm.house.plan.rooms}
    for landmarks, path, narration in narrations:
        there = {landmarks.house.room_kind(node) for node in path.nodes}
        there |= {claim.word for claim in narration.claims if claim.fact == "to"}
        text = re.sub(r"stairwell|kitchen island|dining table|laundry basket", "", narration.text.lower())
        for name, kind in kinds.items():
            if re.search(rf"\b{name}\b", text) and kind != "stairs":
                assert kind in there, (name, narration.text)


@pytest.mark.parametrize("fact", ["past", "ahead", "near", "behind", "on"])
def test_mentioned_landmarks_are_visible(narrations, fact):
    for landmarks, path, claim in claims(narrations, fact):
        assert landmarks.visibility.visible_share[path.nodes[claim.node], claim.thing] >= 0.4


def test_passed_landmarks_are_on_the_stated_side(narrations):
    for landmarks, path, claim in claims(narrations, "past"):
        box = landmarks.visibility.things[claim.thing].box
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


def test_landmarks_ahead_come_nearer(narrations):
    for landmarks, path, claim in claims(narrations, "ahead"):
        node = path.nodes[claim.node]
        off = wrap_angle(
            landmarks.visibility.bearing[node, claim.thing] - headings(landmarks, path)[claim.node]
        )
        assert abs(np.degrees(off)) < 60
        assert (
            landmarks.visibility.distance[path.nodes[claim.node + 1], claim.thing]
            < (landmarks.visibility.distance[node, claim.thing])
        )


def test_near_landmarks_are_within_two_metres(narrations):
    for landmarks, path, claim in claims(narrations, "near"):
        node = path.nodes[claim.node]
        assert landmarks.visibility.distance[node, claim.thing] <= 2.0
        if claim.word:
            off = wrap_angle(
                landmarks.visibility.bearing[node, claim.thing] - facing(landmarks, path, claim.node)
            )
            assert (off > 0) == (claim.word == "right")


def test_only_mats_and_rugs_are_stood_on(narrations):
    for landmarks, path, claim in claims(narrations, "on"):
        assert landmarks.visibility.distance[path.nodes[claim.node], claim.thing] == 0
        assert landmarks.names[claim.thing] in ("rug", "mat")


def test_landmarks_behind_are_behind_the_walker(narrations):
    for landmarks, path, claim in claims(narrations, "behind"):
        off = wrap_angle(
            landmarks.visibility.bearing[path.nodes[0], claim.thing] - headings(landmarks, path)[0]
        )
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
    for _, _, narration in narrations:
        words = [word for claim in narration.claims for word in claim.word.split()]
        if LEFT_WORDS.search(narration.text):
            assert "left" in words, narration.text
        if RIGHT_WORDS.search(narration.text):
            assert "right" in words, narration.text


def test_every_named_thing_is_claimed(narrations):
    """Nouns of furniture appear in the text only if a claim points at such a thing."""
    spoken = {}
    for landmarks, _, narration in narrations:
        text = narration.text.lower()
        claimed = {landmarks.names[claim.thing] for claim in narration.claims if claim.thing is not None}
        for name in ("piano", "fridge", "couch", "bed", "bathtub", "mirror", "statue", "rug", "fireplace"):
            if any(re.search(rf"\b{word}\b", text) for word in NAMES.get(name, (name,))):
                spoken[name] = True
                assert name in claimed, narration.text
    assert len(spoken) >= 8


def test_names_identify_one_object(landmarks_per_house):
    rng = np.random.default_rng(0)
    for landmarks in landmarks_per_house[:3]:
        for viewer in range(0, len(landmarks.house.viewpoints), 3):
            for thing in landmarks.near(viewer, 3.0):
                text = landmarks.describe(thing, viewer, wordy=False, rng=rng)
                mine = landmarks.visibility.things[thing]
                twins = [
                    other
                    for n, other in enumerate(landmarks.visibility.things)
                    if n != thing
                    and landmarks.visibility.visible_share[viewer, n] > 0
                    and other.name == mine.name
                ]
                if twins and text is not None:
                    adjective = text.split()[0]
                    assert adjective in (mine.colour, mine.material)
                    assert all(adjective not in (twin.colour, twin.material) for twin in twins)


def test_steps_cover_the_path_and_all_words(narrations):
    for _, path, narration in narrations:
        assert [word for step in narration.steps for word in step.words] == tokenise(narration.text)
        assert all(step.words for step in narration.steps)
        assert narration.steps[0].first == 0
        assert narration.steps[-1].last == len(path.nodes) - 1
        for one, two in pairwise(narration.steps):
            assert one.last == two.first
            assert one.first < one.last


def test_lengths_are_like_those_of_r2r(narrations):
    words = [len(tokenise(narration.text)) for _, _, narration in narrations]
    sentences = [narration.text.count(".") for _, _, narration in narrations]
    assert 26 < np.mean(words) < 33
    assert 2.1 < np.mean(sentences) < 2.7
    assert min(sentences) == 1
    assert max(sentences) <= 4


def test_instructions_are_varied(narrations):
    texts = [narration.text for _, _, narration in narrations]
    assert len(set(texts)) > 0.98 * len(texts)
    assert len(Counter(word for text in texts for word in tokenise(text))) > 180
    first_words = Counter(text.split()[0] for text in texts)
    assert first_words.most_common(1)[0][1] < 0.5 * len(texts)


def test_sentences_are_well_formed(narrations):
    for _, _, narration in narrations:
        assert narration.text.endswith(".")
        assert not re.search(r"  |\{|\}|None|,,|\.\.| ,| \.|\band and\b|\bthen then\b", narration.text)
        assert all(sentence[0].isupper() for sentence in narration.text.split(". "))


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
