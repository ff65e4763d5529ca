"""How fast paths are measured: a whole split at once, against a plain double loop per pair.

python benchmarks/measures.py --data FOLDER, which holds connectivity/ and R2R/ as published.
Every instruction is answered with another path of its house, drawn anew for each: instructions of one
path have different answers, and nothing is gained by scoring equal pairs once.
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
from babywalk.episodes.joining import TASKS, chains, joined_paths, joint
from babywalk.episodes.walks import load_walks
from babywalk.navigation.measures import Pairs, cls, confidence, score, success
from babywalk.navigation.measures.plain import score_plain


def main() -> None:
    arguments = parse()
    houses = load_houses(arguments.data / "connectivity")
    predictions, references = instructions(arguments.data / "R2R", arguments.task, arguments.split, houses)
    number = len(references)
    size = " x ".join(f"{paths.lengths.mean():.1f}" for paths in (predictions, references))
    print(f"{arguments.task} {arguments.split}: {number:,} pairs of {size} viewpoints on average\n")

    chosen = generator(0, "sample").permutation(number)[: arguments.sample]
    shortlist, batch = ((predictions.take(rows), references.take(rows)) for rows in (chosen, chosen[:64]))
    lists = as_plain(houses, *shortlist)
    plain = best(lambda: plainly(lists)) / len(chosen)
    print(f"{'':32}{'milliseconds':>14}{'pairs/s':>12}{'ratio':>9}")
    line(f"plain loop, all eight, {len(chosen)} pairs", plain * len(chosen), len(chosen), plain)
    line("all eight, whole split", best(lambda: score(houses, predictions, references)), number, plain)
    line(f"all eight, {len(chosen)} pairs", best(lambda: score(houses, *shortlist)), len(chosen), plain)
    line(f"SR + CLS, {len(batch[0])} pairs", best(lambda: reward(houses, *batch)), len(batch[0]))

    table = score(houses, predictions, references).table()
    off = score(houses, *shortlist).table() - [list(scores.values()) for scores in plainly(lists)]
    print(f"\nbootstrap of all eight, 1000 resamples: {best(lambda: confidence(table), repeats=3):.2f} s")
    print(f"largest difference to the plain loop:   {np.abs(off).max():.1e}")


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Time the measures against a plain double loop.")
    parser.add_argument("--data", type=Path, required=True, help="folder with connectivity/ and R2R/")
    parser.add_argument("--task", choices=TASKS, default="r4r")
    parser.add_argument("--split", default="val_unseen")
    parser.add_argument("--sample", type=int, default=500, help="pairs for the plain loop")
    return parser.parse_args()


def instructions(folder: Path, task: str, split: str, houses: Houses) -> tuple[Ragged, Ragged]:
    """One prediction and one reference per instruction."""
    walks = load_walks(r2r_file(folder, split), houses)
    chain = chains(walks, houses, joint(task))
    paths = joined_paths(walks, houses, chain)
    texts = np.diff(walks.first_text)[chain].prod(axis=1)
    asked = np.repeat(np.arange(len(paths)), texts)
    return paths.take(others(houses.house_of[paths.firsts], asked)), paths.take(asked)


def others(house: NDArray[np.int32], asked: NDArray[np.int64]) -> NDArray[np.int64]:
    """For each asked path a random other one of its house; itself where it is alone."""
    order = np.argsort(house, kind="stable")
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    first, size = np.searchsorted(house[order], house), np.bincount(house)[house]
    step = generator(0, "answers").integers(1, np.maximum(2, size[asked]))
    answer: NDArray[np.int64] = order[first[asked] + (place[asked] - first[asked] + step) % size[asked]]
    return answer


def reward(houses: Houses, predictions: Ragged, references: Ragged) -> NDArray[np.float64]:
    pairs = Pairs.of(houses, predictions, references)
    return success(pairs) + cls(pairs)


def as_plain(houses: Houses, predictions: Ragged, references: Ragged) -> list[Plain]:
    """Each pair as lists beside its house's dict of dicts of distances, as the field's scripts hold them."""
    rows = range(len(references))
    home = houses.house_of[references.firsts].tolist()
    tables = {house: Table(houses, house) for house in set(home)}
    return [(tables[home[row]], predictions[row].tolist(), references[row].tolist()) for row in rows]


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


Plain = tuple[Table, list[int], list[int]]


def plainly(pairs: list[Plain]) -> list[dict[str, float]]:
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
    """One row of the table; `plain` is what the plain loop takes for one pair and the same measures."""
    ratio = f"{plain * pairs / seconds:>8.0f}x" if plain else ""
    print(f"{what:32}{1000 * seconds:>14.2f}{pairs / seconds:>12,.0f}{ratio}")


if __name__ == "__main__":
    main()
