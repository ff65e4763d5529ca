"""How fast the paper's network learns and walks: python benchmarks/agent.py --data DIR

The network is that of the `paper` preset, untrained, over random 2048-d features in float16; lessons are the
real ones of R4R and R2R train. A row of learning is a whole iteration: walks, loss, gradient, clipping and
the optimiser's step; walkers act by chance, as in training, and decide four to five times per step. In the
rows of walking nobody stops, so that every walker makes all ten moves of each of its steps.

Multiply-adds are those of all matrix products that are run, counted on the same walks; the peak is that of
a product of two large matrices, measured in the same run right after what is timed, in the rows of learning
after every iteration. Others who work on the same processor only ever add to a time: everything is run
several times over, and the quickest counts, of each iteration and of its peak; the mean of all runs stands
beside it. "Meet" is how long a loop takes that threads share and that is hardly any work, in microseconds:
it tells how far apart the cores are on which they run, which may change from minute to minute.
"""

from __future__ import annotations

import argparse
import math
import resource
import time
from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch.utils.flop_counter import FlopCounterMode

from babywalk.agents.learned import walk_lessons
from babywalk.agents.presets import AGENTS, PRESETS
from babywalk.common.runtime import retain_freed_memory
from babywalk.decoding.episode_batch import EpisodeBatches
from babywalk.decoding.rollout import Rollout
from babywalk.episodes.dataset import Dataset
from babywalk.instructions.store import aligned, identified
from babywalk.modules.config import PolicyConfig
from babywalk.modules.decoder import Decision
from babywalk.modules.model import Model, new_model
from babywalk.navigation.observation import Observer
from babywalk.navigation.teacher import Teacher
from babywalk.navigation.world import STOP, World
from babywalk.training.config import ReinforceConfig, TrainingConfig
from babywalk.training.loop import descend, fresh_optimiser
from babywalk.training.stages import Imitation, Lecture, Stage

WIDTH = 2048  # numbers per view
Shape = Sequence[int]
PAPER = PRESETS["paper"]["policy"]
WHOLE = PAPER | AGENTS["seq2seq"]["policy"]


@dataclass(frozen=True, slots=True)
class Row:
    """What is measured: the authors' release on such a machine, and what we set out to reach."""

    name: str
    release: float
    target: float
    unit: str
    run: Callable[[Scene], Measured]


@dataclass(frozen=True, slots=True)
class Measured:
    """Seconds and multiply-adds of a run of `count` iterations or instructions."""

    seconds: float  # by the quickest run of each part
    mean: float  # seconds by all runs
    products: float
    count: int
    peak: float  # multiply-adds per second of large products while it ran
    meeting: float  # seconds of a shared loop, as a rule

    @classmethod
    def of(
        cls,
        seconds: NDArray[np.float64],  # (runs, parts)
        peaks: NDArray[np.float64],  # (runs, parts) right after each
        meetings: NDArray[np.float64],  # (runs, parts) likewise
        counter: FlopCounterMode,
        count: int,
    ) -> Measured:
        """Of runs of the same walks."""
        products = counter.get_total_flops() / 2
        quickest, mean = seconds.min(axis=0).sum(), seconds.sum(axis=1).mean()
        return cls(quickest, mean, products, count, peaks.max(axis=0).mean(), float(np.median(meetings)))


class Scene:
    """Everything that the rows share, made when it is first asked for."""

    def __init__(self, folder: Path, *, quick: bool, busy: bool, seed: int, times: int) -> None:
        self.dataset = Dataset(folder)
        self.quick = quick
        self.times = 1 if quick else times
        self.clock = time.process_time if busy else time.perf_counter
        self.seed = seed
        self.world = World.of(self.dataset.houses)

    @cached_property
    def observer(self) -> Observer:
        """Over random features of the houses that are walked in; pages of the others are never touched."""
        houses = self.dataset.houses
        # Made by torch, as the observers of training are: it takes large pages where there are any.
        views = torch.empty(len(houses.names), 36, WIDTH, dtype=torch.float16)
        table = views.numpy()
        random = np.random.default_rng(self.seed)
        pool = random.random(1 << 24, dtype=np.float32).astype(np.float16)
        for split in ("train", "val_unseen"):
            for house in np.unique(houses.house_of[self.dataset.walks(split).paths.values]):
                for viewpoint in range(houses.first[house], houses.first[house + 1]):
                    begin = random.integers(len(pool) - 36 * WIDTH)
                    table[viewpoint] = pool[begin : begin + 36 * WIDTH].reshape(36, WIDTH)
        narrow = np.zeros((len(table), 36, 1), dtype=np.float16)
        return replace(Observer.over(self.world, narrow).to("cpu"), views_table=views)

    @cached_property
    def teacher(self) -> Teacher:
        return Teacher.of(self.dataset.houses).to("cpu")

    def model(self, config: PolicyConfig) -> Model:
        return new_model(
            config,
            self.dataset.vocabulary(),
            self.dataset.word_vectors(),
            features="random",
            view_width=self.observer.view_width,
            action_width=self.observer.candidate_width,
            seed=self.seed,
        )

    def lessons(self, task: str, model: Model) -> EpisodeBatches:
        loaded, cut = self.dataset.task(task, "train"), model.config.cut
        return EpisodeBatches.of(
            aligned(self.dataset, loaded, cut)[0], self.world, model.vocabulary, model.config
        )


