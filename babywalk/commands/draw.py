"""Draw houses and trajectories from above."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from babywalk.assets.data_directory import PLANS
from babywalk.common.errors import ConfigError
from babywalk.episodes.dataset import Dataset
from babywalk.evaluation.figures.house import Trajectory, draw_house
from babywalk.evaluation.figures.style import save
from babywalk.evaluation.result_files import read_trajectories
from babywalk.instructions.identification import IdentificationConfig
from babywalk.instructions.store import (
    aligned_steps,
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
    """Draw a house from above, alone or with an episode: its expert path and trajectories of result files.

    `results` are labels and result files.
    """
    dataset = Dataset(folder)
    trajectories: list[Trajectory] = []
    title, instruction = scan or "", ""
    if episode is not None:
        loaded = dataset.task(task, split)
        number = loaded.index_of(episode)
        chosen = loaded[number]
        scan, title, instruction = chosen.scan, f"{task.upper()} {episode}", chosen.instruction
        path = loaded.paths[int(loaded.chain_of(np.array([number]))[0])]
        ends: tuple[int, ...] = ()
        if is_segmented(dataset, loaded.split):
            steps, method = aligned_steps(dataset, loaded, IdentificationConfig())
            if steps.ends is not None and method != "proportional":
                ends = tuple(steps.ends[number].tolist())
        trajectories.append(Trajectory("expert", tuple(path.tolist()), ends))
        for label, result_file in results:
            walked = read_trajectories(result_file, loaded).viewpoints[number]
            trajectories.append(Trajectory(label, tuple(walked.tolist())))
    if scan is None:
        raise ConfigError("Nothing to draw. Give --house SCAN, or --episode ID with --task and --split.")
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
    """Draw trajectories in a house, over its floor plan if it has one."""
    dataset.houses.viewpoints(scan)  # raises if the house is unknown
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
