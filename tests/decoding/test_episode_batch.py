"""Lessons and walking on a small house, where everything can be followed by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from builders import placed, walk
from square import TEXTS, square_lessons, square_model, square_observer, square_task

from babywalk.agents.learned import walk_lessons
from babywalk.common.ragged import Ragged
from babywalk.decoding import rollout
from babywalk.decoding.episode_batch import EpisodeBatches
from babywalk.decoding.rollout import NonFiniteError, Rollout, greedy, sampled
from babywalk.episodes.joining import Joint
from babywalk.episodes.task import Task, join_task
from babywalk.episodes.vocabulary import Vocabulary
from babywalk.instructions.babysteps import BabySteps
from babywalk.instructions.segmented import SegmentedTexts
from babywalk.instructions.sentences import Sentence
from babywalk.modules.decoder import Decision
from babywalk.modules.kernels import packed_lstm
from babywalk.modules.kernels.observation import ChosenActions, Observation
from babywalk.modules.memory import SUMMARIES
from babywalk.modules.model import Model
from babywalk.modules.text_encoder import EncodedText
from babywalk.navigation.teacher import Teacher
from babywalk.navigation.world import STOP, Poses, World
from babywalk.training.stages import advice


@pytest.fixture
def task() -> Task:
    return square_task()


@pytest.fixture
def lessons(task: Task) -> EpisodeBatches:
    return square_lessons(task)


def words(lessons: EpisodeBatches, rows: Ragged) -> list[str]:
    vocabulary = Vocabulary.of(TEXTS, at_least=1)
    return [" ".join(vocabulary.words[number] for number in rows[row]) for row in range(len(rows))]


def test_the_last_step_with_what_lies_behind(lessons: EpisodeBatches) -> None:
    lesson = lessons.lesson(np.array([0, 1]), np.array([2, 0]), np.array([3, 1]))
    assert words(lessons, lesson.ahead) == ["stop here .", "walk on now"]  # no more than three words
    assert words(lessons, lesson.behind) == ["go north .", "then east ."]
    assert lesson.first_behind.tolist() == [0, 2, 2]
    assert lesson.goals is not None
    assert lesson.goals.tolist() == [4, 2]
    assert lesson.routes is not None
    assert [lesson.routes[row].tolist() for row in range(2)] == [[2, 4], [3, 2]]
    # Episode 0 stands at 2, facing east as it came, level; episode 1 at its start with heading 0.5.
    assert lesson.start.viewpoint.tolist() == [2, 3]
    assert lesson.start.view.tolist() == [12 + 3, 12 + 1]
    # Behind: 0 -> 1 and STOP; 1 -> 2 and STOP. The start faces 0.5, then north, then east.
    assert lesson.done.poses.viewpoint.tolist() == [0, 1, 1, 2]
    assert lesson.done.poses.view.tolist() == [13, 12, 12, 15]
    actions = lesson.done.actions.tolist()
    assert actions[1] == actions[3] == STOP
    assert lessons.world.target[0, actions[0]] == 1
    assert lessons.world.target[1, actions[2]] == 2
    assert lesson.done.start.tolist() == [0, 2, 4]


def test_a_step_begins_level_even_after_stairs(lessons: EpisodeBatches, task: Task) -> None:
    steps = replace(lessons.steps, sentences=Ragged.of([[1, 2], [1]]), ends=Ragged.of([[3, 3], [1]]))
    lesson = replace(lessons, steps=steps).lesson(np.array([0]), np.array([1]), np.array([2]))
    assert lesson.start.viewpoint.tolist() == [4]
    assert lesson.start.view.tolist() == [12]  # north, and no longer upwards
    assert lesson.done.poses.view.tolist() == [13, 12, 15, 24]  # inside the step one looked up
    assert lesson.goals is not None
    assert lesson.goals.tolist() == [4]


def test_the_prefix_leaves_out_where_the_step_begins(lessons: EpisodeBatches) -> None:
    found = lessons.prefix(np.array([0, 0, 1]), np.array([0, 2, 0]))
    assert [found[row].tolist() for row in range(3)] == [[], [0, 1], []]


@pytest.fixture
def model(task: Task) -> Model:
    return square_model(square_observer(task))


def test_who_follows_the_teacher_walks_the_described_path(
    lessons: EpisodeBatches, model: Model, task: Task
) -> None:
    teacher = Teacher.of(task.houses).to("cpu")
    lesson = lessons.whole(np.array([0, 1]))
    goals = torch.from_numpy(lesson.goals)

    def obey(
        decision: Decision, walkers: torch.Tensor, viewpoints: torch.Tensor, rows: torch.Tensor
    ) -> torch.Tensor:
        return teacher.towards(viewpoints, goals[rows]).long()

    journey = Rollout(model.network, square_observer(task)).walk(lesson, obey)
    viewpoints, views = journey.viewpoints()
    assert [viewpoints[row].tolist() for row in range(2)] == [[0, 1, 2, 4], [3, 2]]
    assert [views[row].tolist() for row in range(2)] == [[13, 12, 15, 24], [13, 12]]
    # Three steps of a move and a STOP each, and one of episode 1; finished walkers are not decided for.
    assert [moment.walkers.tolist() for moment in journey.moments] == [[0, 1], [0, 1], [0], [0], [0], [0]]


@pytest.mark.parametrize(("along", "walked"), [(False, [0, 1]), (True, [0, 3, 2, 1])])
def test_a_teacher_shows_the_shortest_way_or_the_expert_s(
    task: Task, model: Model, along: bool, walked: list[int]
) -> None:
    """The expert goes the long way round the square; a whole instruction does not say where on the way."""
    walks = placed(task.houses, walk("h", [0, 3, 2, 1], 1, TEXTS[:1]))
    detour = join_task("r2r", "val", task.houses, walks, Joint(1, 0, {}), seed=None)
    segmented = SegmentedTexts.of([[Sentence(0, len(TEXTS[0]))]], frozenset())
    steps = BabySteps(detour, segmented, Ragged.of([[1]]), Ragged.of([[3]]))
    lesson = EpisodeBatches.of(steps, World.of(task.houses), model.vocabulary, model.config).whole(
        np.array([0])
    )
    shown = advice(lesson, Teacher.of(task.houses).to("cpu"), along=along)
    journey = Rollout(model.network, square_observer(task)).walk(
        lesson, lambda _, __, at, rows: shown(at, rows)
    )
    assert journey.viewpoints()[0][0].tolist() == walked


@pytest.mark.parametrize("memory", SUMMARIES)
def test_memory_kept_step_by_step_equals_memory_encoded_afresh(
    lessons: EpisodeBatches, task: Task, memory: str
) -> None:
    """Walked by oneself like the expert, or given as the expert's history: the last decision is the same."""
    teacher, observer = Teacher.of(task.houses).to("cpu"), square_observer(task)
    guide = Rollout(square_model(observer, memory=memory).network.eval(), observer)

    def last_logits(first: int) -> torch.Tensor:
        lesson = lessons.lesson(np.array([0]), np.array([first]), np.array([3]))
        goals = torch.from_numpy(lesson.goals)

        def obey(
            decision: Decision, walkers: torch.Tensor, at: torch.Tensor, rows: torch.Tensor
        ) -> torch.Tensor:
            return teacher.towards(at, goals[rows]).long()

        with torch.no_grad():
            return guide.walk(lesson, obey).moments[-1].decision.logits

    assert torch.allclose(last_logits(0), last_logits(2), atol=1e-6)
    assert torch.allclose(last_logits(0), last_logits(1), atol=1e-6)


