"""How fast the paper's network trains and walks, plain and with kernels: python benchmarks/agent.py --data
DIR

The network is that of the `paper` preset, untrained, over random 2048-d features in float16; episodes are
those of R4R and R2R train. A row of training is a whole iteration: rollout, loss, gradient, clipping and
optimiser step; walkers sample their actions, four to five per Baby-Step. In the rows of walking STOP is
excluded, so that every walker makes all ten moves of each step.

Both backends run in one process, and each time is the quickest of several runs, since other load only ever
adds to a time. Multiply-adds are those of all matrix products that the kernels run; the peak is that of a
product of two large matrices, measured right after what is timed. `--kernels` also times each kernel alone
against its plain version at the shapes of an iteration.
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
from torch import Tensor, nn
from torch.utils.flop_counter import FlopCounterMode

from babywalk.agents.learned import walk_episodes
from babywalk.agents.table import AGENTS
from babywalk.common.runtime import retain_freed_memory
from babywalk.decoding.decoders import StepwiseDecoder
from babywalk.decoding.episode_batch import EpisodeBatches
from babywalk.decoding.rollout import Rollout, Walkers
from babywalk.episodes.dataset import Dataset
from babywalk.instructions.store import aligned_steps, identify_steps
from babywalk.modules.config import PolicyConfig
from babywalk.modules.decoder import Decision
from babywalk.modules.kernels import choose_backend
from babywalk.modules.kernels.deferred_gradients import deferred_gradients
from babywalk.modules.kernels.matmul import product
from babywalk.modules.layers import Linear, LSTMCell, PackedLSTM
from babywalk.modules.model import Model, new_model
from babywalk.modules.text_encoder import EncodedText
from babywalk.navigation.observation import Observer
from babywalk.navigation.teacher import Teacher
from babywalk.navigation.world import STOP, Poses, World
from babywalk.training.config import ReinforceConfig, TrainingConfig
from babywalk.training.imitation import imitation_stages
from babywalk.training.optimisation import gradient_step, new_optimiser
from babywalk.training.presets import PRESETS
from babywalk.training.reinforcement import Lecture
from babywalk.training.stage import Stage, TrainingSetup

WIDTH = 2048  # features per view
PAPER = PRESETS["paper"]["policy"]
WHOLE = PAPER | AGENTS["seq2seq"].settings["policy"]
BACKENDS = ("plain", "auto")
CPU = torch.device("cpu")


@dataclass(frozen=True, slots=True)
class Row:
    """What is measured: the authors' release on such a machine, and our target."""

    name: str
    release: float
    target: float
    unit: str
    run: Callable[[Bench, str], Measured]


@dataclass(frozen=True, slots=True)
class Measured:
    """Seconds per iteration or instruction."""

    seconds: float  # of the quickest run
    products: float  # multiply-adds
    peak: float  # multiply-adds per second of large products while it ran


class Bench:
    """Everything that the rows share, built when it is first used."""

    def __init__(self, folder: Path, *, quick: bool, busy: bool, seed: int, times: int) -> None:
        self.dataset = Dataset(folder)
        self.quick = quick
        self.times = 1 if quick else times
        self.clock = time.process_time if busy else time.perf_counter
        self.seed = seed
        self.world = World.of(self.dataset.houses)

    @cached_property
    def observer(self) -> Observer:
        """Over random features of the houses that are used; memory of the others is never touched."""
        houses = self.dataset.houses
        # Allocated by torch, as in training: it uses large pages where there are any.
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

    def setup(self, task: str, model: Model, config: TrainingConfig, kernels: str) -> TrainingSetup:
        loaded = self.dataset.task(task, "train")
        steps = aligned_steps(self.dataset, loaded, model.config.segmentation)[0]
        episodes = [EpisodeBatches.of(steps, self.world, model.vocabulary, model.config)]
        rollout = Rollout(model.network, self.observer, kernels=kernels)
        return TrainingSetup(config, rollout, self.teacher, lambda *_: episodes)


def imitation(bench: Bench, kernels: str) -> Measured:
    model = bench.model(PolicyConfig(**PAPER))
    setup = bench.setup("r4r", model, TrainingConfig(seed=bench.seed), kernels)
    return training(bench, model, imitation_stages(setup)[0], 3 if bench.quick else 8)


