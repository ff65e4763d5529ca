"""Agents: what decides where to walk."""
