"""Raw files: the source of each, and a reader and a writer for each format."""
