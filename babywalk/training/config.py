"""The settings of a training run."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from babywalk.common.config import (
    check_at_least_one,
    check_fraction,
    check_fraction_below_one,
    check_non_negative,
    check_positive,
)
from babywalk.common.errors import ConfigError, unknown
from babywalk.modules.config import PolicyConfig
from babywalk.modules.device import DEVICES
from babywalk.modules.kernels import KERNELS
from babywalk.navigation.rewards import REWARDS

TEACHERS = ("goal", "path")
KEPT = ("best", "last")
BASELINES = ("running", "cumulative", "instruction")
_MAX_THREADS = 1024


def task_names(mix: str) -> list[str]:
    """The tasks of a setting such as "r2r,r2r:augmented"."""
    return [name for name in mix.split(",") if name]


@dataclass(frozen=True, slots=True)
class ImitationConfig:
    """Imitation learning: section 4.2.1 of the paper."""

    iterations: int = 50_000
    batch: int = 100
    learning_rate: float = 1e-4
    weight_decay: float = 5e-4
    teacher: str = "goal"  # follows the shortest path to the end of a step; "path": the expert's path
    teacher_share: float = 0.0  # fraction of walkers: 0 is student forcing, 1 teacher forcing
    chain: int = 1  # the most steps walked in a row; beyond the first, the history is the walker's own
    mix: str = ""  # other tasks that batches alternate with, TASK or TASK:SPLIT with commas; empty for none
    sizes: tuple[int, ...] = ()  # step sizes that batches alternate with, besides policy.step_size
    clip: float = 10.0  # of the gradient's norm
    clip_apart: bool = False  # text encoder and the rest of the network each for itself
    warm_up: int = 0  # iterations over which the learning rate rises
    decay_from: float = 1.0  # fraction of the iterations after which it falls to zero, linearly
    progress: float = 1.0  # weight of the loss of a progress monitor, for networks that have one


@dataclass(frozen=True, slots=True)
class AugmentedConfig(ImitationConfig):
    """Imitation on an augmented split of R2R, for agents with such a stage; `mix` adds human instructions."""

    split: str = "augmented"
    mix: str = "r2r"


@dataclass(frozen=True, slots=True)
class ReinforceConfig:
    """Reinforcement learning: section 4.2.2 of the paper, the same for every lecture."""

    lectures: int = 4  # 0 for none
    whole: bool = False  # one stage with all steps instead: plain reinforcement learning
    iterations: int = 10_000  # of each lecture
    batches: tuple[int, ...] = (50, 32, 20, 20)  # instructions per iteration, by lecture
    samples: int = 8  # trajectories per instruction
    learning_rate: float = 1e-4
    weight_decay: float = 5e-4
    warm_up: int = 0  # as in imitation, in each lecture
    decay_from: float = 1.0  # likewise
    reward: str = "fidelity"
    cycle: float = 0.0  # weight of the speaker's log-probability per word of the instruction, given the walk
    discount: float = 0.95
    clip: float = 1.0
    clip_apart: bool = False  # as in imitation
    temperature: float = 1.0  # of sampling: below 1, actions with high scores are more likely
    # "running": a running mean of rewards; "cumulative": the mean of all discounted rewards of the stage;
    # "instruction": the mean of the samples of the same instruction.
    baseline: str = "running"
    entropy: float = 0.0  # weight
    imitation: float = 0.0  # weight of an imitation loss on single steps
    mix: str = ""  # other tasks that iterations alternate with, as imitation.mix


@dataclass(frozen=True, slots=True)
class TrainingConfig:
    """All settings of a run."""

    task: str = "r4r"
    features: str = ""  # a spec; empty for the first source of the data
    seed: int = 0
    init_from: str = ""  # a run or model to start from, or several with commas: their mean; empty for none
    policy: PolicyConfig = field(default_factory=PolicyConfig)
    augmented: AugmentedConfig = field(default_factory=AugmentedConfig)
    imitation: ImitationConfig = field(default_factory=ImitationConfig)
    reinforce: ReinforceConfig = field(default_factory=ReinforceConfig)
    mirror: float = 0.0  # fraction of batches in mirrored houses, where left is right
    averaging: float = 0.0  # decay of the moving average of weights that is validated and kept; 0 for none
    validate_every: int = 500  # iterations
    validate_on: str = "val_seen:200"  # split for model selection by SDTW
    keep: str = "best"  # the model of a stage that the next one starts from: "best" by validation, or "last"
    checkpoint_every: int = 200
    threads: int = 0  # of torch; 0: as many as there are idle cores
    device: str = "auto"  # cpu, cuda or cuda:N; auto: a GPU if torch finds one
    kernels: str = "auto"  # auto: faster kernels on a CPU; plain: the readable network, other dropout masks

    def __post_init__(self) -> None:
        reinforces = self.reinforce.iterations and (self.reinforce.lectures or self.reinforce.whole)
        if not (self.imitation.iterations or reinforces or self.init_from):
            raise ConfigError(
                "The run has no stage and no initial model: set imitation.iterations, reinforce.lectures "
                "or init_from."
            )
        imitates = ("augmented", "imitation")
        learns = (*imitates, "reinforce")

        def each(tables: tuple[str, ...], *names: str) -> list[str]:
            return [f"{table}.{name}" for table in tables for name in names]

        check_at_least_one(
            self, *each(imitates, "batch", "chain"), "reinforce.samples", "validate_every", "checkpoint_every"
        )
        check_non_negative(
            self,
            *each(learns, "iterations", "learning_rate", "weight_decay", "warm_up"),
            *each(imitates, "progress"),
            *each(("reinforce",), "lectures", "entropy", "imitation", "cycle"),
            "threads",
        )
        check_positive(self, *each(learns, "clip"), "reinforce.temperature")
        check_fraction(
            self,
            *each(imitates, "teacher_share"),
            *each(learns, "decay_from"),
            "reinforce.discount",
            "mirror",
        )
        check_fraction_below_one(self, "averaging")
        if not -(2**63) <= self.seed < 2**63:
            raise ConfigError(
                f"seed = {self.seed} is out of range. Give a whole number from -2^63 to below 2^63."
            )
        if self.threads > _MAX_THREADS:
            raise ConfigError(f"threads = {self.threads} is out of range. Give 0 to {_MAX_THREADS}.")
        for name, value, known in (
            ("augmented.teacher", self.augmented.teacher, TEACHERS),
            ("imitation.teacher", self.imitation.teacher, TEACHERS),
            ("reinforce.reward", self.reinforce.reward, tuple(REWARDS)),
            ("reinforce.baseline", self.reinforce.baseline, BASELINES),
            ("keep", self.keep, KEPT),
            ("device", re.sub(r"^cuda:\d+$", "cuda", self.device), DEVICES),
            ("kernels", self.kernels, KERNELS),
        ):
            if value not in known:
                raise unknown(name, value, known)
        if self.reinforce.reward == "none":
            raise ConfigError(
                "reinforce.reward = 'none' is 0 for every rollout, so there is nothing to learn from it. "
                "For imitation only, set reinforce.lectures = 0 and leave out reinforce.reward."
            )
        for table, sizes in (("augmented", self.augmented.sizes), ("imitation", self.imitation.sizes)):
            if any(size < 0 for size in sizes):
                raise ConfigError(
                    f"{table}.sizes = {list(sizes)} has a negative size; give numbers of characters, or "
                    "0 not to join steps."
                )
        lectures = 1 if self.reinforce.whole else self.reinforce.lectures
        if lectures > len(self.reinforce.batches):
            raise ConfigError(
                f"reinforce.batches has {len(self.reinforce.batches)} numbers for "
                f"{lectures} lectures; give one each."
            )
        if any(batch < 1 for batch in self.reinforce.batches):
            raise ConfigError(
                f"reinforce.batches = {list(self.reinforce.batches)} is out of range. Give at least 1 each."
            )
