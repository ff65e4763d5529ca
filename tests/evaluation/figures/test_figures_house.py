from __future__ import annotations

import sys
from pathlib import Path

import pytest
from matplotlib.collections import LineCollection
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.text import Text

from babywalk.buildings.houses import Houses
from babywalk.common.errors import ConfigError, DataError
from babywalk.common.files import write_json
from babywalk.evaluation.figures.house import Trajectory, draw_house
from babywalk.evaluation.figures.marks import step_colour
from babywalk.evaluation.figures.style import line_colour


def texts(figure: Figure) -> list[str]:
    return [text.get_text() for text in figure.findobj(Text) if text.get_text()]


def floors(figure: Figure) -> list[str]:
    return [str(axes.get_label()) for axes in figure.axes]


def line_colours(figure: Figure) -> set[str]:
    return {to_hex(colour) for lines in figure.findobj(LineCollection) for colour in lines.get_colors()}


def test_a_house_without_trajectories_has_no_legend(houses: Houses):
    figure = draw_house(houses, "flat")
    assert floors(figure) == ["floor 1"]
    assert texts(figure)[:2] == ["House flat", "1 m"]
    assert "start" not in texts(figure)


def test_every_floor_is_drawn(houses: Houses):
    figure = draw_house(houses, "tall")
    assert floors(figure) == ["floor 1", "floor 2"]
    assert {"Floor 1, the lowest", "Floor 2"} <= set(texts(figure))


def test_every_trajectory_has_a_label_and_a_colour(houses: Houses):
    walks = [Trajectory("expert", (0, 1, 2)), Trajectory("oracle", (0, 1)), Trajectory("an agent", (4, 3))]
    figure = draw_house(houses, "flat", walks)
    shown = texts(figure)
    for walk, words in zip(walks, ("2 moves, 4.5 m", "1 move, 2.2 m", "1 move, 2.2 m"), strict=True):
        assert f"{walk.label}: {words}" in shown
    assert {line_colour(0), line_colour(1), line_colour(2)} <= line_colours(figure)
    assert {"start", "end"} <= set(shown)


def test_moves_are_numbered_and_repeated_visits_share_a_text(houses: Houses):
    shown = texts(draw_house(houses, "flat", [Trajectory("back and forth", (0, 1, 2, 3, 2, 1))]))
    assert {"1", "2,4", "3"} <= set(shown)


def test_many_visits_are_abbreviated(houses: Houses):
    shown = texts(draw_house(houses, "flat", [Trajectory("to and fro", (0, *(1, 2) * 6))]))
    assert {"1,3…11", "2,4…10"} <= set(shown)


def test_a_change_of_floors_is_labelled_on_both_floors(houses: Houses):
    shown = texts(draw_house(houses, "tall", [Trajectory("up", (8, 9, 10, 11))]))
    assert {"to floor 2", "from floor 1"} <= set(shown)


def test_a_path_of_one_viewpoint_is_drawn(houses: Houses):
    assert "stays: 0 moves, 0.0 m" in texts(draw_house(houses, "flat", [Trajectory("stays", (2,), (0,))]))


def test_repeated_viewpoints_count_as_moves(houses: Houses):
    shown = texts(draw_house(houses, "flat", [Trajectory("waits", (0, 1, 1, 2, 2))]))
    assert "waits: 4 moves, 4.5 m" in shown
    assert "1,2" in shown


def test_moves_outside_baby_steps_have_a_neutral_colour(houses: Houses):
    figure = draw_house(houses, "flat", [Trajectory("expert", (0, 1, 2, 3, 4), (1, 3))])
    assert {step_colour(0), step_colour(1), step_colour(-1)} <= line_colours(figure)
    assert step_colour(2) not in line_colours(figure)
    assert "Baby-Steps" in texts(figure)


def test_a_short_walk_in_a_large_house_has_a_close_up(houses: Houses):
    figure = draw_house(houses, "wide", [Trajectory("expert", (14, 15))])
    assert floors(figure) == ["floor 1", "close-up of floor 1"]
    assert {"The whole house", "Close-up"} <= set(texts(figure))
    across = Trajectory("expert", tuple(range(14, 74)))
    assert floors(draw_house(houses, "wide", [across])) == ["floor 1"]


