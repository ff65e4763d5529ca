"""How errors are worded."""

from __future__ import annotations

from babywalk.common.errors import shortlist, unknown


def test_an_unknown_name_comes_with_the_nearest_and_the_choice() -> None:
    assert str(unknown("Policy", "seq2sek", ["seq2seq", "babywalk"])) == (
        "Policy 'seq2sek' is not known. Did you mean 'seq2seq'? Choose from: seq2seq, babywalk."
    )


def test_an_unknown_name_near_to_none() -> None:
    assert str(unknown("Split", "x", ["train"])) == "Split 'x' is not known. Choose from: train."
    assert str(unknown("Split", "x", [])) == "Split 'x' is not known. Choose from: (none)."


def test_of_many_names_some_are_listed() -> None:
    names = [f"d001-v{number:03}" for number in range(64)]
    assert str(unknown("Viewpoint", "d001-v63", names)) == (
        f"Viewpoint 'd001-v63' is not known. Did you mean 'd001-v063'? "
        f"Choose from: {', '.join(names[:12])} and 52 more."
    )


def test_what_is_no_name_at_all() -> None:
    assert str(unknown("Viewpoint", 5, ["a"])) == "Viewpoint 5 is not known. Choose from: a."


def test_few_counts_what_it_leaves_out() -> None:
    assert shortlist([]) == ""
    assert shortlist(["a", 2, "c"]) == "a, 2, c"
    assert shortlist("abcde") == "a, b, c and 2 more"
    assert shortlist("abc", 1) == "a and 2 more"
