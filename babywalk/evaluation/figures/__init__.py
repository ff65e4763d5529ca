"""Figures: houses with trajectories seen from above, and charts of results.

The modules that the rest of the package imports (`house`, `charts`, `style`) import matplotlib only when they
draw, so everything else works without it. pyplot and other global state of matplotlib are not used.
"""
