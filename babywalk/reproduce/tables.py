"""The tables of an experiment, ours beside the paper's: as Markdown, as LaTeX, and as cells for a page."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from babywalk.common.tables import markdown
from babywalk.evaluation.evaluate import Measured
from babywalk.evaluation.paper import PaperTable
from babywalk.evaluation.tables import METRES
from babywalk.reproduce.outcome import COMPARED, Outcome

_ABSENT = "-"
_WIDEST = 16  # columns of one table; a wider one is split by task
_SPECIAL = re.compile(r"([&%$#_{}])")


@dataclass(frozen=True, slots=True)
class TableCell:
    """One number of a table as text."""

    ours: str
    spread: str  # over seeds, empty for a single one
    paper: str
    reported: str  # by other papers
    difference: str  # from the reference row, of SDTW
    significant: bool  # whether the interval of the difference excludes 0


@dataclass(frozen=True, slots=True)
class ShownTable:
    """A table, or the part of a wide one that is about one task."""

    columns: tuple[str, ...]  # "R4R to R2R", each over all measures
    measures: tuple[str, ...]
    rows: dict[str, list[TableCell]]


def shown_tables(outcome: Outcome) -> list[ShownTable]:
    """The tables of an experiment."""
    table = outcome.experiment.table
    wide = len(table.columns) * len(table.measures) > _WIDEST
    parts = [(column,) for column in table.columns] if wide else [table.columns]
    return [
        ShownTable(
            tuple(column_name(column) for column in columns),
            table.measures,
            {
                row: [_cell(outcome, row, column, name) for column in columns for name in table.measures]
                for row in table.agents
            },
        )
        for columns in parts
    ]


def markdown_tables(outcome: Outcome) -> str:
    """The tables as Markdown; a row of ours is followed by the paper's."""
    return "\n\n".join(
        markdown(["", *_headings(table)], list(_lines(table, bool(outcome.experiment.reported))))
        for table in shown_tables(outcome)
    )


def latex_tables(outcome: Outcome) -> str:
    """The tables as LaTeX, without packages."""
    texts = []
    for table in shown_tables(outcome):
        header = [" & ".join(["", *map(_escaped, _headings(table))])]
        lines = [" & ".join(map(_escaped, line)) for line in _lines(table, bool(outcome.experiment.reported))]
        body = " \\\\\n".join([*header, *lines])
        columns = "l" + "r" * len(_headings(table))
        head, _, rest = body.partition("\n")
        texts.append(f"\\begin{{tabular}}{{{columns}}}\n{head}\n\\hline\n{rest} \\\\\n\\end{{tabular}}\n")
    return f"% {outcome.experiment.title}\n" + "\n".join(texts)


def column_name(column: str) -> str:
    """A column as it is shown."""
    trained_on, _, task = column.partition(">")
    names = {"others": "mean of the others", "all": "mean of all"}
    return f"{trained_on.upper()} to {names.get(task, task.upper())}"


def order_notes(outcome: Outcome) -> Iterator[str]:
    """Which rows are best and worst in SDTW, in the paper and here; nothing where rows are missing."""
    table = outcome.experiment.table
    if COMPARED not in table.measures or len(table.agents) < 2:
        return
    for column in table.columns:
        ours = {row: outcome.numbers.get((row, column, COMPARED)) for row in table.agents}
        known = {row: number.mean for row, number in ours.items() if number is not None}
        printed = {row: value for row in table.agents if (value := table.figure(row, column, COMPARED))}
        if set(known) != set(printed):
            continue
        best, worst = max(printed, key=printed.__getitem__), min(printed, key=printed.__getitem__)
        ranks = sorted(known, key=known.__getitem__, reverse=True)
        yield (
            f"{column_name(column)}: the paper's best row, {best}, is number {ranks.index(best) + 1} of "
            f"{len(ranks)} here, its last row, {worst}, number {ranks.index(worst) + 1}."
        )


def _headings(table: ShownTable) -> list[str]:
    return [f"{column} {name}" for column in table.columns for name in table.measures]


def _lines(table: ShownTable, reported: bool) -> Iterator[list[str]]:
    for row, cells in table.rows.items():
        yield [row, *(f"{cell.ours} ({cell.spread})" if cell.spread else cell.ours for cell in cells)]
        yield [f"{row}, paper", *(cell.paper for cell in cells)]
        if reported and any(cell.reported != _ABSENT for cell in cells):
            yield [f"{row}, its own paper", *(cell.reported for cell in cells)]


def _cell(outcome: Outcome, row: str, column: str, measure: str) -> TableCell:
    experiment = outcome.experiment
    number = outcome.numbers.get((row, column, measure))
    difference = outcome.differences.get((row, column)) if measure == COMPARED else None
    several = outcome.seeds.get((row, column), 0) > 1
    return TableCell(
        ours=_ABSENT if number is None else _text(measure, number.mean),
        spread=_range(measure, number) if number is not None and several else "",
        paper=_printed(experiment.table, row, column, measure),
        reported=_printed(experiment.reported, _reported_name(row), column, measure),
        difference=""
        if difference is None
        else f"{100 * difference.mean:+.1f} ({_range(measure, difference)})",
        significant=difference is not None and (difference.low > 0 or difference.high < 0),
    )


def _reported_name(row: str) -> str:
    """The paper of RCM reports one agent, which is compared with the one that is rewarded at the goal."""
    return row.replace("(goal)", "")


def _printed(table: PaperTable | None, row: str, column: str, measure: str) -> str:
    value = table.figure(row, column, measure) if table else None
    return _ABSENT if value is None else f"{value}"


def _text(measure: str, value: float) -> str:
    return f"{value if measure in METRES else 100 * value:.1f}"


def _range(measure: str, number: Measured) -> str:
    return f"{_text(measure, number.low)} to {_text(measure, number.high)}"


def _escaped(text: str) -> str:
    return _SPECIAL.sub(r"\\\1", text)
