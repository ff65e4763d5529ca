"""The learned aligner on walks whose texts name the colours of the viewpoints where their pieces end."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
import torch
from builders import connectivity

from babywalk.assets.fine_grained import read_fine_grained
from babywalk.buildings.features import Source, ViewFeatures, open_features
from babywalk.buildings.houses import Houses
from babywalk.common.errors import ConfigError, DataError
from babywalk.common.ragged import Ragged
from babywalk.episodes.dataset import Dataset
from babywalk.instructions.alignment.aligner import Aligner, AlignerConfig, load_aligner
from babywalk.instructions.alignment.examples import AlignmentExamples, examples_from_annotations
from babywalk.instructions.alignment.methods import compare_methods
from babywalk.instructions.alignment.training import fit_aligner, train_aligner

COLOURS = ("red", "blue", "green", "white", "black", "brown", "pink", "grey")
SIZE = 8
EPISODES = 240
CONFIG = AlignerConfig(at_least=1, width=16, hidden=32, epochs=12, batch=32, dropout=0.1, learning_rate=5e-3)


@dataclass(frozen=True)
class Toy:
    houses: Houses
    features: ViewFeatures
    examples: AlignmentExamples
    truth: Ragged


@pytest.fixture(scope="module")
def toy() -> Toy:
    """A floor of coloured viewpoints; the text of a walk names the colours where its pieces end."""
    draw = np.random.default_rng(0)
    places = [(2.0 * x, 2.0 * y, 0.0) for y in range(SIZE) for x in range(SIZE)]
    edges = [(n, n + 1) for n in range(SIZE**2) if (n + 1) % SIZE]
    edges += [(n, n + SIZE) for n in range(SIZE**2 - SIZE)]
    houses = Houses.of([connectivity("floor", places, edges)])
    colour = draw.integers(0, len(COLOURS), SIZE**2)
    views = np.tile(np.eye(len(COLOURS), dtype=np.float32)[colour][:, None], (1, 36, 1))
    source = Source("toy", views, views.mean(axis=1), {}, (), ())
    paths, texts, ends = [], [], []
    for _ in range(EPISODES):
        path = [int(draw.integers(SIZE**2))]
        while len(path) < 6:
            onward = [int(step) for step in houses.neighbours[path[-1]] if step >= 0 and step not in path]
            path = [*path, int(draw.choice(onward))] if onward else [int(draw.integers(SIZE**2))]
        inner = np.sort(draw.choice(np.arange(1, 5), 2, replace=False)).tolist()
        paths.append(path)
        ends.append([*inner, 5])
        texts += [("walk", "to", COLOURS[colour[path[end]]]) for end in ends[-1]]
    pieces = Ragged(np.arange(len(texts), dtype=np.int32), 3 * np.arange(EPISODES + 1))
    examples = AlignmentExamples(
        Ragged.of(paths),
        np.zeros(EPISODES),
        np.arange(EPISODES),
        texts,
        pieces,
        np.ones(len(texts), dtype=np.bool_),
    )
    return Toy(
        houses, ViewFeatures("toy", SIZE**2, ((source, slice(0, 8)),), False), examples, Ragged.of(ends)
    )


@pytest.fixture(scope="module")
def aligner(toy: Toy) -> Aligner:
    return fit_aligner(toy.examples, toy.houses, toy.features, CONFIG)


def test_it_learns_colour_words_and_beats_proportional_alignment(toy: Toy, aligner: Aligner) -> None:
    accuracy = compare_methods(toy.examples, toy.truth, toy.houses, toy.features, aligner=aligner)
    assert accuracy["proportional"].exact < 0.6
    assert accuracy["best"].exact > 0.85


def test_ends_never_decrease_and_reach_the_goal(toy: Toy, aligner: Aligner) -> None:
    draw = np.random.default_rng(1)
    count = draw.integers(0, 12, 200)  # sometimes more pieces than the six states
    start = np.append(0, np.cumsum(count))
    pieces = Ragged(draw.integers(0, len(toy.examples.texts), start[-1]).astype(np.int32), start)
    ends_step = draw.random(start[-1]) < 0.5
    ends_step[start[1:][count > 0] - 1] = True
    examples = replace(
        toy.examples, path_of=draw.integers(0, EPISODES, 200), pieces=pieces, ends_step=ends_step
    )
    ends = aligner.ends(examples, toy.houses, toy.features)
    for episode in range(200):
        found = ends[episode]
        assert len(found) == ends_step[start[episode] : start[episode + 1]].sum()
        assert (np.diff(found) >= 0).all()
        assert (found >= 0).all()
        assert not len(found) or found[-1] == 5


def test_pieces_end_within_their_windows(toy: Toy, aligner: Aligner) -> None:
    earliest = np.tile([2, 2, 0], EPISODES).astype(np.int32)
    latest = np.tile([3, 5, 5], EPISODES).astype(np.int32)
    examples = replace(toy.examples, earliest=earliest, latest=latest)
    ends = aligner.ends(examples, toy.houses, toy.features).values.reshape(EPISODES, 3)
    assert ((ends[:, 0] >= 2) & (ends[:, 0] <= 3)).all()
    assert (ends[:, 2] == 5).all()


def test_paths_longer_than_the_training_paths(toy: Toy, aligner: Aligner) -> None:
    snake = [n if n // SIZE % 2 == 0 else n // SIZE * 2 * SIZE + SIZE - 1 - n for n in range(SIZE**2)]
    examples = replace(
        toy.examples,
        paths=Ragged.of([snake]),
        headings=np.zeros(1),
        path_of=np.zeros(1, dtype=np.int64),
        pieces=Ragged.of([[0, 1]]),
        ends_step=np.ones(2, dtype=np.bool_),
    )
    assert aligner.ends(examples, toy.houses, toy.features)[0][-1] == SIZE**2 - 1


def test_episodes_do_not_depend_on_each_other(toy: Toy, aligner: Aligner) -> None:
    together = aligner.ends(toy.examples, toy.houses, toy.features)
    rows = np.array([7, 3])
    alone = replace(
        toy.examples,
        path_of=rows,
        pieces=toy.examples.pieces.take(rows),
        ends_step=np.ones(6, dtype=np.bool_),
    )
    ends = aligner.ends(alone, toy.houses, toy.features)
    assert [ends[0].tolist(), ends[1].tolist()] == [together[7].tolist(), together[3].tolist()]


def test_a_saved_aligner_loads_with_the_same_weights_and_ends(
    toy: Toy, aligner: Aligner, tmp_path: Path
) -> None:
    aligner.save(tmp_path / "aligner", notes=["toy"])
    loaded = load_aligner(tmp_path / "aligner")
    assert (loaded.config, loaded.lexicon, loaded.features) == (CONFIG, aligner.lexicon, "toy")
    np.testing.assert_array_equal(
        loaded.ends(toy.examples, toy.houses, toy.features).values,
        aligner.ends(toy.examples, toy.houses, toy.features).values,
    )
    for name, weight in aligner.network.state_dict().items():
        torch.testing.assert_close(loaded.network.state_dict()[name], weight, rtol=0, atol=0)


def test_equal_seeds_give_equal_weights(toy: Toy) -> None:
    config = replace(CONFIG, epochs=1)
    torch.manual_seed(1)
    first = fit_aligner(toy.examples, toy.houses, toy.features, config).network.state_dict()
    torch.manual_seed(2)
    second = fit_aligner(toy.examples, toy.houses, toy.features, config).network.state_dict()
    other = fit_aligner(toy.examples, toy.houses, toy.features, replace(config, seed=1)).network.state_dict()
    assert all(torch.equal(first[name], second[name]) for name in first)
    assert not torch.equal(first["words.weight"], other["words.weight"])


def test_weights_of_another_size_are_refused(aligner: Aligner, tmp_path: Path) -> None:
    aligner.save(tmp_path / "aligner")
    about = tmp_path / "aligner" / "model.json"
    about.write_text(about.read_text().replace('"pink",\n', ""))
    (tmp_path / "aligner" / "manifest.json").unlink()  # else the changed file is refused
    with pytest.raises(DataError, match=r"weights\.safetensors: weight 'words\.weight' has the shape"):
        load_aligner(tmp_path / "aligner")


def test_an_invalid_model_json_is_refused(aligner: Aligner, tmp_path: Path) -> None:
    aligner.save(tmp_path / "aligner")
    (tmp_path / "aligner" / "model.json").write_text('{"words": []}')
    with pytest.raises(
        DataError, match=r"model\.json: has 13 bytes .* 'babywalk data align' trains it again"
    ):
        load_aligner(tmp_path / "aligner")
    (tmp_path / "aligner" / "manifest.json").unlink()
    with pytest.raises(DataError, match=r"model\.json: the file has no field 'config'.* trains it again"):
        load_aligner(tmp_path / "aligner")


def test_other_features_are_refused(toy: Toy, aligner: Aligner) -> None:
    with pytest.raises(ConfigError, match="The aligner was trained on the features 'toy', not on 'resnet'"):
        aligner.ends(toy.examples, toy.houses, replace(toy.features, spec="resnet"))


def test_settings_out_of_range_are_refused() -> None:
    with pytest.raises(ConfigError, match=r"width = 0 .* Give at least 1"):
        AlignerConfig(width=0)
    with pytest.raises(ConfigError, match="batch = 1 is out of range: a text is compared"):
        AlignerConfig(batch=1)
    with pytest.raises(ConfigError, match=r"dropout = 1\.0 .* from 0 to below 1"):
        AlignerConfig(dropout=1.0)


@pytest.mark.slow
def test_it_beats_proportional_alignment_by_ten_points_on_the_dollhouse(dollhouse: Path) -> None:
    dataset = Dataset(dollhouse)
    learned = train_aligner(dataset, "dollhouse", AlignerConfig(at_least=5, epochs=25))
    features = open_features(dollhouse, "dollhouse", dataset.houses)
    file = dollhouse / "fine_grained" / "FGR2R_val_seen.json"
    examples, truth = examples_from_annotations(read_fine_grained(file), dataset.houses)
    accuracy = compare_methods(examples, truth, dataset.houses, features, aligner=learned)
    assert accuracy["best"].exact > accuracy["proportional"].exact + 0.10


@pytest.mark.real
@pytest.mark.slow
def test_without_view_features_it_beats_proportional_alignment_by_five_points(
    real_data: Path, real_dataset: Path
) -> None:
    dataset = Dataset(real_dataset)
    learned = train_aligner(dataset, "none", AlignerConfig(epochs=2))
    (file,) = real_data.rglob("FGR2R_val_seen.json")
    examples, truth = examples_from_annotations(read_fine_grained(file), dataset.houses)
    features = open_features(real_dataset, "none", dataset.houses)
    accuracy = compare_methods(examples, truth, dataset.houses, features, aligner=learned)
    assert accuracy["best"].exact > accuracy["proportional"].exact + 0.05
    assert accuracy["best"].within_one > accuracy["proportional"].within_one
