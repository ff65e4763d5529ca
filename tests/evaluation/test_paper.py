"""The paper's tables as data, compared with its pages."""

from __future__ import annotations

import pytest

from babywalk.common.errors import ConfigError
from babywalk.evaluation.paper import PaperRow, paper_rows, paper_table
from babywalk.navigation.measures import MEASURES

ROWS = {(row.experiment, row.trained_on, row.task, row.agent): row for row in paper_rows()}


@pytest.mark.parametrize(
    ("experiment", "trained_on", "task", "agent", "printed"),
    [
        # Read by eye. The main table, R4R -> R4R and R4R -> R8R:
        ("agents", "r4r", "r4r", "BABYWALK", {"SR": 29.6, "CLS": 47.8, "SDTW": 18.1}),
        ("agents", "r4r", "r4r", "FAST+", {"SR": 36.2, "CLS": 34.0, "SDTW": 15.5}),
        ("agents", "r4r", "r8r", "RCM(fidelity)+", {"SR": 20.9, "CLS": 34.6, "SDTW": 6.1}),
        # The appendix: in-domain results, then transfer from each task.
        (
            "agents",
            "r2r",
            "r2r",
            "BABYWALK+",
            {"PL": 10.2, "NE": 5.9, "SPL": 39.6, "nDTW": 55.3, "SDTW": 36.9},
        ),
        ("agents", "r8r", "r8r", "SF+", {"PL": 53.0, "NE": 10.1, "SR": 18.6, "nDTW": 13.5}),
        ("agents", "r2r", "r6r", "FAST+", {"PL": 32.0, "NE": 9.0, "SR": 26.0, "SPL": 16.5, "nDTW": 21.9}),
        ("agents", "r4r", "r2r", "SEQ2SEQ", {"PL": 16.2, "NE": 7.8, "SR": 16.3, "SPL": 9.9, "nDTW": 29.3}),
        ("agents", "r4r", "r6r", "REGRETFUL+", {"PL": 19.9, "SR": 18.0, "CLS": 31.7, "SDTW": 7.5}),
        ("agents", "r6r", "r8r", "RCM(goal)+", {"PL": 14.2, "SR": 20.3, "SPL": 14.9, "SDTW": 6.4}),
        ("agents", "r8r", "r2r", "BABYWALK", {"PL": 9.1, "CLS": 49.5, "SDTW": 24.6}),
        ("agents", "r2r", "r2r", "REGRETFUL+", {"PL": 13.74, "NE": 5.38, "SR": 48.7, "SPL": 39.7}),
        # Ablations.
        ("memory", "r4r", "r4r", "none", {"SR": 18.9, "CLS": 43.1, "SDTW": 9.9}),
        ("memory", "r4r", "others", "gamma 0.05", {"SR": 26.0, "CLS": 45.5, "SDTW": 15.2}),
        ("curriculum", "r4r", "r6r", "lecture 2", {"PL": 40.6, "NE": 9.4, "SPL": 6.8, "SDTW": 11.0}),
        ("curriculum", "r4r", "r8r", "IL", {"PL": 93.1, "SR": 21.9, "nDTW": 15.5, "SDTW": 6.4}),
        ("segmentation", "r4r", "r2r", "sentences", {"NE": 6.8, "SR": 28.7, "SDTW": 22.4}),
        ("published", "r2r", "r2r", "RCM+", {"PL": 14.84, "NE": 5.88, "SR": 42.5}),
    ],
)
def test_cells_are_as_printed(
    experiment: str, trained_on: str, task: str, agent: str, printed: dict[str, float]
) -> None:
    found = ROWS[experiment, trained_on, task, agent].measures
    assert {name: found[name] for name in printed} == printed


def test_rows_are_unique_and_not_empty() -> None:
    rows = paper_rows()
    assert len(ROWS) == len(rows) == 205
    assert all(row.measures for row in rows)


@pytest.mark.parametrize("row", ROWS.values(), ids=lambda row: f"{row.experiment}-{row.agent}-{row.task}")
def test_measures_are_in_range(row: PaperRow) -> None:
    found = row.measures
    assert set(found) <= set(MEASURES)
    assert row.trained_on in ("r2r", "r4r", "r6r", "r8r")
    assert all(0 < value < 100 for value in found.values())
    assert found.get("SPL", 0) <= found.get("SR", 100)
    assert found.get("SDTW", 0) <= min(found.get("SR", 100), found.get("nDTW", 100))


OTHER_MEANS = [row for row in paper_rows() if row.task == "others" and row.experiment != "memory"]


@pytest.mark.parametrize("row", OTHER_MEANS, ids=lambda row: f"{row.experiment}-{row.trained_on}-{row.agent}")
def test_means_over_other_tasks_agree_with_the_printed_means(row: PaperRow) -> None:
    """The paper computed these means from unrounded numbers, so the last digit may differ."""
    tasks = {"r2r", "r4r", "r6r", "r8r"} - {row.trained_on}
    others = [ROWS[row.experiment, row.trained_on, task, row.agent] for task in tasks]
    for name, mean in row.measures.items():
        assert sum(other.measures[name] for other in others) / 3 == pytest.approx(mean, abs=0.101)


def test_a_table_has_its_own_figure_where_the_paper_prints_two() -> None:
    main, appendix = paper_table("main"), paper_table("transfer-r4r")
    assert main.figure("FAST+", "r4r>r8r", "SDTW") == 6.3
    assert appendix.figure("FAST+", "r4r>r8r", "SDTW") == 6.9
    assert main.figure("FAST+", "r4r>r8r", "PL") is None


def test_an_unknown_table_is_an_error() -> None:
    with pytest.raises(ConfigError, match="Did you mean 'memory'"):
        paper_table("memroy")


def test_the_full_curriculum_equals_the_agent_of_the_main_tables() -> None:
    for task in ("r2r", "r4r", "r6r", "r8r"):
        agent = ROWS["agents", "r4r", task, "BABYWALK+"].measures
        assert agent == ROWS["curriculum", "r4r", task, "lecture 4"].measures
        assert agent == ROWS["segmentation", "r4r", task, "six rules"].measures
