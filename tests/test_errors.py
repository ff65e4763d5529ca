"""How errors are worded."""

from __future__ import annotations

from babywalk.errors import few, unknown


def test_an_unknown_name_comes_with_the_nearest_and_the_choice() -> None:
    assert str(unknown("Policy", "seq2sek", ["seq2seq", "babywalk"])) == (
        "Policy 'seq2sek' is not known. Did you mean 'seq2seq'? Choose from: seq2seq, babywalk."
    )


def test_an_unknown_name_near_to_none() -> None:
    assert str(unknown("Split", "x", ["train"])) == "Split 'x' is not known. Choose from: train."
    assert str(unknown("Split", "x", [])) == "Split 'x' is not known. Choose from: (none)."


def test_few_counts_what_it_leaves_out() -> None:
    assert few([]) == ""
    assert few(["a", 2, "c"]) == "a, 2, c"
    assert few("abcde") == "a, b, c and 2 more"
    assert few("abc", 1) == "a and 2 more"
