"""Baby-Steps: instructions segmented into short ones, each aligned with its part of the path."""
