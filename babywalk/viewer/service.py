"""What the live page answers: episodes, houses, and typed instructions, computed once and kept as JSON."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from babywalk.common.errors import BabyWalkError, ConfigError, unknown
from babywalk.episodes.dataset import Dataset
from babywalk.instructions.identification import IdentificationConfig
from babywalk.instructions.segmenting import segment
from babywalk.viewer.collection import Collection
from babywalk.viewer.geometry import house_record
from babywalk.viewer.page import catalogue, encode
from babywalk.viewer.texts import cut_typed
from babywalk.viewer.walks import Walker

if TYPE_CHECKING:
    from babywalk.agents.follow import Order

MAX_STEPS = 60  # Baby-Steps of a typed instruction: each takes an agent several decisions
_LONGEST = 60  # characters of a name in a message


class NotFoundError(BabyWalkError):
    """A task, split, episode or house that there is not."""


@runtime_checkable
class Follower(Protocol):
    """An agent that follows typed instructions."""

    @property
    def name(self) -> str:
        """The label."""
        ...

    def follow(self, orders: Sequence[Order]) -> list[dict[str, Any]]:
        """The walks of typed instructions as JSON."""
        ...


@dataclass(frozen=True, slots=True)
class Asked:
    """A typed instruction that has been checked, and the agents that shall follow it."""

    order: Order
    agents: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Service:
    """The answers of the live page as encoded JSON. Its methods may be called from several threads."""

    title: str
    dataset: Dataset
    walkers: Sequence[Walker]
    followers: Sequence[Follower]
    offered: Sequence[tuple[str, str, bool]]  # task, split, and whether its goals are published
    load: Callable[[str, str], Collection]  # the episodes of one of them
    _loaded: dict[tuple[str, str], Loaded] = field(default_factory=dict, init=False)
    _houses: dict[str, bytes] = field(default_factory=dict, init=False)
    _tagging: Lock = field(default_factory=Lock, init=False)
    _loading: Lock = field(default_factory=Lock, init=False)

    def catalogue(self) -> bytes:
        """What the page offers."""
        follows = {one.name for one in self.followers}
        agents = {one.name: one.name in follows for one in self.walkers}
        return encode(catalogue(self.title, self.dataset, agents, self.offered))

    def known(self, task: str, split: str) -> Loaded | None:
        """A collection, if it is loaded."""
        return self._loaded.get((task, split))

    def collection(self, task: str, split: str) -> Loaded:
        """A collection; when it is first asked for, the agents walk its episodes."""
        if (task, split) not in {(one, other) for one, other, _ in self.offered}:
            raise NotFoundError(f"There is no data set {_short(task)!r} with a split {_short(split)!r} here.")
        with self._loading:
            if (task, split) not in self._loaded:
                self._loaded[task, split] = Loaded.of(self.load(task, split))
            return self._loaded[task, split]

    def house(self, scan: str) -> bytes:
        """The geometry of a house."""
        if scan not in self._houses:
            if scan not in self.dataset.houses.scans:
                raise NotFoundError(f"There is no house {_short(scan)!r} here.")
            self._houses[scan] = encode(house_record(self.dataset, scan))
        return self._houses[scan]

    def segment(self, text: str) -> bytes:
        """The Baby-Steps and landmarks of a typed instruction."""
        with self._tagging:
            steps = segment(text)
        names = list(dict.fromkeys(name for step in steps for name in step.landmarks))
        return encode(cut_typed(text, steps).record() | {"names": names})

    def check(self, house: str, viewpoint: str, heading: float, text: str, agents: Sequence[str]) -> Asked:
        """A request to follow an instruction, if it can be followed; the heading is in degrees."""
        known = [one.name for one in self.followers]
        for name in agents:
            if name not in known:
                raise NotFoundError(str(unknown("Agent", _short(name), known)))
        if house not in self.dataset.houses.scans:
            raise NotFoundError(str(unknown("House", _short(house), self.dataset.houses.scans)))
        if viewpoint not in self.dataset.houses.viewpoints(house):
            raise NotFoundError(f"House {house} has no viewpoint {_short(viewpoint)!r}.")
        if not any(map(str.isalnum, text)):
            raise ConfigError("The instruction has no words. Give one such as 'Walk to the kitchen.'")
        from babywalk.agents.follow import Order  # imported late: pages without agents work without torch

        return Asked(Order(house, viewpoint, math.radians(heading), text), tuple(dict.fromkeys(agents)))

    def follow(self, some: Sequence[Asked]) -> list[bytes | BabyWalkError]:
        """The walks of agents after typed instructions, in one batch for each agent, or what is wrong."""
        from babywalk.agents.follow import segmented

        walks: list[list[dict[str, Any]]] = [[] for _ in some]
        errors: dict[int, BabyWalkError] = {}
        with self._tagging:
            for row, one in enumerate(some):
                if (count := len(segmented(one.order.instruction, IdentificationConfig()))) > MAX_STEPS:
                    errors[row] = ConfigError(
                        f"The instruction has {count} Baby-Steps; at most {MAX_STEPS} can be followed."
                    )
            for follower in self.followers:
                rows = [
                    row for row, one in enumerate(some) if follower.name in one.agents and row not in errors
                ]
                for row, found in zip(
                    rows, _follow(follower, [some[row].order for row in rows]), strict=True
                ):
                    if isinstance(found, BabyWalkError):
                        errors[row] = found
                    else:
                        walks[row].append(found)
        return [errors.get(row) or encode({"walks": one}) for row, one in enumerate(walks)]


def _follow(follower: Follower, orders: Sequence[Order]) -> list[dict[str, Any] | BabyWalkError]:
    """The walks of one agent in a batch; each alone if one of them cannot be followed."""
    if not orders:
        return []
    try:
        return [*follower.follow(orders)]
    except BabyWalkError as error:
        if len(orders) == 1:
            return [error]
    return [found for order in orders for found in _follow(follower, [order])]


@dataclass(frozen=True, slots=True, eq=False)
class Loaded:
    """A collection with its table as JSON; episodes are encoded when they are asked for."""

    collection: Collection
    record: bytes
    numbers: dict[str, int]
    _episodes: dict[int, bytes]

    @classmethod
    def of(cls, collection: Collection) -> Loaded:
        """With its table encoded."""
        record = collection.record()
        numbers = {name: number for number, name in enumerate(record["ids"])}
        return cls(collection, encode(record), numbers, {})

    def episode(self, name: str) -> bytes:
        """An episode with all walks."""
        if name not in self.numbers:
            raise NotFoundError(f"There is no episode {_short(name)!r} among those shown here.")
        number = self.numbers[name]
        if number not in self._episodes:
            self._episodes[number] = encode(self.collection.episode(number))
        return self._episodes[number]


def _short(name: str) -> str:
    """A name from a request, for a message."""
    return name if len(name) <= _LONGEST else name[: _LONGEST - 3] + "..."
