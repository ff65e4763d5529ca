from __future__ import annotations

from babywalk.common.seeding import generator


def test_a_draw_depends_only_on_seed_and_purpose() -> None:
    draw = generator(3, "paths", "house 1").integers(1000, size=5)
    generator(3, "other").integers(1000, size=100)
    assert generator(3, "paths", "house 1").integers(1000, size=5).tolist() == draw.tolist()
    assert generator(4, "paths", "house 1").integers(1000, size=5).tolist() != draw.tolist()
    assert generator(3, "paths", "house 2").integers(1000, size=5).tolist() != draw.tolist()


def test_draws_are_the_same_on_every_machine() -> None:
    assert generator(0, "sample").integers(1_000_000, size=3).tolist() == [872582, 450730, 341072]
