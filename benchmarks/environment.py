"""Environment steps per second: python benchmarks/environment.py --data DIR

A batch of walkers takes random actions. "With features" also gathers the agent-centred views
(B, 36, D + 128) and the candidates (B, A, D + 128) at every step.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np

from babywalk.buildings.houses import Houses
from babywalk.episodes.dataset import Dataset
from babywalk.navigation.observation import Observer
from babywalk.navigation.world import Poses, World, poses_at


def random_features(houses: Houses, width: int) -> np.ndarray:
    return np.random.default_rng(1).random((len(houses.names), 36, width), dtype=np.float32)


def walk(world: World, poses: Poses, draws: np.ndarray, observer: Observer | None) -> float:
    """Steps per second of the batched step."""
    begin = time.perf_counter()
    for draw in draws:
        choices = world.possible[poses.viewpoint].sum(axis=-1)
        poses = world.step(poses, (draw * choices).astype(np.int64))
        if observer:
            observer.views(poses)
            observer.candidates(poses)
    return float(draws.size / (time.perf_counter() - begin))


def one_by_one(world: World, poses: Poses, draws: np.ndarray) -> float:
    """Steps per second of the same step in plain Python, one walker at a time."""
    neighbours = [row[mask].tolist() for row, mask in zip(world.target, world.possible, strict=True)]
    facing = [row[mask].tolist() for row, mask in zip(world.facing, world.possible, strict=True)]
    states = [{"viewpoint": int(v), "view": int(w)} for v, w in zip(poses.viewpoint, poses.view, strict=True)]
    begin = time.perf_counter()
    for row in draws.tolist():
        for state, draw in zip(states, row, strict=True):
            options = neighbours[state["viewpoint"]]
            action = int(draw * len(options))
            if action:
                state["view"] = facing[state["viewpoint"]][action]
                state["viewpoint"] = options[action]
    return float(draws.size / (time.perf_counter() - begin))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True, help="a data directory")
    parser.add_argument("--batch", type=int, default=1000, help="walkers")
    parser.add_argument("--width", type=int, default=64, help="features per view")
    options = parser.parse_args()
    houses = Dataset(options.data).houses
    world = World.of(houses)
    observer = Observer.over(world, random_features(houses, options.width))
    random = np.random.default_rng(0)
    reachable = np.flatnonzero(houses.degree > 0)
    poses = poses_at(random.choice(reachable, options.batch), random.random(options.batch) * 6.28)
    draws = random.random((300, options.batch))
    plain = one_by_one(world, poses, draws[:30])
    rows = [
        ("one walker at a time, plain Python", plain),
        ("without features", max(walk(world, poses, draws, None) for _ in range(3))),
        (f"with {options.width}-d features", max(walk(world, poses, draws[:60], observer) for _ in range(3))),
    ]
    print(f"{len(houses)} houses, batch {options.batch}")
    for name, rate in rows:
        print(f"{name:<40}{rate:14,.0f} steps/s{rate / plain:10.1f}x")


if __name__ == "__main__":
    main()
