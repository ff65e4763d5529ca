"""The server against its own OpenAPI description, with requests that schemathesis makes up."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

httpx = pytest.importorskip("httpx")
schemathesis = pytest.importorskip("schemathesis")

OPERATIONS = {
    "GET /api/catalogue",
    "GET /api/collections/{task}/{split}",
    "GET /api/episodes/{task}/{split}/{episode}",
    "GET /api/houses/{scan}",
    "POST /api/segment",
    "POST /api/follow",
}
MODES = [schemathesis.GenerationMode.POSITIVE, schemathesis.GenerationMode.NEGATIVE]


@pytest.fixture(scope="module")
def schema(live: Any) -> Any:
    return schemathesis.openapi.from_url(f"{live.address}openapi.json")


def test_every_operation_is_described(schema: Any) -> None:
    assert {found.ok().label for found in schema.get_all_operations()} == OPERATIONS


@pytest.mark.parametrize("mode", MODES, ids=lambda mode: mode.value)
@pytest.mark.parametrize("label", sorted(OPERATIONS))
def test_answers_follow_the_description(schema: Any, label: str, mode: Any) -> None:
    operation = next(found.ok() for found in schema.get_all_operations() if found.ok().label == label)
    if label == "GET /api/catalogue" and mode == schemathesis.GenerationMode.NEGATIVE:
        pytest.skip("there is nothing in this request that could be wrong")

    @given(case=operation.as_strategy(generation_mode=mode))
    @settings(max_examples=25, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    def check(case: Any) -> None:
        assert case.call_and_validate().status_code < 500

    check()


@given(text=st.text(max_size=300), heading=st.floats(-360, 360))
@settings(max_examples=25, deadline=None, database=None, suppress_health_check=list(HealthCheck))
def test_any_text_is_followed_or_refused_with_a_sentence(live: Any, text: str, heading: float) -> None:
    order = {"house": "dollhouse_000", "viewpoint": "d000-v000", "agents": ["dollhouse"]}
    answer = httpx.post(
        f"{live.address}api/follow", json={**order, "text": f"Walk {text}", "heading": heading}, timeout=30
    )
    assert answer.status_code in (200, 422)
    assert answer.json()["walks" if answer.status_code == 200 else "error"]
