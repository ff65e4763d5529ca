"""Where an agent fails: which instructions, at which step, and whether it walks wrong or stops wrong."""
