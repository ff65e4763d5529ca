"""The commands, as called from a shell."""

from __future__ import annotations

import errno
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from babywalk.agents.baselines import BASELINES
from babywalk.agents.table import AGENTS
from babywalk.cli import main
from babywalk.training.presets import PRESETS


def run(*arguments: object) -> int:
    return main([str(argument) for argument in arguments])


COMMANDS = [
    [],
    ["data"],
    *(
        ["data", name]
        for name in ("dollhouse", "import", "build", "hold-out", "stats", "export", "fetch", "verify")
    ),
    ["demo"],
    ["evaluate"],
    ["score"],
    ["table"],
    ["diagnose"],
    ["submit"],
    ["draw"],
    ["data", "segment"],
    ["data", "landmarks"],
    ["data", "align"],
    ["data", "augment"],
    ["segment"],
    ["agents"],
    ["train"],
    ["curves"],
    ["publish"],
    ["follow"],
]


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_every_command_has_help_with_an_example(
    command: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as end:
        main([*command, "--help"])
    assert end.value.code == 0
    text = capsys.readouterr().out
    assert "babywalk " + " ".join(command) in text.partition("xample")[2] + text.partition("Start here")[2]


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        (
            "follow",
            ["--house SCAN the house", "built-in model: dollhouse", "--heading 90", "--picture walk.png"],
        ),
        ("evaluate", ["built-in model: dollhouse", "--trajectories walks", "--by-length words"]),
        ("train", list(PRESETS)),
    ],
)
def test_help_lists_the_choices(
    command: str, expected: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main([command, "--help"])
    text = " ".join(capsys.readouterr().out.split())
    assert [words for words in expected if words not in text] == []


def test_a_duplicate_task_is_evaluated_once(dollhouse: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("evaluate", "stop", "--data", dollhouse, "--tasks", "r2r, r2r", "--split", "val_seen:3") == 0
    assert "\nInstructions: 3 of r2r val_seen. PL" in capsys.readouterr().out


def test_trajectories_of_a_sample_have_a_file_of_their_own(
    dollhouse: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for split in ("val_seen", "val_seen:3"):
        base = ["evaluate", "stop", "--data", dollhouse, "--tasks", "r4r", "--split", split]
        assert run(*base, "--trajectories", tmp_path) == 0
    whole, sample = tmp_path / "r4r_val_seen.json", tmp_path / "r4r_val_seen_3.json"
    assert len(json.loads(whole.read_text())) > len(json.loads(sample.read_text())) == 3
    base = ["score", sample, "--data", dollhouse, "--task", "r4r", "--split"]
    assert run(*base, "val_seen") == 2
    assert "If this is a sample, give --split val_seen:3." in capsys.readouterr().err
    assert run(*base, "val_seen:3") == 0


@pytest.mark.parametrize(("task", "tasks"), [("r2r", "r2r"), ("r6r", "r2r,r6r")])
def test_train_suggests_to_evaluate_on_its_task(
    task: str, tasks: str, segmented_dollhouse: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    little = ["imitation.iterations=1", "imitation.batch=2", "reinforce.lectures=0", "validate_on=val_seen:2"]
    base = ["train", "seq2seq", "--data", segmented_dollhouse, "--run", tmp_path / "run", "--preset", "tiny"]
    assert run(*base, "--task", task, "--set", *little, "threads=1") == 0
    assert f" --tasks {tasks} --split val_unseen\n" in capsys.readouterr().out


def test_stats_prints_a_table_or_json(dollhouse: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("data", "stats", "--data", dollhouse) == 0
    text = capsys.readouterr().out
    assert "train instructions" in text
    assert "R8R" in text
    assert run("data", "stats", "--data", dollhouse, "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["houses"] == 4
    assert {row["task"] for row in found["tasks"]} == {"r2r", "r4r", "r6r", "r8r"}


def test_stats_writes_a_figure(dollhouse: Path, tmp_path: Path) -> None:
    assert run("data", "stats", "--data", dollhouse, "--figure", tmp_path / "f.png") == 0
    assert (tmp_path / "f.png").read_bytes().startswith(b"\x89PNG")


def test_importing_the_raw_dollhouse_gives_the_same_files(
    dollhouse: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    raw, data = dollhouse / "raw", tmp_path / "data"
    base = ["data", "import", "--connectivity", raw / "connectivity", "--r2r", raw / "R2R", data]
    assert run(*base) == 0
    assert run("data", "import", "--boxes", raw / "BBox", "--rooms", raw / "rooms", data) == 0
    assert run("data", "import", "--features", f"views={raw / 'features' / 'dollhouse.tsv'}", data) == 0
    assert run("data", "build", "r4r", "r8r", "--data", data, "--splits", "val_unseen", "--all") == 0
    assert run("data", "verify", data) == 0
    text = capsys.readouterr().out
    assert "features objects: names" in text
    assert "All files match their manifests." in text
    for file in ("r2r/R2R_train.json", "features/objects/views.npy"):
        assert (data / file).read_bytes() == (dollhouse / file).read_bytes()


def test_export_score_and_draw(dollhouse: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = ["--data", dollhouse]
    assert run("data", "export", "r4r", *data, "--split", "val_seen", tmp_path / "r4r.json") == 0
    exported = json.loads((tmp_path / "r4r.json").read_text())
    assert {"scan", "path", "path_id", "heading", "distance", "instructions"} == set(exported[0])
    assert (
        run("evaluate", "oracle", *data, "--tasks", "r2r,r4r", "--split", "val_seen",
            "--trajectories", tmp_path, "--by-length")
        == 0
    )  # fmt: skip
    text = capsys.readouterr().out
    assert "oracle r4r" in text
    assert "by length" in text
    results = tmp_path / "r4r_val_seen.json"
    scoring = ["score", results, *data, "--task", "r4r", "--split", "val_seen"]
    assert run(*scoring, "--per-instruction", tmp_path / "all.csv", "--json") == 0
    report = json.loads(capsys.readouterr().out)["r4r_val_seen"][0]
    assert report["measures"]["SR"]["mean"] == 1
    assert len((tmp_path / "all.csv").read_text().splitlines()) == report["episodes"] + 1
    walk = json.loads(results.read_text())[0]["instr_id"]
    picture = tmp_path / "walk.svg"
    assert run("draw", picture, *data, "--task", "r4r", "--split", "val_seen", "--episode", walk,
               "--results", f"oracle={results}") == 0  # fmt: skip
    assert "oracle" in picture.read_text()
    assert run("draw", tmp_path / "house.png", *data, "--house", "dollhouse_000") == 0


def test_submit_adds_headings(dollhouse: Path, tmp_path: Path) -> None:
    walks = json.loads((dollhouse / "r2r" / "R2R_test.json").read_text())
    plain = [
        {"instr_id": f"{walk['path_id']}_{number}", "trajectory": walk["path"]}
        for walk in walks
        for number in range(len(walk["instructions"]))
    ]
    (tmp_path / "plain.json").write_text(json.dumps(plain))
    assert run("submit", tmp_path / "plain.json", "--data", dollhouse, tmp_path / "out.json") == 0
    answers = json.loads((tmp_path / "out.json").read_text())
    assert [answer["instr_id"] for answer in answers] == [answer["instr_id"] for answer in plain]
    viewpoint, heading, elevation = answers[0]["trajectory"][0]
    assert viewpoint == walks[0]["path"][0]
    assert abs(heading - walks[0]["heading"]) % 6.2832 < 0.27 or abs(heading - walks[0]["heading"]) > 6
    assert elevation == 0


def test_segment_marks_landmarks_and_accepts_other_word_lists(capsys: pytest.CaptureFixture[str]) -> None:
    text = "Walk past the couch. Climb the stairs."
    assert run("segment", text) == 0
    assert "landmarks: couch; verbs: walk" in capsys.readouterr().out
    assert run("segment", text, "--json", "--set", 'landmark_blacklist=["couch"]') == 0
    (step,) = json.loads(
        capsys.readouterr().out
    )  # without a landmark the first sentence goes with the second
    assert step["landmarks"] == ["stair"]
    assert run("segment", text, "--set", "verb_blaklist=[]") == 2
    assert "--set: verb_blaklist is not known. Did you mean verb_blacklist?" in capsys.readouterr().err


@pytest.mark.slow
def test_landmarks_and_alignment_are_learned_stored_and_compared(
    segmented_dollhouse: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = tmp_path / "data"
    shutil.copytree(segmented_dollhouse, data, ignore=shutil.ignore_patterns("cache"))
    assert run("data", "landmarks", "--data", data) == 0
    assert "landmarks of val_seen" in capsys.readouterr().out
    assert run("data", "align", "r2r", "r4r", "--data", data) == 0
    assert run("data", "align", "--data", data, "--check", "val_seen", "--json") == 0
    text = capsys.readouterr().out
    placed = json.loads(text[text.index("{") :])
    assert set(placed) == {"proportional", "paper", "best"}
    assert placed["best"]["exact"] > placed["proportional"]["exact"]
    assert run("data", "verify", data) == 0
    for method in ("paper", "proportional"):
        assert run("data", "align", "r2r", "--data", data, "--method", method) == 0
    assert run("data", "align", "--data", data) == 2
    assert "No task is given" in capsys.readouterr().err


def test_agents_are_listed_with_their_papers(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("agents") == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == [*AGENTS, *BASELINES]
    assert all("https://arxiv.org/abs/" in line for line in lines[: len(AGENTS)])
    assert run("agents", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert [agent["name"] for agent in found if agent["learned"]] == list(AGENTS)


def test_threads_and_device_are_settings_of_a_run(
    segmented_dollhouse: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import torch

    chosen: list[int] = []
    monkeypatch.setattr(torch, "set_num_threads", chosen.append)
    little = ["imitation.iterations=1", "imitation.batch=2", "reinforce.lectures=0", "validate_on=val_seen:2"]
    base = ["train", "seq2seq", "--data", segmented_dollhouse, "--run", tmp_path / "run", "--preset", "tiny"]
    assert run(*base, "--threads", "3", "--device", "cpu", "--set", *little) == 0
    assert set(chosen) == {3}
    settings = json.loads((tmp_path / "run" / "config.json").read_text())
    assert (settings["threads"], settings["device"]) == (3, "cpu")


def test_fetch_lists_the_assets(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("data", "fetch") == 0
    text = capsys.readouterr().out
    for name in ("connectivity", "r2r", "boxes", "resnet-imagenet", "semantic-features"):
        assert name in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["data", "stats", "--data", "nowhere"],
            "nowhere: is not a data directory of BabyWalk.",
        ),
        (
            ["data", "stats"],
            "are required: --data. Try 'babywalk data stats --help'.",
        ),
        (["dta"], "invalid choice: 'dta'"),
        (["data", "dollhouse", "{tmp}/new", "--houses", "1"], "houses"),
        (["data", "dollhouse", "{tmp}/new", "--houses", "x"], "invalid int value: 'x'"),
        (["data", "dollhouse", "{data}"], "is not empty. Give a new folder for the Dollhouse."),
        (["data", "import"], "No data directory is given: babywalk data import ... DIR."),
        (["data", "import", "{tmp}/new"], "A new data directory needs --connectivity and --r2r."),
        (["data", "import", "--r2r", "{tmp}", "--connectivity", "{tmp}", "{tmp}/new"], "has no file named"),
        (["data", "build", "r5r", "--data", "{data}"], "Task 'r5r' is not known. Did you mean"),
        (["data", "export", "r4r", "--data", "{data}", "--split", "tset", "x.json"], "Did you mean 'test'?"),
        (["data", "fetch", "resnt-imagenet"], "is not known. Did you mean 'resnet-imagenet'?"),
        (["data", "fetch", "boxes"], "add --accept-terms"),
        (["data", "verify", "{tmp}"], "is not a data directory"),
        (["data", "stats", "--data", "{data}", "--figure", "{tmp}/f.gif"], "png"),
        (
            ["evaluate", "bert", "--data", "{data}", "--split", "test"],
            "'bert' is not known.",
        ),
        (["evaluate", "stop", "--data", "{data}", "--split", "test"], "has no goals to score"),
        (
            ["evaluate", "stop", "--data", "{data}", "--split", "train", "--seeds", "0"],
            "argument --seeds: '0' is out of range; give a whole number from 1.",
        ),
        (
            ["evaluate", "--data", "{data}", "--split", "test"],
            "babywalk evaluate AGENT ...",
        ),
        (
            ["evaluate", "stop", "--agent", "random", "--data", "{data}", "--split", "test"],
            "The agent is given twice: 'stop', and --agent 'random'. Give it once.",
        ),
        (
            ["evaluate", "dollhouse", "--data", "{data}", "--split", "val_seen", "--device", "gpu"],
            "Device 'gpu' is not known. Did you mean 'cpu'? Choose from: auto, cpu, cuda.",
        ),
        (
            ["data", "align", "r2r", "--data", "{data}", "--threads", "none"],
            "argument --threads: 'none' is out of range; give a whole number from 1.",
        ),
        (["score", "{tmp}/none.json", "--data", "{data}", "--split", "train"], "file not found."),
        (
            ["follow", "r", "--house", "h", "--viewpoint", "v", "Exit", "the", "kitchen"],
            "unrecognized arguments: the kitchen; put the text in quotes. Try 'babywalk follow --help'.",
        ),
        (["segment", "Turn", "left"], "left; put the text in quotes. Try 'babywalk segment --help'."),
        (
            ["data", "stats", "--data", "{data}", "--fast"],
            "unrecognized arguments: --fast. Try 'babywalk data stats --help'.",
        ),
        (
            ["train", "babywalk", "--data", "{data}", "--run", __file__],
            f"{__file__}: is a file. Give --run a new folder, or that of a run with --resume.",
        ),
        (["train", "babywalk", "--data", "{data}", "--run", f"{__file__}/run"], f"{__file__}: is a file."),
        (["draw", "x.png", "--data", "{data}"], "Nothing to draw. Give --house SCAN, or --episode ID"),
        (["draw", "x.png", "--data", "{data}", "--house", "castle"], "House 'castle' is not known."),
        (["draw", "x.png", "--data", "{data}", "--episode", "0_99"], "is not known."),
    ],
)
def test_an_error_is_one_line_and_leaves_no_files(
    arguments: list[str],
    message: str,
    dollhouse: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    filled = [argument.format(tmp=tmp_path, data=dollhouse) for argument in arguments]
    try:
        code = main(filled)
    except SystemExit as end:
        code = int(end.code or 0)
    output = capsys.readouterr()
    assert code == 2
    assert message in output.err
    assert output.err.startswith("babywalk: ")
    assert output.err.count("\n") == 1
    assert "Traceback" not in output.err
    assert not list(tmp_path.iterdir())  # no partial output


def test_evaluate_single_baby_steps(
    aligned_dollhouse: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    base = ["evaluate", "--data", aligned_dollhouse, "--tasks", "r4r", "--baby-steps"]
    assert run(*base, "--agent", "oracle", "--split", "val_seen:10", "--by-length", "words") == 0
    text = capsys.readouterr().out
    assert "oracle r4r by length" in text
    assert "\nBaby-Steps: " in text
    assert run(*base, "--agent", "stop", "--split", "val_seen:10", "--json") == 0
    (report,) = json.loads(capsys.readouterr().out)["stop"]
    assert report["unit"] == "Baby-Steps"
    assert report["episodes"] > 10
    assert report["measures"]["PL"]["mean"] == 0
    for extra, message in (
        (
            ["--split", "val_unseen:10"],
            "the Baby-Steps of r4r val_unseen are not aligned with their paths. "
            f"Run 'babywalk data align r4r --data {aligned_dollhouse} --splits val_unseen'.",
        ),
        (["--split", "val_seen", "--trajectories", tmp_path], "--trajectories are of whole instructions"),
    ):
        assert run(*base, "--agent", "stop", *extra) == 2
        assert message in capsys.readouterr().err


def test_all_seeds_share_one_sample_of_instructions(
    dollhouse: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    base = ["evaluate", "stop", "--data", dollhouse, "--split", "val_unseen:5", "--seeds", "3"]
    assert run(*base, "--json") == 0
    first, *others = json.loads(capsys.readouterr().out).values()
    assert len(others) == 2
    assert others == [first, first]
    assert run(*base, "--trajectories", "walks") == 2
    assert "--trajectories are of one seed. Leave out --seeds" in capsys.readouterr().err


def test_a_split_without_goals_gives_trajectories_to_submit(
    dollhouse: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    walks = tmp_path / "walks"
    assert run("evaluate", "random", "--data", dollhouse, "--split", "test", "--trajectories", walks) == 0
    output = capsys.readouterr().out
    assert "test has no goals to score against; the trajectories are in" in output
    assert f"Next: babywalk submit {walks / 'r2r_test.json'} --data {dollhouse} submission.json" in output
    assert run("submit", walks / "r2r_test.json", "--data", dollhouse, tmp_path / "submission.json") == 0
    assert json.loads((tmp_path / "submission.json").read_text())


def test_table_compares_results(dollhouse: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    base = ["--data", dollhouse, "--split", "val_unseen:10", "--json"]
    agents = {"stop": ["--tasks", "r2r,r4r"], "random": ["--tasks", "r4r", "--seeds", "2"]}
    for agent, more in agents.items():
        assert run("evaluate", agent, *base, *more) == 0
        (tmp_path / f"{agent}.json").write_text(capsys.readouterr().out)
    files = [tmp_path / f"{agent}.json" for agent in agents]
    assert run("table", *files, "--paper", "r4r", "--measures", "PL,SR", "--name", "A", "B") == 0
    groups, names, stop, random, rule, *_ = capsys.readouterr().out.splitlines()
    assert groups.split() == ["R2R", "R4R"]
    assert names.split() == ["PL", "SR", "PL", "SR"]
    assert stop.split() == ["A", "0.00", "0.0", "0.00", "0.0"]
    assert random.split()[:3] == ["B", "-", "-"]
    assert set(rule) == {"-"}
    assert run("table", *files, "--markdown", "--intervals") == 0
    assert capsys.readouterr().out.startswith(
        "| | R2R SR | R2R CLS | R2R nDTW | R2R SDTW | R2R 95 % | R4R SR |"
    )
    for arguments, message in (
        ([tmp_path / "none.json"], "file not found."),
        ([*files, "--measures", "SR,SDWT"], "Measure 'SDWT' is not known. Did you mean 'SDTW'?"),
        ([*files, "--paper", "r5r"], "Task 'r5r' is not known."),
        ([*files, "--name", "A"], "There are 1 names for 2 files."),
        ([*files, "--intervals", "--measures", "SR"], "Intervals are those of SDTW."),
    ):
        assert run("table", *arguments) == 2
        assert message in capsys.readouterr().err


def test_truncated_results_are_reported(
    dollhouse: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "r.json").write_text('[{"instr_id": "1_0", "traj')
    assert run("score", tmp_path / "r.json", "--data", dollhouse, "--split", "val_seen") == 2
    assert "line 1 is not valid JSON (the file ends too early; copy it again)" in capsys.readouterr().err


def test_verify_reports_a_missing_file(
    dollhouse: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = tmp_path / "data"
    shutil.copytree(dollhouse, data, ignore=shutil.ignore_patterns("raw", "features"))
    (data / "r2r" / "R2R_train.json").unlink()
    assert run("data", "verify", data) == 2
    assert "1 files differ from their manifests: r2r/R2R_train.json is missing." in capsys.readouterr().err


def test_a_failed_import_leaves_no_files(dollhouse: Path, tmp_path: Path) -> None:
    raw = tmp_path / "raw"
    shutil.copytree(dollhouse / "raw" / "connectivity", raw / "connectivity")
    (raw / "R2R").mkdir()
    text = (dollhouse / "raw" / "R2R" / "R2R_train.json").read_text()
    (raw / "R2R" / "R2R_train.json").write_text(text[: len(text) // 2])
    code = run(
        "data", "import", "--connectivity", raw / "connectivity", "--r2r", raw / "R2R", tmp_path / "data"
    )
    assert code == 2
    assert [path.name for path in tmp_path.iterdir()] == ["raw"]


def test_a_process_prints_no_progress_bar_and_survives_a_closed_pipe(dollhouse: Path) -> None:
    command = [sys.executable, "-m", "babywalk", "data", "stats", "--data", str(dollhouse)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    closed = subprocess.run(
        f"{' '.join(command)} | head -1", shell=True, capture_output=True, text=True, check=True
    )
    assert closed.stderr == ""
    assert closed.stdout.startswith("4 houses")


def test_a_full_disk_is_reported_with_a_hint(
    dollhouse: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from babywalk.commands import data

    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", "data/x")

    monkeypatch.setattr(data, "data_statistics", full)
    assert run("data", "stats", "--data", dollhouse) == 2
    assert capsys.readouterr().err == (
        "babywalk: data/x: No space left on device. "
        "Free some space and try again; existing files are unchanged.\n"
    )


def test_a_setting_given_twice_is_an_error(
    dollhouse: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    base = ["train", "babywalk", "--data", dollhouse, "--run", tmp_path / "run"]
    assert run(*base, "--task", "r4r", "--set", "task=r2r") == 2
    assert "--task and --set task=... set the same thing. Give one of them." in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


def test_score_does_not_overwrite_its_input(
    dollhouse: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    base = ["--data", dollhouse, "--split", "val_unseen:5"]
    assert run("evaluate", "stop", *base, "--trajectories", tmp_path) == 0
    assert f"The trajectories are in {tmp_path}" in capsys.readouterr().out
    walks = tmp_path / "r2r_val_unseen_5.json"
    before = walks.read_bytes()
    assert run("score", walks, *base, "--task", "r2r", "--per-instruction", walks) == 2
    assert "would be overwritten by the measures" in capsys.readouterr().err
    assert walks.read_bytes() == before


def test_a_folder_as_output_file_is_an_error(
    dollhouse: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("data", "export", "r2r", "--data", dollhouse, "--split", "val_seen", tmp_path) == 2
    assert f"{tmp_path}: is a folder. Give the name of a file." in capsys.readouterr().err


def test_a_split_without_goals_has_no_long_tasks(dollhouse: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("evaluate", "stop", "--data", dollhouse, "--tasks", "r4r", "--split", "test") == 2
    assert "r4r cannot be had for test: its walks have no goals." in capsys.readouterr().err


@pytest.mark.parametrize("error", [MemoryError(), RuntimeError("[...] can't allocate memory: you tried")])
def test_out_of_memory_is_reported(
    error: Exception, dollhouse: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def too_much(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr("babywalk.commands.data.data_statistics", too_much)
    assert run("data", "stats", "--data", dollhouse) == 2
    assert "Out of memory." in capsys.readouterr().err


def test_closed_streams_and_limited_encodings_are_handled(dollhouse: Path) -> None:
    command = f"{sys.executable} -m babywalk data stats --data {dollhouse}"
    closed = subprocess.run(f"{command} >&-", shell=True, capture_output=True, text=True, check=False)
    assert (closed.returncode, closed.stderr) == (0, "")
    strange = [sys.executable, "-m", "babywalk", "data", "stats", "--data", "日本語"]
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    failed = subprocess.run(strange, capture_output=True, text=True, check=False, env=environment)
    assert failed.returncode == 2
    assert failed.stderr.startswith("babywalk: \\u65e5")
