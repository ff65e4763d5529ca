"""Every figure of the tables as data, compared with the LaTeX source of the paper where that is present."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from babywalk.evaluation.paper import paper_data, paper_rows, paper_table, paper_tables

FOLDER = Path(os.environ.get("BABYWALK_PAPER", Path(__file__).parents[3] / "shared" / "paper"))
TRANSPOSED = {"curriculum-all", "segmentation", "in-domain"}  # printed with a column for each agent
SPLIT_ROWS = {"reported": (0, 5), "sanity": (5, 10)}  # two tables of this package are one of the paper
ABSENT = "-"

Cells = list[list[float | str]]


@pytest.fixture(scope="module")
def source() -> str:
    files = sorted([*FOLDER.glob("*.txt"), *FOLDER.glob("*.tex")])
    if not files:
        pytest.skip(f"needs the LaTeX source of the paper in {FOLDER}, or in the folder BABYWALK_PAPER")
    return "\n".join(file.read_text() for file in files)


def cell(text: str) -> float | str | None:
    """A figure, "-" for a missing one, or None for a heading."""
    text = re.sub(r"\\bf\b|\s", "", text)
    if re.fullmatch(r"[\d,]*\d(\.\d+)?", text):
        return float(text.replace(",", ""))
    return ABSENT if text == ABSENT else None


def tabulars(source: str) -> dict[str, Cells]:
    """The figures of each tabular environment, by the label that follows it or the file that contains it."""
    found: dict[str, Cells] = {}
    name = ""
    pieces = r"%% file: (\S+)\.tex|\\begin\{tabular\}(.*?)\\end\{tabular\}|\\label\{(\w*:?tab:\w+|tbl:\w+)\}"
    for match in re.finditer(pieces, source, re.DOTALL):
        file, body, label = match.groups()
        if file:
            name = file
        elif body:
            rows = [
                [value for text in line.split("&") if (value := cell(text)) is not None]
                for line in re.split(r"\\\\", re.sub(r"\\(?:mid|bottom)rule|\\addlinespace", "", body))
            ]
            found[name] = [row for row in rows if row]
        elif name in found:
            found[label] = found.pop(name)
    return {label: rows for label, rows in found.items() if rows}


def printed(name: str, tables: dict[str, Cells]) -> Cells:
    """The figures of a table as printed, a row for each agent."""
    label = paper_table(name).label
    if transfer := re.fullmatch(r"transfer-(r\dr)", name):
        rows = tables[f"supp_tab_{transfer[1]}"]
        return [list(column) for column in zip(*rows, strict=True)]
    rows = tables[label.split(" ")[0]]
    if name in SPLIT_ROWS:
        first, last = SPLIT_ROWS[name]
        return rows[first:last]
    if name in TRANSPOSED:
        return [list(column) for column in zip(*rows, strict=True)]
    if name == "training-task":  # rows are what the agent was trained on; two column groups at a time
        return [[value for row in rows for value in row]]
    return rows


@pytest.mark.parametrize("name", paper_tables())
def test_every_figure_is_as_in_the_source(name: str, source: str) -> None:
    table = paper_table(name)
    found = [
        [
            ABSENT if value is None else value
            for column in table.columns
            for value in (table.figure(agent, column, measure) for measure in table.measures)
        ]
        for agent in table.agents
    ]
    assert found == printed(name, tabulars(source))


def test_the_data_sets_are_as_in_the_source(source: str) -> None:
    found = [[float(value) for value in row.values()] for row in paper_data().values()]
    assert found == tabulars(source)["tbl:datasets"]


def test_no_table_of_the_source_is_left_out(source: str) -> None:
    ours = {table.label.split(" ")[0] for table in paper_tables().values()} - {"supp:tab:transfer"}
    assert set(tabulars(source)) == {*ours, "tbl:datasets", *(f"supp_tab_r{number}r" for number in "2468")}


def test_every_row_is_part_of_a_table() -> None:
    """But for two that other papers report and the appendix does not repeat."""
    shown = {
        (table.experiment, agent, column)
        for table in paper_tables().values()
        for agent in table.agents
        for column in table.columns
    }
    rows = {(row.experiment, row.agent, f"{row.trained_on}>{row.task}") for row in paper_rows()}
    assert rows - shown == {("published", agent, "r2r>r2r") for agent in ("RANDOM", "SF+ pragmatic")}
