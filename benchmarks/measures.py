"""Speed of the measures: batched over a whole split, compared with a plain loop over pairs.

python benchmarks/measures.py --data FOLDER (with connectivity/ and R2R/ as published).
The prediction of each instruction is a random other path of the same house, so that few pairs are equal.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from babywalk.assets.r2r import r2r_file
from babywalk.buildings.houses import Houses, load_houses
from babywalk.common.ragged import Ragged
from babywalk.common.seeding import generator
from babywalk.episodes.joining import TASKS, chains, join_paths, join_rule
from babywalk.episodes.walks import load_walks
from babywalk.navigation.measures import confidence, score
from babywalk.navigation.measures.plain import score_plain
from babywalk.navigation.rewards import episode_rewards


def main() -> None:
    arguments = parse()
    houses = load_houses(arguments.data / "connectivity")
    predictions, references = instructions(arguments.data / "R2R", arguments.task, arguments.split, houses)
    number = len(references)
    size = " x ".join(f"{paths.lengths.mean():.1f}" for paths in (predictions, references))
    print(f"{arguments.task} {arguments.split}: {number:,} pairs of {size} viewpoints on average\n")

    chosen = generator(0, "sample").permutation(number)[: arguments.sample]
    sample, batch = ((predictions.take(rows), references.take(rows)) for rows in (chosen, chosen[:64]))
    plain_pairs = as_plain(houses, *sample)
    plain = best(lambda: score_all_plain(plain_pairs)) / len(chosen)
    print(f"{'':32}{'milliseconds':>14}{'pairs/s':>12}{'ratio':>9}")
    line(f"plain loop, all eight, {len(chosen)} pairs", plain * len(chosen), len(chosen), plain)
    line("all eight, whole split", best(lambda: score(houses, predictions, references)), number, plain)
    line(f"all eight, {len(chosen)} pairs", best(lambda: score(houses, *sample)), len(chosen), plain)
    rewards = best(lambda: episode_rewards("fidelity", houses, *batch))
    line(f"SR + CLS, {len(batch[0])} pairs", rewards, len(batch[0]))

    table = score(houses, predictions, references).table()
    plain_table = [list(scores.values()) for scores in score_all_plain(plain_pairs)]
    difference = score(houses, *sample).table() - plain_table
    print(f"\nbootstrap of all eight, 1000 resamples: {best(lambda: confidence(table), repeats=3):.2f} s")
    print(f"largest difference to the plain loop:   {np.abs(difference).max():.1e}")


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Time the measures against a plain double loop.")
    parser.add_argument("--data", type=Path, required=True, help="folder with connectivity/ and R2R/")
    parser.add_argument("--task", choices=TASKS, default="r4r")
    parser.add_argument("--split", default="val_unseen")
    parser.add_argument("--sample", type=int, default=500, help="pairs for the plain loop")
    return parser.parse_args()


def instructions(folder: Path, task: str, split: str, houses: Houses) -> tuple[Ragged, Ragged]:
    """The predictions and the references, one of each per instruction."""
    walks = load_walks(r2r_file(folder, split), houses)
    chain = chains(walks, houses, join_rule(task))
    paths = join_paths(walks, houses, chain)
    texts = np.diff(walks.first_text)[chain].prod(axis=1)
    reference = np.repeat(np.arange(len(paths)), texts)
    return paths.take(others(houses.house_of[paths.firsts], reference)), paths.take(reference)


def others(house: NDArray[np.int32], paths: NDArray[np.int64]) -> NDArray[np.int64]:
    """For each path a random other one of its house; itself where it is the only one."""
    order = np.argsort(house, kind="stable")
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    first, size = np.searchsorted(house[order], house), np.bincount(house)[house]
    offset = generator(0, "answers").integers(1, np.maximum(2, size[paths]))
    other: NDArray[np.int64] = order[first[paths] + (rank[paths] - first[paths] + offset) % size[paths]]
    return other


def as_plain(houses: Houses, predictions: Ragged, references: Ragged) -> list[PlainPair]:
    """Each pair as lists, with the distances of its house as a dict of dicts."""
    rows = range(len(references))
    house = houses.house_of[references.firsts].tolist()
    tables = {number: Table(houses, number) for number in set(house)}
    return [(tables[house[row]], predictions[row].tolist(), references[row].tolist()) for row in rows]


class Table:
    """The distances of one house as a dict of dicts."""

    def __init__(self, houses: Houses, house: int) -> None:
        inside = np.arange(houses.first[house], houses.first[house + 1])
        rows = houses.distance(inside[:, None], inside).tolist()
        names = inside.tolist()
        self.rows: dict[int, dict[int, float]] = {
            a: dict(zip(names, row, strict=True)) for a, row in zip(names, rows, strict=True)
        }

    def distance(self, a: int, b: int) -> float:
        return self.rows[a][b]


PlainPair = tuple[Table, list[int], list[int]]


def score_all_plain(pairs: list[PlainPair]) -> list[dict[str, float]]:
    return [score_plain(table.distance, prediction, reference) for table, prediction, reference in pairs]


def best(run: Callable[[], object], repeats: int = 5) -> float:
    """Seconds of the fastest of several runs."""
    seconds = []
    for _ in range(repeats):
        begin = time.perf_counter()
        run()
        seconds.append(time.perf_counter() - begin)
    return min(seconds)


def line(what: str, seconds: float, pairs: int, plain: float | None = None) -> None:
    """Print one row; `plain` is the time of the plain loop for one pair and the same measures."""
    ratio = f"{plain * pairs / seconds:>8.0f}x" if plain else ""
    print(f"{what:32}{1000 * seconds:>14.2f}{pairs / seconds:>12,.0f}{ratio}")


if __name__ == "__main__":
    main()
