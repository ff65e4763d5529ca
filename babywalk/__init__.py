"""BabyWalk: vision-and-language navigation by taking Baby-Steps."""

__version__ = "0.1.0"