def test_some_learn_as_if_nothing_lay_behind_them(lessons: EpisodeBatches, model: Model, task: Task) -> None:
    """Without their history, walkers decide at the third step as they would with no memory at all."""
    network = model.network.train()
    guide = Rollout(network, square_observer(task))
    lesson = lessons.lesson(np.array([0] * 64), np.array([2] * 64), np.array([3] * 64))

    def decided(share: float) -> torch.Tensor:
        network.config = replace(model.config, history_dropout=share)
        torch.manual_seed(0)
        return guide.walk(lesson, greedy).moments[0].decision.logits

    remembering, some = decided(0.0), decided(0.5)
    guide.network.memory.read = lambda memory: torch.zeros(len(memory.weight), 24)
    nothing = decided(0.0)
    forgets = torch.isclose(some, nothing).all(dim=1)
    assert torch.isclose(some, remembering).all(dim=1).eq(~forgets).all()
    assert 16 < int(forgets.sum()) < 48


def test_copies_share_what_was_read_and_walk_their_own_ways(
    lessons: EpisodeBatches, model: Model, task: Task
) -> None:
    guide = Rollout(model.network, square_observer(task))
    lesson = lessons.lesson(np.array([0, 1]), np.array([1, 0]), np.array([3, 1]))
    torch.manual_seed(0)
    journey = guide.walk(lesson, sampled, copies=6)
    first = journey.moments[0]
    assert first.walkers.tolist() == list(range(12))
    assert first.before.viewpoint.tolist() == [1] * 6 + [3] * 6
    logits = first.decision.logits
    assert torch.allclose(logits[:6], logits[:1].expand(6, -1), atol=1e-6)
    assert len({tuple(row) for row in journey.viewpoints()[0].padded().tolist()}) > 2


def test_no_one_walks_longer_than_allowed(lessons: EpisodeBatches, model: Model, task: Task) -> None:
    def never_stop(
        decision: Decision, walkers: torch.Tensor, viewpoints: torch.Tensor, rows: torch.Tensor
    ) -> torch.Tensor:
        return torch.ones_like(viewpoints)

    limited = replace(lessons, moves=4)
    journey = Rollout(model.network, square_observer(task)).walk(limited.whole(np.array([1])), never_stop)
    assert len(journey.moments) == 4


def test_nobody_walks_by_scores_that_are_no_numbers(
    lessons: EpisodeBatches, model: Model, task: Task
) -> None:
    with torch.no_grad():
        model.network.first_state.weight.fill_(torch.nan)
    for choose in (greedy, sampled):
        with pytest.raises(NonFiniteError, match="an action's score is no number"):
            Rollout(model.network, square_observer(task)).walk(lessons.whole(np.array([0])), choose)


