"""A data directory: its houses, walks and tasks."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

import numpy as np

from babywalk.assets.data_directory import (
    CACHE,
    CONNECTIVITY,
    FINE_GRAINED,
    WALKS,
    WORD_VECTORS,
    DamagedError,
    StoredComponent,
    adding_advice,
    component,
    finish_imports,
)
from babywalk.assets.fine_grained import FineGrainedWalk, fine_grained_file, read_fine_grained
from babywalk.assets.glove import WordVectors, read_glove
from babywalk.assets.r2r import SPLITS, r2r_file
from babywalk.buildings.houses import Houses, load_houses
from babywalk.common.array_files import check_range, read_array
from babywalk.common.errors import ConfigError, DataError, unknown
from babywalk.common.files import matching_files, sha256
from babywalk.episodes.joining import DRAW, TASKS, join_rule
from babywalk.episodes.task import Task, draw_name, join_task
from babywalk.episodes.vocabulary import Vocabulary
from babywalk.episodes.walks import Walks, load_walks

# The version of built tasks, stored in their manifests. 1 (not stored): chains in the order of their first
# walk; 2: the official order, houses in the order of their first walk.
_FORMAT = 2


@dataclass(frozen=True)
class Dataset:
    """The houses, walks and tasks of a data directory, each read when first used."""

    folder: Path
    _read: dict[str, Walks] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        finish_imports(self.folder)
        if not (self.folder / CONNECTIVITY).is_dir():
            raise DataError(
                f"{self.folder}: is not a data directory. Create one with "
                f"'babywalk data dollhouse {self.folder}' or 'babywalk data import ... {self.folder}'."
            )

    @cached_property
    def houses(self) -> Houses:
        """All houses of the data directory."""
        stored = self._imported(CONNECTIVITY, "--connectivity FOLDER")
        with adding_advice(stored.again, DamagedError):
            return load_houses(stored.folder, self.folder / CACHE)

    @cached_property
    def splits(self) -> tuple[str, ...]:
        """The splits with walks: train, val_seen, val_unseen, test, then others by name."""
        files = matching_files(self.folder / WALKS, "R2R_*.json")
        found = {file.stem.removeprefix("R2R_") for file in files}
        return tuple(
            sorted(found, key=lambda split: (SPLITS.index(split) if split in SPLITS else len(SPLITS), split))
        )

    def walks(self, split: str) -> Walks:
        """The walks of a split."""
        if split not in self.splits:
            raise unknown("Split", split, self.splits)
        if split not in self._read:
            stored = self._imported(WALKS, "--r2r FOLDER")
            with stored.reading(r2r_file(Path(), split).name) as file:
                pass  # a file that is as it was imported needs no advice to import it again
            self._read[split] = load_walks(file, self.houses)
        return self._read[split]

    def walks_hash(self, split: str) -> str:
        """SHA-256 of the walks of a split; components computed from them store it."""
        return sha256(r2r_file(self.folder / WALKS, split))

    def task(self, name: str, split: str, *, seed: int = 0) -> Task:
        """The episodes of a task in a split; "val_unseen:500" is a seeded sample of 500."""
        split, colon, size = split.partition(":")
        task = self._whole(name, split)
        if not colon:
            return task
        if not size.isdecimal():
            raise ConfigError(
                f"Split '{split}:{size}' is not valid. Write SPLIT or SPLIT:NUMBER, for example {split}:500."
            )
        return task.sampled(int(size), seed=seed)

    def _whole(self, name: str, split: str) -> Task:
        rule, walks = join_rule(name), self.walks(split)
        if rule.walks == 1:
            return join_task(name, split, self.houses, walks, rule, seed=None)
        folder = self._built(name, split)
        if not folder.is_dir():
            if not walks.has_goals:
                raise DataError(
                    f"{self.folder}: no {name} for {split}: the goals of its walks are not published."
                )
            raise DataError(
                f"{self.folder}: has no {name} for {split}. "
                f"Run 'babywalk data build {name} --data {self.folder} --splits {split}'."
            )
        again = f"Run 'babywalk data build {name} --data {self.folder} --splits {split}' again."
        stored = StoredComponent(folder, again)
        if stored.details.fields.get("format") != _FORMAT:
            raise DataError(
                f"{folder}: was built by another version of BabyWalk, without the official ids. {again}"
            )
        if stored.details.string("walks") != self.walks_hash(split):
            raise DataError(f"{folder}: was built from different R2R walks. {again}")
        with stored.reading("chain.npy") as file:
            chain = read_array(file, "i", (None, rule.walks)).astype(np.int32, copy=False)
            check_range(file, "numbers of walks", chain, 0, len(walks))
        task = Task(name, split, self.houses, walks, chain)
        if not stored.has("chosen.npy"):
            return task
        with stored.reading("chosen.npy") as file:
            chosen = read_array(file, "i", (None,)).astype(np.int64, copy=False)
            check_range(file, "numbers of episodes", chosen, 0, task.full_size)
            if (np.diff(chosen) <= 0).any():
                raise DataError(f"{file}: the numbers of episodes must ascend.")
        draw = draw_name(stored.details.integer("draw"), stored.details.integer("seed"))
        return replace(task, chosen=chosen, counted=chosen, draw=draw)

    def has(self, name: str, split: str) -> bool:
        """Whether a task exists for a split."""
        return split in self.splits and (join_rule(name).walks == 1 or self._built(name, split).is_dir())

    def build(self, name: str, split: str, *, full: bool = False, seed: int = 0) -> Task:
        """Join the walks of a split into a task and save it, drawn to the published size unless `full`."""
        rule, walks = join_rule(name), self.walks(split)
        if rule.walks == 1:
            raise ConfigError(f"{name} needs no building: it consists of the walks themselves.")
        if not walks.has_goals:
            raise ConfigError(
                f"{name} cannot be built for {split}: the goals of its walks are not published."
            )
        task = join_task(name, split, self.houses, walks, rule, seed=None if full else seed)
        facts = {
            "format": _FORMAT,
            "walks": self.walks_hash(split),
            "full": task.chosen is None,
            "draw": None if task.chosen is None else DRAW,
            "seed": None if task.chosen is None else seed,
            "episodes": len(task),
            "paths": len(task.chains_used),
        }
        with component(
            self._built(name, split), f"{name} {split}: chains of R2R walks", details=facts
        ) as draft:
            np.save(draft.folder / "chain.npy", task.chain)
            if task.chosen is not None:
                np.save(draft.folder / "chosen.npy", task.chosen)
        return task

    def tasks(self) -> list[str]:
        """The tasks that exist for at least one split."""
        return [name for name in TASKS if any(self.has(name, split) for split in self.splits)]

    def vocabulary(self, *, min_count: int = 5) -> Vocabulary:
        """The words of the training walks."""
        return Vocabulary.of(self.walks("train").texts, min_count=min_count)

    def fine_grained(self, split: str) -> list[FineGrainedWalk]:
        """The imported sub-instructions of a split."""
        stored = self._imported(FINE_GRAINED, "--fine-grained FOLDER")
        with stored.reading(fine_grained_file(Path(), split).name) as file:
            pass
        return read_fine_grained(file)

    def word_vectors(self) -> WordVectors | None:
        """The imported word vectors, if any."""
        if not (self.folder / WORD_VECTORS).is_dir():
            return None
        stored = self._imported(WORD_VECTORS, "--glove WORDS VECTORS")
        with stored.reading("vocab.txt") as words, stored.reading("vectors.npy") as vectors:
            return read_glove(words, vectors)

    def _imported(self, name: str, options: str) -> StoredComponent:
        again = f"Import it again with 'babywalk data import {options} {self.folder}'."
        return StoredComponent(self.folder / name, again)

    def _built(self, name: str, split: str) -> Path:
        return self.folder / name / split
