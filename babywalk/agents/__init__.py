"""Agents: one file for each row of the paper's table."""