def test_walking_greedily_is_repeatable(lessons: EpisodeBatches, model: Model, task: Task) -> None:
    guide = Rollout(model.network.eval(), square_observer(task))
    with torch.no_grad():
        one, two = (guide.walk(lessons.whole(np.array([0, 1])), greedy).viewpoints()[0] for _ in range(2))
    assert one.values.tolist() == two.values.tolist()


def test_what_lies_behind_several_is_encoded_once(
    lessons: EpisodeBatches, model: Model, task: Task, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All three steps of episode 0, begun where the expert began them: the third has two behind it, of which
    the second has one. Whoever walks alone decides as in company, and learns the same."""
    network, read, recalled = model.network, [], []
    real_read, real_recall = network.read, network.recall

    def reading(tokens: torch.Tensor, lengths: torch.Tensor) -> EncodedText:
        read.append(len(lengths))
        return real_read(tokens, lengths)

    def recalling(scene: Observation, actions: ChosenActions, lengths: torch.Tensor) -> torch.Tensor:
        recalled.append(lengths.tolist())
        return real_recall(scene, actions, lengths)

    monkeypatch.setattr(network, "read", reading)
    monkeypatch.setattr(network, "recall", recalling)
    guide = Rollout(network, square_observer(task))

    def learned(*steps: int) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
        first = np.array(steps)
        lesson = lessons.lesson(np.zeros_like(first), first, first + 1)
        logits = guide.walk(lesson, greedy).moments[0].decision.logits
        scores = logits.masked_fill(logits.isinf(), 0)
        network.zero_grad()
        scores.square().sum().backward()
        return scores.detach(), {
            name: weight.grad.clone()
            for name, weight in network.named_parameters()
            if weight.grad is not None
        }

    scores, gradients = learned(0, 1, 2)
    assert (read, recalled) == ([3], [[2, 2]])
    alone = [learned(step) for step in range(3)]
    assert sum(len(lengths) for lengths in recalled) == 2 + 0 + 1 + 2
    assert torch.allclose(scores, torch.cat([found for found, _ in alone]), atol=1e-6)
    for name, gradient in gradients.items():
        apart = sum(found[name] for _, found in alone if name in found)
        assert torch.allclose(gradient, apart, atol=1e-5), name


def test_walks_that_differ_in_anything_differ(lessons: EpisodeBatches) -> None:
    done = lessons.lesson(np.array([0, 0]), np.array([2, 1]), np.array([3, 2])).done
    once, which = done.distinct()
    assert which.tolist() == [0, 1, 0]
    assert once.poses.viewpoint.tolist() == [0, 1, 1, 2]
    assert once.poses.view.tolist() == [13, 12, 12, 15]
    assert once.actions.tolist() == done.actions[:4].tolist()
    assert once.start.tolist() == [0, 2, 4]
    turned = done.poses.view.copy()
    turned[4] += 1  # who came to the same place facing otherwise saw it otherwise
    assert replace(done, poses=Poses(done.poses.viewpoint, turned)).distinct()[1].tolist() == [0, 1, 2]
    stopped = done.actions.copy()
    stopped[4] = STOP
    assert replace(done, actions=stopped).distinct()[1].tolist() == [0, 1, 2]
    assert replace(done, start=np.array([0, 2, 4, 5])).distinct()[1].tolist() == [0, 1, 2]


def test_nobody_encodes_what_will_not_be_read(
    lessons: EpisodeBatches, model: Model, task: Task, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Episode 0 has three steps, of which two are remembered, and episode 1 has one, which is its last."""
    encoded = []
    recall = model.network.recall

    def watched(scene: Observation, actions: ChosenActions, lengths: torch.Tensor) -> torch.Tensor:
        encoded.append(len(lengths))
        return recall(scene, actions, lengths)

    monkeypatch.setattr(model.network, "recall", watched)
    Rollout(model.network, square_observer(task)).walk(lessons.whole(np.array([0, 1, 0])), greedy)
    assert encoded == [2, 2]


def test_who_learns_nothing_walks_as_who_does(
    lessons: EpisodeBatches, model: Model, task: Task, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With products kept, few walks at a time, and in any order of episodes: the same ways and scores."""
    monkeypatch.setattr(rollout, "_AT_A_TIME", 1)  # less than any walk has
    monkeypatch.setattr(packed_lstm, "_AT_A_TIME", 3)
    guide = Rollout(model.network.eval(), square_observer(task))
    order = np.array([1, 0, 0, 1])
    plain = guide.walk(lessons.whole(order), greedy)
    with torch.no_grad():
        kept = guide.walk(lessons.whole(order), greedy)
    for one, two in zip(plain.moments, kept.moments, strict=True):
        assert torch.allclose(one.decision.logits, two.decision.logits, atol=1e-6)
    found = walk_lessons(guide, lessons, order, greedy)
    assert found.viewpoints.padded().tolist() == plain.viewpoints()[0].padded().tolist()
    assert found.views.padded().tolist() == plain.viewpoints()[1].padded().tolist()