def lecture(k: int) -> Callable[[Bench, str], Measured]:
    def run(bench: Bench, kernels: str) -> Measured:
        model = bench.model(PolicyConfig(**PAPER))
        setup = bench.setup("r4r", model, TrainingConfig(seed=bench.seed), kernels)
        return training(bench, model, Lecture(setup, k), 1 if bench.quick else 3)

    return run


def reinforce(bench: Bench, kernels: str) -> Measured:
    model = bench.model(PolicyConfig(**WHOLE))
    config = TrainingConfig(seed=bench.seed, reinforce=ReinforceConfig(batches=(64,), lectures=1))
    setup = bench.setup("r2r", model, config, kernels)
    return training(bench, model, Lecture(setup, None), 1 if bench.quick else 4)


def training(bench: Bench, model: Model, stage: Stage, count: int) -> Measured:
    """Iterations as the training loop runs them."""
    network = model.network.train()
    first = deepcopy(network.state_dict())

    def iterations() -> Iterator[None]:
        """From the same weights in every run."""
        network.load_state_dict(first)
        optimiser = new_optimiser(network, stage)
        for iteration in range(count):
            torch.manual_seed(iteration)
            gradient_step(network, optimiser, stage.iterate(iteration, 0.0).loss, stage.clip)
            yield

    with counting() as counter:
        list(iterations())
    seconds, peaks = np.empty((2, bench.times, count))
    for run in range(bench.times):
        begin = bench.clock()
        for iteration, _ in enumerate(iterations()):
            seconds[run, iteration] = bench.clock() - begin
            peaks[run, iteration] = peak(bench.clock)
            begin = bench.clock()
    return Measured(
        seconds.min(axis=0).mean(), counter.get_total_flops() / 2 / count, peaks.max(axis=0).mean()
    )


def evaluation(task: str, count: int) -> Callable[[Bench, str], Measured]:
    def run(bench: Bench, kernels: str) -> Measured:
        model = bench.model(PolicyConfig(**PAPER))
        loaded = bench.dataset.task(task, "val_unseen")
        steps = identify_steps(bench.dataset, loaded, model.config.segmentation)
        episodes = EpisodeBatches.of(steps, bench.world, model.vocabulary, model.config)
        number = count // 4 if bench.quick else count
        chosen = np.random.default_rng(bench.seed).permutation(len(loaded))[:number]
        rollout = Rollout(model.network, bench.observer, kernels=kernels)
        walk_episodes(rollout, episodes, chosen[:16], NeverStop())
        with counting() as counter:
            walk_episodes(rollout, episodes, chosen, NeverStop())
        seconds, peaks = [], []
        for _ in range(bench.times):
            begin = bench.clock()
            walk_episodes(rollout, episodes, chosen, NeverStop())
            seconds.append(bench.clock() - begin)
            peaks.append(peak(bench.clock))
        return Measured(min(seconds) / len(chosen), counter.get_total_flops() / 2 / len(chosen), max(peaks))

    return run


class NeverStop(StepwiseDecoder):
    """The best action that moves."""

    def __call__(self, decision: Decision, walkers: Walkers) -> Tensor:  # noqa: ARG002
        logits = decision.logits.clone()
        logits[:, STOP] = -torch.inf
        return logits.argmax(dim=1)


def counting() -> FlopCounterMode:
    """Counts in-place products like the others."""

    def added(_: Sequence[int], one: Sequence[int], two: Sequence[int], **__: object) -> int:
        return 2 * math.prod(one) * two[-1]

    ops = torch.ops.aten
    return FlopCounterMode(display=False, custom_mapping={ops.addmm_: added, ops.baddbmm_: added})


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
    return size**3 / quickest(lambda: one @ two, 3, clock)


def quickest(run: Callable[[], object], times: int, clock: Callable[[], float]) -> float:
    """Seconds of the quickest run."""
    seconds = []
    for _ in range(times):
        begin = clock()
        run()
        seconds.append(clock() - begin)
    return min(seconds)


