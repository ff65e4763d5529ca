"""How tasks were walked, as 'babywalk evaluate' tells it, and as files keep it."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from babywalk.common.config import from_table
from babywalk.common.errors import ConfigError, DataError
from babywalk.common.files import read_json
from babywalk.episodes.joining import TASKS
from babywalk.evaluation.evaluation import Group, Measured
from babywalk.navigation.measures import MEASURES


@dataclass(frozen=True, slots=True)
class Report:
    """How one task was walked, in every way it was asked for."""

    task: str
    split: str
    episodes: int
    measures: dict[str, Measured]
    by_length: list[Group]
    unit: str = "instructions"  # what `episodes` counts


def read_reports(file: Path) -> dict[str, list[Report]]:
    """What 'babywalk evaluate --json' said of each agent, or of each seed of one."""
    value = read_json(file)
    try:
        found = {
            agent: [from_table(Report, report) for report in reports] for agent, reports in value.items()
        }
    except (AttributeError, ConfigError, TypeError):  # not even a table, wrong fields, missing fields
        found = {}
    if not found or not all(found.values()) or not all(map(_whole, chain(*found.values()))):
        raise DataError(f"{file}: is not what 'babywalk evaluate --json' says.")
    return found


def _whole(report: Report) -> bool:
    return report.task in TASKS and set(report.measures) == set(MEASURES)
