"""One tagger for all tests of this folder."""

from __future__ import annotations

import pytest

from babywalk.instructions.tagging import Tagger, load_tagger


@pytest.fixture(scope="session")
def tagger() -> Tagger:
    return load_tagger()