def measure(rows: Sequence[Row], bench: Bench, backends: Sequence[str]) -> None:
    print(
        f"{'':34}{'release':>8}{'plain':>8}{'kernels':>8}{'plain/kernels':>15}{'release/kernels':>17}"
        f"{'target':>8}  {'':16}{'G multiply-adds':>16}{'of peak':>9}"
    )
    for row in rows:
        found = {kernels: row.run(bench, kernels) for kernels in backends}
        plain, ours = found.get("plain"), found.get("auto")
        shown = {name: one.seconds for name, one in found.items()}
        gain = row.release / ours.seconds if ours else math.nan
        if row.unit == PER_SECOND:
            shown = {name: 1 / seconds for name, seconds in shown.items()}
            gain = shown.get("auto", math.nan) / row.release
        ratio = plain.seconds / ours.seconds if plain and ours else math.nan
        rate = ours.products / ours.seconds / ours.peak if ours else math.nan
        print(
            f"{row.name:34}{row.release:8.1f}{shown.get('plain', math.nan):8.2f}"
            f"{shown.get('auto', math.nan):8.2f}{ratio:15.2f}{gain:17.1f}{row.target:8.1f}  {row.unit:16}"
            f"{(ours.products if ours else math.nan) / 1e9:16.2f}{rate:9.0%}",
            flush=True,
        )
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"peak memory of this process: {used:.2f} GB ({' and '.join(backends)})")


def measure_kernels(bench: Bench) -> None:
    """Each kernel alone: the forward and backward pass of a primitive at the shapes of an iteration."""
    print(f"\n{'kernel':20}{'plain ms':>10}{'kernel ms':>11}{'ratio':>7}   what")
    for name, what, run in KERNELS:
        plain, fast = (1e3 * quickest(run(bench, kernels), 12, bench.clock) for kernels in BACKENDS)
        print(f"{name:20}{plain:10.2f}{fast:11.2f}{plain / fast:7.2f}   {what}", flush=True)


