"""Dependencies point one way: every package imports only packages above it in the list."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "babywalk"
ORDER = [
    "common",
    "assets",
    "buildings",
    "episodes",
    "instructions",
    "navigation",
    "modules",
    "decoding",
    "training",
    "agents",
    "evaluation",
    "reproduce",
    "viewer",
    "commands",
    "cli",
]  # each package imports only packages before it, and itself
ENTRY_POINTS = {"__init__", "__main__"}  # may import everything
MODULES = sorted(PACKAGE.rglob("*.py"))


def package(module: Path) -> str:
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
    return set(ORDER) if name in ENTRY_POINTS else set(ORDER[: ORDER.index(name) + 1])


def test_the_list_names_every_package() -> None:
    packages = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    assert packages == set(ORDER)


@pytest.mark.parametrize("module", MODULES, ids=lambda module: str(module.relative_to(PACKAGE)))
def test_a_module_imports_only_packages_above_its_own(module: Path) -> None:
    name = package(module)
    assert name in {*ORDER, *ENTRY_POINTS}, f"{name} has no place in the order"
    assert imports(module) <= allowed(name)


def test_an_import_from_a_later_stage_would_be_seen(tmp_path: Path) -> None:
    module = tmp_path / "bad.py"
    module.write_text("from babywalk.training.loop import run\nfrom babywalk import commands\n")
    assert imports(module) == {"training", "commands"}
    assert not imports(module) <= allowed("episodes")


@pytest.mark.parametrize("module", MODULES, ids=lambda module: str(module.relative_to(PACKAGE)))
def test_every_module_says_what_it_is(module: Path) -> None:
    assert ast.get_docstring(ast.parse(module.read_text()))
