"""Houses: where one can stand and walk, how far everything is, and what is seen from each viewpoint."""
