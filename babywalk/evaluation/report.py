"""Reports: the scores of an agent on a task, and the JSON files of `babywalk evaluate --json`."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from babywalk.common.config import from_table
from babywalk.common.errors import ConfigError, DataError
from babywalk.common.files import read_json
from babywalk.episodes.joining import TASKS
from babywalk.evaluation.evaluate import Group, Measured
from babywalk.navigation.measures import MEASURES, SPL_START_IS_GOAL

KNOWN_MAP = "The agent had the map of the house: what the search looks at is not walked."


@dataclass(frozen=True, slots=True)
class Report:
    """The scores of one agent on one task."""

    task: str
    split: str
    episodes: int
    measures: dict[str, Measured]
    by_length: list[Group]  # empty if not asked for
    unit: str = "instructions"  # what `episodes` counts: "instructions" or "Baby-Steps"
    spl_start_is_goal: str = "success"  # the convention of SPL, as in `score`
    decoding: str = ""  # the decoder and its settings; empty if unknown or if the agent scores no actions
    known_map: bool = False  # whether the search had the graph of the house, and walked nothing back


def read_reports(file: Path) -> dict[str, list[Report]]:
    """Read the output of `babywalk evaluate --json`: reports by agent, or by seed of one agent."""
    value = read_json(file)
    try:
        found = {
            agent: [from_table(Report, report) for report in reports] for agent, reports in value.items()
        }
    except (AttributeError, ConfigError, TypeError):  # not a JSON object, wrong fields, missing fields
        found = {}
    if not found or not all(found.values()) or not all(map(_is_complete, chain(*found.values()))):
        raise DataError(f"{file}: is not the output of 'babywalk evaluate --json'.")
    return found


def _is_complete(report: Report) -> bool:
    return (
        report.task in TASKS
        and set(report.measures) == set(MEASURES)
        and report.spl_start_is_goal in SPL_START_IS_GOAL
    )
