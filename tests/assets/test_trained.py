"""The models that come with the package."""

from __future__ import annotations

from pathlib import Path

import pytest

import babywalk
from babywalk.assets.trained import built_in_models, find_model
from babywalk.commands.evaluate import evaluate_agent
from babywalk.common.errors import ConfigError
from babywalk.modules.model import load_model


def test_a_path_wins_over_a_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    built_in = find_model("dollhouse")
    assert built_in is not None
    assert built_in.is_absolute()
    (tmp_path / "dollhouse").mkdir()
    assert find_model("dollhouse") == built_in  # a folder of data, say, hides nothing
    (tmp_path / "dollhouse" / "model.safetensors").touch()
    assert find_model("dollhouse") == Path("dollhouse")
    assert find_model("castle") is None


@pytest.mark.parametrize("name", built_in_models())
def test_it_can_be_loaded_and_has_a_card(name: str) -> None:
    model = load_model(Path(name))
    assert model.facts["agent"] == "babywalk"
    folder = find_model(name)
    assert folder is not None
    assert "# " in (folder / "README.md").read_text()


def test_it_walks_houses_that_it_has_never_seen(segmented_dollhouse: Path) -> None:
    """These houses were drawn with another seed; who reads and sees passes who does not move."""
    reports = {
        agent: evaluate_agent(agent, segmented_dollhouse, ["r2r"], "val_unseen")[0].measures
        for agent in ("dollhouse", "stop")
    }
    assert reports["dollhouse"]["SDTW"].mean > 2 * reports["stop"]["SDTW"].mean
    found = babywalk.load("dollhouse", segmented_dollhouse)
    house = found.dataset.houses.scans[0]
    first = found.dataset.houses.names[0]
    assert found.follow(house, first, 0.0, "Leave the room and stop.").path[0] == first


def test_who_asks_for_another_is_told_the_names(segmented_dollhouse: Path) -> None:
    with pytest.raises(ConfigError, match="dollhouse"):
        evaluate_agent("dolhouse", segmented_dollhouse, ["r2r"], "val_unseen")
