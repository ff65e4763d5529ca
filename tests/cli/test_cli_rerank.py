"""babywalk rerank."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from babywalk.assets.pretrained import find_model
from babywalk.cli import main

SEARCH = "frontier:candidates=4,known_map=true"


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A copy of the built-in model, beside which a re-ranker can be stored."""
    built_in = find_model("dollhouse")
    assert built_in is not None
    return Path(shutil.copytree(built_in, tmp_path / "model"))


def run(*arguments: object) -> int:
    return main([str(argument) for argument in arguments])


def test_a_fitted_re_ranker_is_used(
    segmented_dollhouse: Path, model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    where = ["--data", segmented_dollhouse, "--split", "val_seen:30"]
    assert run("rerank", model, *where, "--decode", SEARCH, "--json") == 0
    done = json.loads(capsys.readouterr().out)
    assert done["decoding"] == SEARCH
    assert done["by_log_probability"] <= done["best_possible"]
    assert done["by_reranker"] <= done["best_possible"]
    assert set(done["weights"]) == {
        "metres", "logit_sum", "logit_mean", "log_probability_sum", "log_probability_mean"
    }  # fmt: skip
    rates = []
    for spec in (SEARCH, f"{SEARCH},rerank=false"):
        assert run("evaluate", model, *where, "--decode", spec, "--json") == 0
        rates.append(next(iter(json.loads(capsys.readouterr().out).values()))[0]["measures"]["SR"]["mean"])
    assert rates == pytest.approx([done["by_reranker"], done["by_log_probability"]])
    assert run("rerank", model, *where, "--decode", SEARCH) == 0
    assert "by log-probability" in capsys.readouterr().out


def test_a_re_ranker_of_other_weights_is_refused(
    segmented_dollhouse: Path, model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    where = ["--data", segmented_dollhouse, "--split", "val_seen:30"]
    assert run("rerank", model, *where, "--decode", SEARCH) == 0
    file = model / "reranker.json"
    fields = json.loads(file.read_text())
    file.write_text(json.dumps({**{k: v for k, v in fields.items() if k != "sha256"}, "model": "0"}))
    assert run("evaluate", model, *where, "--decode", SEARCH) == 2
    assert "was fitted for other weights" in capsys.readouterr().err


@pytest.mark.parametrize("split", ["val_unseen", "val_unseen:20", "test"])
def test_nothing_is_fitted_on_held_out_splits(
    split: str, segmented_dollhouse: Path, model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("rerank", model, "--data", segmented_dollhouse, "--split", split) == 2
    assert f"Split '{split}' is for results: nothing is fitted on it. Use val_seen" in capsys.readouterr().err
    assert not (model / "reranker.json").exists()


@pytest.mark.parametrize(
    "spec", ["beam", "frontier:short=true", "frontier:per_step=true", "frontier:rerank=false"]
)
def test_only_full_frontier_search_is_re_ranked(
    spec: str, segmented_dollhouse: Path, model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    where = ["--data", segmented_dollhouse, "--split", "val_seen:4"]
    assert run("rerank", model, *where, "--decode", spec) == 2
    assert "Only full frontier search of whole instructions is re-ranked" in capsys.readouterr().err


def test_built_in_models_are_left_as_they_are(
    segmented_dollhouse: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("rerank", "dollhouse", "--data", segmented_dollhouse) == 2
    assert "dollhouse: is part of the package. Fit the re-ranker of a run" in capsys.readouterr().err
