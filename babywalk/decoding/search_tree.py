"""Search trees: everything that a search has expanded, for all walkers of a batch at once.

A node is a walker that has looked around and scored its actions: a value that can be continued from twice.
An entry is a node and one of its actions. To expand an entry is to take the action: a move leads to a new
node; STOP, or the last move that a Baby-Step allows, ends the step, and the node is the start of the next
one, with the finished step in its memory. The end of the last step completes a path: a candidate.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from babywalk.buildings.panorama import VIEWS
from babywalk.common.errors import ConfigError
from babywalk.common.ragged import Ragged, starts
from babywalk.decoding.decoders import NonFiniteError
from babywalk.decoding.rollout import BatchState, Rollout, Walkers, level
from babywalk.modules.memory import Memory
from babywalk.navigation.arrays import to_numpy
from babywalk.navigation.history import History
from babywalk.navigation.world import STOP, Poses

NONE = -1  # in place of a node: the parent of a root
SCORES = ("log_probability_sum", "log_probability_mean", "logit_sum", "logit_mean")
_LEAST_PROGRESS = 1e-6


class Columns:
    """Named tensors whose rows belong together. Rows are appended; memory doubles when it is full."""

    def __init__(self) -> None:
        self._tensors: dict[str, Tensor] = {}
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def __contains__(self, name: str) -> bool:
        return name in self._tensors

    def __getitem__(self, name: str) -> Tensor:
        return self._tensors[name][: self._count]

    def append(self, rows: Mapping[str, Tensor]) -> Tensor:
        """The numbers (B,) of the new rows (B, ...)."""
        first = next(iter(rows.values()))
        end = self._count + len(first)
        for name, values in rows.items():
            table = self._tensors.get(name, values[:0])
            if end > len(table):
                grown = values.new_empty(max(end, 2 * len(table)), *values.shape[1:])
                grown[: self._count] = table[: self._count]
                self._tensors[name] = table = grown
            table[self._count : end] = values
        numbers = torch.arange(self._count, end, device=first.device)
        self._count = end
        return numbers


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """Completed paths. Sums and means include the last action. Shapes: N walkers, Q candidates."""

    walker: Tensor  # (Q,) below N
    walked: History  # Q paths
    score: Tensor  # (Q,) by which the search ranked them
    log_probability: Tensor  # (Q,) sum over the decisions
    logit: Tensor  # (Q,) sum over the decisions
    decisions: Tensor  # (Q,)
    metres: Tensor  # (Q,) length of the path, without any walking back
    progress: Tensor | None  # (Q,) estimated at the end; None without a progress monitor
    paths: Ragged  # Q rows of viewpoints
    start_view: NDArray[np.int64]  # (Q,) faced at the start of the path
    instructions: Ragged  # N rows of word ids: what the paths of each walker are to follow

    def __len__(self) -> int:
        return len(self.walker)

    def walked_by(self, some: Tensor) -> History:
        """The paths of some candidates (B,)."""
        first, length = self.walked.start[some], self.walked.start.diff()[some]
        start = torch.cat([length.new_zeros(1), length.cumsum(0)])
        rows = torch.arange(int(start[-1]), device=start.device)
        rows = rows + (first - start[:-1]).repeat_interleave(length)
        return History(self.walked.poses[rows], self.walked.actions[rows], start)


class SearchTree:
    """The expanded nodes of a search. Shapes: N walkers, M nodes, B of them, K actions, T ancestors."""

    def __init__(self, rollout: Rollout, state: BatchState, walkers: Walkers, *, chain: bool) -> None:
        """From walkers at the start of a step. With `chain`, the end of a step continues with the next."""
        self.rollout = rollout
        self.state = state
        self.chain = chain
        self.world = rollout.observers[walkers.mirrored].world
        self.nodes = Columns()
        self._steps = Columns()  # a row per started step: what its nodes share
        self._completed = Columns()
        self._template = walkers
        self._first_row = state.first if chain else walkers.row.new_zeros(len(state.episode))
        if not chain:
            self._first_row[walkers.index] = walkers.row
        self._last_row = state.first + state.count - 1 if chain else self._first_row
        text_rows = torch.arange(len(state.text_of), device=rollout.device) if chain else walkers.row
        self._texts = (
            rollout.backend.texts(state.encoded, state.text_of[text_rows]) if chain else walkers.text
        )
        self._text = torch.zeros_like(state.text_of)  # (R,) the place of each instruction in the texts
        self._text[text_rows] = torch.arange(len(text_rows), device=rollout.device)
        nothing = walkers.index.new_zeros(len(walkers))
        none = walkers.context.new_zeros(len(walkers))
        self.roots = self._look(
            walkers,
            {
                "parent": nothing + NONE,
                "action": nothing + STOP,
                "moves": nothing,
                "decisions": nothing,
                "log_probability": none,
                "logit": none,
                "metres": none,
                "started": self._start(walkers, state.memory[walkers.index]),
            },
        )

    def __len__(self) -> int:
        return len(self.nodes)

    def poses(self, nodes: Tensor) -> Poses:
        """(B,) where nodes are."""
        return Poses(self.nodes["viewpoint"][nodes], self.nodes["view"][nodes])

    def poses_after(self, nodes: Tensor, actions: Tensor) -> Poses:
        """(B,) where the actions of entries lead."""
        poses: Poses = self.world.step(self.poses(nodes), actions)
        return poses

    def targets(self, nodes: Tensor) -> Tensor:
        """(B, K) the viewpoint that each action leads to."""
        targets: Tensor = self.world.target[self.nodes["viewpoint"][nodes]]
        return targets

    def ends_step(self, nodes: Tensor, actions: Tensor) -> Tensor:
        """(B,) True for entries that end a Baby-Step."""
        last = self.nodes["moves"][nodes] + 1 >= self.state.batch.max_moves
        return (actions == STOP) | last

    def completes(self, nodes: Tensor, actions: Tensor) -> Tensor:
        """(B,) True for entries that complete a path."""
        row = self.nodes["row"][nodes]
        last: Tensor = self._last_row[self.nodes["walker"][nodes]]
        return self.ends_step(nodes, actions) & (row == last)

    def states_of(self, row: Tensor, poses: Poses) -> Tensor:
        """(B,) a number for each combination of Baby-Step, viewpoint and view."""
        viewpoint: Tensor = poses.viewpoint
        places = row * len(self.world.target) + viewpoint
        found: Tensor = places * VIEWS + poses.view
        return found

    def states_after(self, nodes: Tensor, actions: Tensor) -> Tensor:
        """(B,) the state that each entry leads to. A Baby-Step starts level."""
        ends, after = self.ends_step(nodes, actions), self.poses_after(nodes, actions)
        view = level(after).view.where(ends, after.view)
        return self.states_of(self.nodes["row"][nodes] + ends, Poses(after.viewpoint, view))

    def ancestors(self, nodes: Tensor) -> Tensor:
        """(B, T) nodes themselves, their parents, and so on; NONE after the root."""
        parent = self.nodes["parent"]
        found = [nodes]
        while bool((found[-1] != NONE).any()):
            found.append(torch.where(found[-1] == NONE, NONE, parent[found[-1]]))
        return torch.stack(found[:-1] or found, dim=1)

    def revisits(self, nodes: Tensor) -> Tensor:
        """(B, K) True for moves to a viewpoint that the path has visited in the same Baby-Step."""
        above = self.ancestors(nodes)
        here = self._in_step(above)
        visited = self.nodes["viewpoint"][above].masked_fill(~here, NONE)
        found = (self.targets(nodes)[:, :, None] == visited[:, None, :]).any(dim=2)
        found[:, STOP] = False
        return found

    def scores(self, nodes: Tensor, kind: str) -> Tensor:
        """(B, K) the score of each entry of nodes; minus infinity where there is no such action.

        With log-probabilities log p_t and logits l_t of the actions of a path of T decisions: their sums, and
        their means, which are the sums divided by T. "progress" is the logarithm of the path's probability
        times the estimated progress, log(prod p_t * (1 + progress) / 2).
        """
        measure = "logit" if kind.startswith("logit") else "log_probability"
        total = self.nodes[measure][nodes][:, None] + self.nodes[f"action_{measure}"][nodes]
        if kind.endswith("_mean"):
            return total / (self.nodes["decisions"][nodes][:, None] + 1)
        if kind == "progress":
            progress = (1 + self.progress(nodes)) / 2
            return total + progress.clamp(min=_LEAST_PROGRESS).log()[:, None]
        return total

    def progress(self, nodes: Tensor) -> Tensor:
        """(B,) estimated progress."""
        if not self.monitors_progress:
            raise no_progress_monitor()
        return self.nodes["progress"][nodes]

    def expand(self, nodes: Tensor, actions: Tensor) -> Tensor:
        """The nodes (B,) that entries lead to; no entry may complete a path. One call of the network."""
        columns, rollout = self.nodes, self.rollout
        ends = self.ends_step(nodes, actions)
        index, row = columns["walker"][nodes], columns["row"][nodes] + ends
        after = self.poses_after(nodes, actions)
        text = self._texts[self._text[row]]
        observation = rollout.observe(replace(self._template, index=index, poses=self.poses(nodes)))
        state = replace(
            self._template.state,
            **{name: columns[f"state.{name}"][nodes] for name in self._template.state.tensors()},
            action=observation.chosen(actions.masked_fill(ends, STOP)),
        )
        started = columns["started"][nodes]
        walkers = replace(
            self._template,
            index=index,
            row=row,
            poses=after,
            text=text,
            context=self._steps["context"][started],
            state=state,
        )
        some = torch.nonzero(ends)[:, 0]
        if len(some):
            walkers, started = self._with_next_step(walkers, started, some, nodes[some], actions[some])
        return self._look(
            walkers,
            {
                "parent": nodes,
                "action": actions,
                "moves": torch.where(ends, 0, columns["moves"][nodes] + 1),
                "started": started,
                **self._sums(nodes, actions),
            },
        )

    def complete(self, nodes: Tensor, actions: Tensor, score: Tensor) -> None:
        """Keep entries (B,) as candidates."""
        self._completed.append(
            {
                "walker": self.nodes["walker"][nodes],
                "node": nodes,
                "last": actions,
                "score": score,
                **self._sums(nodes, actions),
            }
        )

    def candidates(self) -> Candidates:
        """All completed paths, in the order of their completion."""
        found = self._completed
        walked = self.walked(found["node"], found["last"], whole=True)
        paths, first = self._paths(walked)
        return Candidates(
            walker=found["walker"],
            walked=walked,
            score=found["score"],
            log_probability=found["log_probability"],
            logit=found["logit"],
            decisions=found["decisions"],
            metres=found["metres"],
            progress=self.nodes["progress"][found["node"]] if self.monitors_progress else None,
            paths=paths,
            start_view=first,
            instructions=self._instructions(),
        )

    @property
    def monitors_progress(self) -> bool:
        """Whether nodes have estimated progress."""
        return "progress" in self.nodes

    def walked(self, nodes: Tensor, actions: Tensor, *, whole: bool = False) -> History:
        """The poses and actions of the Baby-Steps that entries (B,) end, or of their whole paths."""
        above = self.ancestors(nodes)
        inside = above != NONE if whole else self._in_step(above)
        taken = torch.cat([actions[:, None], self.nodes["action"][above[:, :-1]]], dim=1)
        # Ancestors are the newest first.
        order = inside.flip(1)
        at = above.flip(1)[order]
        length = order.sum(dim=1)
        start = torch.cat([length.new_zeros(1), length.cumsum(0)])
        return History(self.poses(at), taken.flip(1)[order], start)

    def _in_step(self, above: Tensor) -> Tensor:
        """(B, T) True for ancestors in the same Baby-Step as the node itself."""
        started = self.nodes["started"][above]
        return (above != NONE) & (started == started[:, :1])

    def _paths(self, walked: History) -> tuple[Ragged, NDArray[np.int64]]:
        """The viewpoints of paths (B rows), and the view (B,) faced at their starts."""
        at, start = to_numpy(walked.poses.viewpoint), to_numpy(walked.start)
        view = to_numpy(walked.poses.view)[start[:-1]]
        after = to_numpy(self.world.target[walked.poses.viewpoint, walked.actions])
        lengths = np.diff(start)
        # The start of each path, then the viewpoint after each action that moves.
        values = np.insert(after, start[:-1], at[start[:-1]])
        keep = np.insert(after != at, start[:-1], True)
        owner = np.repeat(np.arange(len(lengths)), lengths + 1)[keep]
        kept = starts(np.bincount(owner, minlength=len(lengths)))
        return Ragged(values[keep].astype(np.int32), kept), view

    def _instructions(self) -> Ragged:
        """N rows of word ids: all steps of each walker, or the one that is searched."""
        texts = self.state.batch.instructions
        if self.chain:
            return Ragged(texts.values, texts.start[self.state.batch.first_step])
        return texts.take(to_numpy(self._first_row))

    def _sums(self, nodes: Tensor, actions: Tensor) -> dict[str, Tensor]:
        """(B,) what adds up along a path, after the actions of entries."""
        columns = self.nodes
        length = self.world.length[columns["viewpoint"][nodes], actions]
        chosen = (nodes, actions)
        return {
            "decisions": columns["decisions"][nodes] + 1,
            "log_probability": columns["log_probability"][nodes] + columns["action_log_probability"][chosen],
            "logit": columns["logit"][nodes] + columns["action_logit"][chosen],
            "metres": columns["metres"][nodes] + length.to(columns["metres"].dtype),
        }

    def _with_next_step(
        self, walkers: Walkers, started: Tensor, some: Tensor, nodes: Tensor, actions: Tensor
    ) -> tuple[Walkers, Tensor]:
        """Some of the walkers are moved on to the start of their next step; and the steps (B,) of all."""
        index, row = walkers.index[some], walkers.row[some]
        memory = self.rollout.remember(
            self.state, index, row - 1, self._memory(started[some]), self.walked(nodes, actions)
        )
        poses = level(walkers.poses[some])
        begun = self.rollout.start(self.state, index, row, poses, walkers.text[some], memory)
        started = started.index_copy(0, some, self._start(begun, memory))
        new = begun.state.tensors()
        tensors = {
            name: part.index_copy(0, some, new[name]) for name, part in walkers.state.tensors().items()
        }
        view = walkers.poses.view.index_copy(0, some, poses.view)
        moved = replace(
            walkers,
            poses=Poses(walkers.poses.viewpoint, view),
            context=walkers.context.index_copy(0, some, begun.context),
            state=replace(walkers.state, **tensors),
        )
        return moved, started

    def _start(self, walkers: Walkers, memory: Memory) -> Tensor:
        """The numbers (B,) of started steps."""
        parts = {f"memory.{number}": part for number, part in enumerate(memory.tensors)}
        return self._steps.append({"context": walkers.context, **parts})

    def _memory(self, started: Tensor) -> Memory:
        """The memory before started steps (B,)."""
        count = len(self.state.memory.tensors)
        parts = [self._steps[f"memory.{number}"][started] for number in range(count)]
        return Memory(parts[0], parts[1], parts[2], (parts[3], parts[4]) if count > 3 else None)

    def _look(self, walkers: Walkers, columns: dict[str, Tensor]) -> Tensor:
        """Score the actions of walkers; the numbers of the new nodes."""
        decision = self.rollout.decide(walkers)
        if decision.logits.isnan().any():
            raise NonFiniteError
        progress = {} if decision.progress is None else {"progress": decision.progress}
        state = {f"state.{name}": part for name, part in decision.state.tensors().items()}
        return self.nodes.append(
            {
                "walker": walkers.index,
                "row": walkers.row,
                "viewpoint": walkers.poses.viewpoint,
                "view": walkers.poses.view,
                "action_logit": decision.logits,
                "action_log_probability": decision.logits.log_softmax(dim=1),
                **progress,
                **columns,
                **state,
            }
        )


def no_progress_monitor() -> ConfigError:
    """The error for a search by progress with an agent that does not estimate it."""
    return ConfigError(
        "The search asks for estimated progress, but this agent has no progress monitor. Leave progress out, "
        "or use an agent that has one, such as regretful."
    )
