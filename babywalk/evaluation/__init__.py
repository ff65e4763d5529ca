"""Evaluation: scores, statistics, tables, figures and diagnosis of agents."""
