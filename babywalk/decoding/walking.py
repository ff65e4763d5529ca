"""Where walkers go during a search.

A search looks around from one node after another. A walker that has to be there to look walks from each to
the next, by the shortest way through viewpoints that it has visited, and at last to the end of the chosen
path: all of that is its trajectory. On a known map nobody walks during the search, and the trajectory is the
chosen path.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

from babywalk.navigation.history import History
from babywalk.navigation.trajectories import Trajectories, TrajectoryRecorder
from babywalk.navigation.world import STOP, Poses, World

_PER_MOVE = 1e-3  # metres: of ways that are as long, the one with the fewest moves
_UNKNOWN = -1


class KnownMap:
    """Trajectories of walkers that have the map: the chosen paths alone. Shapes: N walkers, B of them."""

    def __init__(self, world: World, start: Poses) -> None:
        self._world = world
        self._recorder = TrajectoryRecorder(start)

    def visit(self, walkers: Tensor, poses: Poses) -> None:
        """Nobody walks during the search."""

    def commit(self, walkers: Tensor, chosen: History) -> None:
        """Walkers (B,), each once, walk their chosen paths (B)."""
        length = chosen.start[1:] - chosen.start[:-1]
        for step in range(int(length.max())):
            going = torch.nonzero(length > step)[:, 0]
            now = chosen.start[going] + step
            actions = chosen.actions[now]
            after = self._world.step(chosen.poses[now], actions)
            self._recorder.record(after, actions != STOP, walkers[going])

    def trajectories(self) -> Trajectories:
        """The N trajectories."""
        return self._recorder.trajectories()


class Exploration:
    """Walkers, the viewpoints that they have visited, and the shortest ways between these.

    Shapes: N walkers, B of them, U visited viewpoints of each (padded), A actions.
    """

    def __init__(self, world: World, start: Poses, *, capacity: int = 8) -> None:
        self._world = world
        self._recorder = TrajectoryRecorder(start)
        count, like = len(start.viewpoint), world.length
        self._visited = start.viewpoint.new_full((count, capacity), _UNKNOWN)  # (N, U)
        self._distance = like.new_full((count, capacity, capacity), torch.inf)  # (N, U, U) metres
        self._next = torch.zeros_like(self._distance, dtype=torch.int16)  # (N, U, U) first viewpoint of a way
        self._count = torch.zeros_like(start.viewpoint)  # (N,)
        everyone = torch.arange(count, device=like.device)
        self._at = self._places(everyone, start.viewpoint)  # (N,) where each is, below U

    def visit(self, walkers: Tensor, poses: Poses) -> None:
        """Walkers (B,), each once, go to poses (B,) next to a viewpoint that they have visited."""
        goal = self._places(walkers, poses.viewpoint)
        going = torch.nonzero(self._at[walkers] != goal)[:, 0]
        while len(going):
            walkers, goal = walkers[going], goal[going]
            at = self._at[walkers]
            to = self._next[walkers, at, goal].long()
            here, there = self._visited[walkers, at], self._visited[walkers, to]
            action = (self._world.target[here] == there[:, None]).int().argmax(dim=1)
            moved = torch.ones_like(walkers)
            self._recorder.record(Poses(there, self._world.facing[here, action]), moved, walkers)
            self._at[walkers] = to
            going = torch.nonzero(to != goal)[:, 0]

    def commit(self, walkers: Tensor, chosen: History) -> None:
        """Walkers (B,), each once, go to the ends of their chosen paths (B)."""
        last = chosen.start[1:] - 1
        self.visit(walkers, self._world.step(chosen.poses[last], chosen.actions[last]))

    def trajectories(self) -> Trajectories:
        """The N trajectories."""
        return self._recorder.trajectories()

    def _places(self, walkers: Tensor, viewpoints: Tensor) -> Tensor:
        """(B,) the places of viewpoints among those that walkers have visited; new ones are added."""
        same = self._visited[walkers] == viewpoints[:, None]
        new = torch.nonzero(~same.any(dim=1))[:, 0]
        if len(new):
            self._add(walkers[new], viewpoints[new])
            same = self._visited[walkers] == viewpoints[:, None]
        place: Tensor = same.int().argmax(dim=1)
        return place

    def _add(self, walkers: Tensor, viewpoints: Tensor) -> None:
        """New viewpoints (B,), and all ways that are shorter through them."""
        slot = self._count[walkers]
        if int(slot.max()) == self._visited.shape[1]:
            self._grow()
        visited, distance, after = self._visited[walkers], self._distance[walkers], self._next[walkers]
        rows = torch.arange(len(walkers), device=walkers.device)
        # The way from a new viewpoint begins with a move to a neighbour that has been visited.
        leads = self._world.target[viewpoints][:, :, None] == visited[:, None, :]  # (B, A, U)
        move = self._world.length[viewpoints][:, :, None] + _PER_MOVE
        edge = move.where(leads, torch.inf).amin(dim=1)  # (B, U)
        length, first = (edge[:, :, None] + distance).min(dim=1)  # (B, U) to every visited viewpoint
        last = first.short()
        back = torch.where(
            torch.arange(visited.shape[1], device=slot.device) == first,
            slot.short()[:, None],
            after.gather(2, first[:, :, None])[:, :, 0],
        )
        distance[rows, slot], distance[rows, :, slot] = length, length
        after[rows, slot], after[rows, :, slot] = last, back
        distance[rows, slot, slot] = 0.0
        after[rows, slot, slot] = slot.short()
        length = length.index_put((rows, slot), length.new_zeros(()))
        through = length[:, :, None] + length[:, None, :]
        shorter = through < distance
        self._distance[walkers] = through.where(shorter, distance)
        self._next[walkers] = after[rows, :, slot][:, :, None].where(shorter, after)
        self._visited[walkers, slot] = viewpoints
        self._count[walkers] += 1

    def _grow(self) -> None:
        """Make room for twice as many viewpoints."""
        more = self._visited.shape[1]
        self._visited = functional.pad(self._visited, (0, more), value=_UNKNOWN)
        self._distance = functional.pad(self._distance, (0, more, 0, more), value=torch.inf)
        self._next = functional.pad(self._next, (0, more, 0, more))
