"""One tagger for all tests of this folder, and the modules of the script that trained it."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from babywalk.instructions.tagging import Tagger, load_tagger

TOOLS = Path(__file__).parents[3] / "tools" / "tagger"


@pytest.fixture(scope="session")
def tagger() -> Tagger:
    return load_tagger()


@pytest.fixture(scope="session")
def treebank() -> ModuleType:
    return tool("treebank")


@pytest.fixture(scope="session")
def imperatives() -> ModuleType:
    return tool("imperatives")


def tool(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, TOOLS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
