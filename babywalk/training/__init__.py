"""Training: imitation, reinforcement learning on a curriculum, the loop and its checkpoints."""
