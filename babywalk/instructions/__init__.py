"""Baby-Steps: instructions cut into short ones, each aligned with its stretch of the path."""
