"""A diagnosis as text."""

from __future__ import annotations

from babywalk.common.tables import table
from babywalk.evaluation.diagnosis.diagnose import Diagnosis
from babywalk.evaluation.diagnosis.slices import SHOWN, Slice
from babywalk.evaluation.diagnosis.step_failures import Losing
from babywalk.evaluation.diagnosis.stopping import Stopping
from babywalk.evaluation.evaluation import Measured


def diagnosis_text(found: Diagnosis) -> str:
    """A short report, every number in percent and with its 95 % interval."""
    blocks = [f"{found.task} {found.split}, in percent, with 95 % intervals", _slices(found), ""]
    blocks += ["Stopping", _stopping(found.stopping), ""]
    if found.losing:
        blocks += ["Which Baby-Step loses the way", _losing(found.losing), ""]
    spread = ", ".join(
        f"{name} {100 * over.lowest:.1f} to {100 * over.highest:.1f}, median {100 * over.median:.1f}"
        for name, over in found.spread.items()
    )
    blocks.append(f"Over {found.houses} houses: {spread}.")
    blocks += [f"Left out: {line}" for line in found.left_out]
    return "\n".join(blocks)


def _slices(found: Diagnosis) -> str:
    rows = [_row(found.whole)]
    for name, group in {**found.groups, "worst houses": found.worst}.items():
        rows.append([name, *[""] * (1 + 2 * len(SHOWN))])
        rows += [_row(one, indent="  ") for one in group]
    header = ["", "instructions"]
    for measure in SHOWN:
        header += [measure, "95 %"]
    return table(header, rows)


def _row(one: Slice, indent: str = "") -> list[str]:
    cells = [f"{indent}{one.name}", f"{one.episodes:,}"]
    for measure in SHOWN:
        cells += _cells(one.measures[measure])
    return cells


def _cells(value: Measured | None) -> list[str]:
    """A share and its interval."""
    if value is None:
        return ["-", ""]
    return [f"{100 * value.mean:.1f}", f"{100 * value.low:.1f}..{100 * value.high:.1f}"]


def _stopping(found: Stopping) -> str:
    rows = {
        "came within 3 m of the goal, and ended elsewhere": found.passed,
        "walked over 3 m less than the expert": found.shorter,
        "as far as the expert": found.alike,
        "over 3 m more than the expert": found.longer,
    }
    lines = [[f"  {name}", *_cells(value)] for name, value in rows.items()]
    near = ["who came within 3 m of the goal ended there", *_cells(found.stayed)]
    return table([f"of {found.failures:,} failures", "", "95 %"], [*lines, near])


def _losing(found: Losing) -> str:
    rows = [[one.step, f"{one.came:,}", *_cells(one.lost)] for one in found.steps]
    text = table(["step", "came so far", "lost here", "95 %"], rows)
    if found.kept is None:
        return text
    success = _cells(found.kept.measures["SR"])
    return f"{text}\nNear the end of every step: {found.kept.episodes:,}; SR of these {' ('.join(success)})."
