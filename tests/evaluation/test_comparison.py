"""Results of several files in one table."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from babywalk.common.errors import ConfigError
from babywalk.evaluation.comparison import Layout, comparison_table, read_comparison
from babywalk.evaluation.evaluate import Measured
from babywalk.evaluation.report import Report
from babywalk.navigation.measures import MEASURES


def report(
    task: str, mean: float, *, split: str = "val_unseen", episodes: int = 500, unit: str = "instructions"
) -> Report:
    measured = {name: Measured(mean, mean - 0.05, mean + 0.05) for name in MEASURES}
    return Report(task, split, episodes, measured, [], unit)


def write_reports(file: Path, **agents: list[Report]) -> Path:
    """A file as 'babywalk evaluate --json' writes it; in a name, "__" stands for a space."""
    text = {name.replace("__", " "): [asdict(one) for one in found] for name, found in agents.items()}
    file.write_text(json.dumps(text))
    return file


def test_the_table_has_a_row_per_agent_and_columns_per_task(tmp_path: Path) -> None:
    one = write_reports(tmp_path / "one.json", one=[report("r8r", 0.25), report("r2r", 0.5)])
    two = write_reports(tmp_path / "two.json", two=[report("r2r", 0.125, episodes=2349)])
    text = comparison_table(read_comparison([one, two]), Layout(("NE", "SDTW")))
    assert text.splitlines() == [
        "      R2R           R8R",
        "       NE  SDTW      NE  SDTW",
        "one  0.50  50.0    0.25  25.0",
        "two  0.12  12.5       -     -",
        "",
        "Instructions of val_unseen: R2R (one 500, two 2,349), R8R 500. NE in metres, the rest in percent.",
    ]


def test_the_table_as_markdown_with_intervals(tmp_path: Path) -> None:
    file = write_reports(tmp_path / "one.json", one=[report("r4r", 0.25)])
    layout = Layout(("SDTW", "SR"), intervals=True, markdown=True)
    assert comparison_table(read_comparison([file], ["my agent"]), layout).splitlines() == [
        "| | R4R SDTW | R4R 95 % | R4R SR |",
        "|---|---|---|---|",
        "| my agent | 25.0 | 20.0..30.0 | 25.0 |",
        "",
        "Instructions of val_unseen: R4R 500. In percent. 95 %: the interval of SDTW.",
    ]


def test_the_rows_of_the_paper_are_below_a_rule(tmp_path: Path) -> None:
    file = write_reports(tmp_path / "one.json", one=[report("r4r", 0.25), report("r2r", 0.25)])
    found = read_comparison([file])
    lines = comparison_table(found, Layout(paper="r4r")).splitlines()
    assert lines[2].startswith("one")
    assert lines[3] == "-" * max(map(len, lines[:12]))
    rows = {line.split()[0]: line.split()[2:] for line in lines[4:12]}
    assert len(rows) == 8
    assert rows["BABYWALK+"] == ["34.1", "50.4", "50.0", "27.8", "27.3", "49.4", "39.6", "17.3"]
    assert rows["FAST+"] == ["25.1", "33.9", "27.9", "14.2", "36.2", "34.0", "-", "15.5"]
    assert "trained on R4R with ResNet-152 features" in lines[-1]
    trained_on_r2r = comparison_table(found, Layout(("SR",), paper="r2r", markdown=True))
    assert "| BABYWALK (paper) | 42.6 | 22.5 |" in trained_on_r2r


def test_seeds_of_one_agent_form_one_row(tmp_path: Path) -> None:
    file = write_reports(tmp_path / "s.json", a__0=[report("r4r", 0.25)], a__1=[report("r4r", 0.5)])
    text = comparison_table(read_comparison([file]), Layout(("SDTW",), intervals=True, markdown=True))
    assert "| a | 37.5 | 25.0..50.0 |" in text
    assert "a: the mean of 2 seeds, with their range under 95 %." in text
    other = write_reports(tmp_path / "o.json", a__0=[report("r4r", 0.25)], b__0=[report("r4r", 0.5)])
    assert set(read_comparison([other]).agents) == {"a 0", "b 0"}


def test_files_with_the_same_label_form_one_row(tmp_path: Path) -> None:
    short = write_reports(tmp_path / "short.json", a=[report("r2r", 0.5)])
    long = write_reports(tmp_path / "long.json", a=[report("r8r", 0.25)])
    assert read_comparison([long, short]).tasks == ["r2r", "r8r"]
    assert set(read_comparison([long, short]).agents) == {"a"}
    assert set(read_comparison([long, short], ["b", "b"]).agents) == {"b"}
    assert set(read_comparison([long, long], ["b", "c"]).agents) == {"b", "c"}


def test_results_with_different_rules_for_spl_are_not_compared_in_spl(tmp_path: Path) -> None:
    one = write_reports(tmp_path / "one.json", a=[report("r4r", 0.5)])
    two = write_reports(tmp_path / "two.json", b=[replace(report("r4r", 0.5), spl_start_is_goal="zero")])
    both = read_comparison([one, two])
    assert "SPL" not in comparison_table(both, Layout())
    with pytest.raises(ConfigError, match=r"differ in the SPL of paths that end at their start\. Give all"):
        comparison_table(both, Layout(("SPL",)))
    text = comparison_table(read_comparison([two]), Layout(("SPL",)))
    assert text.endswith("\nSPL is 0 where a reference path ends at its start.")


def test_results_that_cannot_be_compared_are_rejected(tmp_path: Path) -> None:
    one = write_reports(tmp_path / "one.json", a=[report("r4r", 0.5)])
    seen = write_reports(tmp_path / "seen.json", b=[report("r4r", 0.5, split="val_seen")])
    steps = write_reports(tmp_path / "steps.json", b=[report("r4r", 0.5, unit="Baby-Steps")])
    two = write_reports(tmp_path / "two.json", a=[report("r2r", 0.5)], b=[report("r2r", 0.5)])
    for files, names, message in (
        (
            [one, seen],
            [],
            r"seen\.json: is about instructions of val_seen, but .*one\.json about instructions of",
        ),
        ([one, steps], [], r"steps\.json: is about Baby-Steps of val_unseen, but"),
        (
            [one, one],
            [],
            r"one\.json: has a second result of 'a' on r4r\. Give each file its own label with --name\.",
        ),
        ([one, two], ["c"], r"There are 1 names for 2 files\. Give one name per file, in the same order\."),
        ([two], ["c"], r"two\.json: one name is given for several agents: a, b\."),
    ):
        with pytest.raises(ConfigError, match=message):
            read_comparison(files, names)
    with pytest.raises(
        ConfigError, match=r"The paper's results are on instructions of val_unseen, these are on"
    ):
        comparison_table(read_comparison([seen]), Layout(paper="r4r"))


def test_results_with_a_known_map_have_a_table_of_their_own(tmp_path: Path) -> None:
    known = replace(report("r4r", 0.5), decoding="beam:known_map=true", known_map=True)
    files = [write_reports(tmp_path / "a.json", a=[report("r4r", 0.5)])]
    files += [write_reports(tmp_path / "b.json", b=[known]), write_reports(tmp_path / "c.json", c=[known])]
    for order in (files[:2], files[1::-1]):
        message = r"b\.json: is of an agent that had the map of the house, .*a\.json of one that walked all"
        with pytest.raises(ConfigError, match=message):
            read_comparison(order)
    found = read_comparison(files[1:])
    assert comparison_table(found, Layout()).endswith(
        "The agent had the map of the house: what the search looks at is not walked."
    )
    with pytest.raises(ConfigError, match=r"The paper's agents did not have the map of the house, these did"):
        comparison_table(found, Layout(paper="r4r"))
