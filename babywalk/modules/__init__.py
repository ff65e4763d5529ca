"""The network's parts, in plain torch."""
