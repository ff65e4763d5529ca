"""The paper's experiments as data, the graph of their stages, and where it runs."""
