"""A house in three dimensions: what is put into the scene."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from babywalk.episodes.dataset import Dataset

pytest.importorskip("viser", reason="no viser: pip install 'babywalk[3d]'")

from babywalk.common.errors import ConfigError
from babywalk.viewer.solid import draw_solid, open_solid


class Scene:
    """Records what is added."""

    def __init__(self) -> None:
        self.added: dict[str, tuple[Any, ...]] = {}

    def __getattr__(self, _: str) -> Any:
        return lambda name, *given, **named: self.added.update({name: (*given, *named.values())})


class Server:
    def __init__(self) -> None:
        self.scene = Scene()

    def on_client_connect(self, look: Any) -> None:
        pass


def test_storeys_are_above_each_other_and_walks_along_edges(dollhouse: Path) -> None:
    houses = Dataset(dollhouse).houses
    task = Dataset(dollhouse).task("r2r", "val_seen")
    path = task.paths[0].tolist()
    scan = houses.scans[houses.house_of[path[0]]]
    server: Any = Server()
    draw_solid(server, houses, scan, {"expert": path, "agent": path[:1]})
    added = server.scene.added
    numbers = list(houses.viewpoints(scan).values())
    points = added["/viewpoints"][0]
    assert points.shape == (len(numbers), 3)
    np.testing.assert_allclose(np.ptp(points[:, 2]), np.ptp(houses.positions[numbers, 2]))
    edges = added["/edges"][0]
    assert len(edges) == int(houses.degree[numbers].sum()) // 2
    walk = added["/walks/expert"][0]
    moved = np.linalg.norm(walk[:, 1] - walk[:, 0], axis=1).sum()
    assert moved == pytest.approx(houses.length(task.paths[0]))
    assert "/walks/agent" not in added  # it has not moved
    assert added["/walks/agent ends"][0] == "agent"


def test_it_is_for_this_machine_only(dollhouse: Path) -> None:
    with pytest.raises(ConfigError, match="for this machine only"):
        open_solid(Dataset(dollhouse).houses, "dollhouse_000", {}, host="0.0.0.0", port=0)
