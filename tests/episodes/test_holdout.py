from __future__ import annotations

from pathlib import Path

import pytest

from babywalk.assets.data_directory import details, verify
from babywalk.cli import main
from babywalk.common.errors import ConfigError
from babywalk.episodes.dataset import Dataset
from babywalk.episodes.holdout import hold_out


def scans(dataset: Dataset, split: str) -> set[str]:
    houses = dataset.houses
    return {houses.scans[house] for house in houses.house_of[dataset.walks(split).paths.firsts]}


def test_held_out_houses_become_val_unseen(dollhouse: Path, tmp_path: Path) -> None:
    hold_out(dollhouse, tmp_path / "dev", 1)
    before, after = Dataset(dollhouse), Dataset(tmp_path / "dev")
    assert after.splits == ("train", "val_seen", "val_unseen")
    out = scans(after, "val_unseen")
    assert details(tmp_path / "dev" / "r2r").fields["held_out"] == sorted(out)
    assert len(out) == 1
    assert scans(after, "train") == scans(before, "train") - out
    assert scans(after, "val_seen") == scans(before, "val_seen") - out
    both = [*after.walks("train").path_ids, *after.walks("val_unseen").path_ids]
    assert sorted(both) == sorted(before.walks("train").path_ids)
    assert not scans(before, "val_unseen") & scans(after, "val_unseen")  # the true val_unseen is not in it
    assert not verify(tmp_path / "dev").findings
    assert (tmp_path / "dev" / "features").is_dir()


def test_the_seed_selects_the_houses(dollhouse: Path, tmp_path: Path) -> None:
    for name, seed in (("a", 0), ("b", 0), ("c", 1), ("d", 2), ("e", 3)):
        hold_out(dollhouse, tmp_path / name, 1, seed=seed)
    drawn = {name: scans(Dataset(tmp_path / name), "val_unseen").pop() for name in "abcde"}
    assert drawn["a"] == drawn["b"]
    assert len(set(drawn.values())) > 1


def test_invalid_counts_and_existing_folders_are_rejected(dollhouse: Path, tmp_path: Path) -> None:
    for houses in (0, -1, 40):
        with pytest.raises(
            ConfigError, match=f"^houses = {houses} is out of range; .* has . training houses"
        ):
            hold_out(dollhouse, tmp_path / "dev", houses)
    assert not (tmp_path / "dev").exists()
    (tmp_path / "dev").mkdir()
    (tmp_path / "dev" / "mine.txt").write_text("mine")
    with pytest.raises(ConfigError, match="is not empty"):
        hold_out(dollhouse, tmp_path / "dev", 1)
    assert (tmp_path / "dev" / "mine.txt").read_text() == "mine"


def test_hold_out_on_the_command_line(
    dollhouse: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["data", "hold-out", "--houses", "1", "--data", str(dollhouse), str(tmp_path / "dev")]
    assert main(asked) == 0
    output = capsys.readouterr().out
    assert "r2r val_unseen: " in output
    assert "in 1 house\n" in output
    assert f"Next: babywalk data build r4r r6r r8r --data {tmp_path / 'dev'}" in output
    assert main(asked) == 2
    assert "is not empty" in capsys.readouterr().err
