from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from babywalk.common.ragged import Ragged, concat_rows, concat_within_rows, ranges, starts

ROWS = st.lists(st.lists(st.integers(0, 99), max_size=5), max_size=6)


def listed(ragged: Ragged) -> list[list[int]]:
    return [ragged[row].tolist() for row in range(len(ragged))]


@given(ROWS)
def test_rows_round_trip(rows: list[list[int]]) -> None:
    ragged = Ragged.of(rows)
    assert listed(ragged) == rows
    assert ragged.lengths.tolist() == [len(row) for row in rows]


@given(ROWS)
def test_distinct_gives_first_occurrences_and_an_index(rows: list[list[int]]) -> None:
    kinds, which = Ragged.of(rows).distinct()
    assert kinds.tolist() == [number for number, row in enumerate(rows) if row not in rows[:number]]
    assert [rows[kinds[kind]] for kind in which] == rows


@given(ROWS, st.data())
def test_take_indexes_rows(rows: list[list[int]], data: st.DataObject) -> None:
    order = data.draw(st.lists(st.integers(0, len(rows) - 1), max_size=8)) if rows else []
    taken = Ragged.of(rows).take(np.array(order, dtype=np.int64))
    assert listed(taken) == [rows[row] for row in order]


@given(st.lists(st.tuples(*[st.lists(st.integers(0, 9), max_size=3)] * 3), max_size=5))
def test_concat_within_rows_joins_row_by_row(rows: list[tuple[list[int], ...]]) -> None:
    pieces = [Ragged.of([row[part] for row in rows]) for part in range(3)]
    assert listed(concat_within_rows(pieces)) == [[*row[0], *row[1], *row[2]] for row in rows]


def test_padded_fills_rows_at_the_end() -> None:
    assert Ragged.of([[1], [2, 3, 4], []]).padded().tolist() == [[1, -1, -1], [2, 3, 4], [-1, -1, -1]]
    assert Ragged.of([]).padded().shape == (0, 0)


def test_first_and_last_values() -> None:
    ragged = Ragged.of([[5, 6], [7]])
    assert ragged.firsts.tolist() == [5, 7]
    assert ragged.lasts.tolist() == [6, 7]


def test_starts_and_ranges() -> None:
    assert starts([2, 0, 3]).tolist() == [0, 2, 2, 5]
    assert ranges(np.array([10, 20, 30]), np.array([2, 0, 3])).tolist() == [10, 11, 30, 31, 32]


@given(ROWS, ROWS)
def test_concat_rows_appends_rows(above: list[list[int]], below: list[list[int]]) -> None:
    assert listed(concat_rows([Ragged.of(above), Ragged.of(below)])) == above + below
