"""Model cards: the README of published weights, generated from what the run and the data record."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from babywalk.buildings.features import LOOKAHEAD
from babywalk.common.files import toml_text
from babywalk.common.tables import format_bytes, markdown
from babywalk.evaluation.evaluate import Measured
from babywalk.evaluation.tables import format_measure, markdown_scores
from babywalk.training.config import TrainingConfig, task_names


@dataclass(frozen=True, slots=True)
class Measurement:
    """A table of scores, and where it comes from."""

    rows: Mapping[str, Mapping[str, Measured]]  # by task, split and number of episodes
    source: str  # a sentence, with the command where it is known


@dataclass(frozen=True, slots=True)
class ModelCard:
    """The contents of a card."""

    name: str  # the folder, as in weights/babywalk
    agent: str
    config: TrainingConfig
    precision: str
    bytes: int
    parameters: int
    words: int  # in the vocabulary
    view_width: int
    features: str  # spec
    trained_on: str
    data_keys: Mapping[str, str]  # fingerprints of the data, by name
    facts: Mapping[str, Any]  # of the model: selected stage and iteration, alignment, initial weights
    bests: Mapping[str, float]  # validation SDTW of each stage; empty if the run has not finished
    iterations: int | None  # in total; None if the run has not finished
    recipe: str | None
    versions: Mapping[str, str]
    measurements: tuple[Measurement, ...]
    notes: tuple[str, ...]  # licences and terms of all data it was made from

    def text(self) -> str:
        """The card in Markdown."""
        parts = [
            f"# {self.name.rpartition('/')[2]}",
            self._summary(),
            self._properties(),
            "## Use",
            self._use(),
            "## Results",
            self._results(),
            "## Training",
            self._training(),
            "## Limits",
            self._limits(),
            "## Licences",
            self._licences(),
        ]
        return "\n\n".join(parts) + "\n"

    def _summary(self) -> str:
        policy = self.config.policy
        size = f", of about {policy.step_size} characters" if policy.step_size else ""
        reads = (
            "reads the whole instruction at once"
            if policy.steps == "whole"
            else f"cuts the instruction into Baby-Steps (`{policy.steps}`{size}) and follows them one by one"
        )
        memory = "" if policy.memory == "none" else f", with the memory `{policy.memory}`"
        return (
            f"An agent for vision-and-language navigation: `{self.agent}` of BabyWalk. "
            f"It {reads}{memory}. Its view features are `{self.features}`."
        )

    def _properties(self) -> str:
        rows = {
            "`model.safetensors`": f"{format_bytes(self.bytes)}, stored as {self.precision}",
            "parameters": f"{self.parameters:,}",
            "trained on": self.trained_on,
            "view features": f"`{self.features}`, {self.view_width:,} dimensions per view with its direction",
            "vocabulary": f"{self.words:,} words",
            **{name: f"`{key}`" for name, key in self.data_keys.items()},
        }
        return markdown(["", ""], list(rows.items()))

    def _use(self) -> str:
        return (
            f'```python\nimport babywalk\n\nagent = babywalk.load("{self.name}", data="DATA")\n```\n\n'
            f"```\nbabywalk evaluate {self.name} --data DATA --tasks {self.config.task} "
            f"--split val_unseen\n```\n\n"
            f"DATA is a data directory of BabyWalk with the features `{self.features}`. First segment its "
            "instructions (`babywalk data segment --data DATA`) and build the longer tasks "
            "(`babywalk data build r4r r6r r8r --data DATA`)."
        )

    def _results(self) -> str:
        if not self.measurements:
            return "These weights were not evaluated when they were published."
        tables = [f"{markdown_scores(one.rows)}\n\n{one.source}" for one in self.measurements]
        return "\n\n".join([*tables, "PL and NE in metres, the rest in percent, with 95 % intervals."])

    def _training(self) -> str:
        facts, lines = self.facts, []
        if self.bests:
            stages = [(stage, format_measure("SDTW", best)) for stage, best in self.bests.items()]
            lines += [markdown(["stage", "best validation SDTW, %"], stages), ""]
        lines.append(self._selection())
        augmented = self.config.augmented
        if "augmented" in self.bests:
            tasks = ", ".join([f"r2r:{augmented.split}", *task_names(augmented.mix)])
            lines.append(f"The first stage was imitation on texts by a speaker model; its tasks: {tasks}.")
        for stage, mix in (
            ("Imitation", self.config.imitation.mix),
            ("Reinforcement", self.config.reinforce.mix),
        ):
            if mix:
                tasks = ", ".join([self.config.task, *task_names(mix)])
                lines.append(f"{stage} alternated between these tasks (split train unless given): {tasks}.")
        if sizes := self.config.imitation.sizes:
            listed = ", ".join(str(size) for size in (self.config.policy.step_size, *sizes))
            lines.append(f"Imitation alternated between Baby-Steps of about {listed} characters (0: any).")
        if initial := facts.get("init_from"):
            mean = "the mean of the weights" if len(initial) > 1 else "the weights"
            models = "; ".join(_describe(other) for other in initial)
            lines.append(f"The weights were initialised from {mean} of {models}.")
        if self.config.policy.steps != "whole":
            lines.append(f"Baby-Steps were aligned with paths by method `{facts.get('alignment', '-')}`.")
        versions = ", ".join(f"{package} {version}" for package, version in self.versions.items())
        lines.append(f"Versions: {versions}.")
        recipe = f" (started from `{self.recipe}`)" if self.recipe else ""
        settings = toml_text({"agent": self.agent, **asdict(self.config)})
        lines += ["", f"All settings, as a recipe for `babywalk train --config`{recipe}:", ""]
        return "\n".join([*lines, "```toml", settings, "```"])

    def _selection(self) -> str:
        """Which weights of the run were kept."""
        if self.iterations == 0:
            return "This run had no training iterations: the weights are the initial ones."
        length = (
            "the run had not finished"
            if self.iterations is None
            else f"{self.iterations:,} iterations in total"
        )
        best = f"selected by SDTW on `{self.config.validate_on}`"
        selected = best if self.config.keep == "best" else "the last one"
        stage, iteration = (self.facts.get(name, "-") for name in ("stage", "iteration"))
        return (
            f"Seed {self.config.seed}; {length}. The weights are those of stage {stage}, "
            f"iteration {iteration}, {selected}."
        )

    def _runs(self) -> str:
        averaged = len(self.facts.get("init_from", ()))
        is_mean = averaged > 1 and self.iterations == 0
        return f"the mean of the weights of {averaged} runs" if is_mean else "one run with one seed"

    def _limits(self) -> str:
        limits = [
            f"It was trained on {self.trained_on}. Its performance in other houses and on other "
            "instructions is known only as far as reported above.",
            f"It reads English; all words outside its vocabulary of {self.words:,} are one unknown word.",
            "It moves between the viewpoints of a navigation graph and uses precomputed view features. "
            "It does not control a robot.",
            f"It is {self._runs()}; results vary with the seed.",
        ]
        if LOOKAHEAD in self.features.split("+"):
            limits.append(
                f"With `{LOOKAHEAD}` it sees the panorama of a neighbouring viewpoint before moving there, "
                "which agents in the literature usually do not."
            )
        if self.precision != "float32":
            limits.append(
                f"Its weights are rounded to {self.precision} and used as float32, so results may differ "
                "slightly from those of the original run."
            )
        return "\n".join(f"- {line}" for line in limits)

    def _licences(self) -> str:
        lines = [f"- {note}" for note in self.notes] or ["- The data have no licence notes."]
        return "\n".join(
            [
                "BabyWalk's code is under the MIT licence. The data that these weights were made from carry "
                "these notes, which also apply to the weights:",
                "",
                *lines,
            ]
        )


def _describe(facts: Mapping[str, Any]) -> str:
    """A model by its agent, task, seed, stage and iteration."""
    return (
        f"{facts.get('agent', 'another agent')} trained on {facts.get('task', '-')} with seed "
        f"{facts.get('seed', '-')}, stage {facts.get('stage', '-')}, iteration {facts.get('iteration', '-')}"
    )
