"""Rollouts: a network takes a batch of walkers through their Baby-Steps, one step after another.

All walkers take the same step of their lists at a time; finished walkers are dropped from the batch at once.
When a step is over, it is encoded once and added to the memory; the next step starts at the pose where the
last one ended, level, with a new recurrent state (section 4.2 of the paper).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from babywalk.buildings.panorama import COLUMNS
from babywalk.common.ragged import Ragged, concat_rows
from babywalk.decoding.episode_batch import EpisodeBatch
from babywalk.modules.decoder import Decision, State
from babywalk.modules.kernels import choose_backend
from babywalk.modules.memory import Memory
from babywalk.modules.network import Network
from babywalk.modules.observation import Observation
from babywalk.modules.speaker import TextScores
from babywalk.modules.text_encoder import EncodedText, TextBatch
from babywalk.navigation.arrays import Array
from babywalk.navigation.history import History
from babywalk.navigation.observation import ORIENTATION, Observer
from babywalk.navigation.trajectories import Trajectories, TrajectoryRecorder
from babywalk.navigation.world import STOP, Poses

if TYPE_CHECKING:
    from babywalk.decoding.search_tree import Candidates

_CHUNK = 2048  # steps of trajectories that are encoded at once without gradients


@dataclass(frozen=True, slots=True, eq=False)
class Walkers:
    """Everything that walkers carry within a Baby-Step: a value. Index it with repeats to fork walkers.

    Shapes: B walkers, N walkers of the whole batch.
    """

    index: Tensor  # (B,) which walker of the batch
    row: Tensor  # (B,) which of the batch's instructions it follows
    poses: Poses  # (B,)
    text: TextBatch  # B instructions
    context: Tensor  # (B, M) the summary of the history
    state: State  # B recurrent states
    batch_channels: Tensor | None  # (N, D) feature dropout of the N walkers; None for none
    mirrored: bool  # whether the houses are mirrored

    def __len__(self) -> int:
        return len(self.index)

    def __getitem__(self, which: Tensor) -> Walkers:
        """Some of them; indices may repeat."""
        return replace(
            self,
            index=self.index[which],
            row=self.row[which],
            poses=self.poses[which],
            text=self.text[which],
            context=self.context.index_select(0, which),
            state=self.state[which],
        )


@dataclass(frozen=True, slots=True, eq=False)
class StepRecord:
    """One decision of the active walkers. Shapes: B of them."""

    walkers: Tensor  # (B,) which
    step: int  # which of their remaining Baby-Steps
    before: Poses  # (B,)
    candidates: Tensor  # (B, K) the viewpoint that each action leads to
    decision: Decision
    actions: Tensor  # (B,)
    after: Poses  # (B,)


# The speaker's scores of instructions (word ids of the network's vocabulary), one for each path (B rows) that
# is walked from a start view (B,).
PathSpeaker = Callable[[Ragged, NDArray[np.int64], Ragged], TextScores]


class Reranker(Protocol):
    """Scores the candidates of a search."""

    def scores(self, candidates: Candidates, rollout: Rollout) -> Tensor:
        """(Q,) the candidate of each walker with the highest score is chosen."""
        ...


ActionSelector = Callable[[Decision, Walkers], Tensor]  # the actions (B,) to take


@dataclass(frozen=True, slots=True, eq=False)
class RolloutResult:
    """All decisions, in the order of time. Shapes: N walkers."""

    start: Poses  # (N,)
    records: list[StepRecord] = field(default_factory=list)

    def trajectories(self) -> Trajectories:
        """The N trajectories."""
        recorder = TrajectoryRecorder(self.start)
        for record in self.records:
            recorder.record(record.after, record.actions != STOP, record.walkers)
        return recorder.trajectories()


@dataclass(frozen=True, slots=True, eq=False)
class BatchState:
    """Walkers between two Baby-Steps. Shapes: E episodes, C copies of each, N = E C walkers."""

    batch: EpisodeBatch
    copies: int
    encoded: EncodedText  # all distinct instructions
    text_of: Tensor  # (R,) the encoded instruction of each remaining step
    first: Tensor  # (E,) the first remaining step of each episode
    count: Tensor  # (E,) its number of remaining steps
    poses: Poses  # (N,)
    memory: Memory  # of N walkers
    channels: Tensor | None  # (N, D) feature dropout
    keep_mask: Tensor | None  # (N, 1) 0 where the history is dropped

    @property
    def episode(self) -> Tensor:
        """(N,) the episode of each walker."""
        return torch.arange(len(self.count), device=self.count.device).repeat_interleave(self.copies)

    @property
    def max_steps(self) -> int:
        """The most remaining steps of any walker."""
        return int(self.count.max()) if len(self.count) else 0


class Rollout:
    """A network in houses: runs batches of episodes. The device is that of the network."""

    # What search decoders may choose among complete paths with.
    speaker: PathSpeaker | None = None
    reranker: Reranker | None = None

    def __init__(self, network: Network, observer: Observer, *, kernels: str = "auto") -> None:
        self.network = network
        self.device = network.device
        self.observers = (observer, observer.mirrored())
        self.backend = choose_backend(kernels, self.device)
        self.backend.prepare(network)

    def run(self, batch: EpisodeBatch, select: ActionSelector, *, copies: int = 1) -> RolloutResult:
        """Walk all remaining steps, `copies` walkers per episode with shared encodings."""
        with self.backend.rollout(self.network):
            state = self.begin(batch, copies)
            result = RolloutResult(state.poses)
            for step in range(state.max_steps):
                records = self._run_step(step, self.begin_step(state, step), batch.max_moves, select)
                state = self.end_step(state, step, records)
                result.records.extend(records)
        return result

    @contextmanager
    def inference(self) -> Iterator[None]:
        """Inside, the network runs without dropout and gradients, and rollouts share a product cache."""
        training = self.network.training
        self.network.eval()
        try:
            with self.backend.inference():
                yield
        finally:
            self.network.train(training)

    def begin(self, batch: EpisodeBatch, copies: int = 1) -> BatchState:
        """Encode instructions and history."""
        encoded, text_of = self._encode_texts(batch)
        past = len(batch.past_instructions)
        memory = self._past_memory(batch, encoded.summary.index_select(0, text_of[:past]))
        first, count = self._bounds(batch.first_step)
        episode = torch.arange(len(batch), device=self.device).repeat_interleave(copies)
        return BatchState(
            batch=batch,
            copies=copies,
            encoded=encoded,
            text_of=text_of[past:],
            first=first,
            count=count,
            poses=self._poses(batch.start)[episode],
            memory=memory[episode],
            channels=self._feature_dropout(len(episode)),
            keep_mask=self._history_dropout(len(episode)),
        )

    def begin_step(self, state: BatchState, step: int) -> Walkers:
        """The walkers that have such a step, at its start."""
        episodes = torch.nonzero(state.count > step)[:, 0]
        text = self.backend.texts(state.encoded, state.text_of[state.first[episodes] + step], state.copies)
        index = torch.nonzero(state.count[state.episode] > step)[:, 0]
        row = state.first[state.episode[index]] + step
        return self.start(state, index, row, state.poses[index], text, state.memory[index])

    def start(
        self, state: BatchState, index: Tensor, row: Tensor, poses: Poses, text: TextBatch, memory: Memory
    ) -> Walkers:
        """Walkers `index` (B,) at the start of steps `row` (B,), each with its own text and memory."""
        keep_mask = None if state.keep_mask is None else state.keep_mask[index]
        observation = self._observe(poses, state.channels, index, mirrored=state.batch.mirrored)
        return Walkers(
            index=index,
            row=row,
            poses=poses,
            text=text,
            context=self.network.context(memory, keep_mask),
            state=self.network.initial_state(text, observation),
            batch_channels=state.channels,
            mirrored=state.batch.mirrored,
        )

    def observe(self, walkers: Walkers) -> Observation:
        """What walkers see."""
        return self._observe(walkers.poses, walkers.batch_channels, walkers.index, mirrored=walkers.mirrored)

    def decide(self, walkers: Walkers) -> Decision:
        """Score the actions of walkers."""
        decision: Decision = self.network(walkers.state, self.observe(walkers), walkers.text, walkers.context)
        return decision

    def advance(self, walkers: Walkers, decision: Decision, actions: Tensor) -> Walkers:
        """The walkers after their actions (B,); STOP changes no pose."""
        state = replace(decision.state, action=self.observe(walkers).chosen(actions))
        poses = self.observers[walkers.mirrored].world.step(walkers.poses, actions)
        return replace(walkers, poses=poses, state=state)

    def end_step(self, state: BatchState, step: int, records: list[StepRecord]) -> BatchState:
        """The state after a step that was walked: poses and memory of those that have another step."""
        index = torch.nonzero(state.count[state.episode] > step + 1)[:, 0]
        return self.resume(state, step, index, _trajectories_of(index, records)) if len(index) else state

    def resume(self, state: BatchState, step: int, index: Tensor, walked: History) -> BatchState:
        """The state after walkers `index` (B,), which have another step, have walked this one."""
        last = walked.start[1:] - 1
        world = self.observers[state.batch.mirrored].world
        after = level(world.step(walked.poses[last], walked.actions[last]))
        row = state.first[state.episode[index]] + step
        memory = self.remember(state, index, row, state.memory[index], walked)
        return replace(
            state,
            poses=Poses(
                state.poses.viewpoint.index_copy(0, index, after.viewpoint),
                state.poses.view.index_copy(0, index, after.view),
            ),
            memory=state.memory.put(index, memory),
        )

    def remember(
        self, state: BatchState, index: Tensor, row: Tensor, memory: Memory, walked: History
    ) -> Memory:
        """The memory of walkers `index` (B,) after they have walked the steps `row` (B,)."""
        if self.network.trajectory is None:
            return memory
        instruction = state.encoded.summary.index_select(0, state.text_of[row])
        channels = None if state.channels is None else state.channels[index]
        trajectory = self._encode_trajectories(walked, channels, mirrored=state.batch.mirrored)
        return self.network.memory.add(memory, instruction, trajectory)

    def _run_step(
        self, step: int, walkers: Walkers, max_moves: int, select: ActionSelector
    ) -> list[StepRecord]:
        """One Baby-Step: until all walkers have stopped or made `max_moves` moves."""
        records: list[StepRecord] = []
        target = self.observers[walkers.mirrored].world.target
        for _ in range(max_moves):
            decision = self.decide(walkers)
            actions = select(decision, walkers)
            moved = self.advance(walkers, decision, actions)
            candidates = target[walkers.poses.viewpoint]
            records.append(
                StepRecord(walkers.index, step, walkers.poses, candidates, decision, actions, moved.poses)
            )
            moving = torch.nonzero(actions != STOP)[:, 0]
            if not len(moving):
                break
            walkers = moved if len(moving) == len(moved) else moved[moving]
        return records

    def _encode_texts(self, batch: EpisodeBatch) -> tuple[EncodedText, Tensor]:
        """The distinct instructions, and which of them is that of each step: past steps, then remaining ones.

        An instruction recurs as the past of other walkers of the same episode, and in joined tasks.
        """
        texts = concat_rows([batch.past_instructions, batch.instructions])
        rows, which = texts.distinct()
        distinct = texts.take(rows)
        tokens = self._tensor(distinct.padded(fill=0).astype(np.int64))
        return self.network.encode_text(tokens, self._tensor(distinct.lengths)), self._tensor(which)

    def _past_memory(self, batch: EpisodeBatch, instructions: Tensor) -> Memory:
        """The memory of the expert's past steps: distinct trajectories are encoded once, then added oldest
        first. `instructions` (Q, D) are u(x) of the past steps.
        """
        memory = self.network.memory.empty(len(batch), like=instructions)
        if not len(instructions) or self.network.trajectory is None:
            return memory
        first, count = self._bounds(batch.first_past)
        past, which = batch.past.distinct()
        trajectories = self._encode_trajectories(self._history(past), None, mirrored=batch.mirrored)
        trajectory_of = self._tensor(which)
        for step in range(int(count.max())):
            here = torch.nonzero(count > step)[:, 0]
            rows = first[here] + step
            instruction = instructions.index_select(0, rows)
            trajectory = trajectories.index_select(0, trajectory_of[rows])
            memory = memory.put(here, self.network.memory.add(memory[here], instruction, trajectory))
        return memory

    def _encode_trajectories(self, past: History, channels: Tensor | None, *, mirrored: bool) -> Tensor:
        """(Q, 2 D) v(y) of trajectories; `channels` (Q, D) is their feature dropout."""
        length = past.start[1:] - past.start[:-1]
        if channels is not None:
            channels = channels.repeat_interleave(length, dim=0)
        # With gradients all at once: one product for the weights. Without, memory is used again chunk by
        # chunk.
        chunks = -(-len(past.actions) // _CHUNK) if self.backend.caches_products else 1
        found = []
        numbers = torch.arange(len(length), device=self.device)
        for some in numbers.tensor_split(max(1, min(len(length), chunks))):
            here = slice(int(past.start[some[0]]), int(past.start[some[-1] + 1]))
            factors = None if channels is None else channels[here]
            observation = self._observe(past.poses[here], factors, mirrored=mirrored)
            actions = observation.chosen(past.actions[here])
            found.append(self.network.encode_trajectory(observation, actions, length[some]))
        return torch.cat(found)

    def _observe(
        self, poses: Poses, channels: Tensor | None, index: Tensor | None = None, *, mirrored: bool
    ) -> Observation:
        if channels is not None and index is not None:
            channels = channels[index]
        return self.backend.observe(self.observers[mirrored], poses, channels)

    def _feature_dropout(self, walkers: int) -> Tensor | None:
        """(N, D) factors of the view features, the same for a whole trajectory; None for no dropout."""
        rate = self.network.config.feature_dropout
        width = self.observers[0].view_width - ORIENTATION
        if not self.network.training or rate == 0 or width == 0:
            return None
        return torch.bernoulli(torch.full((walkers, width), 1 - rate, device=self.device)) / (1 - rate)

    def _history_dropout(self, walkers: int) -> Tensor | None:
        """(N, 1) 0 for walkers whose history is dropped, else 1; None for no dropout."""
        rate = self.network.config.history_dropout
        if not self.network.training or rate == 0:
            return None
        return torch.bernoulli(torch.full((walkers, 1), 1 - rate, device=self.device))

    def _bounds(self, start: NDArray[np.int64]) -> tuple[Tensor, Tensor]:
        """First rows and numbers of rows."""
        bounds = self._tensor(start)
        return bounds[:-1], bounds[1:] - bounds[:-1]

    def _history(self, past: History) -> History:
        return History(self._poses(past.poses), self._tensor(past.actions), self._tensor(past.start))

    def _poses(self, poses: Poses) -> Poses:
        return Poses(self._tensor(poses.viewpoint), self._tensor(poses.view))

    def _tensor(self, array: Array) -> Tensor:
        return torch.as_tensor(array, device=self.device)


def level(poses: Poses) -> Poses:
    """The poses at the start of the next Baby-Step: every step starts level."""
    return Poses(poses.viewpoint, poses.view % COLUMNS + COLUMNS)


def _trajectories_of(walkers: Tensor, records: list[StepRecord]) -> History:
    """What some walkers (B,), in rising order, did in a step."""
    owner = torch.cat([record.walkers for record in records])
    theirs = torch.nonzero(torch.isin(owner, walkers))[:, 0]
    order = theirs[torch.argsort(owner[theirs], stable=True)]  # records are in the order of time
    poses = Poses(
        torch.cat([record.before.viewpoint for record in records])[order],
        torch.cat([record.before.view for record in records])[order],
    )
    actions = torch.cat([record.actions for record in records])[order]
    length = torch.bincount(owner)[walkers]
    return History(poses, actions, torch.cat([length.new_zeros(1), length.cumsum(0)]))
