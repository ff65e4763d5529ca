"""What a training run does: its stages, and everything that was chosen about them."""

from __future__ import annotations

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
from babywalk.navigation.rewards import REWARDS


@dataclass(frozen=True, slots=True)
class ImitationConfig:
    """Learning from the expert: section 4.2.1 of the paper."""

    iterations: int = 50_000
    batch: int = 100
    learning_rate: float = 1e-4
    weight_decay: float = 5e-4
    teacher: str = "goal"  # shows the shortest way to where a step ends; "path": the expert's way there
    teacher_share: float = 0.0  # of walkers: 0 is student forcing, 1 teacher forcing
    chain: int = 1  # the most steps walked in a row; beyond the first, the history is the walker's own
    mix: str = ""  # other tasks that batches take turns with, TASK or TASK:SPLIT with commas; empty for none
    sizes: tuple[int, ...] = ()  # of steps beside policy.step_size: batches take turns with all of them
    clip: float = 10.0  # of the gradient's norm
    warm_up: int = 0  # iterations over which the learning rate rises
    decay_from: float = 1.0  # share of the iterations after which it falls to zero, linearly


@dataclass(frozen=True, slots=True)
class ReinforceConfig:
    """Learning from rewards: section 4.2.2 of the paper, the same for every lecture."""

    lectures: int = 4  # 0 for none
    whole: bool = False  # one lecture of all steps instead: plain reinforcement learning
    iterations: int = 10_000  # of each lecture
    batches: tuple[int, ...] = (50, 32, 20, 20)  # instructions per iteration, by lecture
    samples: int = 8  # walks of each instruction
    learning_rate: float = 1e-4
    weight_decay: float = 5e-4
    warm_up: int = 0  # as in imitation, in each lecture
    decay_from: float = 1.0  # likewise
    reward: str = "fidelity"
    discount: float = 0.95
    clip: float = 1.0
    temperature: float = 1.0  # of sampled walks: below 1 they keep nearer to the best actions
    baseline: str = "running"  # "running": a mean over iterations; "instruction": the mean of the samples
    entropy: float = 0.0  # weight
    imitation: float = 0.0  # weight of an imitation loss on as many single steps
    mix: str = ""  # other tasks that iterations take turns with, as imitation.mix


@dataclass(frozen=True, slots=True)
class TrainingConfig:
    """A whole run."""

    task: str = "r4r"
    features: str = ""  # a spec; empty for the first source of the data
    seed: int = 0
    init_from: str = ""  # a run or model to start from, or several with commas: their mean; empty for none
    policy: PolicyConfig = field(default_factory=PolicyConfig)
    imitation: ImitationConfig = field(default_factory=ImitationConfig)
    reinforce: ReinforceConfig = field(default_factory=ReinforceConfig)
    mirror: float = 0.0  # share of batches in the houses' mirror images, where left is right
    averaging: float = 0.0  # of weights: validation and the result use the running mean with this inertia
    validate_every: int = 500  # iterations
    validate_on: str = "val_seen:200"  # SDTW there chooses the model that goes on
    keep: str = "best"  # the model of a stage that the next one starts from: the best there, or the "last"
    checkpoint_every: int = 200
    threads: int = 0  # of torch; 0 for its default
    device: str = "auto"  # cpu or cuda; auto: a GPU where torch finds one
    kernels: str = "auto"  # auto: faster CPU kernels on a CPU; plain: the readable network, same results

    def __post_init__(self) -> None:
        lectures = self.reinforce.lectures or self.reinforce.whole
        if (
            not self.imitation.iterations
            and not (lectures and self.reinforce.iterations)
            and not self.init_from
        ):
            raise ConfigError(
                "There is nothing to learn and nothing to begin with: set imitation.iterations, "
                "reinforce.lectures or init_from."
            )
        check_at_least_one(
            self,
            "imitation.batch",
            "imitation.chain",
            "reinforce.samples",
            "validate_every",
            "checkpoint_every",
        )
        check_non_negative(
            self,
            "imitation.iterations",
            "imitation.learning_rate",
            "imitation.weight_decay",
            "imitation.warm_up",
            "reinforce.iterations",
            "reinforce.lectures",
            "reinforce.learning_rate",
            "reinforce.weight_decay",
            "reinforce.warm_up",
            "reinforce.entropy",
            "reinforce.imitation",
            "threads",
        )
        check_positive(
            self,
            "imitation.clip",
            "reinforce.clip",
            "reinforce.temperature",
        )
        check_fraction(
            self,
            "imitation.teacher_share",
            "imitation.decay_from",
            "reinforce.decay_from",
            "reinforce.discount",
            "mirror",
        )
        check_fraction_below_one(self, "averaging")
        if not -(2**63) <= self.seed < 2**63:
            raise ConfigError(
                f"seed = {self.seed} is out of range. Give a whole number from -2^63 to below 2^63."
            )
        if self.threads > _MOST_THREADS:
            raise ConfigError(f"threads = {self.threads} is out of range. Give 0 to {_MOST_THREADS}.")
        if self.imitation.teacher not in TEACHERS:
            raise unknown("imitation.teacher", self.imitation.teacher, TEACHERS)
        if any(size < 0 for size in self.imitation.sizes):
            raise ConfigError(
                f"imitation.sizes = {list(self.imitation.sizes)} has a size below 0; give characters, "
                "0 for steps of any size."
            )
        if self.reinforce.reward not in REWARDS:
            raise unknown("reinforce.reward", self.reinforce.reward, REWARDS)
        if self.reinforce.baseline not in BASELINES:
            raise unknown("reinforce.baseline", self.reinforce.baseline, BASELINES)
        if self.keep not in KEPT:
            raise unknown("keep", self.keep, KEPT)
        lessons = 1 if self.reinforce.whole else self.reinforce.lectures
        if lessons > len(self.reinforce.batches):
            raise ConfigError(
                f"reinforce.batches has {len(self.reinforce.batches)} numbers for "
                f"{lessons} lectures; give one each."
            )
        if any(batch < 1 for batch in self.reinforce.batches):
            raise ConfigError(
                f"reinforce.batches = {list(self.reinforce.batches)} is out of range. Give at least 1 each."
            )


_MOST_THREADS = 1024
TEACHERS = ("goal", "path")
KEPT = ("best", "last")
BASELINES = ("running", "instruction")
