"""Beam search, against greedy decoding, by hand, and against every path."""

from __future__ import annotations

import math

import pytest
import torch
from searching import (
    HandMade,
    all_action_sequences,
    one_step,
    rows,
    small_rollout,
    sums,
    take_all,
    walked,
    whole,
)

from babywalk.common.errors import ConfigError
from babywalk.decoding.beam import Beam
from babywalk.decoding.best_first import Frontier, StateFactored
from babywalk.decoding.decoders import Greedy, NonFiniteError
from babywalk.decoding.search import Search
from babywalk.decoding.search_tree import SearchTree
from babywalk.decoding.walking import KnownMap
from babywalk.modules.kernels import KERNELS

# Greedy goes to 1, where all ways are unsure; by 3 is the likelier path.
UNSURE = {0: {1: 0.2, 3: 0.0}, 1: {0: 0.0, 1: 0.1, 2: 0.0}, 3: {3: 9.0}, 2: {2: 9.0}}
DECODERS = [
    Beam(size=3),
    Beam(size=2, per_step=True),
    Frontier(short=True),
    Frontier(candidates=3, score="log_probability_sum"),
    Frontier(per_step=True, short=True),
    StateFactored(candidates=4),
    StateFactored(per_step=True, known_map=True),
]


@pytest.mark.parametrize("per_step", [False, True])
@pytest.mark.parametrize("known_map", [False, True])
@pytest.mark.parametrize("kernels", KERNELS)
def test_a_beam_of_one_is_greedy(kernels: str, known_map: bool, per_step: bool) -> None:
    """Viewpoints and views, over several Baby-Steps with a memory."""
    rollout = small_rollout(kernels)
    batch = whole([0, 1, 0], max_moves=4)
    with rollout.inference():
        found = Beam(size=1, known_map=known_map, per_step=per_step).decode(rollout, batch)
        assert rows(found) == rows(Greedy().decode(rollout, batch))


@pytest.mark.parametrize("episode", [0, 1])
def test_a_beam_that_holds_every_path_finds_the_best_one(episode: int) -> None:
    sequences = all_action_sequences(episode, max_moves=2)
    rollout = small_rollout()
    result = take_all(rollout, episode, sequences, max_moves=2)
    best = int(sums(result, len(sequences))["log_probability"].argmax())
    with rollout.inference():
        found = Beam(size=len(sequences), known_map=True).decode(rollout, whole([episode], max_moves=2))
    assert walked(found) == [result.trajectories().viewpoints[best].tolist()]


def test_a_wider_beam_finds_a_likelier_path() -> None:
    assert walked(Beam(size=1).decode(HandMade(UNSURE), one_step())) == [[0, 1]]
    rollout = HandMade(UNSURE)
    assert walked(Beam(size=2, known_map=True).decode(rollout, one_step())) == [[0, 3]]
    assert rollout.looked == [[0], [1, 3]]
    # The walker looks from 1 first, and goes back over 0.
    assert walked(Beam(size=2).decode(HandMade(UNSURE), one_step())) == [[0, 1, 0, 3]]


def test_complete_paths_stay_in_the_beam() -> None:
    """STOP at 0 at once (0.55) is likelier than any path by 1 (0.45 and less)."""
    logits = {0: {0: 0.2, 1: 0.0}, 1: {2: 0.5, 1: 0.0}, 2: {2: 9.0}}
    assert walked(Beam(size=3, known_map=True).decode(HandMade(logits), one_step())) == [[0]]


def test_progress_inference_multiplies_the_probability_by_the_progress() -> None:
    logits = {0: {1: 1.0, 3: 0.9}, 1: {1: 9.0}, 3: {3: 9.0}}
    rollout = HandMade(logits, progress={0: 0.0, 1: -0.2, 3: 0.6})
    assert walked(Beam(known_map=True).decode(rollout, one_step())) == [[0, 1]]
    assert walked(Beam(known_map=True, by="progress").decode(rollout, one_step())) == [[0, 3]]
    with rollout.inference():
        state = rollout.begin(one_step())
        tree = SearchTree(rollout, state, rollout.begin_step(state, 0), chain=False)
        Beam(size=2, by="progress").complete(tree, KnownMap(tree.world, state.poses))
        found = tree.candidates()
    first = torch.tensor([1.0, 0.9]).log_softmax(dim=0).tolist()
    expected = {3: first[1] + math.log((1 + 0.6) / 2), 1: first[0] + math.log((1 - 0.2) / 2)}
    by_end = dict(zip(found.paths.lasts.tolist(), found.score.tolist(), strict=True))
    assert by_end == pytest.approx(expected, abs=1e-3)


