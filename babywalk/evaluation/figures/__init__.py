"""Pictures: lengths of tasks, and houses with the walks in them. They need matplotlib, an optional extra."""
