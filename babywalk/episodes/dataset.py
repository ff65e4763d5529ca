"""A data directory as the houses and tasks in it."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np

from babywalk.assets.data_directory import CACHE, CONNECTIVITY, WALKS, WORD_VECTORS, component, details
from babywalk.assets.glove import WordVectors, read_glove
from babywalk.assets.r2r import r2r_file
from babywalk.buildings.houses import Houses, load_houses
from babywalk.common.errors import ConfigError, DataError, unknown
from babywalk.common.files import sha256
from babywalk.episodes.joining import TASKS, joint
from babywalk.episodes.task import Task, join_task
from babywalk.episodes.vocabulary import Vocabulary
from babywalk.episodes.walks import Walks, load_walks

SPLITS = ("train", "val_seen", "val_unseen", "test")


@dataclass(frozen=True)
class Dataset:
    """The houses, walks and tasks of a data directory, each read when it is first asked for."""

    folder: Path
    _read: dict[str, Walks] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not (self.folder / CONNECTIVITY).is_dir():
            raise DataError(
                f"{self.folder}: is not a data directory of BabyWalk. Make one with "
                f"'babywalk data dollhouse {self.folder}' or 'babywalk data import ... {self.folder}'."
            )

    @cached_property
    def houses(self) -> Houses:
        """Every house."""
        return load_houses(self.folder / CONNECTIVITY, self.folder / CACHE)

    @cached_property
    def splits(self) -> tuple[str, ...]:
        """The splits that have walks, in the usual order."""
        found = {file.stem.removeprefix("R2R_") for file in (self.folder / WALKS).glob("R2R_*.json")}
        return tuple(sorted(found, key=lambda split: (SPLITS.index(split) if split in SPLITS else 9, split)))

    def walks(self, split: str) -> Walks:
        """The described walks of a split."""
        if split not in self.splits:
            raise unknown("Split", split, self.splits)
        if split not in self._read:
            self._read[split] = load_walks(r2r_file(self.folder / WALKS, split), self.houses)
        return self._read[split]

    def walks_key(self, split: str) -> str:
        """What tells the walks of a split from any others: what is made of them carries the key."""
        return sha256(r2r_file(self.folder / WALKS, split))

    def task(self, name: str, split: str, *, seed: int = 0) -> Task:
        """The episodes of a task in a split; "val_unseen:500" is a seeded sample of 500."""
        split, colon, size = split.partition(":")
        task = self._whole(name, split)
        if not colon:
            return task
        if not size.isdecimal():
            raise ConfigError(
                f"Split '{split}:{size}' is not understood. Write SPLIT or SPLIT:NUMBER, as in {split}:500."
            )
        return task.sampled(int(size), seed=seed)

    def _whole(self, name: str, split: str) -> Task:
        how, walks = joint(name), self.walks(split)
        if how.walks == 1:
            return join_task(name, split, self.houses, walks, how, seed=None)
        folder = self._built(name, split)
        if not folder.is_dir():
            if not walks.has_goals:
                raise DataError(f"{self.folder}: {name} cannot be had for {split}: its walks have no goals.")
            raise DataError(
                f"{self.folder}: has no {name} for {split}. "
                f"Run 'babywalk data build {name} --data {self.folder} --splits {split}'."
            )
        if details(folder).string("walks") != self.walks_key(split):
            raise DataError(
                f"{folder}: was built from other R2R walks than this directory has now. "
                f"Run 'babywalk data build {name} --data {self.folder} --splits {split}' again."
            )
        chain = np.load(folder / "chain.npy", allow_pickle=False)
        thinned = folder / "chosen.npy"
        chosen = np.load(thinned, allow_pickle=False) if thinned.exists() else None
        return Task(name, split, self.houses, walks, chain, chosen, chosen)

    def has(self, name: str, split: str) -> bool:
        """Whether a task is there to be read."""
        return split in self.splits and (joint(name).walks == 1 or self._built(name, split).is_dir())

    def build(self, name: str, split: str, *, full: bool = False, seed: int = 0) -> Task:
        """Join the walks of a split into a task and keep it; thinned to the published size unless `full`."""
        how, walks = joint(name), self.walks(split)
        if how.walks == 1:
            raise ConfigError(f"{name} needs no building: it is the walks themselves.")
        if not walks.has_goals:
            raise ConfigError(f"{name} cannot be built for {split}: its walks have no goals to join at.")
        task = join_task(name, split, self.houses, walks, how, seed=None if full else seed)
        facts = {
            "walks": self.walks_key(split),
            "full": task.chosen is None,
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
        """The tasks that some split has."""
        return [name for name in TASKS if any(self.has(name, split) for split in self.splits)]

    def vocabulary(self, *, at_least: int = 5) -> Vocabulary:
        """The words of the training walks."""
        return Vocabulary.of(self.walks("train").texts, at_least=at_least)

    def word_vectors(self) -> WordVectors | None:
        """The word vectors that were imported, if any."""
        folder = self.folder / WORD_VECTORS
        return read_glove(folder / "vocab.txt", folder / "vectors.npy") if folder.is_dir() else None

    def _built(self, name: str, split: str) -> Path:
        return self.folder / name / split
