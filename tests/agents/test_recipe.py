"""Recipe files: what they contain, and which settings override which."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from babywalk.agents.recipe import Recipe, read_recipe
from babywalk.agents.table import AGENTS
from babywalk.cli import main
from babywalk.common.errors import ConfigError
from babywalk.training.presets import PRESETS

RECIPES = Path(__file__).parents[2] / "recipes"
RECIPE = """
agent = "seq2seq"
preset = "tiny"
task = "r2r"
validate_on = "val_seen:5"
threads = 1

[policy]
hidden = 24
memory = "mean"

[imitation]
iterations = 4
batch = 6
"""


@pytest.fixture
def recipe(tmp_path: Path) -> Path:
    file = tmp_path / "small.toml"
    file.write_text(RECIPE)
    return file


def test_later_settings_override_earlier_ones(recipe: Path) -> None:
    config = read_recipe(recipe).config(over={"imitation": {"batch": 7}})
    assert config.imitation.learning_rate == PRESETS["tiny"]["imitation"]["learning_rate"]  # the preset's
    assert config.policy.steps == "whole"  # the agent's
    assert config.policy.memory == "mean"  # the recipe's, over the agent's "none"
    assert config.policy.hidden == 24  # the recipe's, over the preset's 32
    assert config.imitation.iterations == 4
    assert config.imitation.batch == 7  # the command line's, over the recipe's 6


def test_preset_of_a_recipe_can_be_replaced(recipe: Path) -> None:
    config = read_recipe(recipe).config(preset="small")
    assert config.imitation.learning_rate == PRESETS["small"]["imitation"]["learning_rate"]
    assert config.imitation.batch == 6


def test_settings_are_checked_together_with_their_preset(tmp_path: Path) -> None:
    """Two batch sizes are enough for the two lectures of `tiny`, but not for the four of `paper`."""
    file = tmp_path / "r.toml"
    file.write_text('agent = "babywalk"\npreset = "tiny"\n[reinforce]\nbatches = [5, 6]\n')
    assert read_recipe(file).config().reinforce.batches == (5, 6)
    with pytest.raises(ConfigError, match=r"r\.toml: reinforce\.batches has 2 numbers for 4 lectures"):
        read_recipe(file).config(preset="paper")


def test_agent_name_alone_is_a_recipe() -> None:
    assert Recipe("seq2seq").config().policy.hidden == PRESETS["small"]["policy"]["hidden"]
    assert Recipe("seq2seq", settings={"seed": 3}).config().seed == 3


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("agent = ", "is not valid TOML (Invalid value"),
        ("task = 'r4r'", 'names no agent. Add a line such as agent = "babywalk"; choose from: seq2seq'),
        ("agent = 'babywlak'", "agent 'babywlak' is not known. Did you mean 'babywalk'?"),
        ("agent = 3", "agent = 3 should be a string."),
        ("agent = 'babywalk'\nprest = 'tiny'", "setting 'prest' is not known. Did you mean 'preset'?"),
        ("agent = 'babywalk'\npreset = 'tinny'", "preset 'tinny' is not known. Did you mean 'tiny'?"),
        ("agent = 'babywalk'\n[policy]\nhiden = 3", "policy.hiden is not known. Did you mean policy.hidden?"),
        ("agent = 'babywalk'\npolicy = 3", "policy = 3 should be a table."),
        ("agent = 'babywalk'\nseed = 'one'", "seed = 'one' should be a whole number."),
    ],
)
def test_error_in_a_recipe_is_one_line_that_names_the_file(
    dollhouse: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, message: str
) -> None:
    file, run = tmp_path / "bad.toml", tmp_path / "run"
    file.write_text(text)
    assert main(["train", "--config", str(file), "--data", str(dollhouse), "--run", str(run)]) == 2
    error = capsys.readouterr().err
    assert error.startswith(f"babywalk: {file}: ")
    assert message in error
    assert error.count("\n") == 1
    assert not run.exists()


def test_agent_and_recipe_must_agree_and_one_must_be_given(
    recipe: Path, dollhouse: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rest = ["--data", str(dollhouse), "--run", str(tmp_path / "run")]
    assert main(["train", "babywalk", "--config", str(recipe), *rest]) == 2
    assert "is a recipe for 'seq2seq', not for 'babywalk'" in capsys.readouterr().err
    assert main(["train", *rest]) == 2
    assert "No agent is given. Name one of seq2seq, " in capsys.readouterr().err
    assert main(["train", "--config", str(tmp_path / "none.toml"), *rest]) == 2
    assert "none.toml: file not found." in capsys.readouterr().err


def test_run_keeps_the_settings_of_its_recipe(
    recipe: Path, segmented_dollhouse: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = tmp_path / "run"
    command = ["train", "--config", str(recipe), "--data", str(segmented_dollhouse), "--run", str(run)]
    assert main([*command, "--seed", "5", "--set", "imitation.batch=4"]) == 0
    kept = json.loads((run / "config.json").read_text())
    assert (kept["agent"], kept["recipe"], kept["task"], kept["seed"]) == ("seq2seq", "small.toml", "r2r", 5)
    assert (kept["imitation"]["iterations"], kept["imitation"]["batch"]) == (4, 4)
    recipe.write_text(RECIPE.replace("iterations = 4", "iterations = 9"))
    assert main([*command, "--resume"]) == 0
    assert json.loads((run / "config.json").read_text()) == kept
    capsys.readouterr()
    assert main(command) == 2
    assert "already contains a run" in capsys.readouterr().err


@pytest.mark.parametrize("file", sorted(RECIPES.glob("dollhouse/*.toml")), ids=lambda file: file.stem)
def test_recipes_of_the_dollhouse_are_one_per_agent(file: Path) -> None:
    recipe = read_recipe(file)
    assert recipe.agent == file.stem
    config = recipe.config()
    assert (config.task, config.features, config.threads) == ("r4r", "dollhouse", 1)
    assert not config.init_from or file.with_name(f"{Path(config.init_from).name}.toml").is_file()


def test_every_agent_has_a_recipe_for_the_dollhouse() -> None:
    assert {file.stem for file in RECIPES.glob("dollhouse/*.toml")} == set(AGENTS)


@pytest.mark.parametrize("file", sorted(RECIPES.glob("real/*.toml")), ids=lambda file: file.stem)
def test_recipes_of_the_project_fit_their_names(file: Path) -> None:
    config = read_recipe(file).config()
    assert config.task == file.stem.rpartition("-")[2]
    assert ("coground" in file.stem) == (config.policy.decoder == "coground")
    assert ("blind" in file.stem) == (config.features == "none")
    assert ("lookahead" in file.stem) == config.features.endswith("+lookahead")
    assert (config.policy.steps == "whole") == file.stem.startswith("seq2seq")
    memoryless = {"memoryless", "seq2seq"} & set(file.stem.split("-"))
    assert (config.policy.memory == "none") == bool(memoryless)
    assert bool(config.reinforce.lectures) == bool({"lectures", "rl"} & set(file.stem.split("-")))
    # The initial model is the result of another recipe; a number at its end is another seed.
    for run in filter(None, config.init_from.split(",")):
        assert file.with_name(f"{re.sub(r'-[0-9]+$', '', Path(run).name)}.toml").is_file()
