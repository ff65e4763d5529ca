"""Learning curves, read from the log of a run and drawn."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from babywalk.cli import main
from babywalk.common.errors import ConfigError, DataError
from babywalk.evaluation.curves import read_curves
from babywalk.evaluation.figures.charts import draw_curves
from babywalk.training.log import Log


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """40 iterations of imitation and 20 of a lecture."""
    folder = tmp_path / "run"
    folder.mkdir()
    log = Log(folder, after=0)
    log.add(20, "imitation", 20, {"loss": 2.0, "accuracy": 0.5, "gradient": 9.0})
    log.add(40, "imitation", 40, {"loss": 1.0, "accuracy": 0.75, "gradient": 8.0})
    log.add(40, "imitation", 40, {"val SDTW": 0.25, "val NE": 6.5})
    log.add(60, "lecture 1", 20, {"loss": -1.0, "accuracy": 0.8, "reward": 0.3, "imitation": 0.4})
    log.add(60, "lecture 1", 20, {"val SDTW": 0.375, "val NE": 5.5})
    log.close()
    return folder


def test_the_series_of_a_run_are_read(run: Path) -> None:
    (found,) = read_curves([run])
    assert found.label == "run"
    assert found.stages == {"imitation": 0, "lecture 1": 40}
    assert list(found.series) == ["loss", "accuracy", "reward", "val SDTW"]
    assert found.series["loss"].iterations == [20, 40, 60]
    assert found.series["loss"].values == [2.0, 1.0, -1.0]
    assert found.series["reward"].iterations == [60]
    assert found.series["val SDTW"].values == [0.25, 0.375]
    (other,) = read_curves([run], "NE")
    assert other.series["val NE"].values == [6.5, 5.5]
    assert "val SDTW" not in other.series


def test_an_incomplete_last_line_is_ignored(run: Path) -> None:
    with (run / "metrics.csv").open("a") as file:
        file.write("80,lecture 1,40,lo")
    assert read_curves([run])[0].series["loss"].iterations == [20, 40, 60]


def test_each_quantity_is_a_panel_with_a_line_per_run(run: Path, tmp_path: Path) -> None:
    other = tmp_path / "elsewhere" / "run"
    other.mkdir(parents=True)
    log = Log(other, after=0)
    log.add(20, "imitation", 20, {"loss": 3.0})
    log.close()
    found = read_curves([run, other])
    assert [one.label for one in found] == [str(run), str(other)]  # both are named "run"
    panels = draw_curves(found).axes
    assert [axes.get_ylabel() for axes in panels] == ["loss", "accuracy, %", "reward", "validation SDTW, %"]
    lines = [line for line in panels[0].lines if line.get_label() in (str(run), str(other))]
    assert [list(line.get_ydata()) for line in lines] == [[2.0, 1.0, -1.0], [3.0]]
    drawn = next(line for line in panels[3].lines if line.get_label() == str(run))
    assert list(drawn.get_ydata()) == [25.0, 37.5]
    marks = [line.get_xdata()[0] for line in panels[1].lines if str(line.get_label()).startswith("_")]
    assert marks == [0, 40]


def test_names_of_short_stages_are_joined(tmp_path: Path) -> None:
    log = Log(tmp_path, after=0)
    for total, stage, done in ((1000, "imitation", 1000), (1010, "lecture 1", 10), (1020, "lecture 2", 10)):
        log.add(total, stage, done, {"loss": 1.0})
    log.close()
    names = [text.get_text() for text in draw_curves(read_curves([tmp_path])).axes[0].texts]
    assert names == ["imitation", "lecture 1 to lecture 2"]


def test_invalid_runs_are_reported(run: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"Measure 'SDWT' is not known\. Did you mean 'SDTW'"):
        read_curves([run], "SDWT")
    with pytest.raises(DataError, match=r"has no metrics\.csv"):
        read_curves([tmp_path])
    (run / "metrics.csv").write_text("total,stage,iteration,name,value\n1,imitation,x,loss,2\n")
    with pytest.raises(DataError, match=r"metrics\.csv: does not match metrics\.sha256: .* or remove"):
        read_curves([run])
    (run / "metrics.sha256").unlink()
    with pytest.raises(DataError, match="line 2 is not a measurement"):
        read_curves([run])
    for content, message in (
        (b"total,stage,iteration,name,value\n1,\xff,1,loss,2\n", "byte 35 is not UTF-8 text"),
        (b"a,b\n1,2\n", "the first line is"),
        (b"total,stage,iteration,name,value\n1,imitation,1,loss,2\n1,imitation\n", "line 3 is not a"),
        (b"total,stage,iteration,name,value\n" + b"9" * 400 + b",imitation,1,loss,2\n", "line 2 is not a"),
        (b"total,stage,iteration,name,value\n1,imitation,1,loss,inf\n", "line 2 is not a measurement"),
    ):
        (run / "metrics.csv").write_bytes(content)
        with pytest.raises(DataError, match=rf"metrics\.csv: {message}"):
            read_curves([run])
    (run / "metrics.csv").write_text("total,stage,iteration,name,value\n")
    with pytest.raises(DataError, match="These runs have not logged any measurement yet"):
        draw_curves(read_curves([run]))


def test_the_curves_command_draws_and_prints_json(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "curves.png"
    assert main(["curves", str(run), "--out", str(file)]) == 0
    assert str(file) in capsys.readouterr().out
    assert file.read_bytes().startswith(b"\x89PNG")
    assert main(["curves", str(run), "--out", str(file), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["series"]["reward"]["values"] == [0.3]
    assert main(["curves", str(tmp_path), "--out", str(file)]) == 2
    assert "has no metrics.csv" in capsys.readouterr().err