def poses(bench: Bench, count: int) -> Poses:
    """Of walkers in a lecture: eight copies that are near each other."""
    walks = bench.dataset.walks("train").paths
    at = np.random.default_rng(bench.seed).choice(walks.values, size=count // 4).repeat(4)
    return Poses(torch.as_tensor(at.astype(np.int64)), torch.full((count,), 12))


def packed_lstm(_: Bench, kernels: str) -> Callable[[], object]:
    torch.manual_seed(0)
    lengths = torch.randint(4, 30, (150,))
    lstm = PackedLSTM(300, 512)
    choose_backend(kernels, CPU).prepare(lstm)
    inputs = torch.randn(int(lengths.sum()), 300, requires_grad=True)
    return lambda: lstm(inputs, lengths, reverse=True)[0].square().sum().backward()


def deferred(bench: Bench, kernels: str) -> Callable[[], object]:
    torch.manual_seed(0)
    width = bench.observer.view_width
    layers = nn.ModuleDict({"lstm": LSTMCell(2 * width, 512), "out": Linear(1024, 512)})
    choose_backend(kernels, CPU).prepare(layers)
    inputs = torch.randn(160, width)

    def run() -> None:
        total = torch.zeros(())
        with deferred_gradients(layers):
            for _ in range(4):  # Baby-Steps
                hidden = cell = torch.zeros(160, 512)
                for active in (160, 150, 120, 80, 40, 20, 10, 5, 3, 2):
                    given = (inputs[:active], inputs[:active])
                    hidden, cell = layers["lstm"](given, hidden[:active], cell[:active])
                    total = total + layers["out"](hidden, hidden).sum()
        total.backward()

    return run


def panorama(bench: Bench, kernels: str) -> Callable[[], object]:
    backend, at = choose_backend(kernels, CPU), poses(bench, 400)
    query = torch.randn(400, bench.observer.view_width, requires_grad=True)

    def run() -> None:
        attended, _ = backend.observe(bench.observer, at).attend(query)
        rows = attended if isinstance(attended, Tensor) else attended.materialise()
        rows.sum().backward()

    return run


def candidate_scores(bench: Bench, kernels: str) -> Callable[[], object]:
    backend, at = choose_backend(kernels, CPU), poses(bench, 400)
    model = bench.model(PolicyConfig(**PAPER))
    score = model.network.decoder.action_score
    backend.prepare(score)
    state, memory = torch.randn(400, 512, requires_grad=True), torch.randn(400, 512)
    return lambda: score(state, memory, backend.observe(bench.observer, at)).sum().backward()


def shared_text(_: Bench, kernels: str) -> Callable[[], object]:
    torch.manual_seed(0)
    backend = choose_backend(kernels, CPU)
    lengths = torch.randint(4, 30, (50,))
    words = torch.randn(int(lengths.sum()), 512, requires_grad=True)
    summary = torch.randn(50, 512)
    encoded = EncodedText(words, lengths, summary, torch.ones(len(words)).long(), summary)
    query = torch.randn(400, 512, requires_grad=True)

    def run() -> None:
        text, total = backend.texts(encoded, torch.arange(50), 8), torch.zeros(())
        for _ in range(5):
            weights = text.match(query).masked_fill(text.padding, -torch.inf).softmax(dim=1)
            total = total + text.mix(weights).sum()
        total.backward()

    return run


def dropout(bench: Bench, kernels: str) -> Callable[[], object]:
    layer = nn.Dropout(0.5)
    choose_backend(kernels, CPU).prepare(layer)
    inputs = torch.randn(400, bench.observer.view_width, requires_grad=True)
    return lambda: layer(inputs).sum().backward()


def product_cache(bench: Bench, kernels: str) -> Callable[[], object]:
    """The decoder's LSTM input: the product of its weight with the actions that walkers took."""
    backend, at = choose_backend(kernels, CPU), poses(bench, 400)
    lstm = LSTMCell(bench.observer.candidate_width, 512)
    backend.prepare(lstm)
    lstm.eval()
    layer = nn.Dropout(0.5).eval()
    backend.prepare(layer)
    hidden = torch.randn(400, 512)

    def run() -> None:
        with backend.inference():
            for _ in range(10):
                actions = backend.observe(bench.observer, at).chosen(torch.ones_like(at.viewpoint))
                lstm((layer(actions),), hidden, hidden)

    return run


def split_product(_: Bench, kernels: str) -> Callable[[], object]:
    rows, weight = torch.randn(40, 512), torch.randn(2048, 512)
    if kernels == "plain":
        return lambda: [rows @ weight.mT for _ in range(40)]
    return lambda: [product([rows], [weight]) for _ in range(40)]


KERNELS = (
    ("packed_lstm", "150 texts of 4 to 29 words, 300 -> 512", packed_lstm),
    ("deferred_gradients", "a lecture of 4 steps: 160 walkers, of whom 2 make all 10 moves", deferred),
    ("panorama", "attention of 400 walkers at 100 viewpoints", panorama),
    ("action_score", "scores of the candidates of 400 walkers", candidate_scores),
    ("text_batch", "word attention of 400 walkers over 50 texts, 5 moves", shared_text),
    ("dropout", "400 x 2,176", dropout),
    ("lazy_rows", "products with chosen actions of 400 walkers, 10 moves, inference", product_cache),
    ("matmul", "40 products of 40 rows with 2,048 x 512, needs two threads or more", split_product),
)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True, help="a data directory with R4R and R8R built")
    parser.add_argument("--rows", nargs="*", choices=ROWS, default=list(ROWS), help="what to measure")
    parser.add_argument("--backends", nargs="+", choices=BACKENDS, default=list(BACKENDS))
    parser.add_argument("--kernels", action="store_true", help="also time each kernel alone")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--busy", action="store_true", help="count processor time, of one thread")
    parser.add_argument("--quick", action="store_true", help="fewer iterations and instructions")
    parser.add_argument("--times", type=int, default=3, help="runs of everything; the quickest counts")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    retain_freed_memory()  # as the command line does
    torch.set_num_threads(1 if options.busy else options.threads)
    bench = Bench(
        options.data, quick=options.quick, busy=options.busy, seed=options.seed, times=options.times
    )
    measure([ROWS[name] for name in options.rows], bench, options.backends)
    if options.kernels:
        measure_kernels(bench)


if __name__ == "__main__":
    main()
