"""The page as one file: its data, its policy, its modules."""

from __future__ import annotations

import base64
import hashlib
import re
from pathlib import Path

import numpy as np
import pytest
from viewer_data import page_data

from babywalk.agents.baselines import BASELINES
from babywalk.commands.evaluate import evaluate_agent, result_file
from babywalk.commands.view import open_walkers, write_page
from babywalk.common.errors import DataError
from babywalk.episodes.dataset import Dataset
from babywalk.evaluation.evaluate import evaluate, walk_all
from babywalk.navigation.measures import MEASURES
from babywalk.viewer.geometry import house_record
from babywalk.viewer.page import MODULES, STATIC, assemble, bundle


def test_the_file_names_no_other_address_and_allows_only_its_own_script(page_file: Path) -> None:
    text = page_file.read_text()
    assert re.findall(r'(?:src|href)="([^"]*)"', text) == ["data:,"]
    assert set(re.findall(r"https?://[^\s\"']+", text)) == {"http://www.w3.org/2000/svg"}
    (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', text)
    directives = dict(part.strip().split(" ", 1) for part in policy.split(";"))
    assert directives["default-src"] == "'none'"
    (script,) = re.findall(r'<script type="module">(.*?)</script>', text, re.DOTALL)
    (style,) = re.findall(r"<style>(.*?)</style>", text, re.DOTALL)
    for kind, content in (("script-src", script), ("style-src", style)):
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert directives[kind] == f"'sha256-{digest}'"


def test_measures_and_paths_are_those_of_an_evaluation(page_file: Path, aligned_dollhouse: Path) -> None:
    data = page_data(page_file)
    task = Dataset(aligned_dollhouse).task("r4r", "val_seen").sampled(12)
    found = evaluate(task, walk_all(BASELINES["random"](0), task))
    record = data["collections"]["r4r/val_seen"]["record"]
    assert record["ids"] == task.ids(np.arange(12))
    assert record["total"] == len(Dataset(aligned_dollhouse).task("r4r", "val_seen"))
    scores = dict(zip(MEASURES, record["scores"]["random"], strict=True))
    np.testing.assert_allclose(scores["SDTW"], found.scores.sdtw, atol=1e-4)
    np.testing.assert_allclose(scores["NE"], found.scores.navigation_error, atol=1e-4)
    houses = task.houses
    for number, episode in enumerate(data["collections"]["r4r/val_seen"]["episodes"]):
        names = data["houses"][episode["house"]]["names"]
        walks = {walk["agent"]: [names[at] for at in walk["path"]] for walk in episode["walks"]}
        assert list(walks) == ["expert", "dollhouse", "random"]
        assert tuple(walks["expert"]) == task[number].path
        walked = found.trajectories.viewpoints[number]
        assert walks["random"] == [houses.names[viewpoint] for viewpoint in walked]


def test_decisions_lead_along_the_path_of_the_agent(page_file: Path) -> None:
    data = page_data(page_file)
    for episode in data["collections"]["r4r/val_seen"]["episodes"]:
        walk = next(walk for walk in episode["walks"] if walk["agent"] == "dollhouse")
        path = [walk["path"][0]]
        for step, at, choices, words, views in walk["decisions"]:
            assert at == path[-1]
            assert step < len(walk["steps"])
            assert len(words) <= len(walk["tokens"][step]) / 2
            assert len(views) == 36
            assert sum(chance for _, chance in choices) == pytest.approx(1000, abs=len(choices))
            taken = max(choices, key=lambda choice: choice[1])[0]
            if taken != -1:
                path.append(taken)
        # Ties within a thousandth are the only reason for another choice.
        assert path == walk["path"]


def test_a_house_has_its_storeys_graph_and_objects(dollhouse: Path) -> None:
    dataset = Dataset(dollhouse)
    record = house_record(dataset, "dollhouse_000")
    numbers = dataset.houses.viewpoints("dollhouse_000")
    assert record["names"] == list(numbers)
    assert {point[3] for point in record["points"]} == set(range(len(record["floors"])))
    assert sum(int(dataset.houses.degree[number]) for number in numbers.values()) == 2 * len(record["edges"])
    assert any(floor["rooms"] for floor in record["floors"])
    assert len(record["views"]) == len(numbers)
    assert {len(views) for views in record["views"]} == {36}
    assert all(name < len(record["labels"]) for views in record["views"] for view in views for name in view)


def test_a_house_without_plan_and_features_is_its_graph(real_dataset: Path) -> None:
    dataset = Dataset(real_dataset)
    record = house_record(dataset, dataset.houses.scans[0])
    assert "views" not in record
    assert not any(floor["rooms"] for floor in record["floors"])
    assert record["edges"]


def test_result_files_go_to_the_task_that_they_answer(aligned_dollhouse: Path, tmp_path: Path) -> None:
    evaluate_agent("oracle", aligned_dollhouse, ["r2r"], "val_seen", trajectories=tmp_path / "walks")
    file = result_file(tmp_path / "walks", "r2r", "val_seen")
    page = tmp_path / "page.html"
    write_page(
        [("", str(file)), ("other", str(file))],
        aligned_dollhouse,
        ["r4r", "r2r"],
        ["val_seen"],
        page,
        limit=5,
    )
    collections = page_data(page)["collections"]
    assert collections["r4r/val_seen"]["record"]["agents"] == []
    assert collections["r2r/val_seen"]["record"]["agents"] == [tmp_path.name, "other"]
    assert set(collections["r2r/val_seen"]["record"]["scores"]["other"][list(MEASURES).index("SR")]) == {1.0}
    dataset = Dataset(aligned_dollhouse)
    tasks = [dataset.task("r4r", "val_seen"), dataset.task("r2r", "train")]
    with pytest.raises(
        DataError, match=r"answers none of r4r val_seen, r2r train. For the first: .* ids are"
    ):
        open_walkers([("", str(file))], dataset, tasks)


def test_a_split_without_goals_is_shown_without_measures(aligned_dollhouse: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    (collection,) = write_page([("", "random")], aligned_dollhouse, ["r2r"], ["test"], page, limit=3)
    assert not collection.evaluations
    assert len(page_data(page)["collections"]["r2r/test"]["episodes"][0]["walks"]) == 2


def test_modules_are_complete_and_import_only_earlier_ones() -> None:
    assert {file.stem for file in STATIC.glob("*.js")} == set(MODULES)
    for number, name in enumerate(MODULES):
        imported = re.findall(r'from "\./(\w+)\.js"', (STATIC / f"{name}.js").read_text())
        assert set(imported) <= set(MODULES[:number])


def test_modules_can_be_joined_into_one() -> None:
    script = bundle()
    assert not re.findall(r"^(?:import|export)\b", script, re.MULTILINE)
    assert "</script" not in script
    names = re.findall(r"^(?:async )?(?:function|const|let|class) (\w+)", script, re.MULTILINE)
    assert len(names) > 60
    assert sorted(names) == sorted(set(names))


def test_data_are_never_inserted_as_html() -> None:
    script = bundle()
    for way in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function"):
        assert way not in script


def test_a_title_is_escaped() -> None:
    assert "<title>&lt;b&gt;</title>" in assemble("<b>", {})
