"""Errors that a user can fix.

A message is one or two sentences: where, what was found, what would work. The command line prints it without
a traceback and exits with code 2.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

_MAX_CHOICES = 12  # names that a message lists


class BabyWalkError(Exception):
    """An error that the user can fix, with a message on how."""


class DataError(BabyWalkError):
    """A file is missing, or does not follow its format."""


class ConfigError(BabyWalkError):
    """An option or a setting has an invalid value."""


def unknown(what: str, given: object, known: Iterable[str]) -> ConfigError:
    """The error for an unknown name, with the closest known name as a hint."""
    names = [str(name) for name in known]
    near = get_close_matches(str(given), names, n=1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    choices = shortlist(names, limit=_MAX_CHOICES) or "(none)"
    return ConfigError(f"{what} {given!r} is not known.{hint} Choose from: {choices}.")


def shortlist(items: Iterable[object], limit: int = 3) -> str:
    """The first `limit` items as text, and the number of the others."""
    texts = [str(item) for item in items]
    more = f" and {len(texts) - limit} more" if len(texts) > limit else ""
    return ", ".join(texts[:limit]) + more
