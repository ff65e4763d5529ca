"""Landmarks: which of them a viewpoint shows, learned from what instructions say about whole paths."""
