"""`python -m benchmarks`: that it lists every script, and that what it runs does run."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parents[1]


def benchmarks(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "benchmarks", *arguments]
    return subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True, check=False)


def test_every_script_is_listed_with_what_it_needs() -> None:
    listed = benchmarks("--list")
    assert listed.returncode == 0
    scripts = [file for file in (CHECKOUT / "benchmarks").glob("*.py") if file.stem != "__main__"]
    assert scripts
    for script in scripts:
        assert f"python benchmarks/{script.name} --" in listed.stdout
    assert "==" not in listed.stdout


def test_a_name_that_does_not_exist() -> None:
    refused = benchmarks("speed")
    assert refused.returncode == 2
    assert "'speed' is not known; choose from" in refused.stderr


@pytest.mark.slow
def test_what_needs_nothing_runs() -> None:
    done = benchmarks()
    assert done.returncode == 0, done.stderr
    for name in ("data", "environment", "measures", "alignment"):
        assert f"== {name}\n" in done.stdout
