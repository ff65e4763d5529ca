"""The parts of the `objects` view features, put together."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

import numpy as np

from babywalk.assets.boxes import ViewpointObjects
from babywalk.buildings.houses import Houses
from babywalk.buildings.objects.labels import GROUPS, frequent, words_of
from babywalk.buildings.objects.parts import Part, distant_objects, fill, openness_part, room_part
from babywalk.buildings.objects.sightings import PIXELS, Sightings, Sights, place
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
    """The parts in the order names, groups, distant, rooms, openness; one without columns is left out.

    "names" has the most frequent words of what is seen in the houses of `vocabulary_scans`, an object
    counted once per viewpoint that boxes it, so that nothing of the other houses shapes the features.
    "groups" needs `categories` (object name to group; a name or group that is not known is in no column),
    "rooms" needs `rooms` ((scan, viewpoint) to class). "distant" has the columns of both names and groups.
    """
    if names < 0:
        raise ConfigError(f"names = {names} is no number of words; give 0 or more.")
    sightings = Sightings.of(houses, seen)
    sights = Sights.of(sightings)
    counted = np.array([scan in vocabulary_scans for scan in houses.scans], dtype=np.bool_)[sightings.house]
    vocabulary = frequent(
        [sightings.names[number] for number in sights.objects[counted[sights.objects]]], names
    )
    groups = GROUPS if categories is not None else ()
    by_word = _columns(vocabulary, [words_of(name) for name in sightings.names])
    by_group = _columns(groups, [((categories or {}).get(name, ""),) for name in sightings.names])
    by_either = concat_within_rows(
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
            where=(sightings.viewpoints, sightings.views),
            objects=sightings.objects,
            areas=sightings.areas / PIXELS,
        )
        parts.append(Part(name, columns, values))
    placed = place(houses.positions, sights, len(sightings.names))
    parts.append(
        Part("distant", far, distant_objects(houses, sights, placed, of=by_either, columns=len(far)))
    )
    if rooms is not None:
        parts.append(room_part(houses, rooms))
    parts.append(openness_part(houses))
    return [part for part in parts if part.columns]


def _columns(columns: tuple[str, ...], labels: list[tuple[str, ...]]) -> Ragged:
    """The columns of each object's labels; a label without a column is dropped."""
    number = {column: index for index, column in enumerate(columns)}
    return Ragged.of([[number[label] for label in some if label in number] for some in labels])
