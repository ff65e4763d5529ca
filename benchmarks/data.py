"""How fast raw files become episodes: python benchmarks/data.py --raw FOLDER

The folder holds `connectivity/` and `R2R/` in the raw formats, such as `<data>/raw` of a Dollhouse or the
real files. Ratios to a peer are measured in the same run; absolute times depend on the machine.
"""

from __future__ import annotations

import argparse
import base64
import gc
import resource
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import numpy as np

from babywalk.assets.connectivity import connectivity_files
from babywalk.assets.view_features import Panorama, read_view_features, write_view_features
from babywalk.buildings.features import convert_panoramas, open_features
from babywalk.buildings.houses import Houses, load_houses
from babywalk.episodes.dataset import Dataset
from babywalk.episodes.importing import RawFiles, import_data
from babywalk.episodes.joining import TASKS
from babywalk.episodes.task import join_task

Value = TypeVar("Value")


def timed(work: Callable[[], Value], repeats: int = 3) -> tuple[float, Value]:
    """The best of a few runs, in seconds, and what the last one gave."""
    best = float("inf")
    for _ in range(repeats):
        gc.collect()
        begin = time.perf_counter()
        value = work()
        best = min(best, time.perf_counter() - begin)
    return best, value


def say(what: str, seconds: float, note: str = "") -> None:
    print(f"{what:<58}{seconds:9.3f} s  {note}")


def houses(raw: Path, folder: Path) -> Houses:
    connectivity = raw / "connectivity"
    cold, found = timed(lambda: load_houses(connectivity))
    say(f"{len(found)} houses with all-pairs geodesics, cold", cold, f"{len(found.names):,} viewpoints")
    load_houses(connectivity, folder / "cache")
    say("... from the cache", timed(lambda: load_houses(connectivity, folder / "cache"))[0])
    return found


def tasks(raw: Path, folder: Path) -> None:
    data = folder / "data"
    import_data(RawFiles(connectivity=raw / "connectivity", r2r=raw / "R2R"), data)
    dataset = Dataset(data)
    dataset.walks("train")
    dataset.walks("val_unseen")

    def build(name: str, *splits: str) -> int:
        joined = [
            join_task(name, split, dataset.houses, dataset.walks(split), TASKS[name], seed=None)
            for split in splits
        ]
        return sum(len(task) for task in joined if len(task.paths) >= 0)

    for name, splits in (("r4r", ("train", "val_unseen")), ("r6r", ("train",)), ("r8r", ("train",))):
        # A default binds the loop's name, and mypy cannot infer a lambda with one.
        # mypy does not infer a lambda that binds a loop's names:
        seconds, count = timed(lambda name=name, splits=splits: build(name, *splits))  # type: ignore[misc]
        say(f"{name} {' + '.join(splits)}, full product", seconds, f"{count:,} instructions")


def features(folder: Path, panoramas: int, width: int) -> None:
    """Against reading and base64-decoding the same file, which no reader can avoid."""
    file = folder / "features.tsv"
    house = row_of_viewpoints(panoramas)
    random = np.random.default_rng(0)
    write_view_features(
        file,
        (Panorama("row", name, random.random((36, width), dtype=np.float32)) for name in house.names),
    )

    def decode() -> int:
        with file.open("rb") as lines:
            return sum(len(base64.b64decode(line.split(b"\t")[5])) for line in lines)

    floor, _ = timed(decode)
    ours, _ = timed(lambda: convert_panoramas(folder, "bench", read_view_features(file), house))
    say(f"reading and decoding {panoramas} x 36 x {width}", floor)
    say("... converting it to a store", ours, f"{floor / ours:.2f} of the speed of reading and decoding")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    opened, _ = timed(lambda: open_features(folder, "bench", house))
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    say("... opening the store", opened, f"{grown / 1024:.1f} MB more memory")


def row_of_viewpoints(count: int) -> Houses:
    from babywalk.assets.connectivity import Connectivity

    positions = np.zeros((count, 3))
    positions[:, 1] = 2 * np.arange(count)
    none = np.zeros((count, count), dtype=bool)
    names = tuple(f"v{number}" for number in range(count))
    return Houses.of([Connectivity("row", names, positions, np.ones(count), none, none)])


def start_up(data: Path) -> None:
    """What an experiment waits for: houses, walks and features of a data directory, ready to use."""

    def load() -> int:
        dataset = Dataset(data)
        found = dataset.houses
        dataset.task("r2r", "val_unseen")
        return open_features(data, "objects", found).width

    seconds, width = timed(load)
    say("start-up from a data directory, with features", seconds, f"{width} numbers per view, mapped")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--raw", type=Path, required=True, help="folder with connectivity/ and R2R/")
    parser.add_argument(
        "--data", type=Path, help="a data directory with 'objects' features, for the start-up"
    )
    options = parser.parse_args()
    connectivity_files(options.raw / "connectivity")
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        houses(options.raw, folder)
        tasks(options.raw, folder)
        features(folder, panoramas=300, width=2048)
        if options.data:
            start_up(options.data)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{'peak memory of all of this':<58}{peak:9.0f} MB")


if __name__ == "__main__":
    main()
