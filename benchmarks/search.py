"""What search costs: python benchmarks/search.py --data DIR --model dollhouse

Time to walk a sample of R2R instructions with each decoder, as a multiple of greedy decoding, and with more
and more candidates. Each time is the quickest of several runs, and greedy decoding is timed again beside each
decoder, since other load changes over time. The model should be trained: an untrained one walks paths of
other lengths. Expansions are the nodes that a search has scored, per instruction; greedy decoding scores one
per move and STOP.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import torch

from babywalk.agents.learned import walk_episodes
from babywalk.commands.follow import load_agent
from babywalk.common.runtime import retain_freed_memory
from babywalk.decoding.rollout import Rollout, Walkers
from babywalk.decoding.specs import decoder_of
from babywalk.modules.decoder import Decision

TARGETS = {"state-factored:candidates=40": 15.0, "frontier:short=true": 5.0}
DECODERS = [
    "greedy",
    "frontier:short=true",
    "beam:size=5",
    *(f"frontier:candidates={count}" for count in (5, 10, 20, 40)),
    *(f"state-factored:candidates={count}" for count in (5, 10, 20, 40)),
]


class CountingRollout(Rollout):
    """Counts the decisions of all walkers."""

    decisions = 0

    def decide(self, walkers: Walkers) -> Decision:
        self.decisions += len(walkers)
        return super().decide(walkers)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True, help="a data directory with segmented R2R")
    parser.add_argument("--model", default="dollhouse", help="a run, a model file or a built-in model")
    parser.add_argument("--split", default="train:2349", help="default: as many as R2R val_unseen has")
    parser.add_argument(
        "--decoders", nargs="*", default=[], help="more decoders to time, such as beam:size=5"
    )
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--busy", action="store_true", help="count processor time, of one thread")
    parser.add_argument("--times", type=int, default=3, help="runs of everything; the quickest counts")
    options = parser.parse_args()
    retain_freed_memory()  # as the command line does
    torch.set_num_threads(1 if options.busy else options.threads)
    clock = time.process_time if options.busy else time.perf_counter
    agent = load_agent(Path(options.model), options.data)
    task = agent.dataset.task("r2r", options.split)
    print(f"{len(task):,} instructions of r2r {options.split}, model {options.model}")
    print(f"{'decoder':<40}{'seconds':>9}{'x greedy':>10}{'target':>8}{'expansions':>12}")
    greedy, batches = decoder_of("greedy"), agent.batches(task)
    for spec in options.decoders:
        decoder, times, looks = decoder_of(spec), [], 0.0
        if getattr(decoder, "needs_speaker", False):
            agent.add_speaker()
        for _ in range(options.times):
            seconds = []
            for one in (greedy, decoder):
                with counted(agent.rollout) as rollout:
                    start = clock()
                    walk_episodes(rollout, batches, np.arange(len(task)), one)
                    seconds.append(clock() - start)
                    looks = rollout.decisions / len(task)
            times.append(seconds)
        base, own = np.min(times, axis=0)
        target = f"{TARGETS[spec]:.0f}" if spec in TARGETS else ""
        print(f"{spec:<40}{own:>9.2f}{own / base:>10.1f}{target:>8}{looks:>12.1f}", flush=True)


@contextmanager
def counted(rollout: Rollout) -> Iterator[CountingRollout]:
    """The same rollout, counting."""
    kind = type(rollout)
    rollout.__class__ = CountingRollout
    rollout.decisions = 0
    try:
        yield rollout
    finally:
        rollout.__class__ = kind


if __name__ == "__main__":
    main()
