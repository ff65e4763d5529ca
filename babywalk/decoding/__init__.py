"""From scores to trajectories: rollouts and search."""
