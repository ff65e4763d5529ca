"""Experiments from end to end: a small table at a tiny size, made twice, adopted, and with a failing cell."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("submitit")

from babywalk.cli import main
from babywalk.commands.align import align_data
from babywalk.commands.reproduce import Plan, planned, report, reproduce, status_text
from babywalk.common.files import read_json, write_json
from babywalk.episodes.dataset import Dataset
from babywalk.evaluation.evaluate import evaluate
from babywalk.evaluation.result_files import read_trajectories
from babywalk.reproduce import stage as stage_module
from babywalk.reproduce.experiment import Experiment, Scale, experiments
from babywalk.reproduce.figures import svg
from babywalk.reproduce.graph import Place
from babywalk.reproduce.outcome import Evaluations
from babywalk.reproduce.stage import StageError, is_finished

TINY = Scale(
    name="tiny",
    preset="tiny",
    split="val_unseen:10",
    augmented=5,
    whole=4,
    walks=10,
    seconds={"imitation": 0.1, "reinforce": 0.1},
    megabytes=1.0,
    evaluation_minutes=0.1,
    settings={
        "threads": 1,
        "validate_on": "val_seen:5",
        "imitation": {"iterations": 4},
        "reinforce": {"iterations": 2},
    },
)


def memory(*rows: str) -> Experiment:
    """Rows of the memory ablation, without augmented data."""
    found = experiments()["memory"]
    table = replace(found.table, agents=rows)
    return replace(found, table=table, rows={row: replace(found.rows[row], agent="babywalk") for row in rows})


class InProcess:
    """Runs the commands of stages in this process, and counts them."""

    def __init__(self) -> None:
        self.given: list[tuple[str, ...]] = []
        self.failing = ""  # commands with this word fail

    def __call__(self, arguments: Sequence[str], log: Path) -> None:
        self.given.append(tuple(arguments))
        log.parent.mkdir(exist_ok=True)
        log.write_text("the log\n")
        if self.failing and any(self.failing in argument for argument in arguments):
            raise StageError(f"babywalk {arguments[0]}: exit code 2: <no> luck")
        assert main(list(arguments)) == 0

    def named(self, name: str) -> int:
        """How many commands of a name were run."""
        return sum(command[0] == name for command in self.given)


@pytest.fixture
def commands(monkeypatch: pytest.MonkeyPatch) -> InProcess:
    found = InProcess()
    monkeypatch.setattr(stage_module, "run_command", found)
    return found


@pytest.fixture
def data(aligned_dollhouse: Path, tmp_path: Path) -> Path:
    """A prepared data directory of its own."""
    folder = Path(shutil.copytree(aligned_dollhouse, tmp_path / "data"))
    align_data(folder, ["r4r"], ["train"], method="proportional")
    return folder


def plan(folder: Path, data: Path, *rows: str, seeds: int = 1, adopt: tuple[Path, ...] = ()) -> Plan:
    place = Place(folder, data, built_in=False, scale=TINY, adopt=adopt)
    return planned(place, {"memory": memory(*rows)}, seeds)


def table_of(folder: Path) -> str:
    return (folder / "tables" / "memory.md").read_text()


def numbers(markdown: str, row: str) -> list[str]:
    (line,) = [line for line in markdown.splitlines() if line.startswith(f"| {row} |")]
    return [cell.strip() for cell in line.strip("|").split("|")[1:]]


@pytest.mark.slow
def test_a_table_is_made_once_shared_and_adopted(data: Path, tmp_path: Path, commands: InProcess) -> None:
    folder = tmp_path / "made"
    made = reproduce(plan(folder, data, "none", "gamma 0.5"), executor="debug")
    assert commands.named("train") == 2
    assert commands.named("evaluate") == 8  # four tasks, of which two columns are made
    page = report(made, "babywalk reproduce memory")
    assert page is not None
    first = table_of(folder)

    # The numbers are those of the trajectories, and the paper's stand beside them.
    cells = [cell for cell in made.graph.cells["memory"] if (cell.row, cell.task) == ("none", "r4r")]
    task = Dataset(data).task("r4r", "val_unseen:10")
    scores = evaluate(task, read_trajectories(cells[0].trajectories, task)).scores.means()
    expected = [f"{100 * scores[name]:.1f}" for name in ("SR", "CLS", "SDTW")]
    assert numbers(first, "none")[:3] == expected
    assert numbers(first, "none, paper")[:3] == ["18.9", "43.1", "9.9"]

    assert "Other data: the houses and instructions of the Dollhouse" in first
    facts = read_json(folder / "tables" / "memory.json")
    assert facts["columns"] == ["agent", "seed", "task", "SR", "CLS", "SDTW"]
    (row,) = [row for row in facts["rows"] if row[:3] == ["none", 0, "R4R"]]
    assert row[3:] == [round(100 * scores[name], 2) for name in ("SR", "CLS", "SDTW")]

    # A figure of the same cells: the expert and the rows, in one house.
    drawn = replace(made.experiments["memory"], figure="trajectories")
    picture = svg(drawn, made.graph.cells["memory"], Evaluations(made.place))
    assert all(label in picture for label in ("expert", "none", "gamma 0.5"))

    # Again: nothing runs, and the table is the same.
    commands.given.clear()
    again = reproduce(plan(folder, data, "none", "gamma 0.5"), executor="debug")
    report(again)
    assert commands.given == []
    assert table_of(folder) == first

    # Another folder adopts the runs: no training, the same numbers.
    other = tmp_path / "other"
    adopting = plan(other, data, "none", "gamma 0.5", adopt=(folder / "runs",))
    report(reproduce(adopting, executor="debug"))
    assert commands.named("train") == 0
    assert commands.named("evaluate") == 8
    assert table_of(other) == first
    commands.given.clear()
    reproduce(plan(other, data, "none", "gamma 0.5"), executor="debug")  # also without being told again
    assert commands.given == []


@pytest.mark.slow
def test_a_failing_cell_is_shown_and_the_others_are_made(
    data: Path, tmp_path: Path, commands: InProcess
) -> None:
    asked = plan(tmp_path / "made", data, "none", "gamma 0.5")
    commands.failing = next(cell.training.name for cell in asked.graph.cells["memory"] if cell.row == "none")
    done = reproduce(asked, executor="debug")
    page = report(done)
    assert page is not None
    table = table_of(tmp_path / "made")
    assert set(numbers(table, "none")) == {"-"}
    assert "-" not in numbers(table, "gamma 0.5")
    status = "\n".join(status_text(done))
    assert f"failed: {commands.failing}: babywalk train: exit code 2: <no> luck" in status
    text = page.read_text()
    assert "exit code 2: &lt;no&gt; luck" in text
    assert "the log" in text
    assert not re.search(r"<script|src=|href=\"[^#]", text)  # nothing is loaded, nothing runs
    assert "default-src 'none'" in text


def test_what_experiments_share_is_one_stage(data: Path, tmp_path: Path) -> None:
    place = Place(tmp_path, data, built_in=False, scale=TINY)
    known = experiments()
    made = planned(place, {name: known[name] for name in ("main", "memory", "curriculum", "in-domain")}, 1)
    trained = [stage for stage in made.graph.stages.values() if stage.kind == "agent"]
    # Eight agents on R4R, five more memories, IL+RL, and six agents on R2R, R6R and R8R.
    assert len(trained) == 8 + 5 + 1 + 18
    shared = {
        cell.training.name
        for name, row in (("main", "BABYWALK+"), ("memory", "gamma 0.5"), ("curriculum", "lecture 2"))
        for cell in made.graph.cells[name]
        if cell.row == row
    }
    assert len(shared) == 1
    order = list(made.graph.stages)
    for stage in made.graph.stages.values():
        assert all(order.index(need) < order.index(stage.name) for need in stage.needs)


def trained_names(made: Plan) -> Iterator[str]:
    return (stage.name for stage in made.graph.stages.values() if stage.kind == "agent")


def test_a_key_changes_with_settings_seed_and_data(data: Path, tmp_path: Path) -> None:
    def names(scale: Scale = TINY, seeds: int = 1) -> set[str]:
        place = Place(tmp_path, data, built_in=False, scale=scale)
        return set(trained_names(planned(place, {"memory": memory("none")}, seeds)))

    before = names()
    assert names() == before
    assert names(replace(TINY, settings={**TINY.settings, "averaging": 0.5})).isdisjoint(before)
    assert names(replace(TINY, split="val_unseen:5")) == before  # only the evaluations differ
    assert before < names(seeds=2)
    manifest = data / "sentences" / "train" / "manifest.json"
    fields = read_json(manifest)
    del fields["sha256"]
    first = next(iter(fields["files"]))
    fields["files"][first]["sha256"] = "0" * 64
    write_json(manifest, fields)
    assert names().isdisjoint(before)


def test_the_data_are_prepared_first(tmp_path: Path) -> None:
    place = Place(tmp_path, tmp_path / "data", built_in=True, scale=TINY, houses=4)
    made = planned(place, {"main": experiments()["main"]}, 1)
    assert list(made.data.stages) == [
        "data",
        "task-r4r",
        "task-r6r",
        "task-r8r",
        "sentences",
        "steps-r4r",
        "speaker",
        "augmentation",
        "augmentation-steps",
    ]
    assert not any(is_finished(tmp_path, stage) for stage in made.stages)
    assert report(made) is None
