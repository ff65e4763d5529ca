"""The errors a user can cause, and how they are worded.

Every message is one sentence or two: where, what was found, what would work. The command line prints
it alone and exits with code 2.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

_CHOICE = 12  # names that a message lists: a house has hundreds of viewpoints


class BabyWalkError(Exception):
    """Something the user can mend; its text says how."""


class DataError(BabyWalkError):
    """A file does not hold what its format promises."""


class ConfigError(BabyWalkError):
    """An option or a setting has a value that cannot work."""


def unknown(what: str, given: object, known: Iterable[str]) -> ConfigError:
    """The error for a name that is not in a table, with the nearest known name as a hint."""
    names = [str(name) for name in known]
    near = get_close_matches(str(given), names, n=1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    choice = shortlist(names, limit=_CHOICE) or "(none)"
    return ConfigError(f"{what} {given!r} is not known.{hint} Choose from: {choice}.")


def shortlist(items: Iterable[object], limit: int = 3) -> str:
    """The first `limit` items as text, and how many more there are."""
    texts = [str(item) for item in items]
    more = f" and {len(texts) - limit} more" if len(texts) > limit else ""
    return ", ".join(texts[:limit]) + more
