"""The training loop: stage after stage, each with a new optimiser and from the best model of the one before.

A run that is killed at any time and resumed gives the same weights, bit for bit, as an uninterrupted one:
every random draw depends on the seed, the stage and the iteration alone, and a checkpoint holds the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import torch
from torch import Tensor

from babywalk.common.errors import BabyWalkError, ConfigError
from babywalk.common.progress import progress as progress_bar
from babywalk.common.seeding import generator
from babywalk.common.weights import load_state, read_tensors
from babywalk.modules.model import FORMAT as MODEL_FORMAT
from babywalk.modules.model import Model, save_model
from babywalk.training.checkpoint import Progress, load_checkpoint, save_checkpoint
from babywalk.training.config import TrainingConfig
from babywalk.training.log import Log
from babywalk.training.optimisation import (
    WeightAverage,
    gradient_step,
    learning_rate_factor,
    new_optimiser,
)
from babywalk.training.stage import IterationResult, Stage

_REWARD_DECAY = 0.95  # of the running mean of rewards
_LOG_EVERY = 20  # iterations
_MIN_LOGGED = 10  # iterations of a stage

Evaluate = Callable[[], dict[str, float]]  # measures of the model in its present state, with "SDTW"


class DivergedError(BabyWalkError):
    """Logits, a loss or a gradient that are NaN or infinite."""


class Trainer:
    """Runs all stages; the result is `model.safetensors` in the run directory."""

    def __init__(
        self, run: Path, model: Model, stages: Sequence[Stage], config: TrainingConfig, evaluate: Evaluate
    ) -> None:
        self.run, self.model, self.stages, self.config, self.evaluate = run, model, stages, config, evaluate
        self.network = model.network
        self.last = run / "last.safetensors"
        # The newest checkpoint, until an iteration from it has succeeded: then it replaces `last`.
        self.candidate = run / "unproven.safetensors"
        self.has_candidate = False
        self.progress = Progress()
        self.average = WeightAverage(self.network, config.averaging)
        self.optimiser_state: dict[int, dict[str, Tensor]] = {}

    def resume(self) -> None:
        """Continue from the last checkpoint, if there is one. Writes nothing."""
        if self.last.exists():
            self.progress, average, self.optimiser_state = load_checkpoint(self.last, self.model)
            self.average.restore(average)
            self._check_stages()
            self._check_best()

    @property
    def remaining(self) -> Sequence[Stage]:
        """Stages that are not finished."""
        return self.stages[self.progress.stage :]

    def _check_stages(self) -> None:
        """Refuse settings under which the run would have had other stages so far."""
        progress, names = self.progress, [stage.name for stage in self.stages]
        current = [progress.name] if progress.iteration and progress.name else []
        so_far = [*progress.bests, *current]
        if names[: len(so_far)] != so_far:
            raise ConfigError(
                f"{self.run}: its stages so far are {', '.join(so_far)}; with these settings they would be "
                f"{', '.join(names) or 'none'}. Leave these settings out, or start another run."
            )
        if progress.iteration and progress.iteration >= self.remaining[0].iterations:
            raise ConfigError(
                f"{self.run}: {self.remaining[0].name} has made {progress.iteration:,} iterations already. "
                "Give it more, or leave the setting out."
            )

    def _check_best(self) -> None:
        """Ignore the best model of the current stage if its file is newer than the checkpoint.

        Resumed with the same settings the run writes it again; with others it may never reach that model.
        """
        progress = self.progress
        if progress.best < 0:
            return
        file = self._best_file(self.remaining[0])
        facts = read_tensors(file, MODEL_FORMAT)[1].get("facts") if file.exists() else None
        if not isinstance(facts, dict) or facts.get("iteration") != progress.best_at:
            progress.best, progress.best_at = -1.0, -1

    def run_all(self) -> Progress:
        """Run all remaining stages."""
        log = Log(self.run, after=self.progress.total)
        try:
            if not self.stages:
                self._save_initial_model()
            for number in range(self.progress.stage, len(self.stages)):
                self._run_stage(self.stages[number], log)
        finally:
            log.close()
        return self.progress

    def _save_initial_model(self) -> None:
        """The result of a run without stages: its initial model, which may be the mean of others."""
        measures = self.evaluate()
        self.model.facts.update(stage="none", iteration=0, validation=measures)
        self.progress.bests = {"none": measures["SDTW"]}
        save_model(self.run / "model.safetensors", self.model)

    def _run_stage(self, stage: Stage, log: Log) -> None:
        optimiser = self._optimiser(stage)
        self.progress.name = stage.name
        self.network.train()
        if (self.progress.stage or self.config.init_from) and not self.progress.iteration:
            # The initial model is the result of a stage that never improves on it.
            self._validate(stage, 0, log)
        iterations = range(self.progress.iteration, stage.iterations)
        bar = progress_bar(
            iterations, stage.name, total=stage.iterations, done=iterations.start, text_only=True
        )
        for iteration in bar:
            result = self._iterate(stage, optimiser, iteration, log)
            bar.set_postfix_str(self._status(result), refresh=False)
            done = iteration + 1
            if done % self.config.validate_every == 0 or done == stage.iterations:
                self._validate(stage, done, log)
            if done % self.config.checkpoint_every == 0 and done < stage.iterations:
                self._save_candidate(optimiser)
        self._finish(stage)

    def _status(self, result: IterationResult) -> str:
        """The values of the iteration and the best validation so far, for the progress bar."""
        values = {name: f"{name} {value:.2f}" for name, value in result.report.items()}
        first = [values.pop(name) for name in ("loss", "reward") if name in values]
        if self.progress.best >= 0:
            first.append(f"best SDTW {100 * self.progress.best:.1f}")
        return ", ".join([*first, *values.values()])  # a narrow terminal cuts the end

    def _iterate(
        self, stage: Stage, optimiser: torch.optim.Optimizer, iteration: int, log: Log
    ) -> IterationResult:
        progress = self.progress
        # Dropout and sampled actions, too, depend on seed, stage and iteration alone.
        torch.manual_seed(int(generator(self.config.seed, stage.name, "torch", iteration).integers(2**62)))
        for group in optimiser.param_groups:
            group["lr"] = stage.learning_rate * learning_rate_factor(stage, iteration)
        with self._divergence_reported(stage, iteration):
            result = stage.iterate(iteration, progress.baseline)
            norm = gradient_step(
                self.network, optimiser, result.loss, stage.clip, apart="text." if stage.clip_apart else ""
            )
        self._accept_candidate()
        self.average.update(progress.iteration)
        self._update_baseline(result)
        progress.iteration += 1
        progress.total += 1
        every = min(_LOG_EVERY, max(1, stage.iterations // _MIN_LOGGED))
        if progress.iteration % every == 0:
            values = {**result.report, "gradient": norm}
            log.add(progress.total, stage.name, progress.iteration, values)
        return result

    def _update_baseline(self, result: IterationResult) -> None:
        """A running mean, or the mean of all decisions of the stage so far."""
        if result.reward is None:
            return
        before = result.reward if self.progress.baseline is None else self.progress.baseline
        decay = _REWARD_DECAY
        if result.decisions:
            self.progress.decisions += result.decisions
            decay = 1 - result.decisions / self.progress.decisions
        self.progress.baseline = decay * before + (1 - decay) * result.reward

    def _validate(self, stage: Stage, iteration: int, log: Log) -> None:
        """Evaluate the model, and save it if it is the best of its stage or `keep` is "last"."""
        with self.average.applied():
            with self._divergence_reported(stage, iteration):
                measures = self.evaluate()
            log.add(self.progress.total, stage.name, iteration, {f"val {k}": v for k, v in measures.items()})
            if measures["SDTW"] > self.progress.best or self.config.keep == "last":
                self.progress.best, self.progress.best_at = measures["SDTW"], iteration
                self.model.facts.update(stage=stage.name, iteration=iteration, validation=measures)
                save_model(self._best_file(stage), self.model)

    def _finish(self, stage: Stage) -> None:
        """End a stage: the next one starts from its best model, with a new optimiser."""
        tensors, about = read_tensors(self._best_file(stage), MODEL_FORMAT)
        load_state(self.network, tensors, self._best_file(stage))
        self.model.facts.update(about["facts"])
        self.average.reset()
        self.optimiser_state = {}
        progress = self.progress
        bests = {**progress.bests, stage.name: progress.best}
        self.progress = Progress(stage=progress.stage + 1, total=progress.total, bests=bests)
        save_model(self.run / "model.safetensors", self.model)
        self._save_candidate(self._optimiser(stage))
        self._accept_candidate()  # it was validated

    def _optimiser(self, stage: Stage) -> torch.optim.Optimizer:
        """A new optimiser, or that of a resumed stage."""
        optimiser = new_optimiser(self.network, stage)
        if self.optimiser_state:
            optimiser.load_state_dict({**optimiser.state_dict(), "state": self.optimiser_state})
            self.optimiser_state = {}
        return optimiser

    def _save_candidate(self, optimiser: torch.optim.Optimizer) -> None:
        """Write a checkpoint, which replaces the last one when the next iteration succeeds.

        If the weights have just diverged, only the next iteration shows it.
        """
        save_checkpoint(self.candidate, self.model, optimiser, self.average.weights, self.progress)
        self.has_candidate = True

    def _accept_candidate(self) -> None:
        if self.has_candidate:
            self.candidate.replace(self.last)
            self.has_candidate = False

    @contextmanager
    def _divergence_reported(self, stage: Stage, iteration: int) -> Iterator[None]:
        """Turn NaN and infinite values into an error that names the last good checkpoint."""
        try:
            yield
        except FloatingPointError as error:
            if self.last.exists():
                advice = f"The last good checkpoint is {self.last}; lower the learning rate and resume."
            else:
                advice = "There is no checkpoint yet; lower the learning rate and start another run."
            raise DivergedError(
                f"{stage.name.capitalize()}, iteration {iteration}: {error}. {advice}"
            ) from None

    def _best_file(self, stage: Stage) -> Path:
        return self.run / "best" / f"{stage.name.replace(' ', '_')}.safetensors"
