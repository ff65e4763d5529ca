"""Results: what was measured, as tables and figures."""
