"""Walking: a network takes a batch of walkers through their steps, one Baby-Step after another.

All walkers take the same step of their lists at a time; who has stopped is dropped from the batch at once.
When a step is over, it is encoded once and added to the memory; the next begins where and facing as the
last ended, level, with a fresh state (section 4.2 of the paper).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from babywalk.buildings.panorama import COLUMNS
from babywalk.common.errors import BabyWalkError
from babywalk.common.ragged import Ragged, concat_rows
from babywalk.decoding.episode_batch import EpisodeBatch
from babywalk.modules.decoder import Decision, State
from babywalk.modules.kernels.deferred_gradients import deferred_gradients
from babywalk.modules.kernels.observation import Observation
from babywalk.modules.kernels.product_cache import ProductCache
from babywalk.modules.kernels.text_batch import TextBatch
from babywalk.modules.memory import Memory
from babywalk.modules.network import Network
from babywalk.modules.text_encoder import EncodedText
from babywalk.navigation.history import History
from babywalk.navigation.observation import ORIENTATION, Observer
from babywalk.navigation.world import STOP, Poses

_AT_A_TIME = 2048  # moves of walks that are remembered at once where nothing is learned


@dataclass(frozen=True, slots=True, eq=False)
class StepRecord:
    """One decision of the walkers who are still on their way. Shapes: B of them."""

    walkers: Tensor  # (B,) which
    step: int  # which of their steps ahead
    before: Poses  # (B,)
    choices: Tensor  # (B, K) the viewpoint that each action would lead to
    decision: Decision
    actions: Tensor  # (B,)
    after: Poses  # (B,)


# From the decision, the walkers, their viewpoints and the rows of their steps in the lesson to actions (B,).
ActionSelector = Callable[[Decision, Tensor, Tensor, Tensor], Tensor]


class NonFiniteError(BabyWalkError, FloatingPointError):
    """A network whose scores are no numbers."""

    def __init__(self) -> None:
        super().__init__("an action's score is no number: the weights are spoiled")


def greedy(decision: Decision, walkers: Tensor, viewpoints: Tensor, rows: Tensor) -> Tensor:  # noqa: ARG001
    """The best action."""
    if decision.logits.isnan().any():
        raise NonFiniteError
    return decision.logits.argmax(dim=1)


def sampled(decision: Decision, walkers: Tensor, viewpoints: Tensor, rows: Tensor) -> Tensor:  # noqa: ARG001
    """An action by its probability."""
    return draw_action(decision.logits)


def draw_action(logits: Tensor) -> Tensor:
    """(B,) actions by their probability, from scores (B, K)."""
    shares = logits.softmax(dim=1)
    if shares.isnan().any():
        raise NonFiniteError
    return torch.multinomial(shares, 1)[:, 0]


@dataclass(frozen=True, slots=True, eq=False)
class RolloutResult:
    """Everything that happened. Shapes: B walkers."""

    start: Poses  # (B,)
    moments: list[StepRecord] = field(default_factory=list)

    def viewpoints(self) -> tuple[Ragged, Ragged]:
        """Where each walker was, the start first, and what it faced there; a STOP adds nothing."""
        count = len(self.start.viewpoint)
        walker, viewpoint, view, time = (
            [np.arange(count)],
            [_np(self.start.viewpoint)],
            [_np(self.start.view)],
            [],
        )
        time.append(np.zeros(count, dtype=np.int64))
        for number, moment in enumerate(self.moments, start=1):
            moved = _np(moment.actions != STOP)
            walker.append(_np(moment.walkers)[moved])
            viewpoint.append(_np(moment.after.viewpoint)[moved])
            view.append(_np(moment.after.view)[moved])
            time.append(np.full(int(moved.sum()), number))
        owners = np.concatenate(walker)
        order = np.lexsort((np.concatenate(time), owners))
        start = np.append(0, np.bincount(owners, minlength=count).cumsum())
        return (
            Ragged(np.concatenate(viewpoint)[order].astype(np.int32), start),
            Ragged(np.concatenate(view)[order].astype(np.int32), start),
        )


class Rollout:
    """Takes walkers through lessons. Shapes: B walkers, N lessons' rows, C copies of each (B = N C)."""

    def __init__(self, network: Network, observer: Observer) -> None:
        self.network = network
        self.eyes = (observer, observer.mirrored())  # of torch tensors; the second in a mirror
        self.observer = observer  # of one walk
        self.album: ProductCache | None = None  # of one walk

    def walk(
        self,
        lesson: EpisodeBatch,
        choose: ActionSelector,
        *,
        copies: int = 1,
        album: ProductCache | None = None,
    ) -> RolloutResult:
        """Walk a lesson; with copies, each row by several walkers who share what was read and remembered.

        With an album, what it holds of walks before is looked up; it is for walks without learning.
        """
        self.observer = self.eyes[lesson.mirrored]
        learns = self.network.training or torch.is_grad_enabled()
        self.album = None if learns else album or ProductCache()
        with deferred_gradients(self.network):
            journey = self._walk(lesson, choose, copies)
        self.album = None
        return journey

    def _walk(self, lesson: EpisodeBatch, choose: ActionSelector, copies: int) -> RolloutResult:
        read, text_of = self._read(lesson)
        behind = len(lesson.behind)
        memory = self._history(lesson, read.summary.index_select(0, text_of[:behind]))
        owner = torch.arange(len(lesson)).repeat_interleave(copies)
        memory = memory[owner]
        poses = _tensors(lesson.start)[owner]
        first, count = _split(lesson.first_ahead)
        journey = RolloutResult(poses)
        seen_through, remembers = self._dropout(len(owner)), self._remembering(len(owner))
        for step in range(int(count.max()) if len(count) else 0):
            told_now = torch.nonzero(count > step)[:, 0]
            telling = text_of[behind + first[told_now] + step]
            readers = TextBatch.of(read, telling, copies)
            here = torch.nonzero(count[owner] > step)[:, 0]
            context = self.network.sum_up(memory[here], None if remembers is None else remembers[here])
            moments = self._step(
                step, here, first[owner[here]] + step, readers, context, poses[here], choose, seen_through,
                lesson.moves,
            )  # fmt: skip
            ended = _last_poses(poses, moments)
            going_on = torch.nonzero(count[owner[here]] > step + 1)[:, 0]
            if len(going_on):
                told = read.summary.index_select(0, telling.repeat_interleave(copies)[going_on])
                memory = self._remember(memory, here[going_on], told, moments, seen_through)
            # Level, as every step begins.
            poses = Poses(ended.viewpoint, ended.view % COLUMNS + COLUMNS)
            journey.moments.extend(moments)
        return journey

    def _read(self, lesson: EpisodeBatch) -> tuple[EncodedText, Tensor]:
        """Texts, and which of them is that of each step: of the steps behind, then of those ahead.

        Steps that say the same are read once. A step that one walker is told lies behind another, who is
        further on in the same instruction; and those of joined tasks recur.
        """
        told = concat_rows([lesson.behind, lesson.ahead])
        texts, which = told.distinct()
        rows = told.take(texts)
        tokens = torch.from_numpy(rows.padded(fill=0).astype(np.int64))
        return self.network.read(tokens, torch.from_numpy(rows.lengths)), torch.from_numpy(which)

    def _history(self, lesson: EpisodeBatch, told: Tensor) -> Memory:
        """The memory of what the expert did before: each step encoded once for all whom it lies behind, then
        added oldest first.
        """
        memory = self.network.memory.empty(len(lesson))
        first, count = _split(lesson.first_behind)
        if not len(told) or self.network.trajectory is None:
            return memory
        walked, which = lesson.done.distinct()
        done = self._recall(walked, None)
        walk_of = torch.from_numpy(which)
        for step in range(int(count.max())):
            here = torch.nonzero(count > step)[:, 0]
            rows = first[here] + step
            memory = memory.put(
                here,
                self.network.memory.add(
                    memory[here], told.index_select(0, rows), done.index_select(0, walk_of[rows])
                ),
            )
        return memory

    def _recall(self, walked: History, channels: Tensor | None) -> Tensor:
        """v(y) of walks; `channels` (walks, D) hides view features."""
        start = torch.as_tensor(walked.start)
        length = start[1:] - start[:-1]
        poses, actions = _tensors(walked.poses), torch.as_tensor(walked.actions)
        if channels is not None:
            channels = channels.repeat_interleave(length, dim=0)
        # Where all is kept for a gradient, at once: one product learns from all. Else a few walks at a time:
        # what is laid out for them goes where that of the walks before them was.
        parts = 1 if self.album is None else min(len(length), -(-len(actions) // _AT_A_TIME))
        found = []
        for walks in torch.arange(len(length)).tensor_split(max(1, parts)):
            here = slice(int(start[walks[0]]), int(start[walks[-1] + 1]))
            scene = self._scene(poses[here], None if channels is None else channels[here])
            found.append(self.network.recall(scene, scene.taken(actions[here]), length[walks]))
        return torch.cat(found)

    def _step(
        self,
        step: int,
        walkers: Tensor,
        rows: Tensor,
        readers: TextBatch,
        context: Tensor,
        poses: Poses,
        choose: ActionSelector,
        channels: Tensor | None,
        moves: int,
    ) -> list[StepRecord]:
        """One Baby-Step of some walkers: until all have stopped or made all moves they may."""
        moments: list[StepRecord] = []
        state: State | None = None
        for _ in range(moves):
            scene = self._scene(poses, None if channels is None else channels[walkers])
            state = state or self.network.begin(readers)
            decision = self.network(state, scene, readers, context)
            actions = choose(decision, walkers, poses.viewpoint, rows)
            after = self.observer.world.step(poses, actions)
            choices = self.observer.world.target[poses.viewpoint]
            moments.append(StepRecord(walkers, step, poses, choices, decision, actions, after))
            on = torch.nonzero(actions != STOP)[:, 0]
            if not len(on):
                break
            state = State(decision.state.hidden, decision.state.cell, scene.taken(actions))
            poses = after
            if len(on) < len(walkers):
                walkers, rows, poses, readers = walkers[on], rows[on], poses[on], readers[on]
                state, context = state[on], context.index_select(0, on)
        return moments

    def _remember(
        self,
        memory: Memory,
        walkers: Tensor,
        told: Tensor,
        moments: list[StepRecord],
        channels: Tensor | None,
    ) -> Memory:
        """The memory after a step that was just walked by walkers, in rising order, and maybe by others."""
        if self.network.trajectory is None:
            return memory
        owner = torch.cat([moment.walkers for moment in moments])
        theirs = torch.nonzero(torch.isin(owner, walkers))[:, 0]
        order = theirs[torch.argsort(owner[theirs], stable=True)]  # moments are in the order of time
        before = Poses(
            torch.cat([moment.before.viewpoint for moment in moments])[order],
            torch.cat([moment.before.view for moment in moments])[order],
        )
        actions = torch.cat([moment.actions for moment in moments])[order]
        length = torch.bincount(owner)[walkers]
        start = torch.cat([torch.zeros(1, dtype=torch.int64), length.cumsum(0)])
        walked = History(before, actions, start)
        done = self._recall(walked, None if channels is None else channels[walkers])
        return memory.put(walkers, self.network.memory.add(memory[walkers], told, done))

    def _scene(self, poses: Poses, channels: Tensor | None) -> Observation:
        return Observation(self.observer, poses, channels, self.album)

    def _dropout(self, walkers: int) -> Tensor | None:
        """(B, D) which channels of the view features a walker sees on its whole way; None for all."""
        share = self.network.config.feature_dropout
        width = self.observer.view_width - ORIENTATION
        if not self.network.training or share == 0 or width == 0:
            return None
        return torch.bernoulli(torch.full((walkers, width), 1 - share)) / (1 - share)

    def _remembering(self, walkers: int) -> Tensor | None:
        """(B, 1) 0 for walkers who are to find their way without a history, else 1; None: nobody is."""
        share = self.network.config.history_dropout
        if not self.network.training or share == 0:
            return None
        return torch.bernoulli(torch.full((walkers, 1), 1 - share))


def _last_poses(poses: Poses, moments: list[StepRecord]) -> Poses:
    """Where everyone is after a step: the moments' last word, and where they were for those not in it."""
    viewpoint, view = poses.viewpoint.clone(), poses.view.clone()
    for moment in moments:
        viewpoint[moment.walkers] = moment.after.viewpoint
        view[moment.walkers] = moment.after.view
    return Poses(viewpoint, view)


def _split(start: NDArray[np.int64]) -> tuple[Tensor, Tensor]:
    """First rows and numbers of rows."""
    bounds = torch.from_numpy(start)
    return bounds[:-1], bounds[1:] - bounds[:-1]


def _tensors(poses: Poses) -> Poses:
    return Poses(torch.as_tensor(poses.viewpoint), torch.as_tensor(poses.view))


def _np(tensor: Tensor) -> NDArray[np.int64]:
    return np.asarray(tensor)
