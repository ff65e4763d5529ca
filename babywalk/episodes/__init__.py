"""Tasks: described walks of 2, 4, 6 and 8 rooms, and the words they use."""
