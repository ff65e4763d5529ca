from __future__ import annotations

from dataclasses import asdict, dataclass, field

import pytest

from babywalk.common.config import (
    check_at_least_one,
    check_fraction_below_one,
    differing_settings,
    from_assignments,
    from_table,
    merged,
)
from babywalk.common.errors import ConfigError


@dataclass(frozen=True)
class Inner:
    rate: float = 0.5
    sizes: tuple[int, ...] = (1, 2)

    def __post_init__(self) -> None:
        if self.rate < 0:
            raise ConfigError("rate must not be negative.")


@dataclass(frozen=True)
class Outer:
    name: str = "x"
    flag: bool = False
    limit: int | None = None
    inner: Inner = field(default_factory=Inner)


def test_missing_settings_keep_their_defaults() -> None:
    made = from_table(Outer, {"inner": {"rate": 2}, "limit": 3})
    assert made == Outer(limit=3, inner=Inner(rate=2.0))
    assert from_table(Outer, asdict(made)) == made


def test_errors_give_the_dotted_name() -> None:
    with pytest.raises(ConfigError, match=r"the settings: inner\.rate must not be negative\."):
        from_table(Outer, {"inner": {"rate": -1}})


def test_a_setting_and_a_part_of_it_cannot_both_be_assigned() -> None:
    for texts in (["inner.rate.x=4", "inner.rate=1"], ["inner.rate=1", "inner.rate.x=4"]):
        with pytest.raises(ConfigError, match=r"inner\.rate.* cannot both be set: one is part of the other"):
            from_assignments(texts)
    assert from_assignments(["inner.rate=1", "inner.rates=2"]) == {"inner": {"rate": 1, "rates": 2}}


def test_differing_settings_are_listed_by_name() -> None:
    assert differing_settings(Outer(), Outer()) == []
    assert differing_settings(Outer(), Outer(flag=True, inner=Inner(sizes=(1, 3)))) == ["flag", "inner.sizes"]


def test_all_errors_are_reported_at_once() -> None:
    table = {"nme": "y", "flag": 1, "inner": {"rate": "fast", "sizes": [1, "two"]}}
    with pytest.raises(ConfigError) as error:
        from_table(Outer, table, where="run.toml")
    message = str(error.value)
    assert message.startswith("run.toml: ")
    assert "nme is not known. Did you mean name?" in message
    assert "flag = 1 should be true or false." in message
    assert "inner.rate = 'fast' should be a number." in message
    assert "inner.sizes = [1, 'two'] should be a list, each a whole number." in message


@dataclass(frozen=True)
class Many:
    listed: list[Inner] = field(default_factory=list)
    named: dict[str, float] = field(default_factory=dict)


def test_typed_lists_and_tables() -> None:
    made = Many([Inner(0.25)], {"a": 1.0})
    assert from_table(Many, asdict(made)) == made
    with pytest.raises(ConfigError, match=r"named = \{'a': 'b'\} should be a table, each a number"):
        from_table(Many, {"named": {"a": "b"}})
    with pytest.raises(ConfigError, match=r"listed\.rat is not known\. Did you mean listed\.rate\?"):
        from_table(Many, {"listed": [{"rat": 1}]})


def test_assignments_make_a_nested_table() -> None:
    assert from_assignments(["inner.rate=0.25", "inner.sizes=[3]", "name=hall", "flag=true"]) == {
        "inner": {"rate": 0.25, "sizes": [3]},
        "name": "hall",
        "flag": True,
    }
    with pytest.raises(ConfigError, match=r"'rate' is not an assignment\. Write NAME=VALUE"):
        from_assignments(["rate"])


def test_merged_tables_prefer_the_second() -> None:
    assert merged({"a": {"b": 1, "c": 2}}, {"a": {"c": 3}, "d": 4}) == {"a": {"b": 1, "c": 3}, "d": 4}


def test_values_out_of_range_are_reported_by_name() -> None:
    check_at_least_one(Inner(rate=1.0), "rate")
    check_fraction_below_one(Inner(rate=0.0), "rate")
    with pytest.raises(ConfigError, match=r"rate = 0\.5 is out of range\. Give at least 1\."):
        check_at_least_one(Inner(rate=0.5), "rate")
    with pytest.raises(
        ConfigError, match=r"rate = 1\.0 is out of range\. Give a fraction from 0 to below 1\."
    ):
        check_fraction_below_one(Inner(rate=1.0), "rate")


@pytest.mark.parametrize("value", ["9" * 5000, "[" * 100_000, str(2**63), "9" * 400])
def test_huge_numbers_and_deep_nesting_are_reported_as_settings_of_another_type(value: str) -> None:
    @dataclass(frozen=True)
    class Sized:
        size: int = 1
        rate: float = 1.0

    for name, wanted in (("size", "a whole number"), ("rate", "a number")):
        with pytest.raises(ConfigError, match=rf"{name} = .* should be {wanted}"):
            from_table(Sized, from_assignments([f"{name}={value}"]))
