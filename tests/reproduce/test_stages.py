"""Running stages: each once, in order, whatever fails, is killed, or runs at the same time."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

pytest.importorskip("submitit")

from babywalk.common.errors import ConfigError
from babywalk.reproduce import stage as stage_module
from babywalk.reproduce.scheduler import run_stages
from babywalk.reproduce.stage import Stage, StageError, failure_file, finished, is_finished, state

NEEDS = {"a": (), "b": ("a",), "c": ("a",), "d": ("b", "c")}


def stages(folder: Path) -> list[Stage]:
    """Four stages; the command of each is its name and its product."""
    return [
        Stage(name, "data", ((name, str(folder / name)),), (folder / name,), needs)
        for name, needs in NEEDS.items()
    ]


class Commands:
    """Stands for the command line: writes the product, or fails."""

    def __init__(self) -> None:
        self.given: list[str] = []
        self.failing: set[str] = set()
        self.idle: set[str] = set()  # succeed without making anything

    def __call__(self, arguments: Sequence[str], _: Path) -> None:
        name, product = arguments
        self.given.append(name)
        if name in self.failing:
            raise StageError(f"babywalk {name}: exit code 2: no luck")
        if name not in self.idle:
            Path(product).write_text(name)


@pytest.fixture
def commands(monkeypatch: pytest.MonkeyPatch) -> Commands:
    found = Commands()
    monkeypatch.setattr(stage_module, "run_command", found)
    return found


def test_stages_run_once_each_after_those_it_needs(tmp_path: Path, commands: Commands) -> None:
    made = stages(tmp_path)
    assert run_stages(tmp_path, reversed(made), executor="debug") == []
    assert sorted(commands.given) == ["a", "b", "c", "d"]
    assert (commands.given[0], commands.given[-1]) == ("a", "d")
    assert run_stages(tmp_path, made, executor="debug") == []
    assert len(commands.given) == 4
    record = finished(tmp_path, made[0])
    assert record is not None
    assert record.commands == (("a", str(tmp_path / "a")),)
    assert record.versions["babywalk"]


def test_a_failed_stage_stops_only_those_that_need_it_and_is_tried_again(
    tmp_path: Path, commands: Commands
) -> None:
    made = stages(tmp_path)
    commands.failing = {"b"}
    assert [stage.name for stage in run_stages(tmp_path, made, executor="debug")] == ["b", "d"]
    states = [state(tmp_path, stage) for stage in made]
    assert states == ["finished", "failed", "finished", "to do"]
    text = failure_file(tmp_path, made[1]).read_text()
    assert text.splitlines()[0] == "babywalk b: exit code 2: no luck"
    assert "logs/b.log" in text

    commands.failing = set()
    assert run_stages(tmp_path, made, executor="debug") == []
    assert commands.given == ["a", "b", "c", "b", "d"]
    assert not failure_file(tmp_path, made[1]).exists()


def test_a_command_that_makes_nothing_has_failed(tmp_path: Path, commands: Commands) -> None:
    commands.idle = {"a"}
    (first, *_) = stages(tmp_path)
    assert run_stages(tmp_path, [first], executor="debug") == [first]
    assert "is missing" in failure_file(tmp_path, first).read_text()


def test_a_lost_product_or_a_damaged_record_makes_a_stage_run_again(
    tmp_path: Path, commands: Commands
) -> None:
    (first, *_) = stages(tmp_path)
    run_stages(tmp_path, [first], executor="debug")
    (tmp_path / "a").unlink()
    assert not is_finished(tmp_path, first)
    run_stages(tmp_path, [first], executor="debug")
    record = tmp_path / "stages" / "a.json"
    record.write_text(record.read_text().replace("minutes", "minuets"))
    assert not is_finished(tmp_path, first)
    run_stages(tmp_path, [first], executor="debug")
    assert commands.given == ["a", "a", "a"]


def test_an_unknown_executor_and_a_missing_cluster_are_errors(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"Executor 'slrum' is not known\. Did you mean 'slurm'"):
        run_stages(tmp_path, [], executor="slrum")
    if os.system("command -v srun > /dev/null"):  # no SLURM here
        with pytest.raises(ConfigError, match="'slurm' cannot be used here"):
            run_stages(tmp_path, [], executor="slurm")


# A program that runs three stages in processes. The commands are Python code: each appends a line to a file
# when it is done, and the second one waits while a file `wait` exists.
PROGRAM = """
import sys
from pathlib import Path
import cloudpickle
from babywalk.reproduce import stage as module
from babywalk.reproduce.scheduler import run_stages

folder = Path(sys.argv[1])
CODE = '''
import sys, time
from pathlib import Path
folder, name = Path(sys.argv[1]), sys.argv[2]
while name == "b" and (folder / "wait").exists():
    (folder / "waiting").touch()
    time.sleep(0.05)
with (folder / "done").open("a") as file:
    file.write(name + chr(10))
(folder / name).write_text(name)
'''

def run(folder, stage):
    module.PROGRAM = (sys.executable,)
    module.run_stage(folder, stage)

stages = [
    module.Stage(name, "data", (("-c", CODE, str(folder), name),), (folder / name,), needs)
    for name, needs in {"a": (), "b": ("a",), "c": ("b",)}.items()
]
sys.exit(len(run_stages(folder, stages, jobs=2, run=run)))
"""


def start(folder: Path) -> subprocess.Popen[bytes]:
    script = folder / "program.py"
    script.write_text(PROGRAM)
    return subprocess.Popen([sys.executable, str(script), str(folder)], start_new_session=True)


@pytest.mark.slow
def test_killed_half_way_nothing_that_was_finished_is_repeated(tmp_path: Path) -> None:
    (tmp_path / "wait").touch()
    process = start(tmp_path)
    while not (tmp_path / "waiting").exists():
        assert process.poll() is None
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGKILL)  # the program and all its processes
    process.wait()
    assert (tmp_path / "done").read_text().split() == ["a"]
    (tmp_path / "wait").unlink()
    assert start(tmp_path).wait() == 0
    assert (tmp_path / "done").read_text().split() == ["a", "b", "c"]


@pytest.mark.slow
def test_two_at_once_on_one_folder_run_each_stage_once(tmp_path: Path) -> None:
    both = [start(tmp_path), start(tmp_path)]
    assert [process.wait() for process in both] == [0, 0]
    assert (tmp_path / "done").read_text().split() == ["a", "b", "c"]


@pytest.mark.slow
def test_a_stage_whose_process_is_killed_has_failed(tmp_path: Path) -> None:
    (tmp_path / "wait").touch()
    process = start(tmp_path)
    while not (tmp_path / "waiting").exists():
        time.sleep(0.05)
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    for child in map(int, children.read_text().split()):
        os.kill(child, signal.SIGKILL)
    assert process.wait() == 2  # b, and c that needs it
    assert (tmp_path / "failed" / "b.txt").exists()
    os.killpg(process.pid, signal.SIGKILL)  # what is left of b