def imitation(scene: Scene) -> Measured:
    model = scene.model(PolicyConfig(**PAPER))
    guide = Rollout(model.network, scene.observer)
    stage = Imitation(guide, [scene.lessons("r4r", model)], scene.teacher, TrainingConfig(seed=scene.seed))
    return learning(scene, model, stage, 3 if scene.quick else 12)


def lecture(k: int) -> Callable[[Scene], Measured]:
    def run(scene: Scene) -> Measured:
        model = scene.model(PolicyConfig(**PAPER))
        guide = Rollout(model.network, scene.observer)
        lessons = scene.lessons("r4r", model)
        stage = Lecture(guide, [lessons], scene.teacher, TrainingConfig(seed=scene.seed), k)
        return learning(scene, model, stage, 1 if scene.quick else 4)

    return run


def reinforce(scene: Scene) -> Measured:
    model = scene.model(PolicyConfig(**WHOLE))
    guide = Rollout(model.network, scene.observer)
    config = TrainingConfig(seed=scene.seed, reinforce=ReinforceConfig(batches=(64,), lectures=1))
    stage = Lecture(guide, [scene.lessons("r2r", model)], scene.teacher, config, None)
    return learning(scene, model, stage, 1 if scene.quick else 6)


def learning(scene: Scene, model: Model, stage: Stage, count: int) -> Measured:
    """Iterations as the training loop makes them."""
    network = model.network.train()
    first = deepcopy(network.state_dict())

    def iterations() -> Iterator[None]:
        """They begin anew: who has learned walks otherwise, so what is counted is learned alike."""
        network.load_state_dict(first)
        optimiser = fresh_optimiser(network, stage)
        for iteration in range(count):
            torch.manual_seed(iteration)
            descend(network, optimiser, stage.iterate(iteration, 0.0).loss, stage.clip)
            yield

    with counting() as counter:
        list(iterations())
    seconds, peaks, meetings = np.empty((3, scene.times, count))
    for run in range(scene.times):
        begin = scene.clock()
        for iteration, _ in enumerate(iterations()):
            seconds[run, iteration] = scene.clock() - begin
            peaks[run, iteration], meetings[run, iteration] = peak(scene.clock), meeting(scene.clock)
            begin = scene.clock()
    return Measured.of(seconds, peaks, meetings, counter, count)


def evaluation(task: str, count: int) -> Callable[[Scene], Measured]:
    def run(scene: Scene) -> Measured:
        model = scene.model(PolicyConfig(**PAPER))
        loaded = scene.dataset.task(task, "val_unseen")
        steps = identified(scene.dataset, loaded, model.config.cut)
        lessons = EpisodeBatches.of(steps, scene.world, model.vocabulary, model.config)
        shortlist = count // 4 if scene.quick else count
        chosen = np.random.default_rng(scene.seed).permutation(len(loaded))[:shortlist]
        guide = Rollout(model.network, scene.observer)
        walk_lessons(guide, lessons, chosen[:16], never_stop)
        with counting() as counter:
            walk_lessons(guide, lessons, chosen, never_stop)
        seconds, peaks, meetings = np.empty((3, scene.times, 1))
        for run in range(scene.times):
            begin = scene.clock()
            walk_lessons(guide, lessons, chosen, never_stop)
            seconds[run] = scene.clock() - begin
            peaks[run], meetings[run] = peak(scene.clock), meeting(scene.clock)
        return Measured.of(seconds, peaks, meetings, counter, len(chosen))

    return run