def test_progress_inference_needs_a_progress_monitor() -> None:
    with pytest.raises(ConfigError, match="this agent has no progress monitor"):
        Beam(by="progress").decode(HandMade(UNSURE), one_step())


def test_per_step_search_commits_at_the_end_of_each_baby_step() -> None:
    """In step 1 the way to 1 is likelier; in step 2 all ways from there are unsure, those from 3 are not."""
    first = {0: {1: 0.2, 3: 0.0}, 1: {1: 9.0}, 3: {3: 9.0}}
    second = {1: {1: 0.2, 0: 0.0, 2: 0.0}, 3: {3: 9.0}, 0: {0: 9.0}, 2: {2: 9.0}}
    third = {at: {at: 9.0} for at in range(5)}
    batch = whole([0], max_moves=4)
    for decoder in (Beam, StateFactored):
        together = decoder(known_map=True).decode(HandMade(first, second, third), batch)
        apart = decoder(known_map=True, per_step=True).decode(HandMade(first, second, third), batch)
        assert (walked(together), walked(apart)) == ([[0, 3]], [[0, 1]])


def test_per_step_search_walks_back_before_it_commits() -> None:
    """The search of step 1 looks at 1 and 3 and commits to 3; that of step 2 begins there."""
    first = {0: {1: 0.2, 3: 0.0}, 1: {0: 0.0, 1: 0.1, 2: 0.0}, 3: {3: 9.0}, 2: {2: 9.0}}
    second = {3: {2: 5.0}, 2: {2: 9.0}}
    rollout = HandMade(first, second, {2: {2: 9.0}})
    decoder = Frontier(per_step=True, short=True, score="log_probability_sum")
    assert walked(decoder.decode(rollout, whole([0], max_moves=4))) == [[0, 1, 0, 3, 2]]
    assert rollout.looked == [[0], [1], [3], [3], [2], [2]]


@pytest.mark.parametrize("decoder", DECODERS, ids=repr)
def test_a_batch_of_many_is_as_each_alone_and_kernels_as_plain(decoder: Search) -> None:
    episodes = [0, 1, 0, 0, 1]
    found = []
    for kernels in KERNELS:
        rollout = small_rollout(kernels)
        with rollout.inference():
            found.append(rows(decoder.decode(rollout, whole(episodes, max_moves=3))))
            found.append([rows(decoder.decode(rollout, whole([one], max_moves=3)))[0] for one in episodes])
    assert found[0] == found[1] == found[2] == found[3]


@pytest.mark.parametrize("decoder", DECODERS, ids=repr)
def test_the_decisions_of_a_search_are_those_of_its_chosen_path(decoder: Search) -> None:
    """At most `max_moves` in a Baby-Step; they end where the trajectory ends."""
    rollout = small_rollout()
    batch = whole([1, 0], max_moves=3)
    with rollout.inference():
        result, trajectories = decoder.decisions(rollout, batch)
    per_step = torch.zeros(2, 3, dtype=torch.int64)
    for record in result.records:
        per_step[record.walkers, record.step] += 1
    assert int(per_step.max()) <= 3
    assert (per_step[1] > 0).all()
    chosen, everything = walked(result.trajectories()), walked(trajectories)
    assert [path[-1] for path in chosen] == [path[-1] for path in everything]
    for path, walk in zip(chosen, everything, strict=True):
        assert set(path) <= set(walk)
        assert (path == walk) or not decoder.known_map


@pytest.mark.parametrize("decoder", [Beam(), Frontier(), StateFactored()], ids=repr)
def test_logits_with_nan_raise_an_error(decoder: Search) -> None:
    rollout = HandMade(UNSURE)
    rollout.logits[:] = torch.nan
    with pytest.raises(NonFiniteError, match="the logits contain NaN"):
        decoder.decode(rollout, one_step())
