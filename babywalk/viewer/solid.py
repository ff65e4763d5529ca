"""A house in three dimensions with viser: its storeys above each other, its graph and walks in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import viser
from numpy.typing import NDArray

from babywalk.buildings.houses import NOWHERE, Houses
from babywalk.common.errors import ConfigError
from babywalk.evaluation.figures.style import INK, SOFT, line_colour

_LIFT = 0.08  # metres between walks that share an edge, one above the other
_LOOPBACK = ("127.0.0.1", "localhost")  # viser has no token, so it serves this machine only
_EYE = 1.6  # of the largest extent of the house: the distance of the camera


@dataclass(frozen=True, slots=True)
class SolidPage:
    """A page that is being served."""

    address: str
    server: viser.ViserServer

    def run(self) -> None:
        """Wait until it is interrupted."""
        self.server.sleep_forever()


def open_solid(
    houses: Houses, scan: str, walks: Mapping[str, Sequence[int]], *, host: str, port: int
) -> SolidPage:
    """Serve a house with walks on this machine."""
    if host not in _LOOPBACK:
        raise ConfigError(f"The page in 3-D is for this machine only; {host!r} is another. Leave out --host.")
    server = viser.ViserServer(host=host, port=port, label="BabyWalk", verbose=False)
    draw_solid(server, houses, scan, walks)
    return SolidPage(f"http://{host}:{server.get_port()}/", server)


def draw_solid(
    server: viser.ViserServer, houses: Houses, scan: str, walks: Mapping[str, Sequence[int]]
) -> None:
    """Draw a house and walks by label, as global viewpoints, in the scene of a server."""
    numbers = np.array(list(houses.viewpoints(scan).values()))
    positions = houses.positions[numbers] - houses.positions[numbers].mean(axis=0)
    server.scene.set_up_direction("+z")
    server.scene.add_point_cloud(
        "/viewpoints", positions, colors=_rgb(SOFT), point_size=0.08, point_shape="circle"
    )
    server.scene.add_line_segments(
        "/edges", positions[edges(houses, scan)], colors=_rgb(SOFT), line_width=1.0
    )
    for number, (label, walk) in enumerate(walks.items()):
        path = positions[np.asarray(walk) - numbers[0]] + [0.0, 0.0, _LIFT * number]
        colour = _rgb(line_colour(number - 1) if number else INK)  # the first is the expert
        if len(path) > 1:
            pairs = np.stack([path[:-1], path[1:]], axis=1)
            server.scene.add_line_segments(f"/walks/{label}", pairs, colors=colour, line_width=5.0)
        server.scene.add_label(f"/walks/{label} ends", label, position=path[-1])
    eye = _EYE * float(np.ptp(positions, axis=0).max())

    def look(client: viser.ClientHandle) -> None:
        client.camera.position = (0.0, -eye, eye)
        client.camera.look_at = (0.0, 0.0, 0.0)

    server.on_client_connect(look)


def edges(houses: Houses, scan: str) -> NDArray[np.int64]:
    """(E, 2) the pairs of neighbours of a house, numbered within it."""
    numbers = np.array(list(houses.viewpoints(scan).values()))
    tail, slot = np.nonzero(houses.neighbours[numbers] != NOWHERE)
    head = houses.neighbours[numbers][tail, slot] - numbers[0]
    pairs: NDArray[np.int64] = np.column_stack([tail, head])[tail < head]
    return pairs


def _rgb(colour: str) -> tuple[int, int, int]:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)
