"""Model cards: what published weights are, in words that are made from facts alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from babywalk.buildings.features import LOOKAHEAD
from babywalk.common.files import toml_text
from babywalk.common.tables import format_bytes, markdown
from babywalk.evaluation.evaluation import Measured
from babywalk.evaluation.score_table import markdown_scores, number
from babywalk.navigation.measures import MEASURES
from babywalk.training.config import TrainingConfig


@dataclass(frozen=True, slots=True)
class Measurement:
    """What was measured, and how."""

    rows: Mapping[str, Mapping[str, Measured]]  # by task, split and number of episodes
    how: str  # a sentence, with the command where it is known


@dataclass(frozen=True, slots=True)
class ModelCard:
    """Everything that a card tells."""

    name: str  # the folder, as in weights/babywalk
    agent: str
    config: TrainingConfig
    precision: str
    bytes: int
    learned: int  # numbers
    words: int  # of the vocabulary
    view_width: int
    features: str  # spec
    trained_on: str
    data_keys: Mapping[str, str]  # what tells the data from others
    facts: Mapping[str, Any]  # of the model: stage and iteration that were chosen, alignment
    bests: Mapping[str, float]  # validation SDTW of each stage; empty if the run has not ended
    iterations: int | None  # in all; None if the run has not ended
    recipe: str | None
    versions: Mapping[str, str]
    measurements: tuple[Measurement, ...]
    notes: tuple[str, ...]  # licences and terms of everything it was made from

    def text(self) -> str:
        """The card in Markdown."""
        parts = [
            f"# {self.name.rpartition('/')[2]}",
            self._what(),
            self._table(),
            "## How do I use it?",
            self._use(),
            "## How well does it walk?",
            self._measures(),
            "## How was it trained?",
            self._training(),
            "## What are its limits?",
            self._limits(),
            "## Licences",
            self._licences(),
        ]
        return "\n\n".join(parts) + "\n"

    def _what(self) -> str:
        policy = self.config.policy
        about = f", of about {policy.step_size} characters" if policy.step_size else ""
        reads = (
            "reads the instruction whole"
            if policy.steps == "whole"
            else f"cuts the instruction into Baby-Steps (`{policy.steps}`{about}) and walks them one by one"
        )
        memory = "" if policy.memory == "none" else f", with the memory `{policy.memory}`"
        return (
            f"An agent for vision-and-language navigation, `{self.agent}` of BabyWalk. "
            f"It {reads}{memory}, seeing the features `{self.features}`."
        )

    def _table(self) -> str:
        rows = {
            "`model.safetensors`": f"{format_bytes(self.bytes)}, stored as {self.precision}",
            "learned numbers": f"{self.learned:,}",
            "trained on": self.trained_on,
            "sees": f"`{self.features}`, {self.view_width:,} numbers per view with its direction",
            "reads": f"{self.words:,} words",
            **{name: f"`{key}`" for name, key in self.data_keys.items()},
        }
        return markdown(["", ""], list(rows.items()))

    def _use(self) -> str:
        return (
            f'```python\nimport babywalk\n\nagent = babywalk.load("{self.name}", data="DATA")\n```\n\n'
            f"```\nbabywalk evaluate {self.name} --data DATA --tasks {self.config.task} "
            f"--split val_unseen\n```\n\n"
            f"DATA is a data directory of BabyWalk with the features `{self.features}`. Its instructions "
            "must be cut (`babywalk data segment --data DATA`), and tasks of several rooms built first "
            "(`babywalk data build r4r r6r r8r --data DATA`)."
        )

    def _measures(self) -> str:
        if not self.measurements:
            return "It was not measured when it was published."
        tables = [f"{markdown_scores(found.rows)}\n\n{found.how}" for found in self.measurements]
        about = f"{', '.join(MEASURES)}: PL and NE in metres, the rest in percent, with 95 % intervals."
        return "\n\n".join([*tables, about])

    def _training(self) -> str:
        facts, lines = self.facts, []
        if self.bests:
            stages = [(stage, number("SDTW", best)) for stage, best in self.bests.items()]
            lines += [markdown(["stage", "best validation SDTW, %"], stages), ""]
        lines.append(self._chosen())
        for what, other in (
            ("Batches of imitation", self.config.imitation.mix),
            ("Iterations of rewards", self.config.reinforce.mix),
        ):
            if other:
                tasks = ", ".join([self.config.task, *other.split(",")])
                lines.append(f"{what} took turns with these tasks (train, if not said): {tasks}.")
        if sizes := self.config.imitation.sizes:
            told = ", ".join(str(size) for size in (self.config.policy.step_size, *sizes))
            lines.append(f"Batches of imitation took turns with steps of about {told} characters (0: any).")
        if run_config := facts.get("begun_from"):
            several = "the mean of the weights" if len(run_config) > 1 else "the weights"
            lines.append(f"It began with {several} of {'; '.join(_trained(other) for other in run_config)}.")
        if self.config.policy.steps != "whole":
            lines.append(f"Baby-Steps were aligned with paths by the method `{facts.get('alignment', '-')}`.")
        made = ", ".join(f"{package} {version}" for package, version in self.versions.items())
        lines.append(f"Made with {made}.")
        said = f" (it was begun with the recipe `{self.recipe}`)" if self.recipe else ""
        settings = toml_text({"agent": self.agent, **asdict(self.config)})
        lines += ["", f"Every setting, as a recipe for `babywalk train --config`{said}:", ""]
        return "\n".join([*lines, "```toml", settings, "```"])

    def _chosen(self) -> str:
        """Which weights of the run these are."""
        if self.iterations == 0:
            return "Nothing was learned in this run: the weights are those that it began with."
        ended = (
            "the run had not ended" if self.iterations is None else f"{self.iterations:,} iterations in all"
        )
        by_measure = f"chosen by SDTW on `{self.config.validate_on}`"
        chosen = by_measure if self.config.hand_on == "best" else "the last one"
        stage, iteration = (self.facts.get(name, "-") for name in ("stage", "iteration"))
        return (
            f"Seed {self.config.seed}; {ended}. The weights are those of stage {stage}, "
            f"iteration {iteration}, {chosen}."
        )

    def _runs(self) -> str:
        averaged = len(self.facts.get("begun_from", ()))
        is_mean = averaged > 1 and self.iterations == 0
        return f"the mean of {averaged} runs with a seed each" if is_mean else "one run with one seed"

    def _limits(self) -> str:
        limits = [
            f"It was trained on {self.trained_on}. How it walks in other houses, and by other people's "
            "instructions, is known only where it is measured above.",
            f"It reads English; words outside its {self.words:,} are all read as one unknown word.",
            "It moves between the viewpoints of a navigation graph and sees features that were computed "
            "before. It steers no robot.",
            f"It is {self._runs()}; other seeds give other numbers.",
        ]
        if LOOKAHEAD in self.features.split("+"):
            limits.append(
                f"With `{LOOKAHEAD}` it sees what is around a neighbouring viewpoint before it goes there: "
                "more than agents in the literature usually may."
            )
        if self.precision != "float32":
            limits.append(
                f"Its weights were rounded to {self.precision} and are computed with as float32: "
                "small differences to the run it comes from are to be expected."
            )
        return "\n".join(f"- {line}" for line in limits)

    def _licences(self) -> str:
        lines = [f"- {note}" for note in self.notes] or ["- The data carry no notes."]
        return "\n".join(
            [
                "BabyWalk's code has the MIT licence. These weights were made from data with these notes, "
                "which travel with them:",
                "",
                *lines,
            ]
        )


def _trained(facts: Mapping[str, Any]) -> str:
    """A model in words."""
    return (
        f"{facts.get('agent', 'another agent')} trained on {facts.get('task', '-')} with seed "
        f"{facts.get('seed', '-')}, stage {facts.get('stage', '-')}, iteration {facts.get('iteration', '-')}"
    )
