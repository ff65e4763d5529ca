"""The tree shows the pipeline: every module imports only what stands above it."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "babywalk"
PIPELINE = [
    "assets",
    "buildings",
    "episodes",
    "instructions",
    "navigation",
    "policies",
    "speaking",
    "training",
    "validation",
    "viewer",
]
LEAVES = {"config", "errors", "files", "heap", "progress", "ragged", "seeding", "tables", "tensors"}
TOP = [
    "recipes",
    "experiments",
    "publishing",
    "demo",
    "cli",
    "__main__",
]  # may import everything before them, and each other
MODULES = sorted(PACKAGE.rglob("*.py"))


def stage(module: Path) -> str:
    return module.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imports(module: Path) -> set[str]:
    """The parts of the package that a module imports, wherever in it."""
    found = set()
    for node in ast.walk(ast.parse(module.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module}: imports are absolute"
            base = node.module or ""
            found |= {f"{base}.{alias.name}" for alias in node.names} if base == "babywalk" else {base}
    return {name.split(".")[1] for name in found if name.startswith("babywalk.")}


def allowed(name: str) -> set[str]:
    everything = [*PIPELINE, *TOP]
    if name in LEAVES:
        return LEAVES
    if name == "__init__":
        return set(everything) | LEAVES
    if name in TOP:
        return set(everything) | LEAVES
    return set(everything[: everything.index(name) + 1]) | LEAVES


def test_the_alphabet_is_the_order_of_the_pipeline() -> None:
    assert sorted(PIPELINE) == PIPELINE
    packages = {path.name for path in PACKAGE.iterdir() if (path / "__init__.py").exists()} - {*TOP}
    assert packages <= set(PIPELINE)


@pytest.mark.parametrize("module", MODULES, ids=lambda module: str(module.relative_to(PACKAGE)))
def test_a_module_imports_only_what_stands_above_it(module: Path) -> None:
    name = stage(module)
    known = {*PIPELINE, *LEAVES, *TOP, "__init__"}
    assert name in known, f"{name} has no place in the pipeline"
    assert imports(module) - {"__version__"} <= allowed(name)


def test_an_import_from_a_later_stage_would_be_seen(tmp_path: Path) -> None:
    module = tmp_path / "bad.py"
    module.write_text("from babywalk.training.loop import run\nfrom babywalk import recipes\n")
    assert imports(module) == {"training", "recipes"}
    assert not imports(module) <= allowed("episodes")


@pytest.mark.parametrize("module", MODULES, ids=lambda module: str(module.relative_to(PACKAGE)))
def test_every_module_says_what_it_is(module: Path) -> None:
    assert ast.get_docstring(ast.parse(module.read_text()))
