"""The one place where everything is put together: each command of the command line is one function here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from babywalk.assets.dollhouse import DollhouseConfig, write_dollhouse
from babywalk.assets.fine_grained import fine_grained_file, read_fine_grained
from babywalk.assets.layout import FINE_GRAINED, PLANS, RAW
from babywalk.assets.manifest import component
from babywalk.assets.r2r import write_walks
from babywalk.assets.results import write_results
from babywalk.assets.trained import built_in_models, find_model
from babywalk.episodes.dataset import Dataset
from babywalk.episodes.importing import Imported, RawFiles, import_into
from babywalk.episodes.joining import TASKS
from babywalk.episodes.statistics import Statistics, lengths, statistics
from babywalk.episodes.task import Task
from babywalk.errors import ConfigError, DataError, unknown
from babywalk.files import check_folder, replacing_folder, write_json
from babywalk.instructions.agreement import Agreement, agreement
from babywalk.instructions.babysteps import BabySteps, walks_with_steps
from babywalk.instructions.identification import READINGS, IdentificationConfig
from babywalk.instructions.library import (
    aligned,
    identified,
    is_segmented,
    kept_aligned,
    segment_splits,
)
from babywalk.instructions.sentences import WordLists
from babywalk.instructions.single import SingleSteps
from babywalk.policies.agent import Agent
from babywalk.policies.simple import SIMPLE_AGENTS
from babywalk.progress import progress
from babywalk.validation.answers import as_answers, read_answers
from babywalk.validation.comparison import read_comparison
from babywalk.validation.comparison_table import Layout, comparison_table
from babywalk.validation.curves import Curves, read_curves
from babywalk.validation.diagnosis.diagnose import Diagnosis, diagnose
from babywalk.validation.evaluation import (
    Evaluation,
    by_length,
    check_goals,
    check_length,
    evaluate,
    summarise,
    walk_all,
    walk_steps,
)
from babywalk.validation.figures.curves import draw_curves
from babywalk.validation.figures.diagnosis import draw_diagnosis
from babywalk.validation.figures.house import Trajectory, draw_house
from babywalk.validation.figures.lengths import draw_lengths
from babywalk.validation.figures.saving import save
from babywalk.validation.reports import Report
from babywalk.validation.score_table import write_per_instruction

_BUILT_IN = ("Made by BabyWalk's Dollhouse: free of any licence.",)


def make_dollhouse(folder: Path, config: DollhouseConfig, *, precision: str = "float16") -> Imported:
    """Write the built-in data set and bring it in through the same readers as any other."""
    if folder.exists() and any(folder.iterdir()):
        raise ConfigError(f"{folder}: is not empty. Give a new folder for the Dollhouse.")
    with replacing_folder(folder) as target:
        with component(target / RAW, f"Dollhouse, raw files: {config}", notes=_BUILT_IN) as draft:
            write_dollhouse(draft.folder, config)
        raw = target / RAW
        files = RawFiles(
            connectivity=raw / "connectivity",
            r2r=raw / "R2R",
            boxes=raw / "BBox",
            categories=raw / "category_mapping.tsv",
            rooms=raw / "rooms",
            features=tuple((file.stem, file) for file in sorted((raw / "features").glob("*.tsv"))),
            fine_grained=raw / "fgr2r",
            plans=raw / "plans",
        )
        lines = list(import_into(target, files, precision=precision, notes=_BUILT_IN))
        dataset = Dataset(target)
        for name in TASKS:
            for split in _joinable(dataset):
                if TASKS[name].walks > 1:
                    task = dataset.build(name, split)
                    lines.append(f"{name} {split}: {len(task):,} instructions")
    return Imported(folder, tuple(lines))


def build_tasks(
    folder: Path, names: Sequence[str], splits: Sequence[str] | None, *, full: bool, seed: int
) -> list[Task]:
    """Join walks into tasks and keep them in the data directory."""
    dataset = Dataset(folder)
    wanted = splits or _joinable(dataset)
    return [dataset.build(name, split, full=full, seed=seed) for name in names for split in wanted]


def data_statistics(folder: Path, *, figure: Path | None = None) -> Statistics:
    """Count what a data directory holds; with `figure`, draw the lengths of instructions and paths."""
    dataset = Dataset(folder)
    if figure:
        split = "train" if "train" in dataset.splits else dataset.splits[0]
        tasks = {name: lengths(dataset.task(name, split)) for name in TASKS if dataset.has(name, split)}
        save(draw_lengths(tasks), figure)
    return statistics(dataset)


def step_counts(folder: Path) -> dict[str, dict[str, float]]:
    """Baby-Steps per training instruction, by reading of the rules and task; none if not segmented."""
    dataset = Dataset(folder)
    if not is_segmented(dataset, "train"):
        return {}
    tasks = [dataset.task(name, "train") for name in TASKS if dataset.has(name, "train")]
    return {
        label: {task.name: identified(dataset, task, config).mean for task in tasks}
        for label, config in _readings().items()
    }


def check_segments(folder: Path, split: str) -> dict[str, Agreement]:
    """How far our steps, under each reading of the rules, agree with marked sub-instructions of a split."""
    dataset = Dataset(folder)
    marked = read_fine_grained(fine_grained_file(folder / FINE_GRAINED, split))
    task = dataset.task("r2r", split)
    found = {}
    for label, config in _readings().items():
        steps = identified(dataset, task, config)
        found[label] = agreement(marked, (steps.texts(episode) for episode in range(len(steps))))
    return found


def _readings() -> dict[str, IdentificationConfig]:
    """Every way of cutting instructions, by a label for people."""
    configs = {f"reading {name!r}": IdentificationConfig(reading=name) for name in READINGS}
    return {**configs, "a step per sentence": IdentificationConfig(mode="sentence")}


def segment_data(
    folder: Path,
    splits: Sequence[str] | None,
    *,
    lists: WordLists | None = None,
    tagger: str | None = None,
    workers: int = 2,
) -> dict[str, BabySteps]:
    """Segment the instructions of splits; the steps of their R2R episodes."""
    dataset = Dataset(folder)
    wanted = splits or dataset.splits
    segment_splits(dataset, wanted, lists=lists, tagger=tagger, workers=workers)
    return {split: identified(dataset, dataset.task("r2r", split)) for split in wanted}


def export_task(
    folder: Path, name: str, split: str, file: Path, *, seed: int = 0, steps: bool = False
) -> int:
    """Write a task in the community's JSON format; returns the number of instructions.

    With `steps`, each walk also lists its Baby-Steps: sub-instructions, sub-paths, headings at their starts.
    """
    dataset = Dataset(folder)
    task = dataset.task(name, split, seed=seed)
    walks = progress(task.as_walks(), "Writing", total=len(task.chains_used), unit="path")
    if not steps:
        write_walks(file, walks)
        return len(task)
    found, _ = aligned(dataset, task, IdentificationConfig())
    write_json(file, list(walks_with_steps(found)), indent=None)
    return len(task)


def score_results(
    file: Path,
    folder: Path,
    task: str,
    split: str,
    *,
    seed: int = 0,
    per_path: bool = False,
    length: str | None = None,
    per_instruction: Path | None = None,
) -> Report:
    """Check and score the result file of any agent."""
    if per_instruction and per_instruction.resolve() == file.resolve():
        raise ConfigError(f"{file}: would be written over by the measures. Give --per-instruction another.")
    loaded = Dataset(folder).task(task, split, seed=seed)
    found = evaluate(loaded, read_answers(file, loaded))
    if per_instruction:
        write_per_instruction(per_instruction, found)
    return _report(found, seed, per_path, length)


def evaluate_agent(
    name: str,
    folder: Path,
    tasks: Sequence[str],
    split: str,
    *,
    seed: int = 0,
    per_path: bool = False,
    length: str | None = None,
    trajectories: Path | None = None,
    step_size: int | None = None,
    luck: int | None = None,
) -> list[Report]:
    """Let an agent walk tasks and score it; its trajectories are kept in files of a folder, by `result_file`.

    With `step_size` it is told instructions in steps of about so many characters. `luck` is the seed of an
    agent that draws, where it is not that of all else. Of a split without goals there is no report, and
    trajectories alone.
    """
    if length:
        check_length(length)
    if trajectories:
        check_folder(trajectories, "Give --trajectories a folder.")
    dataset = Dataset(folder)
    agent = _agent(name, dataset, seed if luck is None else luck, step_size)
    reports = []
    for loaded in _loaded(dataset, tasks, split, seed, measured=trajectories is None):
        walked = walk_all(agent, loaded)
        if trajectories:
            write_results(result_file(trajectories, loaded.name, split), as_answers(walked, loaded))
        if loaded.walks.has_goals:
            reports.append(_report(evaluate(loaded, walked), seed, per_path, length))
    return reports


def result_file(folder: Path, task: str, split: str) -> Path:
    """Where trajectories are kept; those of a sample, as "val_unseen:40", do not overwrite those of all."""
    return folder / f"{task}_{split.replace(':', '_')}.json"


def evaluate_single_steps(
    name: str,
    folder: Path,
    tasks: Sequence[str],
    split: str,
    *,
    seed: int = 0,
    per_path: bool = False,
    length: str | None = None,
    luck: int | None = None,
) -> list[Report]:
    """Let an agent walk each aligned Baby-Step alone, and score it against the expert's stretch of path.

    `luck` as in `evaluate_agent`.
    """
    if length:
        check_length(length)
    dataset = Dataset(folder)
    agent = _agent(name, dataset, seed if luck is None else luck)
    reports = []
    for loaded in _loaded(dataset, tasks, split, seed, measured=True):
        single = SingleSteps.of(kept_aligned(dataset, loaded))
        found = evaluate(single.task, walk_steps(agent, single))
        report = _report(found, seed, per_path, length, paths=single.paths)
        reports.append(replace(report, unit="Baby-Steps"))
    return reports


def _loaded(dataset: Dataset, tasks: Sequence[str], split: str, seed: int, *, measured: bool) -> list[Task]:
    """Tasks to walk; whether what is to be measured has goals is known before anyone walks."""
    found = [dataset.task(task, split, seed=seed) for task in tasks]
    for task in found if measured else []:
        check_goals(task)
    return found


def compare_results(files: Sequence[Path], layout: Layout, names: Sequence[str] = ()) -> str:
    """One table of what 'babywalk evaluate --json' said in some files; `names` are labels, one per file."""
    return comparison_table(read_comparison(files, names), layout)


def diagnose_walks(
    walks: str,
    folder: Path,
    task: str,
    split: str,
    *,
    seed: int = 0,
    figure: Path | None = None,
) -> Diagnosis:
    """Say where an agent fails: `walks` is a result file, or an agent that walks first."""
    dataset = Dataset(folder)
    loaded = dataset.task(task, split, seed=seed)
    check_goals(loaded)
    if walks.endswith(".json"):
        walked = read_answers(Path(walks), loaded)
    else:
        walked = walk_all(_agent(walks, dataset, seed), loaded)
    steps, left_out = _steps_if_there(dataset, loaded)
    vocabulary = dataset.vocabulary() if "train" in dataset.splits else None
    if vocabulary is None:
        left_out.append("unknown words, which need the walks of a train split.")
    found = diagnose(
        evaluate(loaded, walked), steps=steps, vocabulary=vocabulary, left_out=tuple(left_out), seed=seed
    )
    if figure:
        save(draw_diagnosis(found), figure)
    return found


def _steps_if_there(dataset: Dataset, task: Task) -> tuple[BabySteps | None, list[str]]:
    """The Baby-Steps of a task, aligned if they were; and what is missing, with the command that makes it."""
    try:
        steps = identified(dataset, task)
    except DataError as missing:
        return None, [f"numbers of Baby-Steps, and which loses the way. {missing}"]
    try:
        return kept_aligned(dataset, task), []
    except DataError as missing:
        return steps, [f"which Baby-Step loses the way. {missing}"]


def learning_curves(runs: Sequence[Path], file: Path, measure: str = "SDTW") -> list[Curves]:
    """Draw what runs wrote down while they learned."""
    found = read_curves(runs, measure)
    save(draw_curves(found), file)
    return found


def submit(results: Path, folder: Path, split: str, file: Path) -> int:
    """Check trajectories of R2R and write them as the leaderboard reads them; returns how many."""
    task = Dataset(folder).task("r2r", split)
    write_results(file, as_answers(read_answers(results, task), task))
    return len(task)


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


def _agent(name: str, dataset: Dataset, seed: int, step_size: int | None = None) -> Agent:
    """A simple agent by its name, or a learned one by its run or its file."""
    if name in SIMPLE_AGENTS:
        if step_size is not None:
            raise ConfigError(f"Agent {name!r} reads nothing, in steps of any size. Leave out --step-size.")
        return SIMPLE_AGENTS[name](seed)
    if find_model(name) is None:
        known = [*SIMPLE_AGENTS, *built_in_models(), "a run's directory", "a model's file"]
        raise unknown("Agent", name, known)
    # Loaded where it is needed: everything else here works without torch.
    from babywalk.experiments import load_agent

    return load_agent(Path(name), dataset.folder, step_size=step_size)


def _report(
    found: Evaluation,
    seed: int,
    per_path: bool,
    length: str | None,
    *,
    paths: NDArray[np.int64] | None = None,
) -> Report:
    return Report(
        task=found.task.name,
        split=found.task.split,
        episodes=len(found.task),
        measures=summarise(found, seed=seed, per_path=per_path, paths=paths),
        by_length=by_length(found, length, per_path=per_path, paths=paths) if length else [],
    )


def _joinable(dataset: Dataset) -> list[str]:
    return [split for split in dataset.splits if dataset.walks(split).has_goals]
