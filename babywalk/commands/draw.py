"""Draw houses and trajectories from above."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from babywalk.assets.layout import PLANS
from babywalk.common.errors import ConfigError
from babywalk.episodes.dataset import Dataset
from babywalk.evaluation.answers import read_answers
from babywalk.evaluation.figures.house import Trajectory, draw_house
from babywalk.evaluation.figures.saving import save
from babywalk.instructions.identification import IdentificationConfig
from babywalk.instructions.store import (
    aligned,
    is_segmented,
)


def draw(
    folder: Path,
    file: Path,
    *,
    scan: str | None = None,
    task: str = "r2r",
    split: str = "val_unseen",
    episode: str | None = None,
    results: Sequence[tuple[str, Path]] = (),
) -> None:
    """Draw a house from above: alone, or with an episode's expert path and what result files answer to it."""
    dataset = Dataset(folder)
    trajectories: list[Trajectory] = []
    title, instruction = scan or "", ""
    if episode is not None:
        loaded = dataset.task(task, split)
        number = loaded.number_of(episode)
        described = loaded[number]
        scan, title, instruction = described.scan, f"{task.upper()} {episode}", described.instruction
        path = loaded.paths[int(loaded.chain_of(np.array([number]))[0])]
        ends: tuple[int, ...] = ()
        if is_segmented(dataset, loaded.split):
            steps, method = aligned(dataset, loaded, IdentificationConfig())
            if steps.ends is not None and method != "proportional":
                ends = tuple(steps.ends[number].tolist())
        trajectories.append(Trajectory("expert", tuple(path.tolist()), ends))
        for label, answers in results:
            walked = read_answers(answers, loaded).viewpoints[number]
            trajectories.append(Trajectory(label, tuple(walked.tolist())))
    if scan is None:
        raise ConfigError("Say what to draw: --house SCAN, or --episode ID with --task and --split.")
    draw_in_house(dataset, scan, trajectories, file, title=title, instruction=instruction)


def draw_in_house(
    dataset: Dataset,
    scan: str,
    trajectories: Sequence[Trajectory],
    file: Path,
    *,
    title: str = "",
    instruction: str = "",
) -> None:
    """Draw trajectories in a house that must be there, over its floor plan if it has one."""
    dataset.houses.viewpoints(scan)  # refuses a house that is not there
    plan = dataset.folder / PLANS / f"{scan}.json"
    figure = draw_house(
        dataset.houses,
        scan,
        trajectories,
        plan=plan if plan.exists() else None,
        title=title,
        instruction=instruction,
    )
    save(figure, file)