def counting() -> FlopCounterMode:
    """In-place products are counted like the others."""

    def added(_: Shape, one: Shape, two: Shape, **__: object) -> int:
        return 2 * math.prod(one) * two[-1]

    ops = torch.ops.aten
    return FlopCounterMode(display=False, custom_mapping={ops.addmm_: added, ops.baddbmm_: added})


def never_stop(
    decision: Decision,
    walkers: torch.Tensor,  # noqa: ARG001
    viewpoints: torch.Tensor,  # noqa: ARG001
    rows: torch.Tensor,  # noqa: ARG001
) -> torch.Tensor:
    """The best action that moves."""
    logits = decision.logits.clone()
    logits[:, STOP] = -torch.inf
    return logits.argmax(dim=1)


PER_ITERATION, PER_SECOND = "s per iteration", "instructions/s"
ROWS = {
    "imitation": Row("imitation, batch 100", 2.6, 1.0, PER_ITERATION, imitation),
    "lecture1": Row("lecture 1, batch 50 x 8", 14.5, 3.0, PER_ITERATION, lecture(1)),
    "lecture4": Row("lecture 4, batch 20 x 8", 67.0, 7.0, PER_ITERATION, lecture(4)),
    "reinforce": Row("RL without history, batch 64 x 8", 9.3, 2.5, PER_ITERATION, reinforce),
    "r2r": Row("walking R2R, 10 moves per step", 35.0, 200.0, PER_SECOND, evaluation("r2r", 2000)),
    "r8r": Row("walking R8R, 10 moves per step", 5.6, 40.0, PER_SECOND, evaluation("r8r", 400)),
}


def peak(clock: Callable[[], float]) -> float:
    """Multiply-adds per second of a large matrix product."""
    size = 2048
    one, two = torch.rand(size, size), torch.rand(size, size)
    seconds = []
    for _ in range(3):
        begin = clock()
        one @ two
        seconds.append(clock() - begin)
    return size**3 / min(seconds)


def meeting(clock: Callable[[], float]) -> float:
    """Seconds of a loop over just enough numbers that two threads share it."""
    numbers, times = torch.ones(40_000), 100
    begin = clock()
    for _ in range(times):
        numbers.mul_(1.0)
    return (clock() - begin) / times


def measure(rows: Sequence[Row], scene: Scene) -> None:
    print(
        f"{'':36}{'release':>9}{'ours':>9}{'mean':>9}{'ratio':>8}{'target':>9}  {'':17}"
        f"{'G multiply-adds':>16}{'G/s':>7}{'peak':>6}{'share':>7}{'meet':>6}"
    )
    for row in rows:
        found = row.run(scene)
        ours, mean = found.seconds / found.count, found.mean / found.count
        ratio = row.release / ours
        if row.unit == PER_SECOND:
            ours, mean = 1 / ours, 1 / mean
            ratio = ours / row.release
        rate = found.products / found.seconds
        print(
            f"{row.name:36}{row.release:9.1f}{ours:9.2f}{mean:9.2f}{ratio:7.1f}x"
            f"{row.target:9.1f}  {row.unit:17}"
            f"{found.products / found.count / 1e9:16.2f}{rate / 1e9:7.0f}"
            f"{found.peak / 1e9:6.0f}{rate / found.peak:7.0%}{1e6 * found.meeting:6.1f}"
        )
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"{'peak memory of all of this':36}{8.0:9.1f}{used:9.2f}{'':9}{8 / used:7.1f}x{4.0:9.1f}  GB")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True, help="a data directory with R4R and R8R built")
    parser.add_argument("--rows", nargs="+", choices=ROWS, default=list(ROWS), help="what to measure")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--quick", action="store_true", help="fewer iterations and instructions")
    parser.add_argument(
        "--busy",
        action="store_true",
        help="count the processor time of one thread",
    )
    parser.add_argument(
        "--times", type=int, default=4, help="how often everything is run; the quickest counts"
    )
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    retain_freed_memory()  # as the command line does
    torch.set_num_threads(1 if options.busy else options.threads)
    scene = Scene(
        options.data, quick=options.quick, busy=options.busy, seed=options.seed, times=options.times
    )
    measure([ROWS[name] for name in options.rows], scene)


if __name__ == "__main__":
    main()
