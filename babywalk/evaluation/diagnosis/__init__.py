"""Diagnosis: in which episodes, and where in them, an agent fails."""
