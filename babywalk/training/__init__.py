"""Learners: how an agent learns from experts, and then from what it reaches."""
