"""Tasks: R2R, and R4R, R6R and R8R by joining its walks; data directories, vocabulary and statistics."""
