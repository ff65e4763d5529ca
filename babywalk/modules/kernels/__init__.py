"""Faster CPU versions of a few primitives."""
