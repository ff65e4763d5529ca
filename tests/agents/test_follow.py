"""A typed instruction, followed by an untrained agent: the form of the result, and errors."""

from __future__ import annotations

import itertools
import json
import math
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

import babywalk
from babywalk.agents.follow import Order, follow_all
from babywalk.agents.learned import LearnedAgent
from babywalk.cli import main
from babywalk.commands.train import train_agent
from babywalk.common.errors import ConfigError, DataError
from babywalk.episodes.dataset import Dataset
from babywalk.modules.model import load_model
from babywalk.navigation.observation import ORIENTATION

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
    train_agent("babywalk", segmented_dollhouse, folder, preset="tiny", settings=settings)
    return folder


def test_result_has_the_path_and_the_attention_of_every_move(run: Path, segmented_dollhouse: Path) -> None:
    agent = babywalk.load(run)  # with the data that it was trained on
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


def test_follow_on_the_command_line(
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


def test_invalid_arguments_of_follow_are_reported(run: Path, segmented_dollhouse: Path) -> None:
    agent = babywalk.load(str(run), data=str(segmented_dollhouse))
    start = next(iter(Dataset(segmented_dollhouse).houses.viewpoints("dollhouse_001")))
    with pytest.raises(ConfigError, match=r"House 'dollhouse_9' is not known"):
        agent.follow("dollhouse_9", start, 0.0, TEXT)
    with pytest.raises(ConfigError, match=r"Viewpoint of dollhouse_001 'attic' is not known"):
        agent.follow("dollhouse_001", "attic", 0.0, TEXT)
    with pytest.raises(ConfigError, match="The instruction has no words"):
        agent.follow("dollhouse_001", start, 0.0, "   ")
    for text in ("...", "\N{HORIZONTAL ELLIPSIS} ?!"):
        with pytest.raises(ConfigError, match=r"The instruction has no words\. Give one such as"):
            agent.follow("dollhouse_001", start, 0.0, text)
    with pytest.raises(
        ConfigError, match=r"No word .* is in the agent's vocabulary: zu, den, kuehen and 1 more\. Use words"
    ):
        agent.follow("dollhouse_001", start, 0.0, "Zu den Kuehen, zu den Schafen.")
    for heading in (math.nan, math.inf, 90, -6.3, "east", None):
        with pytest.raises(ConfigError, match=rf"The heading {heading!r} is not an angle in radians from"):
            agent.follow("dollhouse_001", start, heading, TEXT)  # type: ignore[arg-type]
    assert agent.follow("dollhouse_001", start, -2 * math.pi, TEXT).path[0] == start
    for given, message in (
        ((5, start, TEXT), "The house must be text; found 5"),
        (("dollhouse_001", [start], TEXT), r"The viewpoint must be text; found \["),
        (("dollhouse_001", start, None), "The instruction must be text; found None"),
    ):
        house, viewpoint, text = given
        with pytest.raises(ConfigError, match=message):
            agent.follow(house, viewpoint, 0.0, text)  # type: ignore[arg-type]


def test_invalid_arguments_of_load_are_reported(run: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="missing: is neither a run nor a model"):
        babywalk.load(run / "missing")
    with pytest.raises(ConfigError, match=r"The model None is not a path\. Give a run directory"):
        babywalk.load(None)  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match=r"The data 3 are not a path\. Give a data directory"):
        babywalk.load(run, 3)  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="Device 'gpu' is not known"):
        babywalk.load(run, device="gpu")
    alone = tmp_path / "model.safetensors"
    shutil.copy(run / "model.safetensors", alone)
    with pytest.raises(ConfigError, match="does not name the data it was trained on"):
        babywalk.load(alone)


