"""Raw files: where each comes from, and a reader and a writer for its format."""
