"""The world an agent acts in: moves, what it sees, its teacher, and how its paths are measured."""
