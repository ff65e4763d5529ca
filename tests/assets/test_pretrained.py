"""The pretrained models that ship with the package."""

from __future__ import annotations

from pathlib import Path

import pytest

import babywalk
from babywalk.assets.pretrained import built_in_models, find_model
from babywalk.commands.evaluate import evaluate_agent
from babywalk.common.errors import ConfigError
from babywalk.modules.model import load_model


def test_a_path_takes_precedence_over_a_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    built_in = find_model("dollhouse")
    assert built_in is not None
    assert built_in.is_absolute()
    (tmp_path / "dollhouse").mkdir()
    assert find_model("dollhouse") == built_in  # a folder without a model does not shadow it
    (tmp_path / "dollhouse" / "model.safetensors").touch()
    assert find_model("dollhouse") == Path("dollhouse")
    assert find_model("castle") is None


@pytest.mark.parametrize("name", built_in_models())
def test_a_pretrained_model_loads_and_has_a_model_card(name: str) -> None:
    model = load_model(Path(name))
    assert model.facts["agent"] == "babywalk"
    folder = find_model(name)
    assert folder is not None
    assert "# " in (folder / "README.md").read_text()


def test_the_dollhouse_model_works_in_unseen_houses(segmented_dollhouse: Path) -> None:
    """The houses are from another seed; the model must beat the agent that never moves."""
    reports = {
        agent: evaluate_agent(agent, segmented_dollhouse, ["r2r"], "val_unseen")[0].measures
        for agent in ("dollhouse", "stop")
    }
    assert reports["dollhouse"]["SDTW"].mean > 2 * reports["stop"]["SDTW"].mean
    found = babywalk.load("dollhouse", segmented_dollhouse)
    house = found.dataset.houses.scans[0]
    first = found.dataset.houses.names[0]
    assert found.follow(house, first, 0.0, "Leave the room and stop.").path[0] == first


def test_an_unknown_model_name_lists_the_known_ones(segmented_dollhouse: Path) -> None:
    with pytest.raises(ConfigError, match="dollhouse"):
        evaluate_agent("dolhouse", segmented_dollhouse, ["r2r"], "val_unseen")
