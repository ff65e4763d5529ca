"""The loop: stage after stage, each with a fresh optimiser, each from the best model of the one before.

Killed at any moment and resumed, a run ends with the same weights, bit for bit, as one that was left alone:
what is drawn depends on the seed, the stage and the iteration alone, and a checkpoint holds the rest.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import torch
from torch import Tensor

from babywalk.common.errors import BabyWalkError, ConfigError
from babywalk.common.progress import progress as bar
from babywalk.common.seeding import generator
from babywalk.common.weights import load_state, read_tensors
from babywalk.modules.model import FORMAT as MODEL
from babywalk.modules.model import Model, save_model
from babywalk.training.checkpoint import Progress, load_checkpoint, save_checkpoint
from babywalk.training.config import TrainingConfig
from babywalk.training.log import Log
from babywalk.training.stage import IterationResult, Stage

_INERTIA = 0.95  # of the running mean of rewards
_LOG_EVERY = 20  # iterations
_LOG_AT_LEAST = 10  # times in a stage

Evaluate = Callable[[], dict[str, float]]  # measures of the model as it is now; SDTW among them


class DivergedError(BabyWalkError):
    """A score, a loss or a gradient that is no number."""


class Trainer:
    """Runs all stages; the result is `model.safetensors` in the run's directory."""

    def __init__(
        self, run: Path, model: Model, stages: Sequence[Stage], config: TrainingConfig, evaluate: Evaluate
    ) -> None:
        self.run, self.model, self.stages, self.config, self.evaluate = run, model, stages, config, evaluate
        self.network = model.network
        self.last = run / "last.safetensors"
        self.unproven = run / "unproven.safetensors"  # a checkpoint from which nobody has gone on yet
        self.awaits_proof = False
        self.progress = Progress()
        self.average: dict[str, Tensor] | None = None
        self.optimiser_state: dict[int, dict[str, Tensor]] = {}

    def resume(self) -> None:
        """Go on from the last checkpoint, if there is one. Nothing is written."""
        if self.last.exists():
            self.progress, average, self.optimiser_state = load_checkpoint(self.last, self.model)
            self.average = average or None
            self._check_way()
            self._check_best()

    @property
    def left(self) -> Sequence[Stage]:
        """Stages that are not over yet."""
        return self.stages[self.progress.stage :]

    def _check_way(self) -> None:
        """Refuse settings with which the run could not have come to where it is."""
        progress, names = self.progress, [stage.name for stage in self.stages]
        under_way = [progress.name] if progress.iteration and progress.name else []
        way = [*progress.bests, *under_way]
        if names[: len(way)] != way:
            raise ConfigError(
                f"{self.run}: its stages so far are {', '.join(way)}; with these settings they would be "
                f"{', '.join(names) or 'none'}. Leave out what changes them, or begin another run."
            )
        if progress.iteration and progress.iteration >= self.left[0].iterations:
            raise ConfigError(
                f"{self.run}: {self.left[0].name} has made {progress.iteration:,} iterations already. "
                "Give it more than that, or leave the setting out."
            )

    def _check_best(self) -> None:
        """Forget the best model of a stage whose file came after the checkpoint.

        Going on as before brings it back; with other settings it would be of a way that was not taken.
        """
        progress = self.progress
        if progress.best < 0:
            return
        file = self._best(self.left[0])
        about = read_tensors(file, MODEL)[1] if file.exists() else {"facts": {}}
        if about["facts"].get("iteration") != progress.best_at:
            progress.best, progress.best_at = -1.0, -1

    def run_all(self) -> Progress:
        """All stages that are left."""
        log = Log(self.run, after=self.progress.total)
        try:
            if not self.stages:
                self._keep_as_begun()
            for number in range(self.progress.stage, len(self.stages)):
                self._run_stage(self.stages[number], log)
        finally:
            log.close()
        return self.progress

    def _keep_as_begun(self) -> None:
        """The result of a run that learns nothing: what it began with, which may be the mean of others."""
        measures = self.evaluate()
        self.model.facts.update(stage="none", iteration=0, validation=measures)
        self.progress.bests = {"none": measures["SDTW"]}
        save_model(self.run / "model.safetensors", self.model)

    def _run_stage(self, stage: Stage, log: Log) -> None:
        optimiser = self._optimiser(stage)
        self.progress.name = stage.name
        self.network.train()
        if (self.progress.stage or self.config.init_from) and not self.progress.iteration:
            # A stage that only loses hands on what it was given.
            self._validate(stage, 0, log)
        left = range(self.progress.iteration, stage.iterations)
        shown = bar(left, stage.name, total=stage.iterations, done=left.start, text_only=True)
        for iteration in shown:
            outcome = self._iterate(stage, optimiser, iteration, log)
            shown.set_postfix_str(self._status(outcome), refresh=False)
            done = iteration + 1
            if done % self.config.validate_every == 0 or done == stage.iterations:
                self._validate(stage, done, log)
            if done % self.config.checkpoint_every == 0 and done < stage.iterations:
                self._keep(optimiser)
        self._finish(stage)

    def _status(self, outcome: IterationResult) -> str:
        """What the iteration gave and the best validation so far, for whoever watches."""
        told = {name: f"{name} {value:.2f}" for name, value in outcome.report.items()}
        first = [told.pop(name) for name in ("loss", "reward") if name in told]
        if self.progress.best >= 0:
            first.append(f"best SDTW {100 * self.progress.best:.1f}")
        return ", ".join([*first, *told.values()])  # a narrow terminal cuts the end

    def _iterate(
        self, stage: Stage, optimiser: torch.optim.Optimizer, iteration: int, log: Log
    ) -> IterationResult:
        progress = self.progress
        # Dropout and sampled actions too depend on nothing but seed, stage and iteration.
        torch.manual_seed(int(generator(self.config.seed, stage.name, "torch", iteration).integers(2**62)))
        for group in optimiser.param_groups:
            group["lr"] = stage.learning_rate * schedule(stage, iteration)
        with self._numbers(stage, iteration):
            outcome = stage.iterate(iteration, progress.baseline)
            norm = descend(self.network, optimiser, outcome.loss, stage.clip)
        self._prove()
        self._average()
        if outcome.reward is not None:
            before = outcome.reward if progress.baseline is None else progress.baseline
            progress.baseline = _INERTIA * before + (1 - _INERTIA) * outcome.reward
        progress.iteration += 1
        progress.total += 1
        often = min(_LOG_EVERY, max(1, stage.iterations // _LOG_AT_LEAST))
        if progress.iteration % often == 0:
            values = {**outcome.report, "gradient": norm}
            log.add(progress.total, stage.name, progress.iteration, values)
        return outcome

    def _validate(self, stage: Stage, iteration: int, log: Log) -> None:
        """Measure the model, and keep it if it is the best of its stage, or if the last is wanted."""
        with self._averaged():
            with self._numbers(stage, iteration):
                measures = self.evaluate()
            log.add(self.progress.total, stage.name, iteration, {f"val {k}": v for k, v in measures.items()})
            if measures["SDTW"] > self.progress.best or self.config.keep == "last":
                self.progress.best, self.progress.best_at = measures["SDTW"], iteration
                self.model.facts.update(stage=stage.name, iteration=iteration, validation=measures)
                save_model(self._best(stage), self.model)

    def _finish(self, stage: Stage) -> None:
        """End a stage: its best model goes on, with a fresh optimiser."""
        tensors, about = read_tensors(self._best(stage), MODEL)
        load_state(self.network, tensors, self._best(stage))
        self.model.facts.update(about["facts"])
        self.average, self.optimiser_state = None, {}
        progress = self.progress
        bests = {**progress.bests, stage.name: progress.best}
        self.progress = Progress(stage=progress.stage + 1, total=progress.total, bests=bests)
        save_model(self.run / "model.safetensors", self.model)
        self._keep(self._optimiser(stage))
        self._prove()  # it was measured

    def _optimiser(self, stage: Stage) -> torch.optim.Optimizer:
        """A fresh one, or that of a resumed stage."""
        optimiser = fresh_optimiser(self.network, stage)
        if self.optimiser_state:
            blank = optimiser.state_dict()
            optimiser.load_state_dict({**blank, "state": self.optimiser_state})
            self.optimiser_state = {}
        return optimiser

    def _keep(self, optimiser: torch.optim.Optimizer) -> None:
        """Write a checkpoint, which takes the place of the last when an iteration has gone on from it.

        Weights that were just learned may be of no use: a score that is no number shows in the next.
        """
        save_checkpoint(self.unproven, self.model, optimiser, self.average, self.progress)
        self.awaits_proof = True

    def _prove(self) -> None:
        if self.awaits_proof:
            self.unproven.replace(self.last)
            self.awaits_proof = False

    @contextmanager
    def _numbers(self, stage: Stage, iteration: int) -> Iterator[None]:
        """Where a score, a loss or a gradient is no number, the run ends with its last good state."""
        try:
            yield
        except FloatingPointError as error:
            kept = f"The last good state is in {self.last}; lower the learning rate and resume."
            lost = "There is no checkpoint yet; lower the learning rate and begin another run."
            raise DivergedError(
                f"{stage.name.capitalize()}, iteration {iteration}: {error}. "
                f"{kept if self.last.exists() else lost}"
            ) from None

    def _best(self, stage: Stage) -> Path:
        return self.run / "best" / f"{stage.name.replace(' ', '_')}.safetensors"

    def _average(self) -> None:
        inertia = self.config.averaging
        if not inertia:
            return
        if self.average is None:
            self.average = {name: tensor.clone() for name, tensor in self.network.state_dict().items()}
            return
        # Early on the mean forgets faster, so that it is not held back by where training began.
        inertia = min(inertia, (1 + self.progress.iteration) / (10 + self.progress.iteration))
        for name, tensor in self.network.state_dict().items():
            self.average[name].lerp_(tensor, 1 - inertia)

    def _averaged(self) -> _Swapped:
        return _Swapped(self.network, self.average)


def fresh_optimiser(network: torch.nn.Module, stage: Stage) -> torch.optim.Optimizer:
    """Adam with L2 regularisation, as in the paper."""
    learned = [weight for weight in network.parameters() if weight.requires_grad]
    # Fused: one sweep over weights, gradients and moments instead of a dozen.
    return torch.optim.Adam(learned, lr=stage.learning_rate, weight_decay=stage.weight_decay, fused=True)


def descend(network: torch.nn.Module, optimiser: torch.optim.Optimizer, loss: Tensor, clip: float) -> float:
    """One step down the gradient of a loss; returns the norm that the gradient had before it was clipped.

    Weights are left alone where the loss or its gradient is no number.
    """
    if not math.isfinite(float(loss.detach())):
        raise FloatingPointError("the loss is no number")
    optimiser.zero_grad(set_to_none=True)
    loss.backward()  # type: ignore[no-untyped-call]  # torch does not type it
    gradients = [weight.grad for weight in network.parameters() if weight.grad is not None]
    norm = torch.nn.utils.get_total_norm(gradients)
    if not math.isfinite(float(norm)):
        raise FloatingPointError("the gradient is no number")
    if norm > clip:  # else torch would sweep over all gradients to multiply them by one
        torch.nn.utils.clip_grads_with_norm_(network.parameters(), clip, norm)
    optimiser.step()
    return float(norm)


class _Swapped:
    """The network with averaged weights for as long as the block lasts."""

    def __init__(self, network: torch.nn.Module, average: dict[str, Tensor] | None) -> None:
        self.network, self.average = network, average

    def __enter__(self) -> None:
        if self.average is not None:
            self.own = {name: tensor.clone() for name, tensor in self.network.state_dict().items()}
            self.network.load_state_dict(self.average)

    def __exit__(self, *_: object) -> None:
        if self.average is not None:
            self.network.load_state_dict(self.own)


def schedule(stage: Stage, iteration: int) -> float:
    """The share of the learning rate at an iteration: a linear rise, a plateau, a linear fall."""
    rise = min(1.0, (iteration + 1) / stage.warm_up) if stage.warm_up else 1.0
    begin = stage.decay_from * stage.iterations
    fall = 1.0 if iteration < begin else (stage.iterations - iteration) / max(1.0, stage.iterations - begin)
    return rise * fall
