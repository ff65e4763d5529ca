"""Fixtures of the square house."""

from square import float64

__all__ = ["float64"]
