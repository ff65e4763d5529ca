"""Configurations from tables; unknown names and wrong types are all reported at once, with a hint.

A configuration is a frozen dataclass beside the code that it configures. A table is a nested dictionary, as
read from TOML, JSON or `--set a.b=3`.
"""

from __future__ import annotations

import dataclasses
import json
import math
import types
from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from operator import attrgetter
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

from babywalk.common.errors import ConfigError

Config = TypeVar("Config")
_MAX_SHOWN = 80  # characters of a value in a message


def from_table(kind: type[Config], table: Mapping[str, Any], *, where: str = "the settings") -> Config:
    """A configuration from a table; missing settings keep their defaults."""
    problems: list[str] = []
    config = _make(kind, table, "", problems)
    if problems:
        raise ConfigError(f"{where}: {' '.join(problems)}")
    return config  # type: ignore[no-any-return]  # built from the type itself


def merged(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """The nested tables `base` and `over` merged; where both have a value, that of `over`."""
    result = dict(base)
    for name, value in over.items():
        old = result.get(name)
        both = isinstance(old, Mapping) and isinstance(value, Mapping)
        result[name] = merged(old, value) if both else value  # type: ignore[arg-type]  # both are tables
    return result


def from_assignments(texts: Iterable[str]) -> dict[str, Any]:
    """A table from assignments such as "imitation.batch=64"; values are JSON, or else text."""
    table: dict[str, Any] = {}
    names: list[str] = []
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise ConfigError(f"{text!r} is not an assignment. Write NAME=VALUE, as in imitation.batch=64.")
        for other in names:
            if other.startswith(f"{name}.") or name.startswith(f"{other}."):
                raise ConfigError(f"{other} and {name} cannot both be set: one is part of the other.")
        names.append(name)
        try:
            parsed = json.loads(value)
        except (ValueError, RecursionError):  # also an integer of thousands of digits
            parsed = value
        nested: Any = parsed
        for part in reversed(name.split(".")):
            nested = {part: nested}
        table = merged(table, nested)
    return table


def differing_settings(one: Any, other: Any, *, path: str = "") -> list[str]:
    """The dotted names of the settings in which two configurations of one class differ."""
    found: list[str] = []
    for field in dataclasses.fields(one):
        first, second, name = getattr(one, field.name), getattr(other, field.name), f"{path}{field.name}"
        if dataclasses.is_dataclass(first):
            found += differing_settings(first, second, path=f"{name}.")
        elif first != second:
            found.append(name)
    return found


def check_at_least_one(config: object, *names: str) -> None:
    """Reject settings below 1; names may be dotted, here and in the checks that follow."""
    _check(config, names, lambda value: value >= 1, "at least 1")


def check_non_negative(config: object, *names: str) -> None:
    """Reject settings that are negative, NaN or infinite."""
    _check(config, names, lambda value: 0 <= value < math.inf, "0 or more")


def check_positive(config: object, *names: str) -> None:
    """Reject settings that are 0, negative, NaN or infinite."""
    _check(config, names, lambda value: 0 < value < math.inf, "more than 0")


def check_fraction_below_one(config: object, *names: str) -> None:
    """Reject settings outside of [0, 1)."""
    _check(config, names, lambda value: 0 <= value < 1, "a fraction from 0 to below 1")


def check_fraction(config: object, *names: str) -> None:
    """Reject settings outside of [0, 1]."""
    _check(config, names, lambda value: 0 <= value <= 1, "a fraction from 0 to 1")


def _check(config: object, names: Iterable[str], valid: Callable[[float], bool], wanted: str) -> None:
    for name in names:
        value = attrgetter(name)(config)
        if not valid(value):
            raise ConfigError(f"{name} = {value} is out of range. Give {wanted}.")


def _make(kind: Any, table: Any, path: str, problems: list[str]) -> Any:
    hints = get_type_hints(kind)
    known = [field.name for field in dataclasses.fields(kind)]
    given: dict[str, Any] = {}
    for name, value in table.items():
        full = f"{path}{name}"
        if name not in known:
            near = get_close_matches(name, known, n=1)
            hint = f" Did you mean {path}{near[0]}?" if near else f" Choose from: {', '.join(known)}."
            problems.append(f"{full} is not known.{hint}")
            continue
        fits, converted = _fit(hints[name], value, f"{full}.", problems)
        if fits:
            given[name] = converted
        else:
            problems.append(f"{full} = {_short(value)} should be {_describe(hints[name])}.")
    if problems:
        return None
    try:
        return kind(**given)
    except ConfigError as error:
        problems.append(f"{path}{error}")  # the message starts with the name of a setting
        return None


def _fit(kind: Any, value: Any, path: str, problems: list[str]) -> tuple[bool, Any]:
    """Whether a value fits a type, and the converted value."""
    if kind is Any:
        return True, value
    if dataclasses.is_dataclass(kind):
        return (True, _make(kind, value, path, problems)) if isinstance(value, Mapping) else (False, None)
    if get_origin(kind) in (Union, types.UnionType):
        for choice in get_args(kind):
            fits, converted = _fit(choice, value, path, problems)
            if fits:
                return True, converted
        return False, None
    if get_origin(kind) in (tuple, list):
        item = get_args(kind)[0]
        pairs = [_fit(item, one, path, problems) for one in value] if isinstance(value, (list, tuple)) else []
        ok = isinstance(value, (list, tuple)) and all(fits for fits, _ in pairs)
        return ok, get_origin(kind)(converted for _, converted in pairs)
    if get_origin(kind) is dict:
        if not isinstance(value, Mapping):
            return False, None
        item = get_args(kind)[1]
        named = {name: _fit(item, one, f"{path}{name}.", problems) for name, one in value.items()}
        ok = all(fits for fits, _ in named.values())
        return ok, {name: converted for name, (_, converted) in named.items()}
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        return False, None
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        return True, float(value)
    if kind is type(None):
        return value is None, None
    return type(value) is kind, value


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= _MAX_SHOWN else text[: _MAX_SHOWN - 3] + "..."


def _describe(kind: Any) -> str:
    names = {int: "a whole number", float: "a number", str: "a text", bool: "true or false"}
    if get_origin(kind) in (tuple, list):
        return f"a list, each {_describe(get_args(kind)[0])}"
    if get_origin(kind) in (Union, types.UnionType):
        return " or ".join(_describe(choice) for choice in get_args(kind))
    if get_origin(kind) is dict:
        return f"a table, each {_describe(get_args(kind)[1])}"
    return names.get(kind, "a table" if dataclasses.is_dataclass(kind) else str(kind))
