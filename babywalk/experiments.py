"""Experiments with agents that learn: train one, load one, let it follow an instruction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from babywalk.assets.fine_grained import fine_grained_file, read_fine_grained
from babywalk.assets.layout import ALIGNER, FINE_GRAINED, LANDMARKS, SPEAKER
from babywalk.assets.manifest import details
from babywalk.assets.trained import find_model
from babywalk.buildings.features import BLIND, LOOKAHEAD, open_features, sources
from babywalk.config import from_table, merged
from babywalk.episodes.dataset import Dataset
from babywalk.errors import ConfigError
from babywalk.files import alone_in, write_json
from babywalk.instructions.babysteps import BabySteps
from babywalk.instructions.identification import IdentificationConfig
from babywalk.instructions.library import UNALIGNED, aligned, identified, keep_aligned, segmented
from babywalk.navigation.observation import Observer
from babywalk.navigation.teacher import Teacher
from babywalk.navigation.world import World
from babywalk.progress import tell
from babywalk.recipes import draw_in_house
from babywalk.validation.evaluation import check_goals, evaluate, walk_all
from babywalk.validation.figures.house import Trajectory

try:
    import torch
except ImportError:
    raise ConfigError(
        "Agents that learn need torch. Install it with: pip install 'babywalk[agents]'."
    ) from None

from babywalk.instructions.alignment.aligner import Aligner, load_aligner
from babywalk.instructions.alignment.aligning import align
from babywalk.instructions.alignment.evaluation import Placed, compare_methods
from babywalk.instructions.alignment.told import told_by_people
from babywalk.instructions.alignment.training import train_aligner
from babywalk.instructions.landmarks.model import LandmarkModel, load_landmarks
from babywalk.instructions.landmarks.precision import LandmarkReport, report_landmarks
from babywalk.instructions.landmarks.training import train_landmarks
from babywalk.policies.following import Followed
from babywalk.policies.learned import LearnedAgent, observer_for
from babywalk.policies.lessons import Lessons
from babywalk.policies.model import Model, load_model, new_model, take_over_mean
from babywalk.policies.walking import Guide
from babywalk.speaking.speaker import Speaker, SpeakerConfig, load_speaker
from babywalk.speaking.spoken import check_split, described, keep_split
from babywalk.speaking.training import perplexity, train_speaker
from babywalk.speaking.unspoken import draw_unspoken
from babywalk.training.begun import beginning, read_begun, refuse_changes, run_of, write_begun
from babywalk.training.checkpoint import Progress
from babywalk.training.config import TrainingConfig
from babywalk.training.loop import Trainer
from babywalk.training.presets import AGENTS, PRESETS
from babywalk.training.recipe import Recipe, read_recipe
from babywalk.training.stages import training_stages
from babywalk.training.versions import versions

RESULT = "result.json"  # what a run that has ended leaves


def train_agent(
    name: str | None,
    folder: Path,
    run: Path,
    *,
    task: str | None = None,
    preset: str | None = None,
    settings: Mapping[str, Any] | None = None,
    recipe: Path | None = None,
    resume: bool = False,
) -> Progress:
    """Train an agent; the run's directory holds its settings, log, checkpoints and the model.

    What is not given is taken from the recipe, and then from the agent and the preset.
    """
    asked = _recipe(name, recipe)
    over = merged({"task": task} if task else {}, settings or {})
    begin = beginning(asked, run, preset, over, resume)
    config, name = begin.config, asked.agent
    if config.threads:
        torch.set_num_threads(config.threads)
    dataset = Dataset(folder)
    # Written down with the run: which source comes first may change as others are imported.
    features = config.features or next(iter(sources(folder)), BLIND)
    config = replace(config, features=features)
    observer = observer_for(features, dataset, gain=config.policy.feature_gain)
    model = new_model(
        config.policy,
        dataset.vocabulary(),
        dataset.word_vectors(),
        features=features,
        view_width=observer.view_width,
        action_width=observer.candidate_width,
        columns=open_features(folder, features, dataset.houses).columns,
        seed=config.seed,
    )
    model.facts.update(agent=name, task=config.task, seed=config.seed)
    if config.begin_from:
        before = {Path(other): _begun_from(other) for other in config.begin_from.split(",")}
        take_over_mean(model, before)
        model.facts["begun_from"] = [other.facts for other in before.values()]
    guide, teacher = Guide(model.network, observer), Teacher.of(dataset.houses).to("cpu")
    imitated, rewarded, model.facts["alignment"] = _lessons(dataset, config, model)
    if model.facts["alignment"] == UNALIGNED and config.policy.steps != "whole":
        tell(
            f"{config.task} train is not aligned: a step is taken to end where its share of the words does. "
            f"Better: babywalk data align {config.task} --data {folder}"
        )
    stages = training_stages(config, guide, imitated, rewarded, teacher)
    watched = dataset.task(config.task, config.validate_on)
    check_goals(watched)
    agent = LearnedAgent(model, dataset)

    def evaluate_now() -> dict[str, float]:
        return evaluate(watched, walk_all(agent, watched)).scores.means()

    trainer = Trainer(run, model, stages, config, evaluate_now)
    with alone_in(run):
        if resume:
            # Before anything is written: they refuse what the run cannot go on with.
            _check_goes_on(run, trainer)
            trainer.resume()
            _check_not_too_late(run, begin.changed, trainer)
        write_begun(run, agent=name, recipe=begin.recipe, preset=begin.preset, data=folder, config=config)
        write_json(run / "versions.json", versions())
        done = trainer.run_all()
        write_json(run / RESULT, asdict(done))
    return done


def _begun_from(name: str) -> Model:
    """A model to begin with."""
    if find_model(name) is None:
        raise ConfigError(f"begin_from = {name!r} is no run and no model. Train it first, or leave it out.")
    return load_model(Path(name))


def _lessons(
    dataset: Dataset, config: TrainingConfig, model: Model
) -> tuple[list[Lessons], list[Lessons], str]:
    """What is imitated and what is rewarded: first the run's task in steps of the agent's own size.

    Also by which method the steps of that task are aligned.
    """
    world, own = World.of(dataset.houses), config.policy.step_size
    task = cache(dataset.task)

    @cache
    def taught(name: str, split: str, size: int) -> tuple[Lessons, str]:
        told = replace(config.policy, step_size=size)
        asked = task(name, split)
        if not asked.walks.has_goals:
            raise ConfigError(f"{name} {split} has no goals to learn from. Choose another split.")
        if not len(asked):
            raise ConfigError(f"{name} {split} has no episodes to learn from. Choose another split.")
        steps, method = aligned(dataset, asked, told.cut)
        return Lessons.of(steps, world, model.vocabulary, told), method

    def with_others(mix: str, sizes: Sequence[int]) -> list[Lessons]:
        named = [config.task, *(name for name in mix.split(",") if name)]
        parts = [name.partition(":") for name in named]
        return [taught(name, split or "train", size)[0] for size in sizes for name, _, split in parts]

    imitated = with_others(config.imitation.mix, (own, *config.imitation.sizes))
    return imitated, with_others(config.reinforce.mix, (own,)), taught(config.task, "train", own)[1]


def _recipe(name: str | None, file: Path | None) -> Recipe:
    """The recipe in a file, or that of an agent by its name; who gives both must mean the same agent."""
    if file is None:
        if name is None:
            raise ConfigError(
                f"Say which agent to train, one of {', '.join(AGENTS)}, or give --config FILE.toml."
            )
        return Recipe(name)
    found = read_recipe(file)
    if name not in (None, found.agent):
        raise ConfigError(
            f"{file}: is a recipe for {found.agent!r}, not for {name!r}. Leave one of them out."
        )
    return found


def _check_goes_on(run: Path, trainer: Trainer) -> None:
    """Refuse to train a run that has ended from its beginning; say so where one has not come far."""
    if trainer.last.exists():
        return
    if (run / RESULT).exists():
        raise ConfigError(
            f"{run}: has ended, and its checkpoint {trainer.last.name} is gone, so that it cannot go on. "
            f"Begin another run from its model, with --set begin_from={run}."
        )
    tell(f"{run}: has no checkpoint yet, and begins anew.")


def _check_not_too_late(run: Path, changed: Sequence[str], trainer: Trainer) -> None:
    """Refuse to change the settings of what has ended."""
    if not trainer.left:
        refuse_changes(run, changed)
    if "imitation" in trainer.progress.bests:
        refuse_changes(run, [name for name in changed if name.startswith("imitation.")])


def learn_landmarks(folder: Path, features: str | None = None) -> LandmarkReport:
    """Train the landmark classifier of appendix A.2, keep it, and report on val_seen."""
    dataset = Dataset(folder)
    spec = _objects_or_first(folder, features)
    model = train_landmarks(dataset, segmented(dataset, "train"), spec)
    model.save(folder / LANDMARKS)
    logits = model.logits(open_features(folder, spec, dataset.houses))
    return report_landmarks(model, logits, dataset.walks("val_seen"), segmented(dataset, "val_seen"))


def align_data(
    folder: Path,
    tasks: Sequence[str],
    splits: Sequence[str] | None,
    *,
    method: str = "best",
    features: str | None = None,
    joints: bool = False,
    config: IdentificationConfig | None = None,
) -> list[BabySteps]:
    """Align the Baby-Steps of tasks with their paths and keep them; what must be learned first is learned."""
    dataset, cut = Dataset(folder), config or IdentificationConfig()
    spec = _objects_or_first(folder, features)
    seen = open_features(folder, spec, dataset.houses)
    aligner = _aligner(dataset, spec) if method == "best" else None
    landmarks = _landmarks(dataset, spec) if method == "paper" else None
    found = []
    for split in splits or ["train"]:
        for name in tasks:
            steps = identified(dataset, dataset.task(name, split), cut)
            steps = align(
                steps, method=method, features=seen, aligner=aligner, landmarks=landmarks, joints=joints
            )
            keep_aligned(dataset, steps, cut, method=method, notes=seen.notes)
            found.append(steps)
    return found


def compare_alignments(folder: Path, split: str, features: str | None = None) -> dict[str, Placed]:
    """How well each method places the ends of sub-instructions that people, or the narrator, marked."""
    dataset, spec = Dataset(folder), _objects_or_first(folder, features)
    file = fine_grained_file(folder / FINE_GRAINED, split)
    told, truth = told_by_people(read_fine_grained(file), dataset.houses)
    return compare_methods(
        told,
        truth,
        dataset.houses,
        open_features(folder, spec, dataset.houses),
        landmarks=_landmarks(dataset, spec),
        aligner=_aligner(dataset, spec),
    )


@dataclass(frozen=True, slots=True)
class Spoken:
    """What a speaker made of a data directory."""

    split: str
    walks: int
    perplexity: dict[str, float]  # of what people said, by split
    examples: tuple[str, ...]


def speak(
    folder: Path,
    walks: int,
    split: str,
    *,
    features: str | None = None,
    temperature: float = 0.0,
    seed: int = 0,
    settings: Mapping[str, Any] | None = None,
) -> Spoken:
    """Let a speaker describe new walks of the training houses, and keep them as a split.

    The speaker is learned first if there is none for these features and settings.
    """
    if not (temperature == 0 or 0.01 <= temperature <= 100):
        raise ConfigError(
            f"A temperature of {temperature} cannot work. Give 0 for the likeliest words, or 0.01 to 100."
        )
    dataset = Dataset(folder)
    check_split(dataset, split)
    spec, usual = _sight(folder, features)
    config = from_table(SpeakerConfig, merged(usual, settings or {}), where="--set")
    observer = observer_for(spec, dataset, gain=config.feature_gain)
    people = [dataset.walks("train")]
    if "val_seen" in dataset.splits:
        people.append(dataset.walks("val_seen"))
    paths, headings = draw_unspoken(dataset.houses, people, walks, seed=seed)
    speaker = _speaker(dataset, spec, observer, config)
    texts = speaker.tell(paths, headings, dataset.houses, observer, temperature=temperature, seed=seed)
    facts = {"seed": seed, "temperature": temperature, "features": spec}
    keep_split(dataset, split, described(paths, headings, texts, dataset.houses), facts)
    held = [
        name for name in ("val_seen", "val_unseen") if name in dataset.splits and len(dataset.walks(name))
    ]
    return Spoken(
        split,
        len(paths),
        {name: perplexity(speaker, dataset, name, observer) for name in held},
        tuple(texts[:: max(1, len(texts) // 3)][:3]),
    )


def _sight(folder: Path, features: str | None) -> tuple[str, dict[str, float]]:
    """What a speaker sees, and the settings for it: as agents of real houses, where there are named objects.

    Objects are faint, and have no side; other features are as they are, in houses as they are.
    """
    spec, objects = _objects_or_first(folder, features), PRESETS["objects"]
    if features is None and spec == "objects":
        spec = str(objects["features"])
    if {part.partition(":")[0] for part in spec.split("+")} <= {"objects", LOOKAHEAD}:
        return spec, {"feature_gain": float(objects["policy"]["feature_gain"]), "mirror": 0.5}
    return spec, {}


def _speaker(dataset: Dataset, spec: str, observer: Observer, config: SpeakerConfig) -> Speaker:
    """The speaker that was learned for a feature spec and settings; learned now if there is none."""
    folder = dataset.folder / SPEAKER
    if folder.is_dir() and details(folder).text("features") == spec:
        kept = load_speaker(folder, observer)
        if kept.config == config:
            return kept
    learned = train_speaker(dataset, spec, observer, config)
    learned.save(folder)
    return learned


def _aligner(dataset: Dataset, spec: str) -> Aligner:
    """The aligner that was learned for a feature spec; learned now if there is none."""
    folder = dataset.folder / ALIGNER
    if folder.is_dir():
        kept = load_aligner(folder)
        if kept.features == spec:
            return kept
    learned = train_aligner(dataset, spec)
    learned.save(folder)
    return learned


def _landmarks(dataset: Dataset, spec: str) -> LandmarkModel:
    """The landmark classifier that was learned for a feature spec; learned now if there is none."""
    folder = dataset.folder / LANDMARKS
    if folder.is_dir():
        kept = load_landmarks(folder)
        if kept.features == spec:
            return kept
    learned = train_landmarks(dataset, segmented(dataset, "train"), spec)
    learned.save(folder)
    return learned


def _objects_or_first(folder: Path, features: str | None) -> str:
    """What was asked for; else named objects, which words speak of; else the first source."""
    known = sources(folder)
    return features or ("objects" if "objects" in known else next(iter(known), BLIND))


def follow_instruction(
    model: Path,
    folder: Path | None,
    house: str,
    viewpoint: str,
    degrees: float,
    instruction: str,
    *,
    picture: Path | None = None,
) -> Followed:
    """Let a trained agent follow an instruction; with `picture`, draw where it went."""
    agent = load_agent(model, folder)
    found = agent.follow(house, viewpoint, float(np.radians(degrees)), instruction)
    if picture:
        numbers = agent.dataset.houses.viewpoints(house)
        ends = [0] * len(found.steps)
        moved = 0
        for move in found.moves:
            moved += move.to is not None
            ends[move.step] = moved
        walked = Trajectory("agent", tuple(numbers[name] for name in found.path), tuple(ends))
        draw_in_house(agent.dataset, house, [walked], picture, title=house, instruction=instruction)
    return found


def load_agent(model: Path, folder: Path | None, *, step_size: int | None = None) -> LearnedAgent:
    """A trained agent in the houses of a data directory, or of the one that its run was trained on."""
    if find_model(model) is None:
        raise ConfigError(f"{model}: is no run and no model. Train one, or check the name.")
    if folder is None:
        run = run_of(model)
        if run is None:
            raise ConfigError(f"{model}: does not say which data it belongs to. Name a data directory.")
        folder = read_begun(run).data
    return LearnedAgent(load_model(model), Dataset(folder), step_size=step_size)
