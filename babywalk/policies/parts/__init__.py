"""Parts that agents are composed of."""
