"""Building the `objects` view features from their parts."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

import numpy as np

from babywalk.assets.boxes import ViewpointObjects
from babywalk.buildings.houses import Houses
from babywalk.buildings.objects.labels import GROUPS, frequent, words_of
from babywalk.buildings.objects.parts import Part, distant_objects, fill, openness_part, room_part
from babywalk.buildings.objects.placement import PIXELS, BoxTable, ObjectRays, place
from babywalk.common.errors import ConfigError
from babywalk.common.ragged import Ragged, concat_within_rows


def object_parts(
    houses: Houses,
    seen: Iterable[ViewpointObjects],
    *,
    categories: Mapping[str, str] | None,
    rooms: Mapping[tuple[str, str], int] | None,
    vocabulary_scans: Collection[str],
    names: int = 200,
) -> list[Part]:
    """The parts in the order names, groups, distant, rooms, openness; parts without columns are left out.

    "names" has the most frequent words of object names in the houses of `vocabulary_scans` only, so that
    unseen houses do not influence the features; an object counts once per viewpoint that has a box of it.
    "groups" needs `categories` (object name to group; unknown names and groups have no column), "rooms" needs
    `rooms` ((scan, viewpoint) to class). "distant" has the columns of both names and groups.
    """
    if names < 0:
        raise ConfigError(f"names = {names} is out of range; it must be at least 0.")
    boxes = BoxTable.of(houses, seen)
    rays = ObjectRays.of(boxes)
    counted = np.array([scan in vocabulary_scans for scan in houses.scans], dtype=np.bool_)[boxes.house]
    vocabulary = frequent([boxes.names[number] for number in rays.objects[counted[rays.objects]]], names)
    groups = GROUPS if categories is not None else ()
    by_word = _columns(vocabulary, [words_of(name) for name in boxes.names])
    by_group = _columns(groups, [((categories or {}).get(name, ""),) for name in boxes.names])
    by_word_or_group = concat_within_rows(
        [by_word, Ragged(by_group.values + np.int32(len(vocabulary)), by_group.start)]
    )
    named_groups = tuple(f"group {group}" for group in groups)
    far = tuple(f"far {column}" for column in (*vocabulary, *named_groups))

    parts = []
    for name, columns, of in (("names", vocabulary, by_word), ("groups", named_groups, by_group)):
        values = fill(
            len(houses.names),
            len(columns),
            of=of,
            where=(boxes.viewpoints, boxes.views),
            objects=boxes.objects,
            areas=boxes.areas / PIXELS,
        )
        parts.append(Part(name, columns, values))
    placed = place(houses.positions, rays, len(boxes.names))
    parts.append(
        Part("distant", far, distant_objects(houses, rays, placed, of=by_word_or_group, columns=len(far)))
    )
    if rooms is not None:
        parts.append(room_part(houses, rooms))
    parts.append(openness_part(houses))
    return [part for part in parts if part.columns]


def _columns(columns: tuple[str, ...], labels: list[tuple[str, ...]]) -> Ragged:
    """The columns of each object's labels; labels without a column are dropped."""
    number = {column: index for index, column in enumerate(columns)}
    return Ragged.of([[number[label] for label in some if label in number] for some in labels])
