"""Houses: viewpoints, shortest paths, panoramas and view features."""
