"""Commands that run agents on tasks and score trajectories."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from babywalk.cli import main


def run(*arguments: object) -> int:
    return main([str(argument) for argument in arguments])


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


def test_spl_can_be_zero_where_the_start_is_the_goal(
    dollhouse: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    task = ["--data", dollhouse, "--split", "val_seen"]
    walking = ["evaluate", "oracle", *task, "--tasks", "r4r"]
    scoring = ["score", tmp_path / "r4r_val_seen.json", *task, "--task", "r4r"]
    assert run(*walking, "--trajectories", tmp_path) == 0
    paths = [item["trajectory"] for item in json.loads((tmp_path / "r4r_val_seen.json").read_text())]
    loops = sum(path[0][0] == path[-1][0] for path in paths)
    assert 0 < loops < len(paths)
    capsys.readouterr()

    def measures(command: list[object], *options: str) -> dict[str, dict[str, float]]:
        assert run(*command, *options, "--json") == 0
        (reports,) = json.loads(capsys.readouterr().out).values()
        return reports[0]["measures"]

    success, zero = measures(scoring), measures(scoring, "--spl-start-is-goal", "zero")
    assert success["SPL"]["mean"] - zero["SPL"]["mean"] == pytest.approx(loops / len(paths))
    assert {**zero, "SPL": 0} == {**success, "SPL": 0}
    assert measures(walking, "--spl-start-is-goal", "zero") == zero
    assert measures(scoring, "--spl-start-is-goal", "success") == success
    assert run(*scoring, "--spl-start-is-goal", "zero") == 0
    assert "\nSPL is 0 where a reference path ends at its start.\n" in capsys.readouterr().out
    assert run(*scoring, "--spl-start-is-goal", "none") == 2
    assert "spl_start_is_goal 'none' is not known. Choose from: success, zero." in capsys.readouterr().err


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
        (["--split", "val_seen", "--trajectories", tmp_path], "--trajectories saves whole instructions"),
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
    assert "--trajectories saves one seed. Leave out --seeds" in capsys.readouterr().err


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


def test_a_split_without_goals_has_no_long_tasks(dollhouse: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("evaluate", "stop", "--data", dollhouse, "--tasks", "r4r", "--split", "test") == 2
    assert "no r4r for test: the goals of its walks are not published." in capsys.readouterr().err
