"""Best-first search: FAST's queue by hand, state-factored search against brute force."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from searching import (
    TASK,
    HandMade,
    all_action_sequences,
    one_step,
    small_rollout,
    sums,
    take_all,
    walked,
    whole,
)
from square import square_observer

from babywalk.common.errors import ConfigError
from babywalk.decoding.best_first import Frontier, StateFactored
from babywalk.decoding.rollout import Rollout
from babywalk.decoding.search_tree import Candidates, SearchTree
from babywalk.decoding.walking import KnownMap
from babywalk.modules.speaker import TextScores
from babywalk.navigation.world import STOP

# 0 - 1 - 2 - 3 - 0 is a square, 4 is beside 2. At 1 the highest logit leads back to 0.
LOGITS = {
    0: {0: -5.0, 1: 2.0, 3: 1.5},
    1: {1: -2.0, 2: -1.0, 0: 9.0},
    3: {3: -1.0, 2: 0.0},
    2: {2: 3.0, 4: 1.0, 1: 0.1},
    4: {4: 0.0},
}


def candidates_of(rollout: Rollout, decoder: Frontier | StateFactored, **options: int) -> Candidates:
    with rollout.inference(), rollout.backend.rollout(rollout.network):
        state = rollout.begin(one_step(**options))
        tree = SearchTree(rollout, state, rollout.begin_step(state, 0), chain=False)
        decoder.complete(tree, KnownMap(tree.world, state.poses))
        return tree.candidates()


def test_the_queue_of_the_short_search() -> None:
    """Sums of logits: 0 -> 1 is 2; then 0 -> 3 (1.5) beats 0 -> 1 -> 2 (1); then 0 -> 3 -> 2, and STOP (4.5).

    The walker goes back from 1 over 0 to 3. It may not turn from 1 to 0, whose sum would be 11.
    """
    rollout = HandMade(LOGITS)
    found = Frontier(short=True).decode(rollout, one_step())
    assert rollout.looked == [[0], [1], [3], [2]]
    assert walked(found) == [[0, 1, 0, 3, 2]]


def test_the_full_search_collects_candidates_and_goes_to_the_most_likely() -> None:
    """After STOP at 2 (4.5) come 4 (2.5) and STOP there (2.5). STOP at 2 is more likely than going on."""
    rollout = HandMade(LOGITS)
    found = Frontier(candidates=2).decode(rollout, one_step())
    assert rollout.looked == [[0], [1], [3], [2], [4]]
    assert walked(found) == [[0, 1, 0, 3, 2, 4, 2]]
    candidates = candidates_of(HandMade(LOGITS), Frontier(candidates=2))
    assert candidates.score.tolist() == pytest.approx([4.5, 2.5])
    assert [candidates.paths[row].tolist() for row in range(2)] == [[0, 3, 2], [0, 3, 2, 4]]


def test_on_a_known_map_the_trajectory_is_the_chosen_path() -> None:
    assert walked(Frontier(short=True, known_map=True).decode(HandMade(LOGITS), one_step())) == [[0, 3, 2]]
    assert walked(Frontier(known_map=True).decode(HandMade(LOGITS), one_step())) == [[0, 3, 2]]


@pytest.mark.parametrize(("expansions", "path"), [(1, [0]), (2, [0, 1]), (3, [0, 1, 0, 3])])
def test_without_a_candidate_the_walker_stops_where_that_scores_best(
    expansions: int, path: list[int]
) -> None:
    """STOP scores -5 at 0, 2 - 2 = 0 at 1 and 1.5 - 1 = 0.5 at 3."""
    rollout = HandMade(LOGITS)
    assert walked(Frontier(expansions=expansions).decode(rollout, one_step())) == [path]
    assert len(rollout.looked) == expansions


@pytest.mark.parametrize(
    ("decoder", "looks"),
    [
        (Frontier(candidates=1000), 12),  # 4 per move, of which each of the 3 Baby-Steps has one
        (Frontier(candidates=1000, expansions=100), 13),
        (StateFactored(candidates=1000), 11),  # 10 per move are enough
        (StateFactored(candidates=1000, expansions=7), 7),
    ],
)
def test_the_default_limit_grows_with_the_moves_that_a_path_may_have(
    decoder: Frontier | StateFactored, looks: int
) -> None:
    """Three steps of one decision from 0: there are 1, 3 and 9 nodes, and 1, 3 and 7 states."""
    rollout = HandMade({})
    decoder.decode(rollout, whole([0], max_moves=1))
    assert sum(map(len, rollout.looked)) == looks


@pytest.mark.parametrize(
    ("score", "second"),
    [("logit_sum", 3), ("log_probability_sum", 3), ("logit_mean", 2), ("log_probability_mean", 2)],
)
def test_scores_of_partial_paths(score: str, second: int) -> None:
    """From 0, 1 is better than 3. Then 0 -> 1 -> 2 against 0 -> 3: the sum falls, the mean less so."""
    logits = {0: {0: -9.0, 1: -0.1, 3: -1.0}, 1: {1: -9.0, 2: -1.2, 0: -0.4}, 2: {2: 9.0}, 3: {3: 9.0}}
    rollout = HandMade(logits)
    Frontier(score=score, short=True).decode(rollout, one_step())
    assert [looked[0] for looked in rollout.looked[:3]] == [0, 1, second]


def test_a_step_that_ends_by_its_last_move_ends_there() -> None:
    """With at most two moves, the second move completes a path without a look at its end."""
    rollout = HandMade({0: {1: 1.0}, 1: {2: 1.0, 1: 0.0}})
    assert walked(Frontier(short=True).decode(rollout, one_step(max_moves=2))) == [[0, 1, 2]]
    assert rollout.looked == [[0], [1]]


def test_batches_are_searched_at_once_each_for_itself() -> None:
    """Episode 0 starts at 0, episode 1 at 3. One call of the network per round."""
    rollout = HandMade(LOGITS)
    found = walked(Frontier(short=True).decode(rollout, one_step([1, 0, 1])))
    assert found == [[3, 2], [0, 1, 0, 3, 2], [3, 2]]
    assert rollout.looked == [[3, 0, 3], [2, 1, 2], [3], [2]]


def test_a_path_is_not_revisited_within_a_baby_step_but_in_the_next_one() -> None:
    back = {1: {0: 5.0, 1: 0.0}, 0: {0: 5.0}}
    rollout = HandMade({0: {1: 5.0}, 1: {1: 5.0}}, back, {0: {0: 9.0}})
    found = Frontier(short=True).decode(rollout, whole([0], max_moves=4))
    assert walked(found) == [[0, 1, 0]]


def test_state_factored_search_finds_the_best_path_to_every_state() -> None:
    """Random scores of viewpoints, against every path of up to eight moves."""
    random = np.random.default_rng(1)
    logits = {at: {to: float(random.normal()) for to in range(5)} for at in range(5)}
    neighbours = {0: (1, 3), 1: (0, 2), 2: (1, 3, 4), 3: (0, 2), 4: (2,)}
    table = {at: {to: logits[at][to] for to in (at, *neighbours[at])} for at in range(5)}
    world = square_observer(TASK).world
    best: dict[tuple[int, int], float] = {}

    def walk(at: int, view: int, score: float, moves: int) -> None:
        log_probability = rollout.logits[0, at].log_softmax(dim=0)
        for action in world.possible[at].nonzero()[:, 0].tolist():
            to, total = int(world.target[at, action]), score + float(log_probability[action])
            facing = view if action == STOP else int(world.facing[at, action])
            if action == STOP or moves + 1 == 8:
                best[to, facing % 12] = max(best.get((to, facing % 12), -np.inf), total)
            else:
                walk(to, facing, total, moves + 1)

    rollout = HandMade(table)
    walk(0, 13, 0.0, 0)
    found = candidates_of(rollout, StateFactored(candidates=100), max_moves=8)
    assert found.score.tolist() == pytest.approx(sorted(best.values(), reverse=True), abs=1e-4)


def test_state_factored_search_looks_at_each_state_once() -> None:
    rollout = HandMade(LOGITS)
    found = candidates_of(rollout, StateFactored(candidates=100), max_moves=8)
    views = {(at, view) for at in range(5) for view in range(12)}
    assert len(rollout.looked) <= len(views)
    assert len(found.score) == len(rollout.looked)  # every state is stopped in
    assert found.score.tolist() == sorted(found.score.tolist(), reverse=True)


def test_state_factored_search_stops_at_its_number_of_candidates() -> None:
    few, many = (candidates_of(HandMade(LOGITS), StateFactored(candidates=count)) for count in (3, 6))
    assert len(few.score) == 3
    assert few.score.tolist() == many.score.tolist()[:3]


@pytest.mark.parametrize("episode", [0, 1])
def test_the_first_candidate_by_log_probability_is_the_best_path(episode: int) -> None:
    """Against every path of an untrained network through all Baby-Steps that revisits nothing within one."""
    sequences = all_action_sequences(episode, max_moves=3)
    rollout = small_rollout()
    result = take_all(rollout, episode, sequences, max_moves=3)
    simple = torch.ones(len(sequences), dtype=torch.bool)
    for step in range(max(record.step for record in result.records) + 1):
        records = [record for record in result.records if record.step == step]
        seen = torch.zeros(len(sequences), 5, dtype=torch.bool)
        seen[records[0].walkers, records[0].before.viewpoint] = True
        for record in records:
            moved = record.actions != STOP
            who, to = record.walkers[moved], record.after.viewpoint[moved]
            simple[who] &= ~seen[who, to]
            seen[who, to] = True
    best = sums(result, len(sequences))["log_probability"].masked_fill(~simple, -torch.inf).argmax()
    decoder = Frontier(score="log_probability_sum", short=True, known_map=True, expansions=10_000)
    with rollout.inference():
        found = decoder.decode(rollout, whole([episode], max_moves=3))
    assert walked(found) == [result.trajectories().viewpoints[int(best)].tolist()]


def end_scores(scores: dict[int, float]) -> object:
    """A speaker that scores paths by the viewpoint where they end; two words each."""

    def speaker(paths: object, start_views: object, instructions: object) -> TextScores:
        values = np.array([scores.get(end, -9.0) for end in paths.lasts.tolist()])
        assert len(values) == len(start_views) == len(instructions)
        return TextScores(values, np.full(len(values), 2))

    return speaker


def test_a_speaker_and_progress_choose_among_candidates() -> None:
    """STOP at 2 has log-probability about -1.23, going on to 4 about -3.2."""
    rollout = HandMade(LOGITS, progress={2: 0.1, 4: 0.9})
    rollout.speaker = end_scores({4: -1.0, 2: -4.0})
    kinds = {"known_map": True, "candidates": 2}
    assert walked(Frontier(**kinds).decode(rollout, one_step())) == [[0, 3, 2]]
    # Per word, 4 is better by 1.5; at the end of the path, by 0.8 in progress.
    assert walked(Frontier(**kinds, speaker=1.0).decode(rollout, one_step())) == [[0, 3, 2]]
    assert walked(Frontier(**kinds, speaker=2.0).decode(rollout, one_step())) == [[0, 3, 2, 4]]
    assert walked(Frontier(**kinds, progress=2.0).decode(rollout, one_step())) == [[0, 3, 2]]
    assert walked(Frontier(**kinds, progress=4.0).decode(rollout, one_step())) == [[0, 3, 2, 4]]


def test_a_missing_speaker_or_progress_monitor_is_reported() -> None:
    with pytest.raises(ConfigError, match=r"this agent has no progress monitor\. Leave progress out"):
        Frontier(progress=1.0).decode(HandMade(LOGITS), one_step())
    with pytest.raises(ConfigError, match=r"asks for a speaker, but there is none\. Train one"):
        StateFactored(speaker=1.0).decode(HandMade(LOGITS), one_step())


def test_exploring_and_knowing_the_map_choose_the_same_end() -> None:
    rollout = small_rollout()
    batch = whole([0, 1], max_moves=4)
    with rollout.inference():
        for decoder in (Frontier, StateFactored):
            ends = [
                [path[-1] for path in walked(decoder(known_map=known).decode(rollout, batch))]
                for known in (False, True)
            ]
            assert ends[0] == ends[1]


def test_every_look_is_on_the_walk() -> None:
    """Without the map the walker passes every viewpoint that it looks from, in that order."""
    rollout = HandMade(LOGITS)
    path = walked(StateFactored(candidates=10).decode(rollout, one_step()))[0]
    position = 0
    for (viewpoint,) in rollout.looked:
        while path[position] != viewpoint:
            position += 1
