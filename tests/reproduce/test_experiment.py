"""Experiments as data: they agree with the paper's tables and with the recipes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("torch")

from babywalk.agents.recipe import read_recipe
from babywalk.common.config import differing_settings
from babywalk.common.errors import ConfigError
from babywalk.evaluation.paper import paper_tables
from babywalk.reproduce.experiment import experiments, scale

RECIPES = Path(__file__).parents[2] / "recipes"
EXPERIMENTS = experiments()
MAIN = EXPERIMENTS["main"]


def test_every_table_of_the_paper_is_an_experiment() -> None:
    tables = [each for each in EXPERIMENTS.values() if not each.figure]
    shown = {table.label for each in tables for table in (each.table, each.reported) if table}
    # The table of stages in the text is part of the one in the appendix.
    assert shown == {table.label for table in paper_tables().values()} - {"tab:curriculum"}


def test_every_file_is_an_experiment() -> None:
    files = Path(__file__).parents[2].glob("babywalk/reproduce/experiments/*.toml")
    assert {file.stem for file in files} == set(EXPERIMENTS)


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_row_has_valid_settings_at_every_scale(name: str) -> None:
    experiment = EXPERIMENTS[name]
    for size in ("quick", "small", "paper"):
        for row in experiment.rows.values():
            config = scale(size).config(row, "r4r", 2, "dollhouse")
            assert (config.task, config.seed, config.features) == ("r4r", 2, "dollhouse")


@pytest.mark.parametrize("folder", ["dollhouse", "real/rows"])
def test_the_recipes_are_the_rows_of_the_main_table(folder: str) -> None:
    """So that a run of a recipe can be adopted. Those of the Dollhouse are what the scale `quick` makes."""
    size = scale("quick") if folder == "dollhouse" else scale("small", recipes=RECIPES / folder)
    agents = {row.agent: row for row in MAIN.rows.values()}
    assert {file.stem for file in (RECIPES / folder).glob("*.toml")} == set(agents)
    for agent, row in agents.items():
        recipe = read_recipe(RECIPES / folder / f"{agent}.toml").config()
        made = size.config(row, "r4r", 0, "dollhouse")
        assert differing_settings(made, replace(recipe, init_from="")) == []
        assert bool(recipe.init_from) == bool(row.parent)


def test_il_and_rl_has_as_many_iterations_as_all_lectures() -> None:
    row = EXPERIMENTS["curriculum"].rows["IL+RL"]
    for size in (scale("quick"), scale("quick", recipes=RECIPES / "dollhouse")):
        config = size.config(row, "r4r", 0, "dollhouse")
        assert config.reinforce.whole
        assert config.reinforce.iterations == 160
        assert config.imitation.iterations == config.augmented.iterations == 0


def test_a_column_of_means_names_its_tasks() -> None:
    assert MAIN.tasks("r4r>others") == ("r4r", ("r2r", "r6r", "r8r"))
    assert MAIN.tasks("r4r>all") == ("r4r", ("r2r", "r4r", "r6r", "r8r"))
    assert MAIN.tasks("r2r>r8r") == ("r2r", ("r8r",))


def test_an_unknown_scale_is_an_error() -> None:
    with pytest.raises(ConfigError, match=r"Scale 'qick' is not known\. Did you mean 'quick'"):
        scale("qick")
