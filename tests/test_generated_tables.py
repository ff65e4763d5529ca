"""Tables of the documentation are what their data, the model cards and the paper's tables give."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[1]
PAGES = sorted((ROOT / "docs").rglob("*.md"))
# First cells of the headers of tables that log experiments in words, or have no measurement.
BY_HAND = {"tried", "question", "rows", "run", "weights"}


@pytest.fixture(scope="module")
def tables() -> ModuleType:
    spec = importlib.util.spec_from_file_location("tables", ROOT / "tools" / "tables.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(params=PAGES, ids=lambda page: page.name)
def page(request: pytest.FixtureRequest) -> Path:
    return request.param


def test_a_page_has_what_the_generator_writes(tables: ModuleType, page: Path) -> None:
    text = page.read_text()
    assert tables.generated(page) == text, "run: python tools/tables.py"
    assert len(re.findall("<!-- generated", text)) == len(tables.SECTION.findall(text))
    assert text.count("<!-- end -->") == len(tables.SECTION.findall(text))


def test_a_changed_figure_is_written_anew(tables: ModuleType, tmp_path: Path) -> None:
    page = tmp_path / "results.md"
    page.write_text("a\n<!-- generated: step-size -->\n| R2R | 99.9 |\n<!-- end -->\nb\n")
    text = tables.generated(page)
    assert "99.9" not in text
    assert "| R2R | 20.0 | 30.0 |" in text
    assert text.startswith("a\n<!-- generated: step-size -->\n\n| characters |")
    assert text.endswith("\n\n<!-- end -->\nb\n")


def test_data_say_how_they_were_measured_and_are_used(tables: ModuleType) -> None:
    written = "".join(page.read_text() for page in PAGES)
    files = sorted((ROOT / "docs" / "data").iterdir())
    assert files
    for file in files:
        about = tables.read(file.stem)
        assert [name for name in tables.FACTS if not about[name]] == [], file.name
        assert {len(row) for row in about["rows"]} == {len(about["columns"])}, file.name
        assert f"[data](data/{file.name})" in written
        page, _, anchor = about["commands"].partition("#")
        sections = re.split(r"^##+ ", (ROOT / "docs" / page).read_text(), flags=re.MULTILINE)
        (own,) = [part for part in sections if part.split("\n")[0].lower().replace(" ", "-") == anchor]
        assert "babywalk " in own, f"{file.name}: {about['commands']} has no command"


@pytest.mark.parametrize("name", ["results.md", "results-real-houses.md", "results-tried.md"])
def test_tables_of_figures_are_generated(tables: ModuleType, name: str) -> None:
    rest = tables.SECTION.sub("", (ROOT / "docs" / name).read_text())
    headers = re.findall(r"^\| ?([^|\n]*?) ?\|[^\n]*\n\|[-|]+\|$", rest, re.MULTILINE)
    assert set(headers) <= BY_HAND
    if headers:
        assert "runs that are not kept" in rest or "The runs are not kept" in rest


def test_scores_of_the_published_weights_are_those_of_their_card(tables: ModuleType) -> None:
    card = tables.card()
    assert list(card) == ["R2R", "R4R", "R6R", "R8R"]
    row = next(line for line in tables.summary_r4r().splitlines() if "published weights, full splits" in line)
    pairs = [f"{scores['SDTW']:.1f} / {scores['CLS']:.1f}" for scores in card.values()]
    assert [cell.strip() for cell in row.strip("|").split("|")[1:]] == pairs
    # SPL of R4R, with its interval, is discussed on the page of measures.
    (line,) = [line for line in tables.CARD.read_text().splitlines() if line.startswith("| R4R val_unseen")]
    assert f"is {line.split('|')[6].strip()} by the default" in (ROOT / "docs" / "measures.md").read_text()


def test_means_are_computed(tables: ModuleType) -> None:
    """(40.1 + 34.4 + 28.2) / 3 = 34.23 and, of three seeds, (40.1 + 33.6 + 41.8) / 3 = 38.5."""
    assert "| 68.2 / 28.2 | 34.2 |" in tables.section("dollhouse-stages")
    assert "| imitation | 75.1 / 58.8 | 67.3 / 38.5 |" in tables.section("dollhouse-stages-mean")
