"""Wording of errors."""

from __future__ import annotations

from babywalk.common.errors import shortlist, unknown


def test_an_unknown_name_is_reported_with_the_closest_and_all_choices() -> None:
    assert str(unknown("Policy", "seq2sek", ["seq2seq", "babywalk"])) == (
        "Policy 'seq2sek' is not known. Did you mean 'seq2seq'? Choose from: seq2seq, babywalk."
    )


def test_an_unknown_name_without_a_close_one() -> None:
    assert str(unknown("Split", "x", ["train"])) == "Split 'x' is not known. Choose from: train."
    assert str(unknown("Split", "x", [])) == "Split 'x' is not known. Choose from: (none)."


def test_many_choices_are_shortened() -> None:
    names = [f"d001-v{number:03}" for number in range(64)]
    assert str(unknown("Viewpoint", "d001-v63", names)) == (
        f"Viewpoint 'd001-v63' is not known. Did you mean 'd001-v063'? "
        f"Choose from: {', '.join(names[:12])} and 52 more."
    )


def test_a_name_that_is_not_a_string() -> None:
    assert str(unknown("Viewpoint", 5, ["a"])) == "Viewpoint 5 is not known. Choose from: a."


def test_shortlist_counts_the_omitted_items() -> None:
    assert shortlist([]) == ""
    assert shortlist(["a", 2, "c"]) == "a, 2, c"
    assert shortlist("abcde") == "a, b, c and 2 more"
    assert shortlist("abc", 1) == "a and 2 more"