@pytest.mark.parametrize("file", ["model.safetensors", "best/imitation.safetensors"])
def test_model_file_in_a_run_uses_the_data_of_the_run(
    file: str, run: Path, segmented_dollhouse: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert babywalk.load(run / file).dataset.folder == segmented_dollhouse.resolve()
    monkeypatch.chdir((run / file).parent)
    assert babywalk.load(Path(file).name).dataset.folder == segmented_dollhouse.resolve()


def test_features_of_another_size_are_refused(run: Path, segmented_dollhouse: Path) -> None:
    model = load_model(run)
    width = model.view_width - ORIENTATION
    with pytest.raises(DataError) as error:
        LearnedAgent(replace(model, features="none"), Dataset(segmented_dollhouse))
    assert str(error.value) == (
        f"The model was trained on features 'none' of size {width} per view; those of "
        f"{segmented_dollhouse} have size 0. Use the data that it was trained on, or train an agent on these."
    )


def test_unknown_and_ignored_words_are_reported(
    run: Path, segmented_dollhouse: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    agent = babywalk.load(run)
    start = next(iter(Dataset(segmented_dollhouse).houses.viewpoints("dollhouse_001")))
    plain = agent.follow("dollhouse_001", start, 0.0, TEXT)
    assert plain.unknown == ()
    assert plain.unread == ((),) * len(plain.steps)
    words = agent.config.max_words
    text = " ".join(["walk"] * words + ["past", "zebras", "zebras", "gnus", "!"])
    found = agent.follow("dollhouse_001", start, 0.0, text)
    assert found.unknown == ("zebras", "gnus")
    assert found.unread == (("past", "zebras", "zebras", "gnus", "!"),)
    assert main(["follow", str(run), "--house", "dollhouse_001", "--viewpoint", start, text]) == 0
    output = capsys.readouterr().out
    assert "Step 1 is too long: its last 5 words are ignored.\n" in output
    assert "Words not in the vocabulary: zebras, gnus.\n" in output


def test_heading_on_the_command_line_is_in_degrees(
    run: Path, segmented_dollhouse: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    start = next(iter(Dataset(segmented_dollhouse).houses.viewpoints("dollhouse_001")))
    command = ["follow", str(run), "--house", "dollhouse_001", "--viewpoint", start, TEXT, "--heading"]
    for heading in ("-360", "360"):
        assert main([*command, heading]) == 0
    for heading in ("east", "1e300", "nan", "361"):
        with pytest.raises(SystemExit) as end:
            main([*command, heading])
        assert end.value.code == 2
        assert capsys.readouterr().err == (
            f"babywalk: argument --heading: '{heading}' is not a heading; give degrees from -360 to 360. "
            "Try 'babywalk follow --help'.\n"
        )


def test_limits_of_whole_instructions_follow_the_task(segmented_dollhouse: Path, tmp_path: Path) -> None:
    """R4R joins two paths, so the limits are doubled; for a longer text they are higher."""
    settings = {
        "imitation": {"iterations": 1, "batch": 4},
        "validate_on": "val_seen:4",
        "threads": 1,
        "policy": {"max_words": 10, "max_moves": 3},
    }
    train_agent("seq2seq", segmented_dollhouse, tmp_path / "run", preset="tiny", settings=settings)
    agent = babywalk.load(tmp_path / "run")
    start = next(iter(Dataset(segmented_dollhouse).houses.viewpoints("dollhouse_001")))
    for words, scale in ((5, 2), (15, 2), (35, 4)):
        found = agent.follow("dollhouse_001", start, 0.0, " ".join(["walk"] * words))
        assert len(found.moves[0].words) == words
        assert len(found.moves) <= 3 * scale


def test_several_instructions_in_one_batch_are_followed_as_each_alone(
    run: Path, segmented_dollhouse: Path
) -> None:
    agent = babywalk.load(run)
    starts = list(agent.dataset.houses.viewpoints("dollhouse_001"))
    texts = [TEXT, "Walk to the bed.", "Go up the stairs. Enter the bedroom. Stop by the lamp."]
    orders = [Order("dollhouse_001", start, 0.5, text) for start, text in zip(starts, texts, strict=False)]
    together = follow_all(agent.model, agent.rollout, agent.decoder, agent.dataset.houses, orders)
    for order, found in zip(orders, together, strict=True):
        alone = agent.follow(order.house, order.viewpoint, order.heading, order.instruction)
        assert (found.path, found.steps) == (alone.path, alone.steps)
        assert [(move.step, move.at, move.to) for move in found.moves] == [
            (move.step, move.at, move.to) for move in alone.moves
        ]
        assert [move.probability for move in found.moves] == pytest.approx(
            [move.probability for move in alone.moves], abs=1e-5
        )
        assert [len(move.words) for move in found.moves] == [len(move.words) for move in alone.moves]