def test_the_plan_of_each_floor_is_drawn(houses: Houses, plan: Path):
    figure = draw_house(houses, "tall", [Trajectory("up", (5, 6))], plan=plan)
    below, above = figure.axes[:2]
    assert [text.get_text() for text in below.texts if text.get_text() in ("hall", "attic")] == ["hall"]
    assert [text.get_text() for text in above.texts if text.get_text() in ("hall", "attic")] == ["attic"]


def test_a_vertical_move_and_a_plan_with_more_floors_than_viewpoints(plan: Path, ladder: Houses):
    figure = draw_house(ladder, "ladder", [Trajectory("up", (2, 3, 4))], plan=plan)
    figure.draw_without_rendering()
    assert floors(figure)[:2] == ["floor 1", "floor 2"]
    low = draw_house(ladder, "low", plan=plan)
    assert floors(low) == ["floor 1", "floor 2"]


def test_dollar_signs_are_not_parsed_as_mathematics(houses: Houses):
    figure = draw_house(houses, "flat", title="$x_1$", instruction="Pay $5  and " + "walk on " * 40)
    shown = texts(figure)
    assert shown[0] == "$x_1$"
    assert sum(line.endswith("walk on") or line.startswith("Pay $5 and") for line in shown) >= 2
    figure.draw_without_rendering()


@pytest.mark.parametrize("label", ["_hidden", "a $ b $ c", "long " * 60])
def test_unusual_labels_are_drawn(houses: Houses, label: str):
    figure = draw_house(houses, "flat", [Trajectory(label, (0, 1))])
    figure.draw_without_rendering()
    assert any(text.startswith(label[:50]) for text in texts(figure))


def test_twenty_trajectories_are_drawn(houses: Houses):
    figure = draw_house(houses, "flat", [Trajectory(f"agent {n}", (0, 1, 2, 3)) for n in range(20)])
    figure.draw_without_rendering()
    assert sum("agent" in text for text in texts(figure)) == 20


def test_a_viewpoint_of_another_house_is_rejected(houses: Houses):
    with pytest.raises(ConfigError) as error:
        draw_house(houses, "flat", [Trajectory("expert", (0, 1, 9))])
    assert str(error.value) == (
        "Trajectory 'expert' leaves house 'flat' at viewpoint 9. Give viewpoints from 0 to 4."
    )


def test_an_empty_path_is_rejected(houses: Houses):
    with pytest.raises(
        ConfigError, match=r"Trajectory 'agent' is empty\. Give at least its start viewpoint\."
    ):
        draw_house(houses, "flat", [Trajectory("agent", ())])


@pytest.mark.parametrize("steps", [(2, 1), (3,), (-1, 2)])
def test_baby_steps_outside_the_path_are_rejected(houses: Houses, steps: tuple[int, ...]):
    with pytest.raises(ConfigError, match=r"Give non-decreasing indices into its path, from 0 to 2\."):
        draw_house(houses, "flat", [Trajectory("expert", (0, 1, 2), steps)])


def test_an_unknown_house_is_rejected(houses: Houses):
    with pytest.raises(ConfigError, match=r"House 'flut' is not known\. Did you mean 'flat'\?"):
        draw_house(houses, "flut")


def test_an_invalid_plan_is_rejected(houses: Houses, tmp_path: Path):
    file = tmp_path / "plan.json"
    write_json(file, {"floors": [{"rooms": [{"name": "hall", "x0": 0.0}]}]})
    with pytest.raises(DataError, match="floor 0: rooms 0 has no field 'y0'; expected a finite number"):
        draw_house(houses, "flat", plan=file)


def test_missing_matplotlib_is_reported(houses: Houses, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ConfigError, match=r"Pictures need matplotlib. .* pip install 'babywalk\[plots\]'"):
        draw_house(houses, "flat")
