"""An instruction that somebody types, followed by an untrained agent: the form of the answer."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import pytest

import babywalk
from babywalk import experiments
from babywalk.cli import main
from babywalk.episodes.dataset import Dataset
from babywalk.errors import ConfigError

TEXT = "Exit the room and turn left. Walk to the kitchen and stop by the table."


@pytest.fixture(scope="module")
def run(segmented_dollhouse: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("following") / "run"
    settings = {
        "imitation": {"iterations": 2, "batch": 4},
        "reinforce": {"lectures": 0},
        "validate_on": "val_seen:4",
        "threads": 1,
    }
    experiments.train_agent("babywalk", segmented_dollhouse, folder, preset="tiny", settings=settings)
    return folder


def test_the_answer_tells_where_and_why(run: Path, segmented_dollhouse: Path) -> None:
    agent = babywalk.load(run)  # in the data that it was trained on
    houses = Dataset(segmented_dollhouse).houses
    start = next(iter(houses.viewpoints("dollhouse_001")))
    found = agent.follow("dollhouse_001", start, 0.0, TEXT)
    assert " ".join(found.steps) == TEXT
    assert found.path[0] == start
    numbers = houses.viewpoints("dollhouse_001")
    walked = [numbers[name] for name in found.path]
    assert all(b in houses.neighbours[a] for a, b in itertools.pairwise(walked))
    assert [move.to for move in found.moves if move.to] == list(found.path[1:])
    for move in found.moves:
        assert sum(move.choices.values()) == pytest.approx(1, abs=1e-5)
        assert move.probability == pytest.approx(max(move.choices.values()))
        assert sum(weight for _, weight in move.words) == pytest.approx(1, abs=1e-5)
        assert len(move.views) == 36
        assert sum(move.views) == pytest.approx(1, abs=1e-5)
    assert {move.step for move in found.moves} == set(range(len(found.steps)))
    assert babywalk.load(run / "model.safetensors", segmented_dollhouse).follow(
        "dollhouse_001", start, 0.0, TEXT
    ) == found  # fmt: skip


def test_from_the_command_line(
    run: Path, segmented_dollhouse: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    start = next(iter(Dataset(segmented_dollhouse).houses.viewpoints("dollhouse_001")))
    command = ["follow", str(run), "--house", "dollhouse_001", "--viewpoint", start, TEXT]
    picture = tmp_path / "walk.png"
    assert main([*command, "--picture", str(picture)]) == 0
    assert "Path: " + start in capsys.readouterr().out
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert main([*command, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["house"] == "dollhouse_001"


def test_what_cannot_be_followed(run: Path, segmented_dollhouse: Path) -> None:
    agent = babywalk.load(str(run), data=str(segmented_dollhouse))
    start = next(iter(Dataset(segmented_dollhouse).houses.viewpoints("dollhouse_001")))
    with pytest.raises(ConfigError, match=r"House 'dollhouse_9' is not known"):
        agent.follow("dollhouse_9", start, 0.0, TEXT)
    with pytest.raises(ConfigError, match=r"Viewpoint of dollhouse_001 'attic' is not known"):
        agent.follow("dollhouse_001", "attic", 0.0, TEXT)
    with pytest.raises(ConfigError, match="The instruction has no words"):
        agent.follow("dollhouse_001", start, 0.0, "   ")
    with pytest.raises(ConfigError, match="The heading nan is no angle"):
        agent.follow("dollhouse_001", start, float("nan"), TEXT)
    with pytest.raises(ConfigError, match="nobody: is no run and no model"):
        babywalk.load(run / "nobody")
    with pytest.raises(ConfigError, match="does not say which data it belongs to"):
        babywalk.load(run / "model.safetensors")


def test_who_reads_a_whole_instruction_has_as_much_room_as_in_its_task(
    segmented_dollhouse: Path, tmp_path: Path
) -> None:
    """R4R joins two walks, so its reader has twice the words and moves; a longer text gets more."""
    settings = {
        "imitation": {"iterations": 1, "batch": 4},
        "validate_on": "val_seen:4",
        "threads": 1,
        "policy": {"max_words": 10, "max_moves": 3},
    }
    experiments.train_agent(
        "seq2seq", segmented_dollhouse, tmp_path / "run", preset="tiny", settings=settings
    )
    agent = babywalk.load(tmp_path / "run")
    start = next(iter(Dataset(segmented_dollhouse).houses.viewpoints("dollhouse_001")))
    for words, room in ((5, 2), (15, 2), (35, 4)):
        found = agent.follow("dollhouse_001", start, 0.0, " ".join(["walk"] * words))
        assert len(found.moves[0].words) == words
        assert len(found.moves) <= 3 * room
