"""Landmarks: which of them are visible from a viewpoint, learned from the instructions of whole paths."""
